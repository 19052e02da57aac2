/* kernels/arm/neon_peaks.c - the loops in NEON (arm64). */
#include "neon_peaks.h"

#include <arm_neon.h>

enum { SUMS = 16, INT_SUMS = 8 }; /* 4 cycles of latency on 2 to 4 pipes */

float peaks_neon_fma(size_t rounds) {
    float32x4_t a[SUMS], x = vdupq_n_f32(0.999f), y = vdupq_n_f32(1e-4f), sum = vdupq_n_f32(0);
    for (int i = 0; i < SUMS; i++) a[i] = vdupq_n_f32((float)i);
    for (size_t k = 0; k < rounds; k++) {
        __asm__ volatile("" : "+w"(x), "+w"(y));
        for (int i = 0; i < SUMS; i++) a[i] = vfmaq_f32(a[i], x, y);
    }
    for (int i = 0; i < SUMS; i++) sum = vaddq_f32(sum, a[i]);
    return vaddvq_f32(sum);
}

/* smull, smlal2: bytes to 16 bits, two products in each (127 * 127 * 2 < 2^15); sadalp: pairs of these to 32. */
static float int8_run(size_t rounds) {
    int32x4_t a[INT_SUMS], sum = vdupq_n_s32(0);
    int8x16_t x = vdupq_n_s8(3), y = vdupq_n_s8(-5);
    for (int i = 0; i < INT_SUMS; i++) a[i] = vdupq_n_s32(i);
    for (size_t k = 0; k < rounds; k++)
        for (int i = 0; i < INT_SUMS; i++) {
            __asm__ volatile("" : "+w"(x), "+w"(y));
            int16x8_t pairs = vmull_s8(vget_low_s8(x), vget_low_s8(y));
            a[i] = vpadalq_s16(a[i], vmlal_high_s8(pairs, x, y));
        }
    for (int i = 0; i < INT_SUMS; i++) sum = vaddq_s32(sum, a[i]);
    return (float)vaddvq_s32(sum);
}

/* Eight terms of 4 bits in each 16-bit sum before it is widened. */
static float int4_run(size_t rounds) {
    int32x4_t a[INT_SUMS], sum = vdupq_n_s32(0);
    int8x16_t x = vdupq_n_s8(3), y = vdupq_n_s8(-5);
    for (int i = 0; i < INT_SUMS; i++) a[i] = vdupq_n_s32(i);
    for (size_t k = 0; k < rounds; k++) {
        int16x8_t low[INT_SUMS];
        for (int i = 0; i < INT_SUMS; i++) low[i] = vdupq_n_s16(0);
        for (int j = 0; j < 4; j++)
            for (int i = 0; i < INT_SUMS; i++) {
                __asm__ volatile("" : "+w"(x), "+w"(y), "+w"(low[i]));
                low[i] = vmlal_high_s8(vmlal_s8(low[i], vget_low_s8(x), vget_low_s8(y)), x, y);
            }
        for (int i = 0; i < INT_SUMS; i++) a[i] = vpadalq_s16(a[i], low[i]);
    }
    for (int i = 0; i < INT_SUMS; i++) sum = vaddq_s32(sum, a[i]);
    return (float)vaddvq_s32(sum);
}

uint64_t peaks_neon_read(const void *p, size_t bytes, int streams) {
    const char *at = p;
    size_t runs = streams == 1 ? 1 : 4, run = bytes / runs;
    uint64x2_t a[4];
    for (int s = 0; s < 4; s++) a[s] = vdupq_n_u64(0);
    for (size_t i = 0; i < run; i += 64)
        for (size_t r = 0; r < runs; r++) {
            const uint64_t *w = (const uint64_t *)(const void *)(at + r * run + i);
            if (runs > 1 && i + PEAK_AHEAD < run) __builtin_prefetch(at + r * run + i + PEAK_AHEAD, 0, 2);
            for (size_t s = 0; s < 4; s++) a[s] = vaddq_u64(a[s], vld1q_u64(w + 2 * s));
        }
    return vaddvq_u64(vaddq_u64(vaddq_u64(a[0], a[1]), vaddq_u64(a[2], a[3])));
}

const Peaks peaks_neon = {
    .row = "neon",
    .fma = {"f32 FMA, 128 bit", PEAKS_NEON_FMA_OPS, peaks_neon_fma},
    .int8 = {"int8 smull, smlal, sadalp", INT_SUMS * 32, int8_run},
    .int4 = {"int4 smlal in 16-bit sums", 4 * INT_SUMS * 32, int4_run},
    .read = peaks_neon_read,
};
