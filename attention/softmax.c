/* attention/softmax.c - one query against the keys it sees: what the chapter (README.md) says in formulas. */
#include "attention.h"

#include <string.h>

void attention_softmax(float *out, const float *q, const KVCache *c, int l, int h, size_t first, size_t end, float scale, float *scores,
                       const Kernels *kernels) {
    size_t d = (size_t)c->head_dim, vd = (size_t)c->value_dim, n = end - first;
    size_t at = ((size_t)l * (size_t)c->n_kv_heads + (size_t)h) * c->n_ctx + first;
    if (n == 0) {
        memset(out, 0, vd * sizeof *out);
        return;
    }
    kernels->scores(scores, q, c->k + at * d, n, d, scale); /* s_j = scale * q . k_j            */
    kernels->softmax(scores, n);                            /* p_j = exp(s_j - max) / sum       */
    kernels->mix(out, scores, c->v + at * vd, n, vd);       /* out = sum_j p_j v_j              */
}
