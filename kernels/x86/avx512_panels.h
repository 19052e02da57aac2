/* kernels/x86/avx512_panels.h - reading panels of 16 rows with vectors of 512 bits: panel_codes.h's words. */
#ifndef AVX512_PANELS_H
#define AVX512_PANELS_H

#include "avx512_vectors.h"

typedef __m512i Line;

#include "kernels/codes.h"
#include "kernels/panel_codes.h"

INLINE Line line_at(const uint8_t *lines, int j) { return _mm512_load_si512((const void *)(lines + 64 * j)); }

INLINE Line no_codes(void) { return _mm512_setzero_si512(); }
INLINE Line either(Line a, Line b) { return _mm512_or_si512(a, b); }

INLINE Line field(Line v, int from, int to, int mask) {
    __m512i moved = v;
    if (from > to) moved = _mm512_srli_epi16(v, (unsigned)(from - to));
    if (from < to) moved = _mm512_slli_epi16(v, (unsigned)(to - from));
    return _mm512_and_si512(moved, _mm512_set1_epi8((char)(mask << to)));
}

/* The values + 128, as panels of 16 rows hold bytes. */
INLINE Line values_of(int table, Line q) {
    __m128i signs = _mm_set1_epi8((char)0x80),
            values = _mm_loadu_si128((const __m128i *)(table == VALUES_MXFP4 ? mxfp4_values : iq4_values));
    return _mm512_shuffle_epi8(_mm512_broadcast_i32x4(_mm_xor_si128(values, signs)), q);
}

#endif
