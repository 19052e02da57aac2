/* kernels/x86/avx512vnni_peaks.c - AVX-512 with VNNI: dpbusd multiplies and sums 64 pairs of bytes at once, of 4 bits
 * or of 8. */
#include "avx512_peaks.h"

#include <immintrin.h>

enum { SUMS = 12 };

static float int8_run(size_t rounds) {
    __m512i a[SUMS], x = _mm512_set1_epi8(3), y = _mm512_set1_epi8(-5), sum = _mm512_setzero_si512();
    for (int i = 0; i < SUMS; i++) a[i] = _mm512_set1_epi32(i);
    for (size_t k = 0; k < rounds; k++) {
        __asm__ volatile("" : "+v"(x), "+v"(y));
        for (int i = 0; i < SUMS; i++) a[i] = _mm512_dpbusd_epi32(a[i], x, y);
    }
    for (int i = 0; i < SUMS; i++) sum = _mm512_add_epi32(sum, a[i]);
    return (float)_mm512_cvtsi512_si32(sum);
}

const Peaks peaks_avx512vnni = {
    .row = "avx512vnni",
    .fma = {"f32 FMA, 512 bit", PEAKS_AVX512_FMA_OPS, peaks_avx512_fma},
    .int8 = {"int8 dpbusd, 512 bit", SUMS * 128, int8_run},
    .int4 = {"int4 dpbusd, 512 bit", SUMS * 128, int8_run},
    .read = peaks_avx512_read,
};
