/* kernels/delta_tiles.h - the gated delta rule (delta of attention_kernels.h), whatever the width of a vector. A row
 * includes it behind its vectors (vectors.h).
 *
 * With S' = g S what has decayed, the rule writes c = b (v - S'^T k) at k and reads S'^T q + (k.q) c. So both reads are
 * made of the S before, and a pass over S that takes a token in reads for the next one, too. */
#ifndef DELTA_TILES_H
#define DELTA_TILES_H

#include "inline.h"
#include "attention_kernels.h"

enum { DELTA_VECTORS = 2 }; /* columns that are taken together; two chains of sums for each, by even and odd rows */

/* The first `some` columns of a vector, or all. */
INLINE Vec delta_load(const float *p, size_t some) { return some ? vec_load_some(TENSOR_F32, p, some) : vec_load(p); }
INLINE void delta_store(float *p, Vec v, size_t some) {
    if (some) vec_store_some(p, v, some);
    else vec_store(p, v);
}

typedef struct { Vec key[2][DELTA_VECTORS], query[2][DELTA_VECTORS]; } DeltaSums;

/* Row i: by what the last token writes, and for what the next one reads. */
INLINE void delta_row(int V, size_t some, int writes, int reads, float *S, Vec g, float before, const Vec *c, float k,
                      float q, DeltaSums *sums, int chain) {
    UNROLL
    for (int j = 0; j < V; j++) {
        Vec s = delta_load(S + j * VEC, some);
        if (writes) {
            s = vec_fma(vec_mul(g, s), vec_all(before), c[j]);
            delta_store(S + j * VEC, s, some);
        }
        if (!reads) continue;
        sums->key[chain][j] = vec_fma(sums->key[chain][j], vec_all(k), s);
        sums->query[chain][j] = vec_fma(sums->query[chain][j], vec_all(q), s);
    }
}

INLINE void delta_pass(int V, size_t some, int writes, int reads, float *S, size_t ld, size_t rows, float g,
                       const float *before, const Vec *c, const float *k, const float *q, DeltaSums *sums) {
    const Vec decay = vec_all(g);
    size_t i = 0;
    UNROLL
    for (int j = 0; j < V; j++)
        sums->key[0][j] = sums->key[1][j] = sums->query[0][j] = sums->query[1][j] = vec_zero();
    for (; i + 2 <= rows; i += 2, S += 2 * ld) {
        delta_row(V, some, writes, reads, S, decay, writes ? before[i] : 0, c, reads ? k[i] : 0, reads ? q[i] : 0,
                  sums, 0);
        delta_row(V, some, writes, reads, S + ld, decay, writes ? before[i + 1] : 0, c, reads ? k[i + 1] : 0,
                  reads ? q[i + 1] : 0, sums, 1);
    }
    if (i < rows)
        delta_row(V, some, writes, reads, S, decay, writes ? before[i] : 0, c, reads ? k[i] : 0, reads ? q[i] : 0,
                  sums, 0);
}

INLINE float delta_dot(const float *a, const float *b, size_t n) {
    Vec sum = vec_zero();
    for (size_t i = 0; i < n; i += VEC)
        sum = vec_fma(sum, vec_load_some(TENSOR_F32, a + i, n - i), vec_load_some(TENSOR_F32, b + i, n - i));
    return vec_sum(sum);
}

/* V vectors of columns from column `at` on; some: how many of a single one, or 0. */
INLINE void delta_columns(int V, size_t some, float *S, size_t ld, size_t rows, size_t at, size_t n,
                          const DeltaTokens *x) {
    const float *before = NULL;
    float g = 0;
    Vec c[DELTA_VECTORS];
    UNROLL
    for (int j = 0; j < V; j++) c[j] = vec_zero();
    for (size_t t = 0; t < n; t++) {
        const float *q = x->q + t * x->ld_qk, *k = x->k + t * x->ld_qk, *v = x->v + t * x->ld_v + at;
        DeltaSums sums;
        if (before) delta_pass(V, some, 1, 1, S + at, ld, rows, g, before, c, k, q, &sums);
        else delta_pass(V, some, 0, 1, S + at, ld, rows, g, before, c, k, q, &sums);
        g = x->g[t * x->ld_gb];
        const Vec decay = vec_all(g), b = vec_all(x->b[t * x->ld_gb]), both = vec_all(delta_dot(k, q, rows));
        UNROLL
        for (int j = 0; j < V; j++) {
            Vec key = vec_add(sums.key[0][j], sums.key[1][j]), query = vec_add(sums.query[0][j], sums.query[1][j]);
            c[j] = vec_mul(b, vec_fnma(delta_load(v + j * VEC, some), decay, key));
            float *out = x->out + t * x->ld_out + at + (size_t)j * VEC;
            delta_store(out, vec_fma(vec_mul(decay, query), both, c[j]), some);
        }
        before = k;
    }
    DeltaSums none;
    if (before) delta_pass(V, some, 1, 0, S + at, ld, rows, g, before, c, NULL, NULL, &none);
}

static void delta(float *S, size_t ld, size_t rows, size_t columns, size_t n, const DeltaTokens *x) {
    size_t at = 0;
    for (; at + DELTA_VECTORS * VEC <= columns; at += DELTA_VECTORS * VEC)
        delta_columns(DELTA_VECTORS, 0, S, ld, rows, at, n, x);
    for (; at + VEC <= columns; at += VEC) delta_columns(1, 0, S, ld, rows, at, n, x);
    if (at < columns) delta_columns(1, columns - at, S, ld, rows, at, n, x);
}

#endif
