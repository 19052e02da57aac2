/* kernels/peaks_ref.c - the loops in plain C: what the compiler makes of it with the instructions that every CPU of its
 * kind has. */
#include "peaks.h"

enum { LANES = 32, TERMS = 32 };

/* LANES sums that do not wait for each other: as many as registers hold, to hide an addition's latency. */
static float fma_run(size_t rounds) {
    volatile float start = 0.999f;
    float a[LANES], x = start, y = 1 - start, sum = 0;
    for (int i = 0; i < LANES; i++) a[i] = (float)i;
    for (size_t k = 0; k < rounds; k++)
        for (int i = 0; i < LANES; i++) a[i] = a[i] * x + y;
    for (int i = 0; i < LANES; i++) sum += a[i];
    return sum;
}

/* A block's dot product, from cache. The empty asm makes the compiler take the arrays for unknown in each round. */
static float int8_run(size_t rounds) {
    int8_t a[TERMS], b[TERMS];
    int32_t sum = 0;
    for (int i = 0; i < TERMS; i++) a[i] = (int8_t)(3 * i - 50), b[i] = (int8_t)(7 * i - 100);
    for (size_t k = 0; k < rounds; k++) {
        int32_t block = 0;
        __asm__ volatile("" : : "r"(a), "r"(b) : "memory");
        for (int i = 0; i < TERMS; i++) block += a[i] * b[i];
        sum += block & 255;
    }
    return (float)sum;
}

static uint64_t read_run(const void *p, size_t bytes, int streams) {
    const uint64_t *w = p;
    size_t n = bytes / sizeof *w, quarter = n / 4, line = 64 / sizeof *w, ahead = PEAK_AHEAD / sizeof *w;
    uint64_t sum[4] = {0};
    if (streams == 1) {
        for (size_t i = 0; i < n; i++) sum[0] += w[i];
        return sum[0];
    }
    for (size_t i = 0; i < quarter; i += line)
        for (size_t s = 0; s < 4; s++) {
            const uint64_t *at = w + s * quarter + i;
            if (i + ahead < quarter) __builtin_prefetch(at + ahead, 0, 2);
            for (size_t j = 0; j < line; j++) sum[s] += at[j];
        }
    return sum[0] + sum[1] + sum[2] + sum[3];
}

const Peaks peaks_ref = {
    .row = "ref",
    .fma = {"f32 products, plain C", 2 * LANES, fma_run},
    .int8 = {"int8 dot product, plain C", 2 * TERMS, int8_run},
    .int4 = {"int4 dot product, plain C", 2 * TERMS, int8_run},
    .read = read_run,
};
