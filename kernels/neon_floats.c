/* kernels/neon_floats.c - matmul for float weights (float_blocks.h), both NEON rows: 4 x T accumulators of 8 partial sums, whose
 * lanes are folded in avx2_matmul.c's order: the bits are the same. */
#include "neon.h"
#include "neon_vectors.h"

enum { FLOAT_LANES = 8, FLOAT_TOKENS = NEON_FLOATS };

#include "float_blocks.h"

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

INLINE void copy_lanes(TensorType type, float *to, const uint8_t *row, size_t k, size_t k1) {
    store8(to, row ? load8(type, row, k, k1 - k) : all8(0), 8);
}

/* Half an accumulator at a time: so 24 sums, three tokens and a weight stay in the 32 registers. */
INLINE void step(Vec8 *acc, int half, float32x4_t w, float32x4_t x) {
    if (half == 0) acc->lo = vfmaq_f32(acc->lo, w, x);
    else acc->hi = vfmaq_f32(acc->hi, w, x);
}

INLINE void tile_floats(int T, float *sums, const float *x, const float *w, size_t n) {
    Vec8 acc[FLOAT_TOKENS][4];
    #pragma GCC unroll 4
    for (int r = 0; r < 4; r++)
        #pragma GCC unroll 3
        for (int t = 0; t < T; t++) acc[t][r] = all8(0);
    for (size_t i = 0; i < n; i++, x += T * 8, w += BLOCK_ROWS * 8)
        #pragma GCC unroll 2
        for (int half = 0; half < 8; half += 4) {
            __asm__ volatile("" ::: "memory"); /* gcc would load the second half's numbers first, and have no registers left */
            float32x4_t xv[FLOAT_TOKENS];
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

int neon_matmul_floats(float *y, size_t ldy, const Activations *a, const Matrix *w, size_t r0, size_t r1) {
    return matmul_any_floats(y, ldy, a, w, r0, r1);
}
