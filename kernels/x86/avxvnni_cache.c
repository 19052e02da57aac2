/* kernels/x86/avxvnni_cache.c - avx2_cache.h with AVX-VNNI, whose dpbusd multiplies bytes without a sign by bytes with
 * one: keys + 128 by q, weights by values. */
#include "avx2.h"
#include "avx2_vectors.h"

enum { KEYS_OFF_128 = 1 };
typedef __m256i Keys;

#include "avx2_cache.h"

INLINE Keys keys_of(Line k) { return _mm256_xor_si256(k, _mm256_set1_epi8(-128)); }
INLINE Ints dot_values(Ints sum, Line w, Line v) { return pin(_mm256_dpbusd_avx_epi32(sum, w, v)); }
INLINE Ints dot_keys(Ints sum, Keys k, Line q) { return dot_values(sum, k, q); }

const CacheKernels avxvnni_cache = {
    .narrow = narrow, .widen = widen, .widen_keys = widen_keys, .scores_q8 = scores_q8, .mix_q8 = mix_q8};
