/* kernels/arm/neon_linear.c - linear attention's loops for the NEON rows. */
#include "neon.h"
#include "neon_vectors.h"

enum { PAIRS = STATE_COLUMNS / 2 }; /* vectors of a row of S */

/* The key is taken in and, where a is there, the first query reads: 16 FMA and 8 stores a row. */
INLINE void take_and_read(double *out, double *S, size_t rows, const double *b, const float *v, const double *a) {
    float64x2_t vv[PAIRS], acc[PAIRS];
    UNROLL
    for (int j = 0; j < PAIRS; j++) vv[j] = vcvt_f64_f32(vld1_f32(v + 2 * j)), acc[j] = vdupq_n_f64(0);
    for (size_t i = 0; i < rows; i++, S += STATE_COLUMNS) {
        float64x2_t bi = vdupq_n_f64(b[i]), ai = vdupq_n_f64(a ? a[i] : 0);
        UNROLL
        for (int j = 0; j < PAIRS; j++) {
            float64x2_t s = vfmaq_f64(vld1q_f64(S + 2 * j), bi, vv[j]);
            vst1q_f64(S + 2 * j, s);
            if (a) acc[j] = vfmaq_f64(acc[j], ai, s);
        }
    }
    UNROLL
    for (int j = 0; a && j < PAIRS; j++) vst1q_f64(out + 2 * j, acc[j]);
}

/* Q queries at once: with one alone, eight sums cannot hide the latency of an FMA. */
INLINE void read_state(int Q, double *out, const double *S, size_t rows, const double *a, size_t lda) {
    float64x2_t acc[2][PAIRS];
    UNROLL
    for (int g = 0; g < Q; g++)
        UNROLL
        for (int j = 0; j < PAIRS; j++) acc[g][j] = vdupq_n_f64(0);
    for (size_t i = 0; i < rows; i++, S += STATE_COLUMNS) {
        UNROLL
        for (int j = 0; j < PAIRS; j++) {
            float64x2_t s = vld1q_f64(S + 2 * j);
            UNROLL
            for (int g = 0; g < Q; g++) acc[g][j] = vfmaq_n_f64(acc[g][j], s, a[(size_t)g * lda + i]);
        }
    }
    UNROLL
    for (int g = 0; g < Q; g++)
        UNROLL
        for (int j = 0; j < PAIRS; j++) vst1q_f64(out + g * STATE_COLUMNS + 2 * j, acc[g][j]);
}

void neon_state_step(double *out, double *S, size_t rows, const double *b, const float *v, const double *a, size_t n,
                     size_t lda) {
    size_t g = 0;
    if (b && n) take_and_read(out, S, rows, b, v, a), g = 1;
    else if (b) take_and_read(NULL, S, rows, b, v, NULL);
    for (; g + 2 <= n; g += 2) read_state(2, out + g * STATE_COLUMNS, S, rows, a + g * lda, lda);
    if (g < n) read_state(1, out + g * STATE_COLUMNS, S, rows, a + g * lda, lda);
}
