/* kernels/cache_loops.h - a cache's half floats and bytes, to floats and back (cache_kernels.h), whatever the width of
 * a vector. A row includes it behind its vectors (vectors.h). Exact, or rounded as IEEE 754 says: every row has the
 * same bits. */
#ifndef CACHE_LOOPS_H
#define CACHE_LOOPS_H

#include "cache_kernels.h"
#include "inline.h"

static void narrow(uint16_t *out, const float *x, size_t n) {
    size_t i = 0;
    for (; i + VEC <= n; i += VEC) vec_store_half(out + i, vec_load(x + i));
    for (; i < n; i++) out[i] = float_to_half(x[i]);
}

static void widen(float *out, const uint16_t *x, size_t n) {
    size_t i = 0;
    for (; i + VEC <= n; i += VEC) vec_store(out + i, vec_load_half(x + i));
    for (; i < n; i++) out[i] = half_to_float(x[i]);
}

/* n rows of keys, entry by entry KEY_LANES side by side, and as many scales side by side for each 32 rows. */
INLINE void widen_keys(float *out, const uint16_t *scales, const int8_t *q, size_t n) {
    for (size_t i = 0; i < n; i++, out += KEY_LANES, q += KEY_LANES) {
        const uint16_t *scale = scales + i / Q_BLOCK * KEY_LANES;
        UNROLL
        for (size_t v = 0; v < KEY_LANES; v += VEC)
            vec_store(out + v, vec_mul(vec_load_half(scale + v), vec_load_bytes(q + v)));
    }
}

static void widen_q8(float *out, const uint16_t *scales, const int8_t *q, size_t n, size_t lanes) {
    if (lanes == KEY_LANES) {
        widen_keys(out, scales, q, n);
        return;
    }
    for (size_t at = 0; at < n; at += Q_BLOCK) {
        size_t end = n - at < Q_BLOCK ? n : at + Q_BLOCK, i = at;
        float scale = half_to_float(scales[at / Q_BLOCK]);
        for (; i + VEC <= end; i += VEC) vec_store(out + i, vec_mul(vec_all(scale), vec_load_bytes(q + i)));
        for (; i < end; i++) out[i] = scale * (float)q[i];
    }
}

#endif
