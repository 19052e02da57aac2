/* kernels/neon_floats.c - matmul for float weights (float_blocks.h), both NEON rows: 4 x T accumulators of 8 partial sums, whose
 * lanes are folded in avx2_matmul.c's order: the bits are the same. */
#include "neon.h"
#include "neon_vectors.h"

enum { FLOAT_LANES = 8, FLOAT_TOKENS = NEON_FLOATS, FLOAT_FEW = 3 };
typedef Vec8 Sums;

#include "float_blocks.h"

INLINE Sums no_sums(void) { return all8(0); }
INLINE Sums load_sums(const float *y, size_t rows) { return floats8(y, 0, rows); }
INLINE void store_sums(float *y, Sums v, size_t rows) { store8(y, v, rows); }
INLINE Sums plus(Sums a, Sums b) { return add8(a, b); }

INLINE Sums plus_product(Sums acc, const float *w, float x) {
    return (Sums){vfmaq_n_f32(acc.lo, vld1q_f32(w), x), vfmaq_n_f32(acc.hi, vld1q_f32(w + 4), x)};
}

/* The sums of four accumulators' lanes: neighbours, then neighbours of these, then the halves. */
INLINE float32x4_t fold4(const Vec8 *v) {
    float32x4_t low = vpaddq_f32(vpaddq_f32(v[0].lo, v[1].lo), vpaddq_f32(v[2].lo, v[3].lo));
    return vaddq_f32(low, vpaddq_f32(vpaddq_f32(v[0].hi, v[1].hi), vpaddq_f32(v[2].hi, v[3].hi)));
}

INLINE void store4(float *y, float32x4_t v, size_t rows) {
    float part[4];
    vst1q_f32(part, v);
    memcpy(y, part, (rows < 4 ? rows : 4) * sizeof *y);
}

/* n <= 8 columns from k on. */
INLINE void few_columns(TensorType type, int T, Vec8 (*acc)[4], const uint8_t **w, const float *x, size_t ldx, size_t k, size_t n) {
    UNROLL
    for (int i = 0; i < 4; i++) {
        Vec8 wv = load8(type, w[i], k, n);
        UNROLL
        for (int t = 0; t < T; t++) acc[t][i] = fma8(acc[t][i], wv, floats8(x + (size_t)t * ldx, k, 8));
    }
}

INLINE void few_floats(TensorType type, int T, float *y, size_t ldy, const float *x, size_t ldx, const Matrix *m, size_t r, size_t rows, int ahead) {
    size_t d = m->cols, each = type == TENSOR_F32 ? 4 : 2;
    const uint8_t *w[4];
    float32x4_t sum[FLOAT_FEW];
    for (size_t i = 0; i < 4; i++) w[i] = (const uint8_t *)m->data + (r + (i < rows ? i : rows - 1)) * d * each;
    UNROLL
    for (int t = 0; t < T; t++) sum[t] = vdupq_n_f32(0);
    for (size_t k0 = 0; k0 < d; k0 += FLOAT_COLUMNS) {
        size_t k1 = k0 + FLOAT_COLUMNS < d ? k0 + FLOAT_COLUMNS : d;
        Vec8 acc[FLOAT_FEW][4];
        UNROLL
        for (int t = 0; t < T; t++)
            UNROLL
            for (int i = 0; i < 4; i++) acc[t][i] = all8(0);
        size_t k = k0;
        for (; k + 8 <= k1; k += 8) {
            if (ahead && type != TENSOR_F32)
                UNROLL
                for (int i = 0; i < 4; i++) __builtin_prefetch(w[i] + 2 * k + 1024);
            few_columns(type, T, acc, w, x, ldx, k, 8);
        }
        if (k < k1) few_columns(type, T, acc, w, x, ldx, k, k1 - k);
        UNROLL
        for (int t = 0; t < T; t++) sum[t] = vaddq_f32(sum[t], fold4(acc[t]));
    }
    UNROLL
    for (int t = 0; t < T; t++) store4(y + (size_t)t * ldy, sum[t], rows);
}

INLINE void copy_lanes(TensorType type, float *to, const uint8_t *row, size_t k, size_t k1) {
    store8(to, row ? load8(type, row, k, k1 - k) : all8(0), 8);
}

INLINE float32x4_t pairs(float32x4_t a, float32x4_t b, int high) {
    float64x2_t x = vreinterpretq_f64_f32(a), y = vreinterpretq_f64_f32(b);
    return vreinterpretq_f32_f64(high ? vzip2q_f64(x, y) : vzip1q_f64(x, y));
}

INLINE void turn(float *to, size_t stride, float (*from)[FLOAT_LANES]) {
    UNROLL
    for (size_t r = 0; r < 8; r += 4)
        UNROLL
        for (size_t c = 0; c < 8; c += 4) {
            float32x4_t a = vld1q_f32(from[r] + c), b = vld1q_f32(from[r + 1] + c), d = vld1q_f32(from[r + 2] + c), e = vld1q_f32(from[r + 3] + c);
            float32x4_t ab01 = vzip1q_f32(a, b), ab23 = vzip2q_f32(a, b), de01 = vzip1q_f32(d, e), de23 = vzip2q_f32(d, e);
            vst1q_f32(to + c * stride + r, pairs(ab01, de01, 0));
            vst1q_f32(to + (c + 1) * stride + r, pairs(ab01, de01, 1));
            vst1q_f32(to + (c + 2) * stride + r, pairs(ab23, de23, 0));
            vst1q_f32(to + (c + 3) * stride + r, pairs(ab23, de23, 1));
        }
}

int neon_matmul_floats(float *y, size_t ldy, const Activations *a, const Matrix *w, size_t r0, size_t r1) {
    return matmul_any_floats(y, ldy, a, w, r0, r1);
}
