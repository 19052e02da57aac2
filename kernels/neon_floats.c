/* kernels/neon_floats.c - matmul for float weights, both NEON rows: rows as the file has them; R x T accumulators of 8 partial
 * sums, stepped over the columns. Columns are summed 512 at a time, and the lanes folded at the end of each 512, in
 * avx2_matmul.c's order: the bits are the same. */
#include "neon.h"
#include "neon_vectors.h"

enum { BLOCK_ROWS = 8, BLOCK_COLS = 512, BLOCK_TOKENS = 192 };

/* The sums of four accumulators' lanes: j and j+2, then 0 and 1 of each half, then the halves; one order for all four. */
INLINE float32x4_t fold_halves(float32x4_t a, float32x4_t b, float32x4_t c, float32x4_t d) {
    float32x4_t ab = vaddq_f32(vzip1q_f32(a, b), vzip2q_f32(a, b)), cd = vaddq_f32(vzip1q_f32(c, d), vzip2q_f32(c, d));
    return vaddq_f32(vcombine_f32(vget_low_f32(ab), vget_low_f32(cd)), vcombine_f32(vget_high_f32(ab), vget_high_f32(cd)));
}

INLINE float32x4_t fold4(const Vec8 *v) {
    return vaddq_f32(fold_halves(v[0].lo, v[1].lo, v[2].lo, v[3].lo), fold_halves(v[0].hi, v[1].hi, v[2].hi, v[3].hi));
}

INLINE void store4(float *y, float32x4_t v, size_t rows) {
    float part[4];
    vst1q_f32(part, v);
    memcpy(y, part, (rows < 4 ? rows : 4) * sizeof *y);
}

/* One token against 4 rows: memory sets the pace, and eight chains hide the latency of an FMA. rows: how many there are; those
 * behind read the last one again. */
INLINE void token_floats(TensorType type, float *y, const float *x, const Matrix *m, size_t r, size_t rows) {
    size_t d = m->cols, each = type == TENSOR_F32 ? 4 : 2;
    const uint8_t *w[4];
    for (size_t i = 0; i < 4; i++) w[i] = (const uint8_t *)m->data + (r + (i < rows ? i : rows - 1)) * d * each;
    float32x4_t sum = vdupq_n_f32(0);
    for (size_t k0 = 0; k0 < d; k0 += BLOCK_COLS) {
        size_t k1 = k0 + BLOCK_COLS < d ? k0 + BLOCK_COLS : d, k = k0;
        Vec8 acc[4];
        #pragma GCC unroll 4
        for (int i = 0; i < 4; i++) acc[i] = all8(0);
        for (; k + 8 <= k1; k += 8) {
            Vec8 xv = floats8(x, k, 8);
            #pragma GCC unroll 4
            for (int i = 0; i < 4; i++) {
                if (type != TENSOR_F32) __builtin_prefetch(w[i] + 2 * k + 1024);
                acc[i] = fma8(acc[i], load8(type, w[i], k, 8), xv);
            }
        }
        if (k < k1)
            #pragma GCC unroll 4
            for (int i = 0; i < 4; i++) acc[i] = fma8(acc[i], load8(type, w[i], k, k1 - k), floats8(x, k, 8));
        sum = vaddq_f32(sum, fold4(acc));
    }
    store4(y + r, sum, rows);
}

/* For several tokens, blocks of 8 rows by 512 columns are copied side by side, as floats, and stay in the first-level cache
 * while up to 192 tokens pass. (Rows as they are, 8 KB apart, fall into the same few sets of the cache.)
 * out [columns/8][8][8]; rows behind the last are zero. */
INLINE void copy_block(TensorType type, float *out, const Matrix *m, size_t r0, size_t r1, size_t k0, size_t k1) {
    size_t each = type == TENSOR_F32 ? 4 : 2;
    for (size_t r = r0; r < r0 + BLOCK_ROWS; r++) {
        const uint8_t *row = (const uint8_t *)m->data + r * m->cols * each;
        float *to = out + (r - r0) * 8;
        for (size_t k = k0; k < k1; k += 8, to += 8 * BLOCK_ROWS) {
            store8(to, r < r1 ? load8(type, row, k, k1 - k) : all8(0), 8);
            __builtin_prefetch(row + BLOCK_ROWS * m->cols * each + k * each, 0, 2); /* the next block */
        }
    }
}

/* Half an accumulator at a time: so 24 sums, three tokens and a weight stay in the 32 registers. */
INLINE void step(Vec8 *acc, int half, float32x4_t w, float32x4_t x) {
    if (half == 0) acc->lo = vfmaq_f32(acc->lo, w, x);
    else acc->hi = vfmaq_f32(acc->hi, w, x);
}

/* 4 rows of a block (w) by T tokens, n steps of 8 columns; x: [columns/8][T][8]; sums [T][8]. */
INLINE void tile_floats(int T, float *sums, const float *x, const float *w, size_t n) {
    Vec8 acc[NEON_FLOATS][4];
    #pragma GCC unroll 4
    for (int r = 0; r < 4; r++)
        #pragma GCC unroll 3
        for (int t = 0; t < T; t++) acc[t][r] = all8(0);
    for (size_t i = 0; i < n; i++, x += T * 8, w += BLOCK_ROWS * 8)
        #pragma GCC unroll 2
        for (int half = 0; half < 8; half += 4) {
            __asm__ volatile("" ::: "memory"); /* gcc would load the second half's numbers first, and have no registers left */
            float32x4_t xv[NEON_FLOATS];
            #pragma GCC unroll 3
            for (int t = 0; t < T; t++) xv[t] = vld1q_f32(x + t * 8 + half);
            #pragma GCC unroll 4
            for (int r = 0; r < 4; r++) {
                float32x4_t wv = vld1q_f32(w + 8 * r + half);
                #pragma GCC unroll 3
                for (int t = 0; t < T; t++) step(&acc[t][r], half, wv, xv[t]);
            }
        }
    #pragma GCC unroll 3
    for (int t = 0; t < T; t++, sums += BLOCK_ROWS) vst1q_f32(sums, vaddq_f32(vld1q_f32(sums), fold4(acc[t])));
}

INLINE void tokens_floats(int T, float *sums, const float *x, const float *w, size_t n) {
    for (int r = 0; r < BLOCK_ROWS; r += 4) tile_floats(T, sums + r, x, w + 8 * r, n);
}

/* sums [n][8]: up to 192 tokens by the rows r0 .. r1-1, at most 8. */
INLINE void block_floats(TensorType type, float *sums, const float *x, size_t n, const Matrix *m, size_t r0, size_t r1) {
    _Alignas(64) float block[BLOCK_ROWS * BLOCK_COLS];
    size_t d = m->cols, padded = (d + 7) & ~(size_t)7;
    for (size_t k0 = 0; k0 < d; k0 += BLOCK_COLS) {
        size_t k1 = k0 + BLOCK_COLS < d ? k0 + BLOCK_COLS : d, steps = (k1 - k0 + 7) / 8, t = 0;
        copy_block(type, block, m, r0, r1, k0, k1);
        for (; t + NEON_FLOATS <= n; t += NEON_FLOATS)
            tokens_floats(NEON_FLOATS, sums + t * BLOCK_ROWS, x + t * padded + k0 * NEON_FLOATS, block, steps);
        for (; t < n; t++) tokens_floats(1, sums + t * BLOCK_ROWS, x + t * padded + k0, block, steps);
    }
}

INLINE void matmul_floats(TensorType type, float *y, size_t ldy, const Activations *a, const Matrix *m, size_t r0, size_t r1) {
    size_t padded = (a->d + 7) & ~(size_t)7;
    const float *x = a->data;
    for (size_t r = r0; a->n == 1 && r < r1; r += 4) token_floats(type, y, x, m, r, r1 - r);
    for (size_t t0 = 0; a->n > 1 && t0 < a->n; t0 += BLOCK_TOKENS)
        for (size_t r = r0; r < r1; r += BLOCK_ROWS) {
            float sums[BLOCK_TOKENS * BLOCK_ROWS] = {0};
            size_t n = a->n - t0 < BLOCK_TOKENS ? a->n - t0 : BLOCK_TOKENS, rows = r1 - r < BLOCK_ROWS ? r1 - r : BLOCK_ROWS;
            block_floats(type, sums, x + t0 * padded, n, m, r, r + rows);
            for (size_t t = 0; t < n; t++) memcpy(y + (t0 + t) * ldy + r, sums + t * BLOCK_ROWS, rows * sizeof *y);
        }
}

void neon_matmul_floats(float *y, size_t ldy, const Activations *a, const Matrix *w, size_t r0, size_t r1) {
    if (w->type == TENSOR_F32) matmul_floats(TENSOR_F32, y, ldy, a, w, r0, r1);
    else if (w->type == TENSOR_F16) matmul_floats(TENSOR_F16, y, ldy, a, w, r0, r1);
    else matmul_floats(TENSOR_BF16, y, ldy, a, w, r0, r1);
}
