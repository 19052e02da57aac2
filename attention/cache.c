/* attention/cache.c - keys and values of the past. */
#include "attention.h"

#include "../base/base.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static size_t head_floats(const KVCache *c) { return c->n_ctx * (size_t)c->head_dim; }

size_t cache_bytes(const KVCache *c) { return 2 * (size_t)c->n_layers * (size_t)c->n_kv_heads * head_floats(c) * sizeof(float); }

int cache_init(KVCache *c, CacheType type, int n_layers, int n_kv_heads, int head_dim, size_t n_ctx, char *err, size_t errlen) {
    memset(c, 0, sizeof *c);
    size_t n = 2 * sizeof(float);
    if (!size_mul(n, (size_t)n_layers, &n) || !size_mul(n, (size_t)n_kv_heads, &n) || !size_mul(n, (size_t)head_dim, &n) ||
        !size_mul(n, n_ctx, &n))
        return base_error(err, errlen, -EOVERFLOW, "a context of %zu is too long for this machine; give a smaller one (-c)", n_ctx);
    void *p = calloc(1, n); /* of this size it comes as zero pages, taken as they are written */
    if (!p)
        return base_error(err, errlen, -ENOMEM,
                          "a context of %zu needs %.1f GB for keys and values, more than there is; give a smaller one (-c)",
                          n_ctx, (double)n / 1e9);
    *c = (KVCache){.type = type, .n_layers = n_layers, .n_kv_heads = n_kv_heads, .head_dim = head_dim, .n_ctx = n_ctx, .k = p};
    c->v = c->k + n / 2 / sizeof(float);
    return 0;
}

void cache_free(KVCache *c) {
    free(c->k);
    memset(c, 0, sizeof *c);
}

void cache_store(KVCache *c, int l, int h, size_t pos, const float *k, const float *v) {
    size_t d = (size_t)c->head_dim, at = ((size_t)l * (size_t)c->n_kv_heads + (size_t)h) * head_floats(c) + pos * d;
    memcpy(c->k + at, k, d * sizeof *k);
    memcpy(c->v + at, v, d * sizeof *v);
}
