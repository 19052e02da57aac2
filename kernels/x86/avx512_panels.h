/* kernels/x86/avx512_panels.h - reading panels of 16 rows with vectors of 512 bits: panel_codes.h's words. */
#ifndef AVX512_PANELS_H
#define AVX512_PANELS_H

#include "avx512_vectors.h"

typedef __m512i Line;

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
INLINE Line values_of(Line q) {
    const __m128i table = _mm_setr_epi8(1, 24, 45, 63, 79, 93, 106, 118, -127, -115, -103, -90, -75, -59, -39, -15);
    return _mm512_shuffle_epi8(_mm512_broadcast_i32x4(table), q);
}

#endif
