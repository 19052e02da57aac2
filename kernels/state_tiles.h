/* kernels/state_tiles.h - linear attention's step (state_step of kernels.h), whatever the width of a vector. A row
 * includes it behind its vectors (vectors.h). Each number is one chain of FMAs, i ascending, so every width has the
 * same bits. */
#ifndef STATE_TILES_H
#define STATE_TILES_H

#include "inline.h"
#include "attention_kernels.h"

enum { STATE_VECTORS = STATE_COLUMNS / VEC64 }; /* of a row of S */
/* Queries that read at a time: one alone has too few sums to hide the latency of an FMA. */
enum { STATE_QUERIES = STATE_VECTORS > 2 ? 2 : 4 };

/* The key is taken in, and where `reads` the first query reads: S is loaded and stored once for both. */
INLINE void take_and_read(int reads, double *out, double *S, size_t rows, const double *b, const float *v,
                          const double *a) {
    Vec64 value[STATE_VECTORS], acc[STATE_VECTORS];
    UNROLL
    for (int j = 0; j < STATE_VECTORS; j++) value[j] = vec64_load_floats(v + j * VEC64), acc[j] = vec64_zero();
    for (size_t i = 0; i < rows; i++, S += STATE_COLUMNS) {
        Vec64 bi = vec64_all(b[i]), ai = reads ? vec64_all(a[i]) : vec64_zero();
        UNROLL
        for (int j = 0; j < STATE_VECTORS; j++) {
            Vec64 s = vec64_fma(vec64_load(S + j * VEC64), bi, value[j]);
            vec64_store(S + j * VEC64, s);
            if (reads) acc[j] = vec64_fma(acc[j], ai, s);
        }
    }
    UNROLL
    for (int j = 0; reads && j < STATE_VECTORS; j++) vec64_store(out + j * VEC64, acc[j]);
}

INLINE void read_state(size_t Q, double *out, const double *S, size_t rows, const double *a, size_t lda) {
    Vec64 acc[STATE_QUERIES][STATE_VECTORS];
    UNROLL
    for (size_t g = 0; g < Q; g++)
        UNROLL
        for (int j = 0; j < STATE_VECTORS; j++) acc[g][j] = vec64_zero();
    for (size_t i = 0; i < rows; i++, S += STATE_COLUMNS) {
        Vec64 s[STATE_VECTORS];
        UNROLL
        for (int j = 0; j < STATE_VECTORS; j++) s[j] = vec64_load(S + j * VEC64);
        UNROLL
        for (size_t g = 0; g < Q; g++) {
            Vec64 ai = vec64_all(a[g * lda + i]);
            UNROLL
            for (int j = 0; j < STATE_VECTORS; j++) acc[g][j] = vec64_fma(acc[g][j], ai, s[j]);
        }
    }
    UNROLL
    for (size_t g = 0; g < Q; g++)
        UNROLL
        for (int j = 0; j < STATE_VECTORS; j++) vec64_store(out + g * STATE_COLUMNS + j * VEC64, acc[g][j]);
}

static void state_step(double *out, double *S, size_t rows, const double *b, const float *v, const double *a, size_t n,
                       size_t lda) {
    size_t g = 0;
    if (b && n) take_and_read(1, out, S, rows, b, v, a), g = 1;
    else if (b) take_and_read(0, NULL, S, rows, b, v, NULL);
    for (; g + STATE_QUERIES <= n; g += STATE_QUERIES)
        read_state(STATE_QUERIES, out + g * STATE_COLUMNS, S, rows, a + g * lda, lda);
    for (; g < n; g++) read_state(1, out + g * STATE_COLUMNS, S, rows, a + g * lda, lda);
}

#endif
