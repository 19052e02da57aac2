/* kernels/arm/neon.c - what the NEON rows have of one vector, in vector_loops.h's words. matmul is in neon_matmul.c and
 * neon_floats.c, attention in neon_attention.c; neondot.c is the row with the dot-product extension. Against ref: FMA
 * rounds once where ref rounds twice; exp is a polynomial. The loops are avx2.c's, and so are the bits. */
#include "neon.h"
#include "neon_vectors.h"
#include "kernels/vector_loops.h"

INLINE Vec vec_div(Vec a, Vec b) { return (Vec){vdivq_f32(a.lo, b.lo), vdivq_f32(a.hi, b.hi)}; }
INLINE Vec vec_abs(Vec x) { return (Vec){vabsq_f32(x.lo), vabsq_f32(x.hi)}; }
INLINE Vec vec_positive(Vec x) { return (Vec){vmaxq_f32(vdupq_n_f32(0), x.lo), vmaxq_f32(vdupq_n_f32(0), x.hi)}; }

INLINE float32x4_t by_sign4(float32x4_t x, float32x4_t negative, float32x4_t positive) {
    return vbslq_f32(vreinterpretq_u32_s32(vshrq_n_s32(vreinterpretq_s32_f32(x), 31)), negative, positive);
}

INLINE Vec vec_by_sign(Vec x, Vec negative, Vec positive) {
    return (Vec){by_sign4(x.lo, negative.lo, positive.lo), by_sign4(x.hi, negative.hi, positive.hi)};
}

/* Four pairs at a time, apart as they are loaded. */
INLINE int rotate_pairs(float *x, const float *c, const float *s, int half) {
    int i = 0;
    for (; i + 4 <= half; i += 4) {
        float32x4_t cc = vld1q_f32(c + i), ss = vld1q_f32(s + i);
        float32x4x2_t v = vld2q_f32(x + 2 * i);
        float32x4_t a = vsubq_f32(vmulq_f32(v.val[0], cc), vmulq_f32(v.val[1], ss));
        float32x4_t b = vaddq_f32(vmulq_f32(v.val[0], ss), vmulq_f32(v.val[1], cc));
        vst2q_f32(x + 2 * i, ((float32x4x2_t){{a, b}}));
    }
    return i;
}

INLINE Vec64 vec64_exp_argument(Vec64 x) { /* NaN stays */
    return vmaxq_f64(vdupq_n_f64(-708), vminq_f64(vdupq_n_f64(709), x));
}

INLINE Vec64 vec64_times_power(Vec64 p, Vec64 n, Vec64 x) {
    uint64x2_t tiny = vcltq_f64(x, vdupq_n_f64(-708));
    int64x2_t bits = vshlq_n_s64(vaddq_s64(vcvtq_s64_f64(n), vdupq_n_s64(1023)), 52);
    return vreinterpretq_f64_u64(vbicq_u64(vreinterpretq_u64_f64(vmulq_f64(p, vreinterpretq_f64_s64(bits))), tiny));
}

INLINE Vec64 vec64_round(Vec64 x) { return vrndnq_f64(x); }
INLINE Vec64 vec64_mul(Vec64 a, Vec64 b) { return vmulq_f64(a, b); }
INLINE Vec64 vec64_fnma(Vec64 acc, Vec64 a, Vec64 b) { return vfmsq_f64(acc, a, b); }

const VectorKernels neon_vector = {.rmsnorm = rmsnorm, .silu_mul = silu_mul, .rotate = rotate, .exp64 = exp64};
const EncoderKernels neon_encoder = {.layernorm = layernorm, .activate = activate};
