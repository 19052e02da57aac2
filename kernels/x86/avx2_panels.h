/* kernels/x86/avx2_panels.h - reading panels of 8 rows with vectors of 256 bits: panel_codes.h's words. */
#ifndef AVX2_PANELS_H
#define AVX2_PANELS_H

#include "avx2_vectors.h"

typedef __m256i Line;

#include "kernels/codes.h"
#include "kernels/panel_codes.h"

INLINE Line line_at(const uint8_t *lines, int j) {
    return _mm256_load_si256((const __m256i *)(const void *)(lines + 32 * j));
}

INLINE Line no_codes(void) { return _mm256_setzero_si256(); }
INLINE Line either(Line a, Line b) { return _mm256_or_si256(a, b); }

INLINE Line field(Line v, int from, int to, int mask) {
    __m256i moved = from > to ? _mm256_srli_epi16(v, from - to) : from < to ? _mm256_slli_epi16(v, to - from) : v;
    return _mm256_and_si256(moved, _mm256_set1_epi8((char)(mask << to)));
}

INLINE Line looked_up(__m128i table, Line q) { return _mm256_shuffle_epi8(_mm256_broadcastsi128_si256(table), q); }

#endif
