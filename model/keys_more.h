/* model/keys_more.h - the reading of keys beyond the core: llama.cpp's extras, Hugging Face's config.json. */
#ifndef KEYS_MORE_H
#define KEYS_MORE_H

#include "base/json.h"
#include "family.h"
#include "kernels/encoder_kernels.h"
#include "rope/scaling.h"

extern const KeySource keys_hf;
extern const KeySource keys_llamacpp; /* keys_gguf (family.h), and scaled frequencies, windows, experts */

/* What a decoder's config.json says where it leaves a key out: transformers' defaults. */
typedef struct DecoderDefaults {
    int heads, kv_heads;   /* 0: the file must say it; n_heads */
    int head_dim;          /* 0: d_model / n_heads */
    int64_t n_ctx, window;
    int qkv_bias, o_bias;  /* 1 always, 0 never, -1 as attention_bias says */
    int mlp_bias;          /* 0 never, -1 as mlp_bias says */
    int window_by_layer;   /* use_sliding_window, max_window_layers, layer_types */
    int tied;              /* tie_word_embeddings */
    int mxfp4;             /* quantization_config may say so: the blocks are read as they are */
    int interleaved;       /* RoPE's pairs; nearly all have halves */
    double theta, partial; /* 0: 10000; all of the head, and transformers does not ask partial_rotary_factor */
    double local_theta;    /* of layers with a window; 0: they have no RoPE of their own; below 0: theta */
    float eps;             /* 0: 1e-6 */
    int64_t n_ctx_original; /* original_max_position_embeddings at top level; 0: it is RoPE's object that has it */
    const char *gguf;      /* what convert calls it, where that is not the row's name */
    const char *rope;      /* rope_parameters, where nothing is said of RoPE: JSON; NULL: plain RoPE */
} DecoderDefaults;

/* families.c: what a model by that name has that is not here, a predicate; NULL: it runs. */
const char *architecture_lacks(const Architecture *a);
/* more.c: "file: out of memory", and -ENOMEM, which is no complaint about the file. */
void key_no_memory(KeyReader *r);
/* keys_hf.c: true (1) or false (0). */
int key_flag(KeyReader *r, const char *gguf, const char *hf, int absent);
/* keys_hf.c: a complaint where the file says that a decoder is not causal. */
void key_check_causal(KeyReader *r, const Architecture *a);
/* keys_hf.c: the object of config.json that says what RoPE is, and its name; NULL: none does. */
const JsonValue *key_rope_object(KeyReader *r, const char **where);
/* activations.c: what transformers calls by that word, or -1; and with a complaint about r's last key instead. */
int activation_named(const char *word);
Activation key_activation(KeyReader *r, const char *word);
/* more.c: of one type, with the same bytes. */
int tensor_is_same(const Tensor *a, const Tensor *b);
/* more.c: 1 for a tensor of another part than the text's, pictures' or a draft's. */
int weights_is_other_part(const Weights *w, const char *name);
/* more.c: what a tensor is that nothing has asked for. COMPUTED: here, frequencies and integers; HEAD: an encoder's
 * that is not read, or what makes a vector of a text (text/sentence.c). BIAS: a head's second one. LENT: keys
 * and values of layers that take an earlier one's. */
typedef enum {
    REST_UNKNOWN, REST_TIED, REST_PART, REST_COMPUTED, REST_ADAPTER, REST_HEAD, REST_BIAS, REST_LENT, REST_KINDS
} TensorRest;
TensorRest model_rest(const Model *m, const Tensor *t);
/* more.c: the file has a head of its own, though its configuration ties it: c takes it, and w has a note. */
void config_untie(Config *c, Weights *w);
/* more.c: rope's numbers, which are the file's memory; at first all 0 but n_ctx_train. NULL, after a complaint: no
 * memory. */
RopeNumbers *key_rope_numbers(KeyReader *r, RopeConfig *rope, int64_t n_ctx_train);

#endif
