/* kernels/x86/avx512_cache.h - the cache's numbers for the AVX-512 rows: cache_tiles.h. The file that includes it
 * defines dot_values, keys_of and dot_keys. */
#ifndef AVX512_CACHE_H
#define AVX512_CACHE_H

#include "avx512.h"
#include "avx512_vectors.h"

#include <math.h>

enum { MOST_ROWS = 8 };
typedef __m512i Line;
typedef __m512i Ints;

#include "kernels/cache_tiles.h"

INLINE Line line_load(const uint8_t *p) {
    __m512i v = _mm512_loadu_si512((const void *)p);
    __asm__("" : "+v"(v));
    return v;
}

INLINE Line line_all(const int8_t *p) {
    int32_t v;
    memcpy(&v, p, 4);
    return _mm512_set1_epi32(v);
}

INLINE Ints ints_all(int32_t x) { return _mm512_set1_epi32(x); }
INLINE Vec ints_to_floats(Ints v) { return _mm512_cvtepi32_ps(v); }
INLINE Vec line_floats(Line v, int i) {
    return _mm512_cvtepi32_ps(_mm512_srai_epi32(_mm512_sll_epi32(v, _mm_cvtsi32_si128(24 - 8 * i)), 24));
}

/* Up to 16 of 32 registers are sums. */
INLINE size_t strips_at_once(size_t rows) { return rows >= 4 ? 2 : 4; }

/* As integers the bits of floats without a sign have their order, a NaN on top. */
INLINE void weight_bytes(int Q, int8_t (*q)[WEIGHTS], size_t off, float *scale, float (*w)[Q_BLOCK]) {
    UNROLL
    for (int t = 0; t < Q; t++) {
        Vec a = vec_load(w[t]), b = vec_load(w[t] + VEC);
        __m512i top = _mm512_max_epi32(_mm512_castps_si512(_mm512_abs_ps(a)), _mm512_castps_si512(_mm512_abs_ps(b)));
        float amax = _mm_cvtss_f32(_mm_castsi128_ps(_mm_cvtsi32_si128(_mm512_reduce_max_epi32(top))));
        float per = amax >= 1e-30f && amax <= 3.4028234e38f ? 127 / amax : 0;
        scale[t] = amax < 1e-30f ? 0 : per > 0 ? amax / 127 : NAN;
        Vec by = vec_all(per);
        const __mmask16 any = per > 0 ? 0xffff : 0;
        __m128i low = _mm512_cvtepi32_epi8(_mm512_cvtps_epi32(_mm512_maskz_mul_ps(any, a, by)));
        __m128i high = _mm512_cvtepi32_epi8(_mm512_cvtps_epi32(_mm512_maskz_mul_ps(any, b, by)));
        _mm_storeu_si128((__m128i *)(void *)(q[t] + off), low);
        _mm_storeu_si128((__m128i *)(void *)(q[t] + off + VEC), high);
    }
}

#endif
