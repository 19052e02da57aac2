/* attention/softmax.c - one query against the past: what the chapter (README.md) says in formulas. */
#include "attention.h"

void attention_softmax(float *out, const float *q, const KVCache *c, int l, int h, size_t pos, size_t window, float scale,
                       float *scores, const Kernels *kernels) {
    size_t d = (size_t)c->head_dim;
    size_t first = window && pos >= window ? pos + 1 - window : 0, n = pos + 1 - first; /* causal: nothing after pos */
    size_t at = (((size_t)l * (size_t)c->n_kv_heads + (size_t)h) * c->n_ctx + first) * d;
    kernels->scores(scores, q, c->k + at, n, d, scale); /* s_j = scale * q . k_j            */
    kernels->softmax(scores, n);                        /* p_j = exp(s_j - max) / sum       */
    kernels->mix(out, scores, c->v + at, n, d);         /* out = sum_j p_j v_j              */
}
