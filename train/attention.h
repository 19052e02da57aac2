/* train/attention.h - attention over a batch of texts, and its gradients: softmax (softmax.c) and linear (states.c).
 *
 * Texts are of equal length: token t of text b is row b * length + t of q [n, n_heads, head_dim], k and v [n,
 * n_kv_heads, head_dim]. Shared among threads are texts and key/value heads; README.md derives both. */
#ifndef TRAIN_ATTENTION_H
#define TRAIN_ATTENTION_H

#include "attention/phi.h"
#include "parts.h"

typedef struct {
    size_t texts, length, n_heads, n_kv_heads, head_dim;
    int causal;
    size_t window;        /* keys that a query sees, its own included; 0: all */
    const float *scale;   /* [length]: of the scores of a query at that position: 1 / sqrt(head_dim), log n on it */
    const float *bias;    /* [n_heads, 2 length - 1]: added to a score, by length - 1 + query - key; NULL: none */
    int keeps_weights;    /* softmax: P stays in memory from forward to backward; else backward makes it again */
} AttentionBatch;

/* Floats that softmax_forward leaves for softmax_backward. */
size_t softmax_kept(const AttentionBatch *a);
/* out [n, n_heads, head_dim] = softmax(scale q k^T + bias) v; kept [softmax_kept]: P, or the log of each softmax's sum
 * [n, n_heads], from which the gradients' pass makes P again. q and k are rotated. */
void softmax_forward(Work *w, float *out, float *kept, const float *q, const float *k, const float *v,
                     const AttentionBatch *a);
/* dq, dk, dv from dout; dbias (NULL where there is no bias) [texts, n_heads, 2 length - 1] is written, a text's own. */
void softmax_backward(Work *w, float *dq, float *dk, float *dv, float *dbias, const float *dout, const float *out,
                      float *kept, const float *q, const float *k, const float *v, const AttentionBatch *a);
void softmax_reserve(Work *w, const AttentionBatch *a);

/* Linear attention. q and k are not rotated: c's form says which features are, by r. projection [head_dim, rows]:
 * favor+'s, else NULL. den [n, n_heads]: what stands below the line. */
typedef struct {
    const LinearConfig *c;
    const FeatureMap *key_map; /* phi of keys; c->phi is the queries' */
    const Turning *r;
    const float *projection;
} LinearParts;
void states_forward(Work *w, float *out, float *den, const float *q, const float *k, const float *v,
                    const LinearParts *p, const AttentionBatch *a);
void states_backward(Work *w, float *dq, float *dk, float *dv, const float *dout, const float *out, const float *den,
                     const float *q, const float *k, const float *v, const LinearParts *p, const AttentionBatch *a);
void states_reserve(Work *w, const LinearParts *p, const AttentionBatch *a);
/* 0, or -EINVAL and a line: a map whose gradient is not known here. */
int states_check(const LinearParts *p, char *err, size_t errlen);

#endif
