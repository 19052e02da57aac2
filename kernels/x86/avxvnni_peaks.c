/* kernels/x86/avxvnni_peaks.c - AVX-VNNI: dpbusd multiplies and sums 32 pairs of bytes at once, of 4 bits or of 8. */
#include "avx2_peaks.h"

#include <immintrin.h>

enum { SUMS = 12 };

static float int8_run(size_t rounds) {
    __m256i a[SUMS], x = _mm256_set1_epi8(3), y = _mm256_set1_epi8(-5), sum = _mm256_setzero_si256();
    for (int i = 0; i < SUMS; i++) a[i] = _mm256_set1_epi32(i);
    for (size_t k = 0; k < rounds; k++) {
        __asm__ volatile("" : "+x"(x), "+x"(y));
        for (int i = 0; i < SUMS; i++) a[i] = _mm256_dpbusd_avx_epi32(a[i], x, y);
    }
    for (int i = 0; i < SUMS; i++) sum = _mm256_add_epi32(sum, a[i]);
    return (float)_mm256_cvtsi256_si32(sum);
}

const Peaks peaks_avxvnni = {
    .row = "avxvnni",
    .fma = {"f32 FMA, 256 bit", PEAKS_AVX2_FMA_OPS, peaks_avx2_fma},
    .int8 = {"int8 dpbusd, 256 bit", SUMS * 64, int8_run},
    .int4 = {"int4 dpbusd, 256 bit", SUMS * 64, int8_run},
    .read = peaks_avx2_read,
};
