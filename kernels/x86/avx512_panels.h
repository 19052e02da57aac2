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
    v = pin(v); /* loaded once for all that it holds */
    __m512i moved = v;
    if (from > to) moved = _mm512_srli_epi16(v, (unsigned)(from - to));
    if (from < to) moved = _mm512_slli_epi16(v, (unsigned)(to - from));
    return _mm512_and_si512(moved, _mm512_set1_epi8((char)(mask << to)));
}

/* The values + 128, as panels of 16 rows hold bytes. */
INLINE Line values_of(int table, Line q) {
    __m128i signs = _mm_set1_epi8((char)0x80),
            values = _mm_loadu_si128((const __m128i *)(const void *)value_table(table));
    return _mm512_shuffle_epi8(_mm512_broadcast_i32x4(_mm_xor_si128(values, signs)), q);
}

/* Whether codes times their sub-block's sc fit bytes: Q2_K, q * sc, up to 45, and Q3_K, (4 - q) * sc, -128 .. 124, to
 * which 128 are added as to all bytes. */
INLINE int scaled_codes(Form f) { return f.sub == 16 && f.bits <= 3 && !f.values; }
INLINE int negates(Form f) { return f.bits == 3; }

/* What codes 0 .. 3 of 16 rows come to, four bytes of a row behind each other; what a third bit adds, four times. */
typedef struct {
    __m512i few, more;
} Products;

INLINE __m512i places(void) { /* of each row's first byte, four times: rows of 128 bits are looked up by themselves */
    return _mm512_broadcast_i32x4(_mm_setr_epi32(0, 0x04040404, 0x08080808, 0x0c0c0c0c));
}

INLINE Products products_of(Form f, const uint8_t *sc) {
    __m512i rows = ints_load_bytes(sc);
    if (f.bits == 2) return (Products){.few = _mm512_mullo_epi32(rows, _mm512_set1_epi32(0x03020100))};
    __m512i few = _mm512_add_epi32(_mm512_mullo_epi32(rows, _mm512_set1_epi32(0x01020304)),
                                   _mm512_set1_epi32((int)0x80808080)); /* no byte runs over into the next */
    return (Products){few, .more = _mm512_sub_epi8(_mm512_set1_epi8(-128), _mm512_shuffle_epi8(few, places()))};
}

/* Of columns 4j .. 4j+3. */
INLINE Line scaled_codes_at(Form f, const uint8_t *lines, int j, Products p) {
    __m512i pairs = _mm512_srli_epi16(pin(line_at(lines, j / 4)), (unsigned)(j % 4 * 2));
    __m512i at = _mm512_ternarylogic_epi32(pairs, _mm512_set1_epi8(3), places(), 0xea); /* pairs & 3 | places */
    __m512i few = _mm512_shuffle_epi8(p.few, at);
    if (f.bits == 2) return few;
    __mmask64 third = _mm512_test_epi8_mask(pin(line_at(lines, 2)), _mm512_set1_epi8((char)(1 << j)));
    return _mm512_mask_add_epi8(few, third, few, p.more);
}

#endif
