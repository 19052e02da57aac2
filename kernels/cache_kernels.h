/* kernels/cache_kernels.h - the group of functions (kernels.h) for the numbers of a cache that are made floats before
 * a product, and not in it (attention/cache_formats.c). They have the same bits in every row. */
#ifndef CACHE_KERNELS_H
#define CACHE_KERNELS_H

#include "attention_kernels.h"

typedef struct CacheKernels {
    /* out[i] = x[i], a half float, exactly; [n] */
    void (*widen)(float *out, const uint16_t *x, size_t n);

    /* out[i*lanes + j] = scales[i / Q_BLOCK * lanes + j] * q[i*lanes + j], i < n, j < lanes; lanes: 1 or KEY_LANES.
     * Exact. */
    void (*widen_q8)(float *out, const uint16_t *scales, const int8_t *q, size_t n, size_t lanes);
} CacheKernels;

extern const CacheKernels ref_cache; /* ref_cache.c: the specification */

#endif
