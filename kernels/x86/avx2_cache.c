/* kernels/x86/avx2_cache.c - avx2_cache.h with AVX2 alone. Bytes are multiplied by maddubs, which wants one factor
 * without a sign: |k|, and q with k's sign; or a weight, which has none. Two products of at most 128 * 127 fit its 16
 * bits. */
#include "avx2.h"
#include "avx2_vectors.h"

enum { KEYS_OFF_128 = 0 };
typedef struct {
    __m256i magnitude, k;
} Keys;

#include "avx2_cache.h"

INLINE Keys keys_of(Line k) { return (Keys){_mm256_abs_epi8(k), k}; }

INLINE Ints dot_values(Ints sum, Line w, Line v) {
    return pin(_mm256_add_epi32(sum, _mm256_madd_epi16(_mm256_maddubs_epi16(w, v), _mm256_set1_epi16(1))));
}

INLINE Ints dot_keys(Ints sum, Keys k, Line q) { return dot_values(sum, k.magnitude, _mm256_sign_epi8(q, k.k)); }

const CacheKernels avx2_cache = {
    .narrow = narrow, .widen = widen, .widen_keys = widen_keys, .scores_q8 = scores_q8, .mix_q8 = mix_q8};
