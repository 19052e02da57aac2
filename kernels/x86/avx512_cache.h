/* kernels/x86/avx512_cache.h - the cache's numbers for the AVX-512 rows: cache_tiles.h. The file that includes it
 * defines dot_values, keys_of and dot_keys. */
#ifndef AVX512_CACHE_H
#define AVX512_CACHE_H

#include "avx512.h"
#include "avx512_vectors.h"

enum { MOST_ROWS = 8 };
typedef __m512i Line;

#include "kernels/cache_tiles.h"

INLINE Line line_load(const uint8_t *p) { return pin(_mm512_loadu_si512((const void *)p)); }
INLINE Line line_all(const int8_t *p) { return broadcast4(p); }
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
        float per = bytes_scale(&scale[t], amax);
        Vec by = vec_all(per);
        const __mmask16 any = per > 0 ? 0xffff : 0;
        __m128i low = _mm512_cvtepi32_epi8(_mm512_cvtps_epi32(_mm512_maskz_mul_ps(any, a, by)));
        __m128i high = _mm512_cvtepi32_epi8(_mm512_cvtps_epi32(_mm512_maskz_mul_ps(any, b, by)));
        _mm_storeu_si128((__m128i *)(void *)(q[t] + off), low);
        _mm_storeu_si128((__m128i *)(void *)(q[t] + off + VEC), high);
    }
}

#endif
