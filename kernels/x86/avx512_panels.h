/* kernels/x86/avx512_panels.h - reading panels of 16 rows with vectors of 512 bits: codes and scales. */
#ifndef AVX512_PANELS_H
#define AVX512_PANELS_H

#include "avx512.h"

#include <immintrin.h>
#include <string.h>

enum { LANES = 16 };
typedef __m512i Line;

#include "kernels/panel_codes.h"

INLINE Line line_at(const uint8_t *lines, int j) { return _mm512_load_si512((const void *)(lines + 64 * j)); }

INLINE Line no_codes(void) { return _mm512_setzero_si512(); }
INLINE Line either(Line a, Line b) { return _mm512_or_si512(a, b); }

INLINE Line field(Line v, int from, int to, int mask) {
    __m512i moved = from > to ? _mm512_srli_epi16(v, (unsigned)(from - to)) : from < to ? _mm512_slli_epi16(v, (unsigned)(to - from)) : v;
    return _mm512_and_si512(moved, _mm512_set1_epi8((char)(mask << to)));
}

INLINE Line values_of(Line q) {
    const __m128i table = _mm_setr_epi8(1, 24, 45, 63, 79, 93, 106, 118, -127, -115, -103, -90, -75, -59, -39, -15); /* values + 128 */
    return _mm512_shuffle_epi8(_mm512_broadcast_i32x4(table), q);
}

INLINE __m512 half16(const uint8_t *p) { return _mm512_cvtph_ps(_mm256_loadu_si256((const __m256i *)(const void *)p)); }

INLINE __m512 bytes16(const uint8_t *p) {
    return _mm512_cvtepi32_ps(_mm512_cvtepi8_epi32(_mm_loadu_si128((const __m128i *)(const void *)p)));
}

/* Scales (or minima) of sub-block h of block b: d and sc begin at these offsets. */
INLINE __m512 scales_at(Form f, const uint8_t *panel, size_t d, size_t sc, size_t b, int h) {
    if (f.groups) return _mm512_loadu_ps((const float *)(const void *)(panel + d + b * 64));
    if (!f.super) return half16(panel + d + b * 32);
    return _mm512_mul_ps(half16(panel + d + b / 8 * 32), bytes16(panel + sc + (b * (size_t)(32 / f.sub) + (size_t)h) * 16));
}

INLINE __m512i broadcast4(const int8_t *q) {
    int32_t v;
    memcpy(&v, q, 4);
    return _mm512_set1_epi32(v);
}

#endif
