/* kernels/arm/neon_vectors.h - small pieces that the files with NEON share. Eight floats are two vectors of four, so that sums
 * have ref's eight lanes. */
#ifndef NEON_VECTORS_H
#define NEON_VECTORS_H

#include "kernels/inline.h"
#include "kernels/quants.h"

#include <arm_neon.h>
#include <string.h>

typedef struct {
    float32x4_t lo, hi;
} Vec8;

/* Lanes j and j+4, then j and j+2, then 0 and 1: ref's fold. */
INLINE float fold(Vec8 v) {
    float32x4_t s = vaddq_f32(v.lo, v.hi);
    float32x2_t t = vadd_f32(vget_low_f32(s), vget_high_f32(s));
    return vget_lane_f32(t, 0) + vget_lane_f32(t, 1);
}

INLINE float32x4_t half4(const void *p) { return vcvt_f32_f16(vreinterpret_f16_u8(vld1_u8(p))); }

/* Four numbers of a row from p on, at any address; p holds them all. */
INLINE float32x4_t load4(TensorType type, const uint8_t *p) {
    if (type == TENSOR_F32) return vreinterpretq_f32_u8(vld1q_u8(p));
    if (type == TENSOR_F16) return half4(p);
    return vreinterpretq_f32_u32(vshll_n_u16(vreinterpret_u16_u8(vld1_u8(p)), 16));
}

/* Entries i .. i+7 of a row as floats; n of them exist, the rest reads as zero. */
INLINE Vec8 load8(TensorType type, const uint8_t *row, size_t i, size_t n) {
    size_t each = type == TENSOR_F32 ? 4 : 2;
    uint8_t part[32] = {0};
    const uint8_t *p = row + i * each;
    if (n < 8) p = memcpy(part, p, n * each);
    return (Vec8){load4(type, p), load4(type, p + 4 * each)};
}

INLINE Vec8 floats8(const float *x, size_t i, size_t n) { return load8(TENSOR_F32, (const uint8_t *)x, i, n); }

INLINE void store8(float *out, Vec8 v, size_t n) {
    float part[8];
    vst1q_f32(n >= 8 ? out : part, v.lo);
    vst1q_f32((n >= 8 ? out : part) + 4, v.hi);
    if (n < 8) memcpy(out, part, n * sizeof *out);
}

/* a + b * c, rounded once. */
INLINE Vec8 fma8(Vec8 a, Vec8 b, Vec8 c) { return (Vec8){vfmaq_f32(a.lo, b.lo, c.lo), vfmaq_f32(a.hi, b.hi, c.hi)}; }
INLINE Vec8 add8(Vec8 a, Vec8 b) { return (Vec8){vaddq_f32(a.lo, b.lo), vaddq_f32(a.hi, b.hi)}; }
INLINE Vec8 all8(float x) { return (Vec8){vdupq_n_f32(x), vdupq_n_f32(x)}; }

/* avx2_vectors.h's exp8, step by step, and so its bits: e^x to 0.94 ulp for x in [-87.3, 88]; below 0, above e^88; NaN stays. */
INLINE float32x4_t exp4(float32x4_t x) {
    static const float inverse_factorials[] = {1.0f / 5040, 1.0f / 720, 1.0f / 120, 1.0f / 24, 1.0f / 6, 0.5f, 1, 1};
    const float32x4_t lowest = vdupq_n_f32(-87.33f);
    uint32x4_t tiny = vcltq_f32(x, lowest);
    x = vmaxq_f32(lowest, vminq_f32(vdupq_n_f32(88.0f), x));
    float32x4_t n = vrndnq_f32(vmulq_f32(x, vdupq_n_f32(1.44269504f)));
    float32x4_t f = vfmsq_f32(x, n, vdupq_n_f32(0.693359375f)); /* ln2 in two parts: the first product is exact */
    f = vfmsq_f32(f, n, vdupq_n_f32(-2.12194440e-4f));
    float32x4_t p = vdupq_n_f32(inverse_factorials[0]);
    UNROLL
    for (int i = 1; i < 8; i++) p = vfmaq_f32(vdupq_n_f32(inverse_factorials[i]), p, f);
    int32x4_t bits = vshlq_n_s32(vaddq_s32(vcvtq_s32_f32(n), vdupq_n_s32(127)), 23);
    return vreinterpretq_f32_u32(vbicq_u32(vreinterpretq_u32_f32(vmulq_f32(p, vreinterpretq_f32_s32(bits))), tiny));
}

INLINE Vec8 exp8(Vec8 x) { return (Vec8){exp4(x.lo), exp4(x.hi)}; }

#endif
