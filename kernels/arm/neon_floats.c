/* kernels/arm/neon_floats.c - matmul for float weights (float_blocks.h), both NEON rows: 8 partial sums, as
 * avx2_matmul.c has them: the bits are the same. */
#include "neon.h"
#include "neon_vectors.h"

enum { FLOAT_TOKENS = NEON_FLOATS };

#include "kernels/float_blocks.h"

INLINE Four fold4(const Vec *v) {
    float32x4_t low = vpaddq_f32(vpaddq_f32(v[0].lo, v[1].lo), vpaddq_f32(v[2].lo, v[3].lo));
    return vaddq_f32(low, vpaddq_f32(vpaddq_f32(v[0].hi, v[1].hi), vpaddq_f32(v[2].hi, v[3].hi)));
}

INLINE Vec every_fourth(float (*from)[VEC], int i, int c) {
    return (Vec){vld1q_f32(from[i] + c), vld1q_f32(from[i + 4] + c)};
}

INLINE float64x2_t pairs_of(float32x4_t v) { return vreinterpretq_f64_f32(v); }
INLINE float32x4_t zip_low4(float32x4_t a, float32x4_t b) {
    return vreinterpretq_f32_f64(vzip1q_f64(pairs_of(a), pairs_of(b)));
}
INLINE float32x4_t zip_high4(float32x4_t a, float32x4_t b) {
    return vreinterpretq_f32_f64(vzip2q_f64(pairs_of(a), pairs_of(b)));
}

INLINE Vec zip_low(Vec a, Vec b) { return (Vec){vzip1q_f32(a.lo, b.lo), vzip1q_f32(a.hi, b.hi)}; }
INLINE Vec zip_high(Vec a, Vec b) { return (Vec){vzip2q_f32(a.lo, b.lo), vzip2q_f32(a.hi, b.hi)}; }
INLINE Vec zip_low_pairs(Vec a, Vec b) { return (Vec){zip_low4(a.lo, b.lo), zip_low4(a.hi, b.hi)}; }
INLINE Vec zip_high_pairs(Vec a, Vec b) { return (Vec){zip_high4(a.lo, b.lo), zip_high4(a.hi, b.hi)}; }

int neon_matmul_floats(float *y, size_t ldy, const Activations *a, const Matrix *w, size_t r0, size_t r1) {
    return matmul_any_floats(y, ldy, a, w, r0, r1);
}
