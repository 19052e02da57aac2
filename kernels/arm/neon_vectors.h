/* kernels/arm/neon_vectors.h - vectors.h in NEON: 8 floats in two vectors of four, so that sums have ref's and avx2's
 * eight lanes, and their bits; 2 doubles. */
#ifndef NEON_VECTORS_H
#define NEON_VECTORS_H

#include <arm_neon.h>

enum { VEC = 8, VEC64 = 2 };
typedef struct {
    float32x4_t lo, hi;
} Vec;
typedef struct {
    uint32x4_t lo, hi;
} VecTiny;
typedef float64x2_t Vec64;
typedef struct {
    int32x4_t half[2];
} Ints;

#include "kernels/vectors.h"

INLINE float32x4_t load4(const uint8_t *p) { return vreinterpretq_f32_u8(vld1q_u8(p)); }
INLINE float32x4_t load4_half(const uint8_t *p) { return vcvt_f32_f16(vreinterpret_f16_u8(vld1_u8(p))); }

INLINE float32x4_t load4_bf16(const uint8_t *p) {
    return vreinterpretq_f32_u32(vshll_n_u16(vreinterpret_u16_u8(vld1_u8(p)), 16));
}

INLINE Vec vec_all(float x) { return (Vec){vdupq_n_f32(x), vdupq_n_f32(x)}; }
INLINE Vec vec_zero(void) { return vec_all(0); }

INLINE Vec vec_load(const void *p) { return (Vec){load4(p), load4((const uint8_t *)p + 16)}; }
INLINE Vec vec_load_half(const void *p) { return (Vec){load4_half(p), load4_half((const uint8_t *)p + 8)}; }
INLINE Vec vec_load_bf16(const void *p) { return (Vec){load4_bf16(p), load4_bf16((const uint8_t *)p + 8)}; }

INLINE Vec vec_load_bytes(const void *p) {
    int16x8_t whole = vmovl_s8(vld1_s8(p));
    return (Vec){vcvtq_f32_s32(vmovl_s16(vget_low_s16(whole))), vcvtq_f32_s32(vmovl_s16(vget_high_s16(whole)))};
}

INLINE Vec vec_load_mini(const void *p) {
    float16x8_t half = vreinterpretq_f16_u16(vshll_n_u8(vld1_u8(p), 7));
    return (Vec){vcvt_f32_f16(vget_low_f16(half)), vcvt_f32_f16(vget_high_f16(half))};
}

INLINE Vec vec_pin(Vec v) { return v; } /* no instruction but a load reads memory here */

INLINE void vec_store(float *p, Vec v) {
    vst1q_f32(p, v.lo);
    vst1q_f32(p + 4, v.hi);
}

INLINE void vec_store_half(uint16_t *p, Vec v) {
    vst1_u16(p, vreinterpret_u16_f16(vcvt_f16_f32(v.lo)));
    vst1_u16(p + 4, vreinterpret_u16_f16(vcvt_f16_f32(v.hi)));
}

INLINE float half_to_float(uint16_t h) { return vgetq_lane_f32(vcvt_f32_f16(vreinterpret_f16_u16(vdup_n_u16(h))), 0); }
INLINE uint16_t float_to_half(float x) { return vget_lane_u16(vreinterpret_u16_f16(vcvt_f16_f32(vdupq_n_f32(x))), 0); }

INLINE Vec vec_load_some(TensorType type, const void *p, size_t n) { return vec_load_part(type, p, n); }
INLINE void vec_store_some(float *p, Vec v, size_t n) { vec_store_part(p, v, n); }

INLINE Vec vec_add(Vec a, Vec b) { return (Vec){vaddq_f32(a.lo, b.lo), vaddq_f32(a.hi, b.hi)}; }
INLINE Vec vec_sub(Vec a, Vec b) { return (Vec){vsubq_f32(a.lo, b.lo), vsubq_f32(a.hi, b.hi)}; }
INLINE Vec vec_mul(Vec a, Vec b) { return (Vec){vmulq_f32(a.lo, b.lo), vmulq_f32(a.hi, b.hi)}; }

INLINE Vec vec_fma(Vec acc, Vec a, Vec b) {
    return (Vec){vfmaq_f32(acc.lo, a.lo, b.lo), vfmaq_f32(acc.hi, a.hi, b.hi)};
}

INLINE Vec vec_fnma(Vec acc, Vec a, Vec b) {
    return (Vec){vfmsq_f32(acc.lo, a.lo, b.lo), vfmsq_f32(acc.hi, a.hi, b.hi)};
}

INLINE float vec_sum(Vec v) {
    float32x4_t s = vaddq_f32(v.lo, v.hi);
    float32x2_t t = vadd_f32(vget_low_f32(s), vget_high_f32(s));
    return vget_lane_f32(t, 0) + vget_lane_f32(t, 1);
}

INLINE VecTiny vec_tiny(Vec x) {
    return (VecTiny){vcltq_f32(x.lo, vdupq_n_f32(-87.33f)), vcltq_f32(x.hi, vdupq_n_f32(-87.33f))};
}

INLINE float32x4_t exp_argument4(float32x4_t x) {
    return vmaxq_f32(vdupq_n_f32(-87.33f), vminq_f32(vdupq_n_f32(88), x)); /* NaN stays */
}

INLINE float32x4_t times_power4(float32x4_t p, float32x4_t n, uint32x4_t tiny) {
    int32x4_t bits = vshlq_n_s32(vaddq_s32(vcvtq_s32_f32(n), vdupq_n_s32(127)), 23);
    return vreinterpretq_f32_u32(vbicq_u32(vreinterpretq_u32_f32(vmulq_f32(p, vreinterpretq_f32_s32(bits))), tiny));
}

INLINE Vec vec_exp_argument(Vec x) { return (Vec){exp_argument4(x.lo), exp_argument4(x.hi)}; }
INLINE Vec vec_round(Vec x) { return (Vec){vrndnq_f32(x.lo), vrndnq_f32(x.hi)}; }

INLINE Vec vec_times_power(Vec p, Vec n, VecTiny tiny) {
    return (Vec){times_power4(p.lo, n.lo, tiny.lo), times_power4(p.hi, n.hi, tiny.hi)};
}

INLINE Ints ints_all(int32_t x) { return (Ints){{vdupq_n_s32(x), vdupq_n_s32(x)}}; }

INLINE Ints ints_shift(Ints v, int shift) {
    return (Ints){{vshlq_s32(v.half[0], vdupq_n_s32(shift)), vshlq_s32(v.half[1], vdupq_n_s32(shift))}};
}

INLINE Ints ints_load_bytes(const void *p) {
    int16x8_t v = vmovl_s8(vld1_s8((const int8_t *)p));
    return (Ints){{vmovl_s16(vget_low_s16(v)), vmovl_high_s16(v)}};
}

INLINE Ints ints_minus(Ints v) { return (Ints){{vnegq_s32(v.half[0]), vnegq_s32(v.half[1])}}; }
INLINE Ints ints_mul_add(Ints acc, Ints a, Ints b) {
    return (Ints){{vmlaq_s32(acc.half[0], a.half[0], b.half[0]), vmlaq_s32(acc.half[1], a.half[1], b.half[1])}};
}

INLINE Vec ints_to_floats(Ints v) { return (Vec){vcvtq_f32_s32(v.half[0]), vcvtq_f32_s32(v.half[1])}; }

INLINE int8x16_t broadcast4(const int8_t *q) {
    int32_t v;
    memcpy(&v, q, 4);
    return vreinterpretq_s8_s32(vdupq_n_s32(v));
}

/* A square of four rows. */
INLINE void turn4(float *to, size_t to_row, const float *from, size_t from_row) {
    float32x4x2_t ab = vtrnq_f32(vld1q_f32(from), vld1q_f32(from + from_row)), /* a0 b0 a2 b2, a1 b1 a3 b3 */
                  cd = vtrnq_f32(vld1q_f32(from + 2 * from_row), vld1q_f32(from + 3 * from_row));
    for (size_t odd = 0; odd < 2; odd++) {
        vst1q_f32(to + odd * to_row, vcombine_f32(vget_low_f32(ab.val[odd]), vget_low_f32(cd.val[odd])));
        vst1q_f32(to + (odd + 2) * to_row, vcombine_f32(vget_high_f32(ab.val[odd]), vget_high_f32(cd.val[odd])));
    }
}

INLINE void vec_turn(float *to, size_t to_row, const float *from, size_t from_row) {
    turn4(to, to_row, from, from_row);
    turn4(to + 4, to_row, from + 4 * from_row, from_row);
}

INLINE Vec64 vec64_zero(void) { return vdupq_n_f64(0); }
INLINE Vec64 vec64_all(double x) { return vdupq_n_f64(x); }
INLINE Vec64 vec64_load(const double *p) { return vld1q_f64(p); }
INLINE Vec64 vec64_load_floats(const float *p) { return vcvt_f64_f32(vld1_f32(p)); }
INLINE void vec64_store(double *p, Vec64 v) { vst1q_f64(p, v); }
INLINE Vec64 vec64_fma(Vec64 acc, Vec64 a, Vec64 b) { return vfmaq_f64(acc, a, b); }

#endif
