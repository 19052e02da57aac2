/* attention/cache.c - keys and values of the past. */
#include "attention.h"

#include "../base/base.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Floats of all keys, each entries wide, or of all values. */
static size_t floats(const KVCache *c, int each) {
    return (size_t)c->n_layers * (size_t)c->n_kv_heads * c->n_ctx * (size_t)each;
}

size_t cache_bytes(const KVCache *c) { return (floats(c, c->head_dim) + floats(c, c->value_dim)) * sizeof(float); }

int cache_init(KVCache *c, CacheType type, int n_layers, int n_kv_heads, int head_dim, int value_dim, size_t n_ctx, char *err,
               size_t errlen) {
    memset(c, 0, sizeof *c);
    size_t n = (size_t)head_dim + (size_t)value_dim;
    if (!size_mul(n, sizeof(float), &n) || !size_mul(n, (size_t)n_layers, &n) || !size_mul(n, (size_t)n_kv_heads, &n) ||
        !size_mul(n, n_ctx, &n))
        return base_error(err, errlen, -EOVERFLOW, "a context of %zu is too long for this machine; give a smaller one (-c)", n_ctx);
    void *p = calloc(1, n); /* of this size it comes as zero pages, taken as they are written */
    if (!p)
        return base_error(err, errlen, -ENOMEM,
                          "a context of %zu needs %.1f GB for keys and values, more than there is; give a smaller one (-c)",
                          n_ctx, (double)n / 1e9);
    *c = (KVCache){.type = type, .n_layers = n_layers, .n_kv_heads = n_kv_heads, .head_dim = head_dim, .value_dim = value_dim,
                   .n_ctx = n_ctx, .k = p};
    c->v = c->k + floats(c, head_dim);
    return 0;
}

void cache_free(KVCache *c) {
    free(c->k);
    memset(c, 0, sizeof *c);
}

void cache_store(KVCache *c, int l, int h, size_t slot, const float *k, const float *v) {
    size_t d = (size_t)c->head_dim, vd = (size_t)c->value_dim, at = ((size_t)l * (size_t)c->n_kv_heads + (size_t)h) * c->n_ctx + slot;
    memcpy(c->k + at * d, k, d * sizeof *k);
    memcpy(c->v + at * vd, v, vd * sizeof *v);
}
