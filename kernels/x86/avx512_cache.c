/* kernels/x86/avx512_cache.c - avx512_cache.h without VNNI: bytes are multiplied as in avx2_cache.c. */
#include "avx512.h"
#include "avx512_vectors.h"

enum { KEYS_OFF_128 = 0 };
typedef struct {
    __m512i magnitude;
    __mmask64 negative;
} Keys;

#include "avx512_cache.h"

INLINE Keys keys_of(Line k) { return (Keys){_mm512_abs_epi8(k), _mm512_movepi8_mask(k)}; }

INLINE Ints dot_values(Ints sum, Line w, Line v) {
    return _mm512_add_epi32(sum, _mm512_madd_epi16(_mm512_maddubs_epi16(w, v), _mm512_set1_epi16(1)));
}

INLINE Ints dot_keys(Ints sum, Keys k, Line q) {
    return dot_values(sum, k.magnitude, _mm512_mask_sub_epi8(q, k.negative, _mm512_setzero_si512(), q));
}

const CacheKernels avx512_cache = {
    .narrow = narrow, .widen = widen, .widen_keys = widen_keys, .scores_q8 = scores_q8, .mix_q8 = mix_q8};
