/* model/model.h - a decoder of the LLaMA family or a RoFormer, opened from any file, each tensor's shape checked.
 *
 *     Model m;
 *     if (model_open(&m, "model.gguf", NULL, err, sizeof err)) ...
 *     Session s;                                          (session.h)
 *     ...
 *     model_close(&m);
 *
 * A Model is read-only once open: any number of sessions, in any number of threads, may share it. It must not move. */
#ifndef MODEL_H
#define MODEL_H

#include "attention/phi.h"
#include "kernels/kernels.h"
#include "model/files/weights.h"
#include "rope/rope.h"

typedef struct Family Family;             /* family.h */
typedef struct ModelOptions ModelOptions; /* options.h */

enum { CONFIG_MAX_LAYERS = 1024, CONFIG_MAX_EOS = 64, CONFIG_MAX_DIM = 1 << 20 };

typedef enum { MASK_CAUSAL, MASK_PADDING, MASK_UNILM } Mask; /* which keys a query sees (roformer_kinds.h) */

/* What encoders have beside a decoder's settings; zeroed for decoders. What the numbers mean: roformer_kinds.h, of
 * activation kernels/encoder_kernels.h. head_width: of the layer that the language model's head begins with, or 0. */
typedef struct {
    int variant, n_types, activation, pooler, classifier, reads, problem, n_labels, head_width;
} RoformerConfig;

/* Sizes; the comment gives Hugging Face's name where it differs. */
typedef struct Config {
    const Family *family;     /* whose model it is */
    char arch[32];            /* "llama", "mistral", "qwen2", "qwen3", "roformer"; model_type, general.architecture */
    int d_model;              /* hidden_size */
    int d_embed;              /* embedding_size: of the embeddings, d_model but in some RoFormers */
    int d_ff;                 /* intermediate_size */
    int ff_rows;              /* of a feed-forward network's first matrix: d_ff, but for GAU-alpha */
    int n_layers;             /* num_hidden_layers */
    int n_heads;              /* num_attention_heads */
    int n_kv_heads;           /* num_key_value_heads */
    int head_dim;             /* of q and k; d_model / n_heads unless the file says otherwise */
    int value_dim;            /* of v: head_dim, but for GAU-alpha */
    int kv_most;              /* n_kv_heads * head_dim of the layers that have most of it; 0: they are all alike */
    int vocab_size;
    int64_t n_ctx_train;      /* max_position_embeddings */
    float norm_eps;           /* rms_norm_eps, layer_norm_eps */
    RopeConfig rope;
    LinearConfig linear;      /* linear.form == NULL: softmax. favor_w is model_more's to fill */
    const LinearForm *file_form; /* the form that the file names, whatever its attention; else numerator */
    Mask mask;
    RoformerConfig roformer;
    int rotary_value;         /* 1: v is rotated, too */
    int log_scale;            /* 0, or scores grow by ln(tokens up to the query, 16 at least) / ln(log_scale) */
    struct Decoder *decoder;     /* NULL: a LLaMA; else what it has beyond one (layers/layers.h), the file's memory */
    struct Positions *positions; /* NULL: RoPE; else another kind (rope/positions.h), the file's memory, and .. */
    void (*place)(const struct Positions *p, float *x, int64_t pos); /* .. what it adds to an embedding, or NULL */
    size_t n_places;          /* positions that there are, where a learned table ends; 0: any number */
    int attention_changed;    /* 1: the command line asks for another attention than the file */
    int64_t window;           /* sliding_window: a query sees the last `window` positions, its own included; 0: all */
    uint8_t windowed[CONFIG_MAX_LAYERS]; /* 1: this layer has the window */
    /* Tensors that must be there: 1 yes, 0 no, -1 where the file has them (GGUF has no key for it). */
    int qkv_bias, o_bias, mlp_bias, qk_norm, own_head; /* own_head 0: lm_head is tok_emb */
    int bos_id;               /* -1: not given */
    int n_eos, eos_id[CONFIG_MAX_EOS];
} Config;

typedef struct {
    size_t window;                       /* positions a query sees, its own included; 0: all */
    const float *attn_norm, *ffn_norm;   /* [d_model] */
    const float *q_norm, *k_norm;        /* [head_dim], or NULL (qwen3 has them) */
    Matrix wq, wk, wv; /* [n_heads*head_dim, d_model], [kv_dim, d_model] x 2; kv_dim = n_kv_heads*head_dim */
    Matrix wo;                           /* [d_model, n_heads*head_dim] */
    Matrix w_gate, w_up, w_down;         /* [d_ff, d_model] x 2, [d_model, d_ff]; GAU-alpha: roformer.h */
    const float *bq, *bk, *bv, *bo;      /* biases of these, or NULL */
    const float *b_gate, *b_up, *b_down;
    struct LayerMore *more;              /* layers/layers.h, or NULL */
} Layer;

typedef struct Model {
    Config config;
    Weights weights;
    const Kernels *kernels;
    Matrix tok_emb;          /* [vocab_size, d_model]; RoFormer: [vocab_size, d_embed] */
    Matrix lm_head;          /* the same; tok_emb itself where tied */
    const float *final_norm; /* [d_model]; RoFormer has none */
    Layer *layers;           /* [n_layers] */
    struct Encoder *encoder; /* what RoFormer has around its layers, owned (roformer.h); NULL: a decoder */
    int has_logits;          /* 1, but for a RoFormer without a language model's head */
    size_t n_parameters;     /* of the tensors in use */
    int min_group;           /* the smallest matrix_group of a weight; 0 where none is quantized */
    uint8_t *used;           /* [weights.n_tensors]: 1 where the model uses the tensor; the others are extra */
    uint8_t *panels;         /* [panels_size]: owns the repacked and the copied matrices, or NULL */
    size_t panels_size;
} Model;

/* Open path; options may be NULL. 0, or a negative errno and one line naming the file and what is wrong with it;
 * nothing is held then. */
int model_open(Model *m, const char *path, const ModelOptions *options, char *err, size_t errlen);
/* The same for a file in memory, which must outlive the model; where data is NULL it is model_open. */
int model_open_memory(Model *m, const void *data, size_t size, const char *name, const ModelOptions *options, char *err,
                      size_t errlen);
void model_close(Model *m); /* accepts a zeroed struct */

/* The compiled-in model: the bytes of model/tales-1m.gguf (README.md says how it was trained). */
extern const unsigned char builtin_model[];
extern const size_t builtin_model_size;

/* What the core leaves out of opening (more.c): other kernels where the options (may be NULL) say so, matrices
 * rearranged for them, FAVOR+'s projection. 0, or a negative errno and a line. */
int model_more(Model *m, const ModelOptions *o, char *err, size_t errlen);
void model_unpack(Model *m); /* frees what that took */

#endif
