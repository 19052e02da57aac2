/* model/config.h - one Config from any file's keys: what shape the model is and which parts it has. */
#ifndef CONFIG_H
#define CONFIG_H

#include "../attention/linear.h"
#include "../rope/rope.h"
#include "weights.h"

enum { CONFIG_MAX_LAYERS = 1024, CONFIG_MAX_EOS = 8, CONFIG_MAX_DIM = 1 << 20 };

/* How a file names its tensors. */
typedef enum { NAMES_GGUF, NAMES_HF } TensorNames;

/* Sizes; the comment gives Hugging Face's name where it differs. */
typedef struct {
    char arch[32];            /* "llama", "mistral", "qwen2", "qwen3"; model_type, general.architecture */
    TensorNames names;
    int d_model;              /* hidden_size */
    int d_ff;                 /* intermediate_size */
    int n_layers;             /* num_hidden_layers */
    int n_heads;              /* num_attention_heads */
    int n_kv_heads;           /* num_key_value_heads */
    int head_dim;             /* d_model / n_heads unless the file says otherwise */
    int vocab_size;
    int64_t n_ctx_train;      /* max_position_embeddings */
    float norm_eps;           /* rms_norm_eps */
    RopeConfig rope;
    LinearConfig linear;      /* linear.form == NULL: softmax. favor_w is model.c's to fill */
    int attention_changed;    /* 1: the command line asks for another attention than the file */
    int64_t window;           /* sliding_window: a query sees the last `window` positions, its own included; 0: all */
    uint8_t windowed[CONFIG_MAX_LAYERS]; /* 1: this layer has the window */
    /* Tensors that must be there: 1 yes, 0 no, -1 where the file has them (GGUF has no key for it). */
    int qkv_bias, o_bias, mlp_bias;
    int qk_norm;
    int tied;                 /* lm_head is tok_emb; tie_word_embeddings; -1: where the file has no output tensor */
    int bos_id;               /* -1: not given */
    int n_eos;
    int eos_id[CONFIG_MAX_EOS];
} Config;

/* RoPE settings from the command line; zero or NULL: as the file says. */
typedef struct {
    const RopeScaling *scaling;
    double theta, factor;
    int64_t n_ctx_original;
} RopeOverride;

/* Attention from the command line; zeroed: as the file says. */
typedef struct {
    enum { ATTENTION_AS_FILE, ATTENTION_SOFTMAX, ATTENTION_LINEAR } kind;
    const FeatureMap *phi;
    const LinearForm *form;
    const double *epsilon;
    int favor_features;
    const uint64_t *favor_seed;
} AttentionOverride;

/* Read c from w's metadata, apply o and a (may be NULL), check everything for plausibility. 0, or -EINVAL and one line that
 * names the file and the key. Shapes of tensors are checked by model_open. */
int config_read(Config *c, const Weights *w, const RopeOverride *o, const AttentionOverride *a, char *err, size_t errlen);

#endif
