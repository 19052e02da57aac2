/* kernels/x86/avx512_matmul.h - matmul with vectors of 512 bits, for the two rows that have them: avx512.c (F, BW, VL, DQ) and
 * avx512vnni.c. Before it includes this, a row defines
 *     INLINE __m512i dot4(__m512i acc, __m512i u, __m512i s, int bytes);
 * in each of 16 lanes, acc + the four products of u8 codes and s8 activations, exact. `bytes` says that codes are q + 128; and
 *     enum { TAKES_OFF_128 };
 * whether dot4 multiplies by q then. If not, the sum begins at -128 * sum of x.
 *
 * Blocks: a panel of 16 rows (panel.h) meets a tile of T tokens. The codes of 32 columns are taken apart once for all T; each
 * token's accumulator holds 16 rows, so nothing is summed across lanes at the end.
 *     acc += f32(exact integer sum) * (scale_w * scale_x)  -  minimum_w * (scale_x * sum of q_x)
 * Floats: float_blocks.h, 16 partial sums. */
#ifndef AVX512_MATMUL_H
#define AVX512_MATMUL_H

#include "avx512_panels.h"

enum { TILE_TOKENS = AVX512_BLOCKS, FLOAT_LANES = 16, FLOAT_TOKENS = AVX512_FLOATS, FLOAT_FEW = 6 };
typedef __m512 Sums;

#include "kernels/float_blocks.h"
#include "kernels/panel_tiles.h"

INLINE __mmask16 first16(size_t n) { return n >= 16 ? 0xffff : (__mmask16)((1u << n) - 1); }

INLINE int tokens_at_once(Form f) { return (void)f, TILE_TOKENS; }
INLINE Sums no_sums(void) { return _mm512_setzero_ps(); }
INLINE Sums load_sums(const float *y, size_t rows) { return _mm512_maskz_loadu_ps(first16(rows), y); }
INLINE void store_sums(float *y, Sums v, size_t rows) { _mm512_mask_storeu_ps(y, first16(rows), v); }
INLINE Sums plus(Sums a, Sums b) { return _mm512_add_ps(a, b); }
INLINE Sums plus_products(Sums acc, Sums w, Sums x) { return _mm512_fmadd_ps(w, x, acc); }
INLINE Sums plus_product(Sums acc, const float *w, float x) { return _mm512_fmadd_ps(_mm512_load_ps(w), _mm512_set1_ps(x), acc); }

/* v, in a register, now: gcc would take the steps in an order of its own, for which there are not enough registers. */
INLINE __m512i pin(__m512i v) {
    __asm__("" : "+v"(v));
    return v;
}

/* Lines j0 .. j1-1 against T tokens, whose chains of sums hide each other's latency. */
INLINE void dot_lines(Form f, int T, __m512i *sum, const uint8_t *lines, const ActBlock *x, int j0, int j1) {
    UNROLL
    for (int j = j0; j < j1; j++) {
        __m512i w = codes_at(f, lines, j);
        UNROLL
        for (int t = 0; t < T; t++) sum[t] = pin(dot4(sum[t], w, broadcast4(x[t].q + 4 * j), f.bits == 8 || f.values));
    }
}

INLINE void add_block(Form f, int T, Sums *acc, const ActBlock *x, const uint8_t *panel, const PanelShape *s, size_t b) {
    int exact = f.shift < 0 || (TAKES_OFF_128 && (f.bits == 8 || f.values)); /* nothing is to be taken off the sum */
    UNROLL
    for (int h = 0; h < 32 / f.sub; h++) {
        int whole = f.sub == 32;
        __m512i sum[TILE_TOKENS];
        UNROLL
        for (int t = 0; t < T; t++) {
            __m512i minus = _mm512_set1_epi32(whole ? x[t].minus_sum : x[t].minus_half[h]);
            sum[t] = exact ? _mm512_setzero_si512() : _mm512_slli_epi32(minus, f.shift < 0 ? 0 : (unsigned)f.shift);
        }
        dot_lines(f, T, sum, panel + s->lines + b * s->line_bytes, x, 4 * h, whole ? 8 : 4 * h + 4);
        __m512 scale = scales_at(f, panel, s->d, s->sc, b, h);
        UNROLL
        for (int t = 0; t < T; t++)
            acc[t] = _mm512_fmadd_ps(_mm512_cvtepi32_ps(sum[t]), _mm512_mul_ps(scale, _mm512_set1_ps(x[t].scale)), acc[t]);
        if (!f.minima) continue;
        __m512 minimum = scales_at(f, panel, s->dmin, s->mn, b, h);
        UNROLL
        for (int t = 0; t < T; t++)
            acc[t] = _mm512_fnmadd_ps(minimum, _mm512_set1_ps(whole ? x[t].scaled_sum : x[t].scaled_half[h]), acc[t]);
    }
}

INLINE Sums columns(TensorType type, const uint8_t *row, size_t k, size_t n) {
    __mmask16 m = first16(n);
    if (type == TENSOR_F32) return n >= 16 ? _mm512_loadu_ps(row + 4 * k) : _mm512_maskz_loadu_ps(m, row + 4 * k);
    __m256i h = n >= 16 ? _mm256_loadu_si256((const __m256i *)(const void *)(row + 2 * k)) : _mm256_maskz_loadu_epi16(m, row + 2 * k);
    if (type == TENSOR_F16) return _mm512_cvtph_ps(h);
    return _mm512_castsi512_ps(_mm512_slli_epi32(_mm512_cvtepu16_epi32(h), 16));
}

/* The even and the odd lanes of a and b, added: sums of neighbours, within each quarter first a's, then b's. */
INLINE __m512 neighbours(__m512 a, __m512 b) { return _mm512_add_ps(_mm512_shuffle_ps(a, b, 0x88), _mm512_shuffle_ps(a, b, 0xdd)); }

INLINE Four fold4(const Sums *v) {
    __m512 fours = neighbours(neighbours(v[0], v[1]), neighbours(v[2], v[3]));
    __m128 low = _mm_add_ps(_mm512_castps512_ps128(fours), _mm512_extractf32x4_ps(fours, 1));
    return _mm_add_ps(low, _mm_add_ps(_mm512_extractf32x4_ps(fours, 2), _mm512_extractf32x4_ps(fours, 3)));
}

/* Columns c .. c+3 of the rows i, i+4, i+8, i+12. */
INLINE __m512 fours(float (*from)[16], int i, int c) {
    __m512 v = _mm512_castps128_ps512(_mm_load_ps(from[i] + c));
    v = _mm512_insertf32x4(v, _mm_load_ps(from[i + 4] + c), 1);
    v = _mm512_insertf32x4(v, _mm_load_ps(from[i + 8] + c), 2);
    return _mm512_insertf32x4(v, _mm_load_ps(from[i + 12] + c), 3);
}

INLINE void turn(float *to, size_t stride, float (*from)[FLOAT_LANES]) {
    UNROLL
    for (int c = 0; c < 16; c += 4, to += 4 * stride) {
        __m512 a = fours(from, 0, c), b = fours(from, 1, c), d = fours(from, 2, c), e = fours(from, 3, c);
        __m512d ab01 = _mm512_castps_pd(_mm512_unpacklo_ps(a, b)), ab23 = _mm512_castps_pd(_mm512_unpackhi_ps(a, b));
        __m512d de01 = _mm512_castps_pd(_mm512_unpacklo_ps(d, e)), de23 = _mm512_castps_pd(_mm512_unpackhi_ps(d, e));
        _mm512_store_ps(to, _mm512_castpd_ps(_mm512_unpacklo_pd(ab01, de01)));
        _mm512_store_ps(to + stride, _mm512_castpd_ps(_mm512_unpackhi_pd(ab01, de01)));
        _mm512_store_ps(to + 2 * stride, _mm512_castpd_ps(_mm512_unpacklo_pd(ab23, de23)));
        _mm512_store_ps(to + 3 * stride, _mm512_castpd_ps(_mm512_unpackhi_pd(ab23, de23)));
    }
}

/* widest: the tokens of the widest tile that block formats are packed in. */
static void matmul_tiles(size_t widest, float *y, size_t ldy, const Activations *a, const Matrix *w, size_t r0, size_t r1) {
    if (!matmul_any_floats(y, ldy, a, w, r0, r1)) matmul_blocks(widest, y, ldy, a, w, r0, r1);
}

#endif
