/* kernels/x86/avx2_cache.h - the cache's numbers for the rows with vectors of 256 bits: cache_tiles.h. The file that
 * includes it says what Keys are and whether they are off by 128, and defines dot_values, keys_of and dot_keys. */
#ifndef AVX2_CACHE_H
#define AVX2_CACHE_H

enum { MOST_ROWS = 4 };
typedef __m256i Line;

#include "kernels/cache_tiles.h"

INLINE Line line_load(const uint8_t *p) { return pin(_mm256_loadu_si256((const __m256i *)(const void *)p)); }
INLINE Line line_all(const int8_t *p) { return broadcast4(p); }
INLINE Vec line_floats(Line v, int i) {
    return _mm256_cvtepi32_ps(_mm256_srai_epi32(_mm256_sll_epi32(v, _mm_cvtsi32_si128(24 - 8 * i)), 24));
}

/* Of 16 registers four are sums, and four the floats they become. */
INLINE size_t strips_at_once(size_t rows) { return 4 / rows; }

INLINE void weight_bytes(int Q, int8_t (*q)[WEIGHTS], float *scale, const WeightsJob *job) {
    weight_bytes_by(avx2_quantize, Q, q, scale, job);
}

#endif
