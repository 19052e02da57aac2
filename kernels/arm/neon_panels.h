/* kernels/arm/neon_panels.h - reading panels of 8 rows with vectors of 4 rows: codes and scales. */
#ifndef NEON_PANELS_H
#define NEON_PANELS_H

#include "neon.h"
#include "neon_vectors.h"

typedef int8x16_t Line; /* half a line, four rows: `lines` and 16 bytes behind it are where the halves begin */

#include "kernels/panel_codes.h"

INLINE Line line_at(const uint8_t *lines, int j) { return vreinterpretq_s8_u8(vld1q_u8(lines + 32 * j)); }
INLINE Line no_codes(void) { return vdupq_n_s8(0); }
INLINE Line either(Line a, Line b) { return vorrq_s8(a, b); }

INLINE Line field(Line v, int from, int to, int mask) {
    uint8x16_t moved = vreinterpretq_u8_s8(v);
    if (from > to) moved >>= vdupq_n_u8((uint8_t)(from - to));
    if (from < to) moved <<= vdupq_n_u8((uint8_t)(to - from));
    return vreinterpretq_s8_u8(vandq_u8(moved, vdupq_n_u8((uint8_t)(mask << to))));
}

INLINE Line values_of(Line q) {
    static const int8_t table[16] = {-127, -104, -83, -65, -49, -35, -22, -10, 1, 13, 25, 38, 53, 69, 89, 113};
    return vqtbl1q_s8(vld1q_s8(table), vreinterpretq_u8_s8(q));
}

INLINE Vec8 half8(const uint8_t *p) { return (Vec8){half4(p), half4(p + 8)}; }

/* Scales (or minima) of sub-block h of block b: d and sc begin at these offsets. */
INLINE Vec8 scales_at(Form f, const uint8_t *panel, size_t d, size_t sc, size_t b, int h) {
    if (f.groups) return load8(TENSOR_F32, panel + d + b * 32, 0, 8);
    if (!f.super) return half8(panel + d + b * 16);
    Vec8 super = half8(panel + d + b / 8 * 16);
    int16x8_t whole = vmovl_s8(vreinterpret_s8_u8(vld1_u8(panel + sc + (b * (size_t)(32 / f.sub) + (size_t)h) * 8)));
    return (Vec8){vmulq_f32(super.lo, vcvtq_f32_s32(vmovl_s16(vget_low_s16(whole)))),
                  vmulq_f32(super.hi, vcvtq_f32_s32(vmovl_s16(vget_high_s16(whole))))};
}

#endif
