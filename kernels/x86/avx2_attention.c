/* kernels/x86/avx2_attention.c - attention for the AVX2 row: attention_tiles.h, softmax_rows.h, state_tiles.h. Against
 * ref: FMA rounds once where ref rounds twice; exp is vectors.h's polynomial. */
#include "avx2.h"
#include "avx2_vectors.h"
#include "kernels/attention_tiles.h"
#include "kernels/softmax_rows.h"
#include "kernels/state_tiles.h"
#include "kernels/delta_tiles.h"

/* 6 queries x 16 columns, 2 x 32 or 1 x 64: 12 or 8 of the 16 registers are sums. */
INLINE size_t groups_at_once(size_t rows) { return rows == 1 ? 4 : rows == 2 ? 2 : 1; }

INLINE Vec vec_max_seen(Vec max, Vec x) { return _mm256_max_ps(x, max); } /* of a NaN and another, the second operand */
INLINE float vec_first(Vec v) { return _mm256_cvtss_f32(v); }

INLINE float vec_largest(Vec v) {
    __m128 m = _mm_max_ps(_mm256_castps256_ps128(v), _mm256_extractf128_ps(v, 1));
    m = _mm_max_ps(m, _mm_movehl_ps(m, m));
    return _mm_cvtss_f32(_mm_max_ss(m, _mm_movehdup_ps(m)));
}

INLINE Vec vec_inside(Vec x, int t, Span span) {
    __m256i at = _mm256_add_epi32(_mm256_set1_epi32(t), _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7));
    __m256i before = _mm256_cmpgt_epi32(_mm256_set1_epi32(span.lo), at);
    __m256i below = _mm256_cmpgt_epi32(_mm256_set1_epi32(span.hi), at);
    return _mm256_blendv_ps(_mm256_set1_ps(-INFINITY), x, _mm256_castsi256_ps(_mm256_andnot_si256(before, below)));
}

const AttentionKernels avx2_attention = {
    .scores = scores, .rotate = rotate, .softmax = softmax, .mix = mix, .state_step = state_step, .delta = delta};
