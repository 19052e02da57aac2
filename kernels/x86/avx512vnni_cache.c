/* kernels/x86/avx512vnni_cache.c - avx512_cache.h with VNNI, whose dpbusd multiplies bytes without a sign by bytes with
 * one: keys + 128 by q, weights by values. */
#include "avx512.h"
#include "avx512_vectors.h"

enum { KEYS_OFF_128 = 1 };
typedef __m512i Keys;

#include "avx512_cache.h"

INLINE Keys keys_of(Line k) { return _mm512_xor_si512(k, _mm512_set1_epi8(-128)); }
INLINE Ints dot_values(Ints sum, Line w, Line v) { return _mm512_dpbusd_epi32(sum, w, v); }
INLINE Ints dot_keys(Ints sum, Keys k, Line q) { return _mm512_dpbusd_epi32(sum, k, q); }

const CacheKernels avx512vnni_cache = {
    .narrow = narrow, .widen = widen, .widen_keys = widen_keys, .scores_q8 = scores_q8, .mix_q8 = mix_q8};
