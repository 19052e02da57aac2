/* model/model.h - a decoder of the LLaMA family or a RoFormer, opened from any file: its tensors, each with its shape
 * checked.
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

#include "config.h"
#include "kernels/kernels.h"

typedef struct Family Family; /* family.h */

typedef struct {
    size_t window;                       /* positions a query sees, its own included; 0: all */
    const float *attn_norm, *ffn_norm;   /* [d_model] */
    const float *q_norm, *k_norm;        /* [head_dim], or NULL (qwen3 has them) */
    Matrix wq, wk, wv; /* [n_heads*head_dim, d_model], [kv_dim, d_model] x 2; kv_dim = n_kv_heads*head_dim */
    Matrix wo;                           /* [d_model, n_heads*head_dim] */
    Matrix w_gate, w_up, w_down;         /* [d_ff, d_model] x 2, [d_model, d_ff] */
    const float *bq, *bk, *bv, *bo;      /* biases of these, or NULL */
    const float *b_gate, *b_up, *b_down;
    /* RoFormer, whose norms stand behind attention and feed-forward network, and have biases in v1. GAU-alpha: w_up [2
     * d_ff + head_dim, d_model] makes u, v and the base of q and k; w_down ends the unit, and only attn_norm is there.
     */
    const float *attn_norm_b, *ffn_norm_b; /* [d_model] or NULL */
    const float *gau_q, *gau_k;            /* [head_dim]: what the base is multiplied by */
} Layer;

/* What RoFormer has around its layers. A Matrix without data and a NULL: not there. H = d_model, E = d_embed. */
typedef struct {
    Matrix types;                                       /* [n_types, E] */
    const float *emb_norm, *emb_norm_b;                 /* [E] */
    Matrix emb_proj;                                    /* [H, E], where E is not H */
    const float *emb_proj_b;                            /* [H] */
    int has_mlm;                                        /* lm_head [vocab_size, E] and, in v1, what comes before it: */
    Matrix mlm_dense;                                   /* [E, H] */
    const float *mlm_dense_b, *mlm_norm, *mlm_norm_b;   /* [E] each */
    const float *mlm_bias;                              /* [vocab_size] */
    Matrix pooler, cls_dense, cls_out;                  /* [H, H] x 2, [n_labels, H] */
    const float *pooler_b, *cls_dense_b, *cls_out_b;    /* [H] x 2, [n_labels] */
} Encoder;

/* When a matrix is multiplied by: for every token; where logits are wanted; once a text; never, its rows are looked up.
 */
typedef enum { USE_TOKEN, USE_HEAD, USE_TEXT, USE_LOOKUP } MatrixUse;

typedef struct {
    Matrix *matrix;
    MatrixUse use;
} MatrixEntry;

typedef struct Model {
    Config config;
    const Family *family;
    Weights weights;
    const Kernels *kernels;
    Matrix tok_emb;          /* [vocab_size, d_model]; RoFormer: [vocab_size, d_embed] */
    Matrix lm_head;          /* the same; tok_emb itself where tied */
    const float *final_norm; /* [d_model]; RoFormer has none */
    Encoder encoder;         /* RoFormer */
    Layer *layers;           /* [n_layers] */
    MatrixEntry *matrices;   /* [n_matrices]: all of the above */
    size_t n_matrices;
    float *vectors;          /* owns the norms and biases, as f32 */
    uint8_t *panels;         /* [panels_size]: owns the repacked and the copied matrices, or NULL */
    size_t panels_size;
    size_t n_parameters;     /* of the tensors in use */
    int min_group;           /* the smallest matrix_group of a weight; 0 where none is quantized */
    double *favor_w;         /* FAVOR+'s projection, one for all layers and heads, or NULL (attention/linear.h) */
    uint8_t *used;           /* [weights.n_tensors]: 1 where the model uses the tensor; the others are extra */
} Model;

typedef struct {
    const Kernels *kernels; /* NULL: the fastest this CPU runs */
    ConfigOverride config;
    int threads;            /* to repack weights with; 0: as many as are worth using */
    int copy; /* float weights are copied to large pages: opening takes longer, each token less; never other results */
} ModelOptions;

/* Open path; options may be NULL. 0, or a negative errno and one line naming the file and what is wrong with it;
 * nothing is held then. */
int model_open(Model *m, const char *path, const ModelOptions *options, char *err, size_t errlen);
/* The same for a file in memory, which must outlive the model. */
int model_open_memory(Model *m, const void *data, size_t size, const char *name, const ModelOptions *options, char *err,
                      size_t errlen);
void model_close(Model *m); /* accepts a zeroed struct */

int model_has_logits(const Model *m); /* every decoder has, and a RoFormer with a language model's head */

/* The name of the classifier's label i, 0 <= i < n_labels, not NUL-terminated, *len bytes; *len 0: the file gives it
 * none. Owned by the file. */
const char *model_label(const Model *m, int i, size_t *len);

/* fingerprint.c: a number that all but surely tells two models apart: of the sizes, settings, tensor names and a sample
 * of every tensor's bytes. */
uint64_t model_fingerprint(const Model *m);

/* repack.c: the matrices' panels or copies, where m->kernels or the options (NULL: none) want them, when a model is
 * opened. 0, or -ENOMEM and a line. */
int model_repack(Model *m, const ModelOptions *o, char *err, size_t errlen);
void model_unpack(Model *m); /* frees them */

#endif
