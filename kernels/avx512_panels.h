/* kernels/avx512_panels.h - reading panels of 16 rows with vectors of 512 bits: codes, scales, what to fetch ahead. */
#ifndef AVX512_PANELS_H
#define AVX512_PANELS_H

#include "inline.h"
#include "avx512.h"
#include "panel.h"

#include <immintrin.h>
#include <string.h>

enum { LANES = 16, AHEAD = 8192 };

/* A block format as constants: shift = log2 of its zero, -1: none. super: K formats, whose scales are d * sc. */
typedef struct {
    int bits, sub, shift, minima, super, values, groups;
} Form;

INLINE __m512i line_at(const uint8_t *lines, int j) { return _mm512_load_si512((const void *)(lines + 64 * j)); }

/* The bits of v that `field` names, moved from bit `from` of each byte to bit `to`. */
INLINE __m512i field(__m512i v, int from, int to, int mask) {
    __m512i moved = from > to ? _mm512_srli_epi16(v, (unsigned)(from - to)) : from < to ? _mm512_slli_epi16(v, (unsigned)(to - from)) : v;
    return _mm512_and_si512(moved, _mm512_set1_epi8((char)(mask << to)));
}

/* Codes of columns 4j .. 4j+3. */
INLINE __m512i codes_at(Form f, const uint8_t *lines, int j) {
    if (f.bits == 8) return line_at(lines, j);
    __m512i q = _mm512_setzero_si512();
    int done = 0, line = 0;
    if (f.bits >= 4) {
        q = field(line_at(lines, j % 4), j / 4 * 4, 0, 15);
        line = done = 4;
    }
    if ((f.bits - done) & 2) {
        q = _mm512_or_si512(q, field(line_at(lines, line + j / 4), j % 4 * 2, done, 3));
        line += 2, done += 2;
    }
    if ((f.bits - done) & 1) q = _mm512_or_si512(q, field(line_at(lines, line), j, done, 1));
    if (f.values) {
        const __m128i table = _mm_setr_epi8(1, 24, 45, 63, 79, 93, 106, 118, -127, -115, -103, -90, -75, -59, -39, -15); /* values + 128 */
        q = _mm512_shuffle_epi8(_mm512_broadcast_i32x4(table), q);
    }
    return q;
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

/* What is to be in cache soon: `lines` cache lines a block from `at` on. */
typedef struct {
    const uint8_t *at;
    size_t lines;
} Ahead;

INLINE void prefetch(Ahead *ahead) {
    for (size_t i = 0; i < ahead->lines; i++, ahead->at += 64) _mm_prefetch((const char *)ahead->at, _MM_HINT_T1);
}

/* While token tile i of n passes a panel, the i-th part of the next panel is fetched. */
INLINE Ahead next_panel(const uint8_t *panel, const PanelShape *s, size_t i, size_t n) {
    size_t lines = s->size / 64, each = (lines + n * s->blocks - 1) / (n * s->blocks);
    return (Ahead){panel + s->size + i * each * s->blocks * 64, i * each * s->blocks < lines ? each : 0};
}

#endif
