/* kernels/x86/avx512_linear.c - linear attention's loops for the AVX-512 rows: a row of S is two vectors of eight doubles. The sums
 * are avx2's, term by term, and so are the bits. */
#include "avx2.h"
#include "avx512_panels.h"

enum { HALF = STATE_COLUMNS / 2, QUERIES = 4 };

INLINE void take_and_read(double *out, double *S, size_t rows, const double *b, const float *v, const double *a) {
    __m512d v0 = _mm512_cvtps_pd(_mm256_loadu_ps(v)), v1 = _mm512_cvtps_pd(_mm256_loadu_ps(v + HALF));
    __m512d acc0 = _mm512_setzero_pd(), acc1 = acc0;
    for (size_t i = 0; i < rows; i++, S += STATE_COLUMNS) {
        __m512d bi = _mm512_set1_pd(b[i]), s0 = _mm512_fmadd_pd(bi, v0, _mm512_loadu_pd(S)), s1 = _mm512_fmadd_pd(bi, v1, _mm512_loadu_pd(S + HALF));
        _mm512_storeu_pd(S, s0);
        _mm512_storeu_pd(S + HALF, s1);
        if (!a) continue;
        __m512d ai = _mm512_set1_pd(a[i]);
        acc0 = _mm512_fmadd_pd(ai, s0, acc0);
        acc1 = _mm512_fmadd_pd(ai, s1, acc1);
    }
    if (!a) return;
    _mm512_storeu_pd(out, acc0);
    _mm512_storeu_pd(out + HALF, acc1);
}

/* Q queries at once: one alone has two sums, which cannot hide the latency of an FMA. */
INLINE void read_state(int Q, double *out, const double *S, size_t rows, const double *a, size_t lda) {
    __m512d acc[QUERIES][2];
    UNROLL
    for (int g = 0; g < Q; g++) acc[g][0] = acc[g][1] = _mm512_setzero_pd();
    for (size_t i = 0; i < rows; i++, S += STATE_COLUMNS) {
        __m512d s0 = _mm512_loadu_pd(S), s1 = _mm512_loadu_pd(S + HALF);
        UNROLL
        for (int g = 0; g < Q; g++) {
            __m512d ai = _mm512_set1_pd(a[(size_t)g * lda + i]);
            acc[g][0] = _mm512_fmadd_pd(ai, s0, acc[g][0]);
            acc[g][1] = _mm512_fmadd_pd(ai, s1, acc[g][1]);
        }
    }
    UNROLL
    for (int g = 0; g < Q; g++) {
        _mm512_storeu_pd(out + g * STATE_COLUMNS, acc[g][0]);
        _mm512_storeu_pd(out + g * STATE_COLUMNS + HALF, acc[g][1]);
    }
}

void avx512_state_step(double *out, double *S, size_t rows, const double *b, const float *v, const double *a, size_t n, size_t lda) {
    size_t g = 0;
    if (b && n) take_and_read(out, S, rows, b, v, a), g = 1;
    else if (b) take_and_read(NULL, S, rows, b, v, NULL);
    for (; g + QUERIES <= n; g += QUERIES) read_state(QUERIES, out + g * STATE_COLUMNS, S, rows, a + g * lda, lda);
    for (; g < n; g++) read_state(1, out + g * STATE_COLUMNS, S, rows, a + g * lda, lda);
}
