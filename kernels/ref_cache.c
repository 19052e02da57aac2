/* kernels/ref_cache.c - the reference of a cache's smaller numbers made floats: half floats, bytes with a scale. */
#include "cache_kernels.h"

static void widen(float *out, const uint16_t *x, size_t n) {
    for (size_t i = 0; i < n; i++) out[i] = f16_to_f32(x[i]);
}

static void widen_q8(float *out, const uint16_t *scales, const int8_t *q, size_t n, size_t lanes) {
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < lanes; j++)
            out[i * lanes + j] = f16_to_f32(scales[i / Q_BLOCK * lanes + j]) * (float)q[i * lanes + j];
}

const CacheKernels ref_cache = {.widen = widen, .widen_q8 = widen_q8};
