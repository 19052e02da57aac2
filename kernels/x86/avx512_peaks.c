/* kernels/x86/avx512_peaks.c - the loops in AVX-512 (F, BW): as avx2_peaks.c, twice as wide. avx512vnni_peaks.c has the
 * better integer loops of a CPU with VNNI, and the rest from here. */
#include "avx512_peaks.h"

#include <immintrin.h>

enum { SUMS = 12, INT_SUMS = 8 };

float peaks_avx512_fma(size_t rounds) {
    __m512 a[SUMS], x = _mm512_set1_ps(0.999f), y = _mm512_set1_ps(1e-4f);
    float sum = 0;
    for (int i = 0; i < SUMS; i++) a[i] = _mm512_set1_ps((float)i);
    for (size_t k = 0; k < rounds; k++)
        for (int i = 0; i < SUMS; i++) a[i] = _mm512_fmadd_ps(a[i], x, y);
    for (int i = 0; i < SUMS; i++) sum += _mm512_reduce_add_ps(a[i]);
    return sum;
}

static float int_end(const __m512i a[INT_SUMS]) {
    __m512i sum = a[0];
    for (int i = 1; i < INT_SUMS; i++) sum = _mm512_add_epi32(sum, a[i]);
    return (float)_mm512_cvtsi512_si32(sum);
}

static float int8_run(size_t rounds) {
    __m512i a[INT_SUMS], x = _mm512_set1_epi8(3), y = _mm512_set1_epi8(-5), ones = _mm512_set1_epi16(1);
    for (int i = 0; i < INT_SUMS; i++) a[i] = _mm512_set1_epi32(i);
    for (size_t k = 0; k < rounds; k++)
        for (int i = 0; i < INT_SUMS; i++) {
            __asm__ volatile("" : "+v"(x), "+v"(y));
            a[i] = _mm512_add_epi32(a[i], _mm512_madd_epi16(_mm512_maddubs_epi16(x, y), ones));
        }
    return int_end(a);
}

static float int4_run(size_t rounds) {
    __m512i a[INT_SUMS], x = _mm512_set1_epi8(3), y = _mm512_set1_epi8(-5), ones = _mm512_set1_epi16(1);
    for (int i = 0; i < INT_SUMS; i++) a[i] = _mm512_set1_epi32(i);
    for (size_t k = 0; k < rounds; k++) {
        __m512i short_sum[4];
        for (int i = 0; i < 4; i++) short_sum[i] = _mm512_setzero_si512();
        for (int j = 0; j < 8; j++)
            for (int i = 0; i < 4; i++) {
                __asm__ volatile("" : "+v"(x), "+v"(y), "+v"(short_sum[i]));
                short_sum[i] = _mm512_add_epi16(short_sum[i], _mm512_maddubs_epi16(x, y));
            }
        for (int i = 0; i < 4; i++) a[i] = _mm512_add_epi32(a[i], _mm512_madd_epi16(short_sum[i], ones));
    }
    return int_end(a);
}

uint64_t peaks_avx512_read(const void *p, size_t bytes, int streams) {
    const char *at = p;
    size_t quarter = bytes / 4;
    __m512i a[4];
    for (int s = 0; s < 4; s++) a[s] = _mm512_setzero_si512();
    for (size_t i = 0; streams == 1 && i < bytes; i += 256)
        for (size_t s = 0; s < 4; s++) a[s] = _mm512_add_epi64(a[s], _mm512_load_si512(at + i + 64 * s));
    for (size_t i = 0; streams != 1 && i < quarter; i += 64)
        for (size_t s = 0; s < 4; s++) {
            if (i + PEAK_AHEAD < quarter) _mm_prefetch(at + s * quarter + i + PEAK_AHEAD, _MM_HINT_T1);
            a[s] = _mm512_add_epi64(a[s], _mm512_load_si512(at + s * quarter + i));
        }
    a[0] = _mm512_add_epi64(_mm512_add_epi64(a[0], a[1]), _mm512_add_epi64(a[2], a[3]));
    uint64_t sums[8], sum = 0; /* gcc's reduce adds signed numbers, which may not wrap */
    _mm512_storeu_si512(sums, a[0]);
    for (int i = 0; i < 8; i++) sum += sums[i];
    return sum;
}

const Peaks peaks_avx512 = {
    .row = "avx512",
    .fma = {"f32 FMA, 512 bit", PEAKS_AVX512_FMA_OPS, peaks_avx512_fma},
    .int8 = {"int8 maddubs, 512 bit", INT_SUMS * 128, int8_run},
    .int4 = {"int4 maddubs, 512 bit", 8 * 4 * 128, int4_run},
    .read = peaks_avx512_read,
};
