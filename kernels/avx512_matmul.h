/* kernels/avx512_matmul.h - matmul with vectors of 512 bits, for the two rows that have them: avx512.c (F, BW, VL, DQ) and
 * avx512vnni.c. Before it includes this, a row defines dot4: in each of 16 lanes, acc + the four products of u8 codes and s8
 * activations, exact.
 *
 * Blocks: a panel of 16 rows (panel.h) meets a tile of T tokens. The codes of 32 columns are taken apart once for all T; each
 * token's accumulator holds 16 rows, so nothing is summed across lanes at the end.
 *     acc += f32(exact integer sum) * (scale_w * scale_x)  -  minimum_w * (scale_x * sum of q_x)
 * Floats: rows as the file has them; R x T accumulators of 16 partial sums each, stepped over the columns, folded once. */
#ifndef AVX512_MATMUL_H
#define AVX512_MATMUL_H

#include "avx512.h"
#include "panel.h"

#include <immintrin.h>
#include <string.h>

enum { LANES = 16, AHEAD = 4096 };

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

/* Lines j0 .. j1-1 against one token; minus: of the sum of its q there. */
INLINE __m512i dot_lines(Form f, const __m512i *w, int j0, int j1, const ActBlock *a, int32_t minus) {
    __m512i sum = f.shift < 0 ? _mm512_setzero_si512() : _mm512_slli_epi32(_mm512_set1_epi32(minus), (unsigned)f.shift);
    #pragma GCC unroll 8
    for (int j = j0; j < j1; j++) sum = dot4(sum, w[j], broadcast4(a->q + 4 * j), f.bits == 8 || f.values);
    return sum;
}

INLINE void prefetch_block(Form f, const uint8_t *panel, const PanelShape *s, size_t b) {
    const uint8_t *ahead = panel + b * (s->size / s->blocks) + AHEAD;
    #pragma GCC unroll 9
    for (int i = 0; i <= f.bits; i++) _mm_prefetch((const char *)(ahead + 64 * i), _MM_HINT_T0);
}

INLINE void tile_blocks(Form f, int T, float *y, size_t ldy, const ActBlock *x, const uint8_t *panel, const PanelShape *s, __mmask16 rows) {
    __m512 acc[AVX512_BLOCKS];
    #pragma GCC unroll 12
    for (int t = 0; t < T; t++) acc[t] = _mm512_setzero_ps();
    for (size_t b = 0; b < s->blocks; b++, x += T) {
        __m512i w[8];
        __m512 scale[2], minimum[2];
        if (T == 1) prefetch_block(f, panel, s, b);
        #pragma GCC unroll 8
        for (int j = 0; j < 8; j++) w[j] = codes_at(f, panel + s->lines + b * s->line_bytes, j);
        #pragma GCC unroll 2
        for (int h = 0; h < 32 / f.sub; h++) {
            scale[h] = scales_at(f, panel, s->d, s->sc, b, h);
            if (f.minima) minimum[h] = scales_at(f, panel, s->dmin, s->mn, b, h);
        }
        #pragma GCC unroll 12
        for (int t = 0; t < T; t++) {
            __m512 sx = _mm512_set1_ps(x[t].scale);
            #pragma GCC unroll 2
            for (int h = 0; h < 32 / f.sub; h++) {
                int whole = f.sub == 32;
                __m512i sum = dot_lines(f, w, 4 * h, whole ? 8 : 4 * h + 4, x + t, whole ? x[t].minus_sum : x[t].minus_half[h]);
                acc[t] = _mm512_fmadd_ps(_mm512_cvtepi32_ps(sum), _mm512_mul_ps(scale[h], sx), acc[t]);
                if (f.minima)
                    acc[t] = _mm512_fnmadd_ps(minimum[h], _mm512_set1_ps(whole ? x[t].scaled_sum : x[t].scaled_half[h]), acc[t]);
            }
        }
    }
    #pragma GCC unroll 12
    for (int t = 0; t < T; t++) _mm512_mask_storeu_ps(y + (size_t)t * ldy, rows, acc[t]);
}

INLINE void matmul_form(Form f, float *y, size_t ldy, const Activations *a, const Matrix *w, size_t r0, size_t r1) {
    PanelShape s = panel_shape(w, LANES);
    const ActBlock *x = a->data;
    for (size_t r = r0; r < r1; r += LANES) {
        const uint8_t *panel = (const uint8_t *)w->panels + r / LANES * s.size;
        __mmask16 rows = r1 - r >= LANES ? 0xffff : (__mmask16)((1u << (r1 - r)) - 1);
        size_t t = 0;
        for (; t + AVX512_BLOCKS <= a->n; t += AVX512_BLOCKS) tile_blocks(f, AVX512_BLOCKS, y + t * ldy + r, ldy, x + t * s.blocks, panel, &s, rows);
        for (; t + 4 <= a->n; t += 4) tile_blocks(f, 4, y + t * ldy + r, ldy, x + t * s.blocks, panel, &s, rows);
        for (; t < a->n; t++) tile_blocks(f, 1, y + t * ldy + r, ldy, x + t * s.blocks, panel, &s, rows);
    }
}

/* Entries i .. i+15 of a row as floats; those behind the n-th read as zero. */
INLINE __m512 load16(TensorType type, const uint8_t *row, size_t i, size_t n) {
    __mmask16 m = n - i >= 16 ? 0xffff : (__mmask16)((1u << (n - i)) - 1);
    if (type == TENSOR_F32) return _mm512_maskz_loadu_ps(m, row + 4 * i);
    __m256i h = _mm256_maskz_loadu_epi16(m, row + 2 * i);
    if (type == TENSOR_F16) return _mm512_cvtph_ps(h);
    return _mm512_castsi512_ps(_mm512_slli_epi32(_mm512_cvtepu16_epi32(h), 16));
}

INLINE __m512 load16_whole(TensorType type, const uint8_t *row, size_t i) {
    if (type == TENSOR_F32) return _mm512_loadu_ps(row + 4 * i);
    __m256i h = _mm256_loadu_si256((const __m256i *)(const void *)(row + 2 * i));
    if (type == TENSOR_F16) return _mm512_cvtph_ps(h);
    return _mm512_castsi512_ps(_mm512_slli_epi32(_mm512_cvtepu16_epi32(h), 16));
}

/* Lanes j and j+8, then halves again. */
INLINE float fold16(__m512 v) {
    __m256 h = _mm256_add_ps(_mm512_castps512_ps256(v), _mm512_extractf32x8_ps(v, 1));
    __m128 q = _mm_add_ps(_mm256_castps256_ps128(h), _mm256_extractf128_ps(h, 1));
    q = _mm_add_ps(q, _mm_movehl_ps(q, q));
    return _mm_cvtss_f32(_mm_add_ss(q, _mm_movehdup_ps(q)));
}

/* x: [columns/16][T][16], zeros behind the last column. */
INLINE void tile_floats(TensorType type, int R, int T, float *y, size_t ldy, const float *x, const uint8_t *w, size_t row_bytes, size_t d) {
    __m512 acc[4][AVX512_FLOATS];
    #pragma GCC unroll 4
    for (int r = 0; r < R; r++)
        #pragma GCC unroll 6
        for (int t = 0; t < T; t++) acc[r][t] = _mm512_setzero_ps();
    size_t i = 0;
    for (; i < d; i += 16, x += T * 16) {
        __m512 wv[4];
        #pragma GCC unroll 4
        for (int r = 0; r < R; r++) {
            const uint8_t *row = w + (size_t)r * row_bytes;
            wv[r] = i + 16 <= d ? load16_whole(type, row, i) : load16(type, row, i, d);
            if (T == 1) _mm_prefetch((const char *)(row + (type == TENSOR_F32 ? 4 : 2) * i + 1024), _MM_HINT_T0);
        }
        #pragma GCC unroll 6
        for (int t = 0; t < T; t++) {
            __m512 xv = _mm512_loadu_ps(x + t * 16);
            #pragma GCC unroll 4
            for (int r = 0; r < R; r++) acc[r][t] = _mm512_fmadd_ps(wv[r], xv, acc[r][t]);
        }
    }
    #pragma GCC unroll 4
    for (int r = 0; r < R; r++)
        #pragma GCC unroll 6
        for (int t = 0; t < T; t++) y[(size_t)t * ldy + (size_t)r] = fold16(acc[r][t]);
}

INLINE void strip_floats(TensorType type, int R, float *y, size_t ldy, const Activations *a, const uint8_t *w, size_t row_bytes) {
    size_t t = 0, padded = (a->d + 15) & ~(size_t)15;
    const float *x = a->data;
    for (; t + AVX512_FLOATS <= a->n; t += AVX512_FLOATS) tile_floats(type, R, AVX512_FLOATS, y + t * ldy, ldy, x + t * padded, w, row_bytes, a->d);
    for (; t + 4 <= a->n; t += 4) tile_floats(type, R, 4, y + t * ldy, ldy, x + t * padded, w, row_bytes, a->d);
    for (; t < a->n; t++) tile_floats(type, R, 1, y + t * ldy, ldy, x + t * padded, w, row_bytes, a->d);
}

INLINE void matmul_floats(TensorType type, float *y, size_t ldy, const Activations *a, const Matrix *m, size_t r0, size_t r1) {
    size_t row_bytes = m->cols * (type == TENSOR_F32 ? 4 : 2), r = r0;
    const uint8_t *w = m->data;
    for (; r + 4 <= r1; r += 4) strip_floats(type, 4, y + r, ldy, a, w + r * row_bytes, row_bytes);
    for (; r < r1; r++) strip_floats(type, 1, y + r, ldy, a, w + r * row_bytes, row_bytes);
}

static void matmul(float *y, size_t ldy, const Activations *a, const Matrix *w, size_t r0, size_t r1) {
    switch (w->type) {
    case TENSOR_F32: matmul_floats(TENSOR_F32, y, ldy, a, w, r0, r1); break;
    case TENSOR_F16: matmul_floats(TENSOR_F16, y, ldy, a, w, r0, r1); break;
    case TENSOR_BF16: matmul_floats(TENSOR_BF16, y, ldy, a, w, r0, r1); break;
    case TENSOR_Q4_0: matmul_form((Form){.bits = 4, .sub = 32, .shift = 3}, y, ldy, a, w, r0, r1); break;
    case TENSOR_Q4_1: matmul_form((Form){.bits = 4, .sub = 32, .shift = -1, .minima = 1}, y, ldy, a, w, r0, r1); break;
    case TENSOR_Q5_0: matmul_form((Form){.bits = 5, .sub = 32, .shift = 4}, y, ldy, a, w, r0, r1); break;
    case TENSOR_Q5_1: matmul_form((Form){.bits = 5, .sub = 32, .shift = -1, .minima = 1}, y, ldy, a, w, r0, r1); break;
    case TENSOR_Q8_0: matmul_form((Form){.bits = 8, .sub = 32, .shift = 7}, y, ldy, a, w, r0, r1); break;
    case TENSOR_Q2_K: matmul_form((Form){.bits = 2, .sub = 16, .shift = -1, .minima = 1, .super = 1}, y, ldy, a, w, r0, r1); break;
    case TENSOR_Q3_K: matmul_form((Form){.bits = 3, .sub = 16, .shift = 2, .super = 1}, y, ldy, a, w, r0, r1); break;
    case TENSOR_Q4_K: matmul_form((Form){.bits = 4, .sub = 32, .shift = -1, .minima = 1, .super = 1}, y, ldy, a, w, r0, r1); break;
    case TENSOR_Q5_K: matmul_form((Form){.bits = 5, .sub = 32, .shift = -1, .minima = 1, .super = 1}, y, ldy, a, w, r0, r1); break;
    case TENSOR_Q6_K: matmul_form((Form){.bits = 6, .sub = 16, .shift = 5, .super = 1}, y, ldy, a, w, r0, r1); break;
    case TENSOR_IQ4_NL: matmul_form((Form){.bits = 4, .sub = 32, .shift = 7, .values = 1}, y, ldy, a, w, r0, r1); break;
    case TENSOR_IQ4_XS: matmul_form((Form){.bits = 4, .sub = 32, .shift = 7, .values = 1, .super = 1}, y, ldy, a, w, r0, r1); break;
    case TENSOR_I8_GROUPS:
        if (panel_fits(w)) matmul_form((Form){.bits = 8, .sub = 32, .shift = 7, .groups = 1}, y, ldy, a, w, r0, r1);
        else kernels_ref.matmul(y, ldy, a, w, r0, r1);
    }
}

#endif
