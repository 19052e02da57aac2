/* kernels/avx512_matmul.h - matmul with vectors of 512 bits, for the two rows that have them: avx512.c (F, BW, VL, DQ) and
 * avx512vnni.c. Before it includes this, a row defines dot4: in each of 16 lanes, acc + the four products of u8 codes and s8
 * activations, exact.
 *
 * Blocks: a panel of 16 rows (panel.h) meets a tile of T tokens. The codes of 32 columns are taken apart once for all T; each
 * token's accumulator holds 16 rows, so nothing is summed across lanes at the end.
 *     acc += f32(exact integer sum) * (scale_w * scale_x)  -  minimum_w * (scale_x * sum of q_x)
 * Floats: one token meets rows as the file has them; for more, blocks of 8 rows x 512 columns are copied. Sums of 16 lanes are
 * folded after each 512 columns. */
#ifndef AVX512_MATMUL_H
#define AVX512_MATMUL_H

#include "avx512_panels.h"

enum { TILE_TOKENS = AVX512_BLOCKS, AHEAD = 8192, FLOAT_LANES = 16, FLOAT_TOKENS = AVX512_FLOATS };
typedef __m512 Sums;

#include "float_blocks.h"
#include "panel_tiles.h"

INLINE Sums no_sums(void) { return _mm512_setzero_ps(); }

INLINE void store_sums(float *y, Sums v, size_t rows) {
    _mm512_mask_storeu_ps(y, rows >= LANES ? 0xffff : (__mmask16)((1u << rows) - 1), v);
}

/* v, in a register, now: gcc would take the steps in an order of its own, for which there are not enough registers. */
INLINE __m512i pin(__m512i v) {
    __asm__("" : "+v"(v));
    return v;
}

/* Lines j0 .. j1-1 against T tokens, whose chains of sums hide each other's latency. */
INLINE void dot_lines(Form f, int T, __m512i *sum, const uint8_t *lines, const ActBlock *x, int j0, int j1) {
    #pragma GCC unroll 8
    for (int j = j0; j < j1; j++) {
        __m512i w = codes_at(f, lines, j);
        #pragma GCC unroll 12
        for (int t = 0; t < T; t++) sum[t] = pin(dot4(sum[t], w, broadcast4(x[t].q + 4 * j), f.bits == 8 || f.values));
    }
}

INLINE void add_block(Form f, int T, Sums *acc, const ActBlock *x, const uint8_t *panel, const PanelShape *s, size_t b) {
    #pragma GCC unroll 2
    for (int h = 0; h < 32 / f.sub; h++) {
        int whole = f.sub == 32;
        __m512i sum[TILE_TOKENS];
        #pragma GCC unroll 12
        for (int t = 0; t < T; t++) {
            __m512i minus = _mm512_set1_epi32(whole ? x[t].minus_sum : x[t].minus_half[h]);
            sum[t] = f.shift < 0 ? _mm512_setzero_si512() : _mm512_slli_epi32(minus, (unsigned)f.shift);
        }
        dot_lines(f, T, sum, panel + s->lines + b * s->line_bytes, x, 4 * h, whole ? 8 : 4 * h + 4);
        __m512 scale = scales_at(f, panel, s->d, s->sc, b, h);
        #pragma GCC unroll 12
        for (int t = 0; t < T; t++)
            acc[t] = _mm512_fmadd_ps(_mm512_cvtepi32_ps(sum[t]), _mm512_mul_ps(scale, _mm512_set1_ps(x[t].scale)), acc[t]);
        if (!f.minima) continue;
        __m512 minimum = scales_at(f, panel, s->dmin, s->mn, b, h);
        #pragma GCC unroll 12
        for (int t = 0; t < T; t++)
            acc[t] = _mm512_fnmadd_ps(minimum, _mm512_set1_ps(whole ? x[t].scaled_sum : x[t].scaled_half[h]), acc[t]);
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

/* The sums of four vectors' lanes: j and j+8, j+4 and so on, in one order for all four. */
INLINE __m128 fold4(__m512 a, __m512 b, __m512 c, __m512 d) {
    __m512 ab = _mm512_add_ps(_mm512_unpacklo_ps(a, b), _mm512_unpackhi_ps(a, b));
    __m512 cd = _mm512_add_ps(_mm512_unpacklo_ps(c, d), _mm512_unpackhi_ps(c, d));
    __m512d low = _mm512_unpacklo_pd(_mm512_castps_pd(ab), _mm512_castps_pd(cd)), high = _mm512_unpackhi_pd(_mm512_castps_pd(ab), _mm512_castps_pd(cd));
    __m512 sum = _mm512_add_ps(_mm512_castpd_ps(low), _mm512_castpd_ps(high));
    __m256 half = _mm256_add_ps(_mm512_castps512_ps256(sum), _mm512_extractf32x8_ps(sum, 1));
    return _mm_add_ps(_mm256_castps256_ps128(half), _mm256_extractf128_ps(half, 1));
}

/* One token against 4 rows: memory sets the pace, and four chains hide the latency of an FMA. rows: how many there are; those
 * behind read the last one again. */
INLINE void token_floats(TensorType type, float *y, const float *x, const Matrix *m, size_t r, size_t rows) {
    size_t d = m->cols, each = type == TENSOR_F32 ? 4 : 2;
    const uint8_t *w[4];
    #pragma GCC unroll 4
    for (size_t i = 0; i < 4; i++) w[i] = (const uint8_t *)m->data + (r + (i < rows ? i : rows - 1)) * d * each;
    __m128 sum = _mm_setzero_ps();
    for (size_t k0 = 0; k0 < d; k0 += BLOCK_COLS) {
        size_t k1 = k0 + BLOCK_COLS < d ? k0 + BLOCK_COLS : d, k = k0;
        __m512 acc[4];
        #pragma GCC unroll 4
        for (int i = 0; i < 4; i++) acc[i] = _mm512_setzero_ps();
        for (; k + 16 <= k1; k += 16) {
            __m512 xv = _mm512_load_ps(x + k);
            #pragma GCC unroll 4
            for (int i = 0; i < 4; i++) {
                if (each * k % 64 == 0) _mm_prefetch((const char *)(w[i] + 4 * d * each + each * k), _MM_HINT_T1); /* the next four rows */
                acc[i] = _mm512_fmadd_ps(load16_whole(type, w[i], k), xv, acc[i]);
            }
        }
        if (k < k1)
            #pragma GCC unroll 4
            for (int i = 0; i < 4; i++) acc[i] = _mm512_fmadd_ps(load16(type, w[i], k, k1), _mm512_load_ps(x + k), acc[i]);
        sum = _mm_add_ps(sum, fold4(acc[0], acc[1], acc[2], acc[3]));
    }
    _mm_mask_storeu_ps(y + r, (__mmask8)(rows >= 4 ? 15 : (1 << rows) - 1), sum);
}

INLINE void copy_lanes(TensorType type, float *to, const uint8_t *row, size_t k, size_t k1) {
    _mm512_store_ps(to, !row ? _mm512_setzero_ps() : k + 16 <= k1 ? load16_whole(type, row, k) : load16(type, row, k, k1));
}

INLINE void tile_floats(int T, float *sums, const float *x, const float *w, size_t n) {
    __m512 acc[4][FLOAT_TOKENS];
    #pragma GCC unroll 4
    for (int r = 0; r < 4; r++)
        #pragma GCC unroll 6
        for (int t = 0; t < T; t++) acc[r][t] = _mm512_setzero_ps();
    for (size_t i = 0; i < n; i++, x += T * 16, w += BLOCK_ROWS * 16) {
        __m512 wv[4];
        #pragma GCC unroll 4
        for (int r = 0; r < 4; r++) wv[r] = _mm512_load_ps(w + 16 * r);
        #pragma GCC unroll 6
        for (int t = 0; t < T; t++) {
            __m512 xv = _mm512_load_ps(x + t * 16);
            #pragma GCC unroll 4
            for (int r = 0; r < 4; r++) acc[r][t] = _mm512_fmadd_ps(wv[r], xv, acc[r][t]);
        }
    }
    #pragma GCC unroll 6
    for (int t = 0; t < T; t++, sums += BLOCK_ROWS)
        _mm_storeu_ps(sums, _mm_add_ps(_mm_loadu_ps(sums), fold4(acc[0][t], acc[1][t], acc[2][t], acc[3][t])));
}

/* widest: the tokens of the widest tile that block formats are packed in. */
static void matmul_tiles(size_t widest, float *y, size_t ldy, const Activations *a, const Matrix *w, size_t r0, size_t r1) {
    if (!matmul_any_floats(y, ldy, a, w, r0, r1)) matmul_blocks(widest, y, ldy, a, w, r0, r1);
}

#endif
