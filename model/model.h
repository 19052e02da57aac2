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
#include "model/files/weights.h"

typedef struct Family Family;             /* family.h */
typedef struct ModelOptions ModelOptions; /* options.h */

typedef struct {
    size_t window;                       /* positions a query sees, its own included; 0: all */
    const float *attn_norm, *ffn_norm;   /* [d_model] */
    const float *q_norm, *k_norm;        /* [head_dim], or NULL (qwen3 has them) */
    Matrix wq, wk, wv; /* [n_heads*head_dim, d_model], [kv_dim, d_model] x 2; kv_dim = n_kv_heads*head_dim */
    Matrix wo;                           /* [d_model, n_heads*head_dim] */
    Matrix w_gate, w_up, w_down;         /* [d_ff, d_model] x 2, [d_model, d_ff]; GAU-alpha: roformer.h */
    const float *bq, *bk, *bv, *bo;      /* biases of these, or NULL */
    const float *b_gate, *b_up, *b_down;
} Layer;

typedef struct Model {
    Config config;
    const Family *family;
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
    float **vectors;         /* [weights.n_tensors]: owns the norms and biases, as f32 */
    uint8_t *panels;         /* [panels_size]: owns the repacked and the copied matrices, or NULL */
    size_t panels_size;
    double *favor_w;         /* FAVOR+'s projection, one for all layers and heads, or NULL (attention/linear.h) */
} Model;

/* Open path; options may be NULL. 0, or a negative errno and one line naming the file and what is wrong with it;
 * nothing is held then. */
int model_open(Model *m, const char *path, const ModelOptions *options, char *err, size_t errlen);
/* The same for a file in memory, which must outlive the model. */
int model_open_memory(Model *m, const void *data, size_t size, const char *name, const ModelOptions *options, char *err,
                      size_t errlen);
void model_close(Model *m); /* accepts a zeroed struct */

/* What the core leaves out of opening (more.c): other kernels where the options (may be NULL) say so, matrices
 * rearranged for them, FAVOR+'s projection. 0, or a negative errno and a line. */
int model_more(Model *m, const ModelOptions *o, char *err, size_t errlen);

#endif
