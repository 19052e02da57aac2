/* kernels/x86/avx2_cache.c - the cache's numbers for the AVX2 row: cache_tiles.h. Bytes are multiplied by maddubs,
 * which wants one factor without a sign: |k|, and q with k's sign; or a weight, which has none. Two products of at most
 * 128 * 127 fit its 16 bits. */
#include "avx2.h"
#include "avx2_vectors.h"

enum { MOST_ROWS = 4, KEYS_OFF_128 = 0 };
typedef __m256i Line;
typedef struct {
    __m256i magnitude, k;
} Keys;

#include "kernels/cache_tiles.h"

INLINE Line line_load(const uint8_t *p) { return pin(_mm256_loadu_si256((const __m256i *)(const void *)p)); }
INLINE Line line_all(const int8_t *p) { return broadcast4(p); }
INLINE Vec line_floats(Line v, int i) {
    return _mm256_cvtepi32_ps(_mm256_srai_epi32(_mm256_sll_epi32(v, _mm_cvtsi32_si128(24 - 8 * i)), 24));
}

INLINE Keys keys_of(Line k) { return (Keys){_mm256_abs_epi8(k), k}; }

INLINE Ints dot_values(Ints sum, Line w, Line v) {
    return pin(_mm256_add_epi32(sum, _mm256_madd_epi16(_mm256_maddubs_epi16(w, v), _mm256_set1_epi16(1))));
}

INLINE Ints dot_keys(Ints sum, Keys k, Line q) { return dot_values(sum, k.magnitude, _mm256_sign_epi8(q, k.k)); }

/* Of 16 registers four are sums, and four the floats they become. */
INLINE size_t strips_at_once(size_t rows) { return 4 / rows; }

INLINE void weight_bytes(int Q, int8_t (*q)[WEIGHTS], float *scale, const WeightsJob *job) {
    for (int t = 0; t < Q; t++) {
        float w[Q_BLOCK];
        span_weights(w, job, t);
        avx2_quantize(q[t] + job->off, &scale[t], w, Q_BLOCK, Q_BLOCK);
    }
}

const CacheKernels avx2_cache = {
    .narrow = narrow, .widen = widen, .widen_keys = widen_keys, .scores_q8 = scores_q8, .mix_q8 = mix_q8};
