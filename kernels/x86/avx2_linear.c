/* kernels/x86/avx2_linear.c - linear attention's loops for the AVX2 row. */
#include "avx2.h"
#include "avx2_vectors.h"

/* 4 vectors of S and 4 sums: with the key taken in, 8 FMA and 4 stores a row, about what a core can do in 4 cycles. */
INLINE void take_and_read(double *out, double *S, size_t rows, const double *b, const float *v, const double *a) {
    __m256d vv[4], acc[4];
    UNROLL
    for (int j = 0; j < 4; j++) vv[j] = _mm256_cvtps_pd(_mm_loadu_ps(v + 4 * j)), acc[j] = _mm256_setzero_pd();
    for (size_t i = 0; i < rows; i++, S += STATE_COLUMNS) {
        __m256d bi = _mm256_set1_pd(b[i]), ai = a ? _mm256_set1_pd(a[i]) : _mm256_setzero_pd();
        UNROLL
        for (int j = 0; j < 4; j++) {
            __m256d s = _mm256_fmadd_pd(bi, vv[j], _mm256_loadu_pd(S + 4 * j));
            _mm256_storeu_pd(S + 4 * j, s);
            if (a) acc[j] = _mm256_fmadd_pd(ai, s, acc[j]);
        }
    }
    UNROLL
    for (int j = 0; a && j < 4; j++) _mm256_storeu_pd(out + 4 * j, acc[j]);
}

/* Q queries at once: with one alone, four sums cannot hide the latency of an FMA. */
INLINE void read_state(int Q, double *out, const double *S, size_t rows, const double *a, size_t lda) {
    __m256d acc[2][4];
    UNROLL
    for (int g = 0; g < Q; g++)
        UNROLL
        for (int j = 0; j < 4; j++) acc[g][j] = _mm256_setzero_pd();
    for (size_t i = 0; i < rows; i++, S += STATE_COLUMNS) {
        UNROLL
        for (int g = 0; g < Q; g++) {
            __m256d ai = _mm256_set1_pd(a[(size_t)g * lda + i]);
            UNROLL
            for (int j = 0; j < 4; j++) acc[g][j] = _mm256_fmadd_pd(ai, _mm256_loadu_pd(S + 4 * j), acc[g][j]);
        }
    }
    UNROLL
    for (int g = 0; g < Q; g++)
        UNROLL
        for (int j = 0; j < 4; j++) _mm256_storeu_pd(out + g * STATE_COLUMNS + 4 * j, acc[g][j]);
}

void avx2_state_step(double *out, double *S, size_t rows, const double *b, const float *v, const double *a, size_t n, size_t lda) {
    size_t g = 0;
    if (b && n) take_and_read(out, S, rows, b, v, a), g = 1;
    else if (b) take_and_read(NULL, S, rows, b, v, NULL);
    for (; g + 2 <= n; g += 2) read_state(2, out + g * STATE_COLUMNS, S, rows, a + g * lda, lda);
    if (g < n) read_state(1, out + g * STATE_COLUMNS, S, rows, a + g * lda, lda);
}
