/* kernels/arm/neondot_peaks.c - the dot-product extension: sdot multiplies and sums 16 pairs of bytes at once. */
#include "neon_peaks.h"

#include <arm_neon.h>

enum { SUMS = 16 };

static float int8_run(size_t rounds) {
    int32x4_t a[SUMS], sum = vdupq_n_s32(0);
    int8x16_t x = vdupq_n_s8(3), y = vdupq_n_s8(-5);
    for (int i = 0; i < SUMS; i++) a[i] = vdupq_n_s32(i);
    for (size_t k = 0; k < rounds; k++) {
        __asm__ volatile("" : "+w"(x), "+w"(y));
        for (int i = 0; i < SUMS; i++) a[i] = vdotq_s32(a[i], x, y);
    }
    for (int i = 0; i < SUMS; i++) sum = vaddq_s32(sum, a[i]);
    return (float)vaddvq_s32(sum);
}

const Peaks peaks_neondot = {
    .row = "neondot",
    .fma = {"f32 FMA, 128 bit", PEAKS_NEON_FMA_OPS, peaks_neon_fma},
    .int8 = {"int8 sdot, 128 bit", SUMS * 32, int8_run},
    .int4 = {"int4 sdot, 128 bit", SUMS * 32, int8_run},
    .read = peaks_neon_read,
};
