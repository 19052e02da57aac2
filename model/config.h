/* model/config.h - what shape a model is and which parts it has, from any file's keys (keys.h). */
#ifndef CONFIG_H
#define CONFIG_H

#include "attention/phi.h"
#include "rope/rope.h"

enum { CONFIG_MAX_LAYERS = 1024, CONFIG_MAX_EOS = 8, CONFIG_MAX_DIM = 1 << 20 };

typedef enum { NAMES_GGUF, NAMES_HF } TensorNames; /* how a file names its tensors */

/* Which keys a query sees: those up to itself; all that are not padding; or (UniLM) all of the text's first segment
 * and, in the second, those up to itself: with type ids as segments, key j where c[j] <= c[i], c the running sum of the
 * ids. */
typedef enum { MASK_CAUSAL, MASK_PADDING, MASK_UNILM } Mask;

/* What RoFormer has beside a decoder's settings, and its words: roformer_kinds.h. Zeroed for decoders. head_width: of
 * the layer of its own that the language model's head begins with; 0: none. */
typedef struct { int variant, n_types, activation, pooler, classifier, n_labels, head_width; } RoformerConfig;

/* Sizes; the comment gives Hugging Face's name where it differs. */
typedef struct Config {
    char arch[32];            /* "llama", "mistral", "qwen2", "qwen3", "roformer"; model_type, general.architecture */
    TensorNames names;
    int d_model;              /* hidden_size */
    int d_embed;              /* embedding_size: of the embeddings, d_model but in some RoFormers */
    int d_ff;                 /* intermediate_size */
    int ff_rows;              /* of a feed-forward network's first matrix: d_ff, but for GAU-alpha */
    int n_layers;             /* num_hidden_layers */
    int n_heads;              /* num_attention_heads */
    int n_kv_heads;           /* num_key_value_heads */
    int head_dim;             /* of q and k; d_model / n_heads unless the file says otherwise */
    int value_dim;            /* of v: head_dim, but for GAU-alpha */
    int vocab_size;
    int64_t n_ctx_train;      /* max_position_embeddings */
    float norm_eps;           /* rms_norm_eps, layer_norm_eps */
    RopeConfig rope;
    LinearConfig linear;      /* linear.form == NULL: softmax. favor_w is model_more's to fill */
    const LinearForm *file_form; /* the form that the file names, whatever its attention; else numerator */
    Mask mask;
    RoformerConfig roformer;
    int rotary_value;         /* 1: v is rotated, too */
    int log_scale;            /* 0, or scores grow by ln(keys seen) / ln(log_scale) */
    int attention_changed;    /* 1: the command line asks for another attention than the file */
    int64_t window;           /* sliding_window: a query sees the last `window` positions, its own included; 0: all */
    uint8_t windowed[CONFIG_MAX_LAYERS]; /* 1: this layer has the window */
    /* Tensors that must be there: 1 yes, 0 no, -1 where the file has them (GGUF has no key for it). */
    int qkv_bias, o_bias, mlp_bias, qk_norm;
    int tied;                 /* lm_head is tok_emb; tie_word_embeddings; -1: where the file has no output tensor */
    int bos_id;               /* -1: not given */
    int n_eos, eos_id[CONFIG_MAX_EOS];
} Config;

#endif
