/* kernels/neon_panels.h - reading panels of 8 rows with vectors of 4 rows: codes, scales, what to fetch ahead. */
#ifndef NEON_PANELS_H
#define NEON_PANELS_H

#include "neon.h"
#include "neon_vectors.h"

enum { AHEAD = 4096 };

/* A block format as constants: shift = log2 of its zero, -1: none. super: K formats, whose scales are d * sc. */
typedef struct {
    int bits, sub, shift, minima, super, values, groups;
} Form;

/* The bits of v that `mask` names, moved from bit `from` of each byte to bit `to`. */
INLINE uint8x16_t field(uint8x16_t v, int from, int to, int mask) {
    if (from > to) v >>= vdupq_n_u8((uint8_t)(from - to));
    if (from < to) v <<= vdupq_n_u8((uint8_t)(to - from));
    return vandq_u8(v, vdupq_n_u8((uint8_t)(mask << to)));
}

/* Codes of columns 4j .. 4j+3, of the panel's first (v = 0) or last four rows; values where they take 8 bits. */
INLINE int8x16_t codes_at(Form f, const uint8_t *lines, int j, int v) {
    lines += 16 * v;
    if (f.bits == 8) return vreinterpretq_s8_u8(veorq_u8(vld1q_u8(lines + 32 * j), vdupq_n_u8(128)));
    uint8x16_t q = vdupq_n_u8(0);
    int done = 0, line = 0;
    if (f.bits >= 4) {
        q = field(vld1q_u8(lines + 32 * (j % 4)), j / 4 * 4, 0, 15);
        line = done = 4;
    }
    if ((f.bits - done) & 2) {
        q = vorrq_u8(q, field(vld1q_u8(lines + 32 * (line + j / 4)), j % 4 * 2, done, 3));
        line += 2, done += 2;
    }
    if ((f.bits - done) & 1) q = vorrq_u8(q, field(vld1q_u8(lines + 32 * line), j, done, 1));
    if (f.values) {
        static const int8_t table[16] = {-127, -104, -83, -65, -49, -35, -22, -10, 1, 13, 25, 38, 53, 69, 89, 113};
        return vqtbl1q_s8(vld1q_s8(table), q);
    }
    return vreinterpretq_s8_u8(q);
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

/* What is to be in cache soon: `lines` cache lines a block from `at` on. */
typedef struct {
    const uint8_t *at;
    size_t lines;
} Ahead;

INLINE void prefetch(Ahead *ahead) {
    for (size_t i = 0; i < ahead->lines; i++, ahead->at += 64) __builtin_prefetch(ahead->at, 0, 2);
}

/* While token tile i of n passes a panel, the i-th part of the next panel is fetched. */
INLINE Ahead next_panel(const uint8_t *panel, const PanelShape *s, size_t i, size_t n) {
    size_t lines = s->size / 64, each = (lines + n * s->blocks - 1) / (n * s->blocks);
    return (Ahead){panel + s->size + i * each * s->blocks * 64, i * each * s->blocks < lines ? each : 0};
}

#endif
