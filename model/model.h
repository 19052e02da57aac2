/* model/model.h - a decoder of the LLaMA family, opened from any file: its tensors by name, each with its shape checked.
 *
 *     Model m;
 *     if (model_open(&m, "model.gguf", NULL, err, sizeof err)) ...
 *     Session s;                                          (session.h)
 *     ...
 *     model_close(&m);
 *
 * A Model is read-only once open: any number of sessions, in any number of threads, may share it. */
#ifndef MODEL_H
#define MODEL_H

#include "../kernels/kernels.h"
#include "config.h"

typedef struct {
    size_t window;                       /* positions a query sees, its own included; 0: all */
    const float *attn_norm, *ffn_norm;   /* [d_model] */
    const float *q_norm, *k_norm;        /* [head_dim], or NULL (qwen3 has them) */
    Matrix wq, wk, wv;                   /* [n_heads*head_dim, d_model], [kv_dim, d_model] x 2; kv_dim = n_kv_heads*head_dim */
    Matrix wo;                           /* [d_model, n_heads*head_dim] */
    Matrix w_gate, w_up, w_down;         /* [d_ff, d_model] x 2, [d_model, d_ff] */
    const float *bq, *bk, *bv, *bo;      /* biases of these, or NULL */
    const float *b_gate, *b_up, *b_down;
} Layer;

typedef struct {
    Config config;
    Weights weights;
    const Kernels *kernels;
    Matrix tok_emb;          /* [vocab_size, d_model] */
    Matrix lm_head;          /* [vocab_size, d_model]; tok_emb itself where tied */
    const float *final_norm; /* [d_model] */
    Layer *layers;           /* [n_layers] */
    float *vectors;          /* owns the norms and biases, as f32 */
    size_t n_parameters;     /* of the tensors in use */
    int min_group;           /* the smallest matrix_group of a weight; 0 where none is quantized */
    double *favor_w;         /* FAVOR+'s projection, one for all layers and heads, or NULL (attention/linear.h) */
    uint8_t *used;           /* [weights.n_tensors]: 1 where the model uses the tensor; the others are extra */
} Model;

typedef struct {
    const Kernels *kernels; /* NULL: the fastest this CPU runs */
    RopeOverride rope;
    AttentionOverride attention;
} ModelOptions;

/* Open path; options may be NULL. 0, or a negative errno and one line naming the file and what is wrong with it; nothing is
 * held then. */
int model_open(Model *m, const char *path, const ModelOptions *options, char *err, size_t errlen);
/* The same for a file in memory, which must outlive the model. */
int model_open_memory(Model *m, const void *data, size_t size, const char *name, const ModelOptions *options, char *err, size_t errlen);
void model_close(Model *m); /* accepts a zeroed struct */

/* A number that tells two models apart: of the sizes, settings, tensor names and a sample of every tensor's bytes. */
uint64_t model_fingerprint(const Model *m);

#endif
