/* model/config.h - one Config from any file's keys: what shape the model is and which parts it has. */
#ifndef CONFIG_H
#define CONFIG_H

#include "attention/linear.h"
#include "kernels/encoder_kernels.h"
#include "rope/rope.h"
#include "model/files/weights.h"

/* RoFormer's kinds. */
typedef enum { ROFORMER_NONE, ROFORMER_V1, ROFORMER_V2, ROFORMER_GAU } RoformerVariant;
/* Which keys a query sees: those up to itself; all that are not padding; or (UniLM) all of the text's first segment
 * and, in the second, those up to itself: with type ids as segments, key j where c[j] <= c[i], c the running sum of the
 * ids. */
typedef enum { MASK_CAUSAL, MASK_PADDING, MASK_UNILM } Mask;
typedef enum { POOLER_NONE, POOLER_TANH, POOLER_LINEAR } Pooler;
/* What the classifier reads: the text's first token; every token; every token, for ELECTRA's question "was it
 * replaced?". */
typedef enum { CLASSIFIER_NONE, CLASSIFIER_SEQUENCE, CLASSIFIER_TOKEN, CLASSIFIER_REPLACED } Classifier;

/* What RoFormer has beside a decoder's settings; zeroed for decoders. */
typedef struct {
    RoformerVariant variant;
    int n_types;          /* type_vocab_size */
    Activation activation; /* hidden_act */
    Pooler pooler;
    Classifier classifier;
    int n_labels;
} RoformerConfig;

enum { CONFIG_MAX_LAYERS = 1024, CONFIG_MAX_EOS = 8, CONFIG_MAX_DIM = 1 << 20 };

/* How a file names its tensors. */
typedef enum { NAMES_GGUF, NAMES_HF } TensorNames;

/* Sizes; the comment gives Hugging Face's name where it differs. */
typedef struct {
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
    LinearConfig linear;      /* linear.form == NULL: softmax. favor_w is model.c's to fill */
    const LinearForm *file_form; /* the form that the file names, whatever its attention; else numerator */
    Mask mask;
    RoformerConfig roformer;
    int rotary_value;         /* 1: v is rotated, too */
    int log_scale;            /* 0, or scores grow by ln(keys seen) / ln(log_scale) */
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

/* RoFormer from the command line; zeroed: as the file says. */
typedef struct {
    RoformerVariant variant;
    const Mask *mask;
    const Pooler *pooler;
} RoformerOverride;

/* All that a command line may say; zeroed: as the file says. */
typedef struct {
    RopeOverride rope;
    AttentionOverride attention;
    RoformerOverride roformer;
} ConfigOverride;

/* The words that files and options have for these, in the order of the values; NULL after the last. */
extern const char *const roformer_variant_names[]; /* "", "v1", "v2", "gau-alpha" */
extern const char *const mask_names[];             /* "causal", "padding", "unilm" */
extern const char *const pooler_names[];           /* "none", "tanh", "linear" */
/* Where word stands among names, or -1. */
int name_index(const char *const *names, const char *word);

#endif
