/* kernels/x86/avx2_peaks.c - the loops in AVX2 with FMA. An empty asm makes the compiler take a register's value for
 * unknown. */
#include "avx2_peaks.h"

#include <immintrin.h>

enum { SUMS = PEAKS_AVX2_FMA_OPS / 16, INT_SUMS = 8 }; /* independent: 4 or 5 cycles of latency on 2 ports need 10 */

float peaks_avx2_fma(size_t rounds) {
    __m256 a[SUMS], x = _mm256_set1_ps(0.999f), y = _mm256_set1_ps(1e-4f), sum = _mm256_setzero_ps();
    for (int i = 0; i < SUMS; i++) a[i] = _mm256_set1_ps((float)i);
    for (size_t k = 0; k < rounds; k++)
        for (int i = 0; i < SUMS; i++) a[i] = _mm256_fmadd_ps(a[i], x, y);
    for (int i = 0; i < SUMS; i++) sum = _mm256_add_ps(sum, a[i]);
    return _mm256_cvtss_f32(sum);
}

static float int_end(const __m256i a[INT_SUMS]) {
    __m256i sum = a[0];
    for (int i = 1; i < INT_SUMS; i++) sum = _mm256_add_epi32(sum, a[i]);
    return (float)_mm256_cvtsi256_si32(sum);
}

/* maddubs: pairs to 16 bits; madd with ones: pairs of these to 32; add. */
static float int8_run(size_t rounds) {
    __m256i a[INT_SUMS], x = _mm256_set1_epi8(3), y = _mm256_set1_epi8(-5), ones = _mm256_set1_epi16(1);
    for (int i = 0; i < INT_SUMS; i++) a[i] = _mm256_set1_epi32(i);
    for (size_t k = 0; k < rounds; k++)
        for (int i = 0; i < INT_SUMS; i++) {
            __asm__ volatile("" : "+x"(x), "+x"(y));
            a[i] = _mm256_add_epi32(a[i], _mm256_madd_epi16(_mm256_maddubs_epi16(x, y), ones));
        }
    return int_end(a);
}

/* Eight maddubs of 4-bit numbers fit 16 bits (8 * 2 * 15 * 127 < 2^15), so madd is paid once for eight. Four sums go on
 * side by side; the asm keeps the order, as all products at once would need too many registers. */
static float int4_run(size_t rounds) {
    __m256i a[INT_SUMS], x = _mm256_set1_epi8(3), y = _mm256_set1_epi8(-5), ones = _mm256_set1_epi16(1);
    for (int i = 0; i < INT_SUMS; i++) a[i] = _mm256_set1_epi32(i);
    for (size_t k = 0; k < rounds; k++) {
        __m256i short_sum[4];
        for (int i = 0; i < 4; i++) short_sum[i] = _mm256_setzero_si256();
        for (int j = 0; j < 8; j++)
            for (int i = 0; i < 4; i++) {
                __asm__ volatile("" : "+x"(x), "+x"(y), "+x"(short_sum[i]));
                short_sum[i] = _mm256_add_epi16(short_sum[i], _mm256_maddubs_epi16(x, y));
            }
        for (int i = 0; i < 4; i++) a[i] = _mm256_add_epi32(a[i], _mm256_madd_epi16(short_sum[i], ones));
    }
    return int_end(a);
}

static __m256i read_line(__m256i sum, const char *p) {
    const __m256i *v = (const __m256i *)(const void *)p;
    return _mm256_add_epi64(sum, _mm256_add_epi64(_mm256_load_si256(v), _mm256_load_si256(v + 1)));
}

uint64_t peaks_avx2_read(const void *p, size_t bytes, int streams) {
    const char *at = p;
    size_t quarter = bytes / 4;
    __m256i a[4];
    for (int s = 0; s < 4; s++) a[s] = _mm256_setzero_si256();
    for (size_t i = 0; streams == 1 && i < bytes; i += 256)
        for (size_t s = 0; s < 4; s++) a[s] = read_line(a[s], at + i + 64 * s);
    for (size_t i = 0; streams != 1 && i < quarter; i += 64)
        for (size_t s = 0; s < 4; s++) {
            if (i + PEAK_AHEAD < quarter) _mm_prefetch(at + s * quarter + i + PEAK_AHEAD, _MM_HINT_T1);
            a[s] = read_line(a[s], at + s * quarter + i);
        }
    a[0] = _mm256_add_epi64(_mm256_add_epi64(a[0], a[1]), _mm256_add_epi64(a[2], a[3]));
    uint64_t sum[4];
    _mm256_storeu_si256((__m256i *)(void *)sum, a[0]);
    return sum[0] + sum[1] + sum[2] + sum[3];
}

const Peaks peaks_avx2 = {
    .row = "avx2",
    .fma = {"f32 FMA, 256 bit", PEAKS_AVX2_FMA_OPS, peaks_avx2_fma},
    .int8 = {"int8 maddubs, 256 bit", INT_SUMS * 64, int8_run},
    .int4 = {"int4 maddubs, 256 bit", 8 * 4 * 64, int4_run},
    .read = peaks_avx2_read,
};
