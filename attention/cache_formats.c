/* attention/cache_formats.c - the table of what a cache's numbers are kept as; q8_0, and the making of floats. */
#include "wide.h"

#include "kernels/cache_kernels.h"

static void store_q8_0(CacheSlot to, const float *x, const Kernels *kernels) {
    int8_t q[Q_BLOCK];
    float scale;
    for (size_t at = 0, n; at < to.n; at += n) {
        n = to.n - at < Q_BLOCK ? to.n - at : Q_BLOCK;
        kernels->mat->quantize(q, &scale, x + at, n, (int)n);
        kernels->att->narrow(to.scales + at / Q_BLOCK * to.step, &scale, 1);
        for (size_t i = 0; i < n; i++) ((int8_t *)to.entries)[(at + i) * to.step] = q[i];
    }
}

static void keys_f16(float *out, const KVCache *c, const uint8_t *k, size_t groups, const Kernels *kernels) {
    kernels->cache->widen(out, (const uint16_t *)(const void *)k, groups * (size_t)c->head_dim * KEY_LANES);
}

static void values_f16(float *out, const KVCache *c, const uint8_t *row, size_t at, size_t width,
                       const Kernels *kernels) {
    (void)c;
    kernels->cache->widen(out, (const uint16_t *)(const void *)row + at, width);
}

static void keys_q8_0(float *out, const KVCache *c, const uint8_t *k, size_t groups, const Kernels *kernels) {
    size_t d = (size_t)c->head_dim, scales = (d + Q_BLOCK - 1) / Q_BLOCK * KEY_LANES;
    for (size_t g = 0; g < groups; g++, k += c->group_bytes, out += d * KEY_LANES)
        kernels->cache->widen_q8(out, (const uint16_t *)(const void *)k, (const int8_t *)k + 2 * scales, d, KEY_LANES);
}

static void values_q8_0(float *out, const KVCache *c, const uint8_t *row, size_t at, size_t width,
                        const Kernels *kernels) {
    const uint16_t *scales = (const uint16_t *)(const void *)row;
    const int8_t *q = (const int8_t *)(scales + (c->value_width + Q_BLOCK - 1) / Q_BLOCK);
    kernels->cache->widen_q8(out, scales + at / Q_BLOCK, q + at, width, 1);
}

/* Half floats are made floats by the product itself where queries are few; bytes always come first. */
static const CacheWide wide_f16 = {.from = 17, .keys = keys_f16, .values = values_f16};
static const CacheWide wide_q8_0 = {.from = 0, .keys = keys_q8_0, .values = values_q8_0};

const CacheFormat cache_formats[] = {
    [CACHE_F32] = {"f32", 4, 0, cache_store_f32, NULL},
    [CACHE_F16] = {"f16", 2, 0, cache_store_f16, &wide_f16},
    [CACHE_Q8_0] = {"q8_0", 1, 1, store_q8_0, &wide_q8_0},
    {0},
};
