/* kernels/x86/avx512_cache.h - the cache's numbers for the AVX-512 rows: cache_tiles.h. The file that includes it
 * defines dot_values, keys_of and dot_keys. */
#ifndef AVX512_CACHE_H
#define AVX512_CACHE_H

#include "avx512.h"
#include "avx512_vectors.h"

#include <math.h>

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

/* Half h of query t's w: p_t scale_t. whole: all of it is in the span. */
INLINE Vec weights_of(int whole, int h, const WeightsJob *job, int t) {
    const float *p = job->p + (size_t)t * SCORE_ROW + h * VEC;
    Vec scale = vec_load(job->scales + h * VEC);
    if (whole) return vec_mul(vec_load(p), scale);
    return _mm512_maskz_mul_ps(inside(job->t0 + h * VEC, job->spans[t]), vec_load(p), scale);
}

INLINE __m512i magnitude(Vec x) { return _mm512_castps_si512(_mm512_abs_ps(x)); }

/* The largest of each of Q queries' weights, query t's in lane t; NaN where there is one. As integers the bits of
 * floats without a sign have their order, a NaN on top. */
INLINE __m256 largest_weights(int Q, Vec (*w)[2]) {
    __m512i m[MOST_ROWS];
    UNROLL
    for (int t = 0; t < Q; t++) m[t] = _mm512_max_epi32(magnitude(w[t][0]), magnitude(w[t][1]));
    UNROLL
    for (int t = Q; t < MOST_ROWS; t++) m[t] = m[t % Q];
    UNROLL
    for (int t = 0; t < 4; t++) /* quarters: of t, t, t + 4, t + 4 */
        m[t] = _mm512_max_epi32(_mm512_shuffle_i32x4(m[t], m[t + 4], 0x44), _mm512_shuffle_i32x4(m[t], m[t + 4], 0xee));
    UNROLL
    for (int t = 0; t < 2; t++) /* of t, t + 4, t + 2, t + 6 */
        m[t] = _mm512_max_epi32(_mm512_shuffle_i32x4(m[t], m[t + 2], 0x88), _mm512_shuffle_i32x4(m[t], m[t + 2], 0xdd));
    m[0] = _mm512_max_epi32(_mm512_unpacklo_epi64(m[0], m[1]), _mm512_unpackhi_epi64(m[0], m[1]));
    m[0] = _mm512_max_epi32(m[0], _mm512_shuffle_epi32(m[0], _MM_PERM_CDAB));
    const __m512i row = _mm512_setr_epi32(0, 2, 8, 10, 4, 6, 12, 14, 0, 0, 0, 0, 0, 0, 0, 0);
    return _mm256_castsi256_ps(_mm512_castsi512_si256(_mm512_permutexvar_epi32(row, m[0])));
}

/* bytes_scale of all queries at once. Where `per` is 0, NaN and infinity times 0 are NaN, which becomes the least whole
 * number and is packed to 0. */
INLINE void weights_as_bytes(int whole, int Q, int8_t (*q)[WEIGHTS], float *scale, const WeightsJob *job) {
    const __m512i halves = _mm512_setr_epi32(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15);
    Vec w[MOST_ROWS][2];
    UNROLL
    for (int t = 0; t < Q; t++)
        UNROLL
        for (int h = 0; h < 2; h++) w[t][h] = weights_of(whole, h, job, t);
    const __m256 amax = largest_weights(Q, w), most = _mm256_set1_ps(127);
    const __mmask8 tiny = _mm256_cmp_ps_mask(amax, _mm256_set1_ps(AMAX_LEAST), _CMP_LT_OQ);
    const __mmask8 fits = (__mmask8)~tiny & _mm256_cmp_ps_mask(amax, _mm256_set1_ps(AMAX_MOST), _CMP_LE_OQ);
    __m512 per = _mm512_castps256_ps512(_mm256_maskz_div_ps(fits, most, amax));
    __m256 own = _mm256_mask_div_ps(_mm256_set1_ps(NAN), fits, amax, most);
    _mm256_mask_storeu_ps(scale, (__mmask8)((1u << Q) - 1), _mm256_maskz_mov_ps((__mmask8)~tiny, own));
    UNROLL
    for (int t = 0; t < Q; t += 2) {
        __m512i x[2];
        UNROLL
        for (int i = 0; i < 2; i++) {
            const int row = t + i < Q ? t + i : t;
            Vec by = _mm512_permutexvar_ps(_mm512_set1_epi32(row), per);
            x[i] = _mm512_packus_epi32(_mm512_cvtps_epi32(vec_mul(w[row][0], by)),
                                       _mm512_cvtps_epi32(vec_mul(w[row][1], by)));
        }
        __m512i both = _mm512_permutexvar_epi32(halves, _mm512_packus_epi16(x[0], x[1]));
        _mm256_storeu_si256((__m256i *)(void *)(q[t] + job->off), _mm512_castsi512_si256(both));
        if (t + 1 < Q)
            _mm256_storeu_si256((__m256i *)(void *)(q[t + 1] + job->off), _mm512_extracti64x4_epi64(both, 1));
    }
}

INLINE void weight_bytes(int Q, int8_t (*q)[WEIGHTS], float *scale, const WeightsJob *job) {
    int whole = 1;
    for (int t = 0; t < Q; t++) whole &= job->spans[t].lo <= job->t0 && job->spans[t].hi >= job->t0 + Q_BLOCK;
    if (whole) weights_as_bytes(1, Q, q, scale, job);
    else weights_as_bytes(0, Q, q, scale, job);
}

#endif
