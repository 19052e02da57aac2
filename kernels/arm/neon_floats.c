/* kernels/arm/neon_floats.c - matmul for float weights (float_blocks.h), both NEON rows: 8 partial sums, as avx2_matmul.c has them: the
 * bits are the same. */
#include "neon.h"
#include "neon_vectors.h"

enum { FLOAT_LANES = 8, FLOAT_TOKENS = NEON_FLOATS, FLOAT_FEW = 3 };
typedef Vec8 Sums;

#include "kernels/float_blocks.h"

INLINE Sums no_sums(void) { return all8(0); }
INLINE Sums load_sums(const float *y, size_t rows) { return floats8(y, 0, rows); }
INLINE void store_sums(float *y, Sums v, size_t rows) { store8(y, v, rows); }
INLINE Sums plus(Sums a, Sums b) { return add8(a, b); }
INLINE Sums plus_products(Sums acc, Sums w, Sums x) { return fma8(acc, w, x); }

INLINE Sums plus_product(Sums acc, const float *w, float x) {
    return (Sums){vfmaq_n_f32(acc.lo, vld1q_f32(w), x), vfmaq_n_f32(acc.hi, vld1q_f32(w + 4), x)};
}

INLINE Sums columns(TensorType type, const uint8_t *row, size_t k, size_t n) { return load8(type, row, k, n); }

INLINE Four fold4(const Sums *v) {
    float32x4_t low = vpaddq_f32(vpaddq_f32(v[0].lo, v[1].lo), vpaddq_f32(v[2].lo, v[3].lo));
    return vaddq_f32(low, vpaddq_f32(vpaddq_f32(v[0].hi, v[1].hi), vpaddq_f32(v[2].hi, v[3].hi)));
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
