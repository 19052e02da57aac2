/* attention/linear.h - linear attention with RoPE in the numerator: a head's whole past in one matrix of fixed size.
 *
 *     LinearConfig c = {.phi = feature_map("elu+1"), .form = linear_form("numerator"), .head_dim = 64,
 *                       .epsilon = 1e-6};
 *     if (linear_check(&c, err, sizeof err)) ...
 *     LinearState s;
 *     if (linear_init(&s, &c, n_layers, n_kv_heads, err, sizeof err)) ...
 *     LinearBatch b = ...;                                          arrays for n tokens (below)
 *     for t, h:  linear_features(&c, &b, LINEAR_QUERY or LINEAR_KEY, t, h, x, cos, sin, rotary_dim, pairing, kernels);
 *     for h:     linear_denominators(&s, &c, &b, l, h);             key/value heads, in any order
 *     for h, i:  linear_numerators(out, v, &s, &b, l, h, i, kernels);   i < s.n_strips
 *     linear_free(&s);
 *
 * Per head, phi: R^head_dim -> R^r, R_m the rotation by position m (RoFormer eq. 19):
 *     S += (R_m phi(k_m)) v_m^T       [r, head_dim]        z += phi(k_m)       [r]
 *     o_m = (R_m phi(q_m))^T S / (phi(q_m) . z + epsilon)
 * S holds rotated keys, z the same keys not rotated: z makes the weights a mean, S makes them depend on the distance.
 *
 * All of it is in double, features too: a sum in float is off by more than 1e-6 of itself after some 10,000 keys
 * (README.md), and one in double costs little beside the matmuls. Every loop has one fixed order, so the bits do not
 * depend on how the tokens came. */
#ifndef LINEAR_H
#define LINEAR_H

#include "phi.h"

/* S and z of all layers and key/value heads. Its size does not depend on how much was read. */
typedef struct {
    int n_layers, n_heads; /* key/value heads */
    size_t rows, head_dim;
    size_t n_strips;       /* of STATE_COLUMNS columns each; the last one may be padded */
    double *S;             /* [n_layers, n_heads, n_strips, rows, STATE_COLUMNS] */
    double *z;             /* [n_layers, n_heads, rows] */
    double *top;           /* [n_layers, n_heads]: FAVOR+'s stabiliser, the largest log factor of a key so far */
    size_t n;              /* doubles, all three; one allocation that begins at S, owned by the state */
} LinearState;

/* 0, -ENOMEM or -EOVERFLOW. */
int linear_init(LinearState *s, const LinearConfig *c, int n_layers, int n_heads, char *err, size_t errlen);
void linear_free(LinearState *s);  /* accepts a zeroed struct */
void linear_clear(LinearState *s); /* nothing read yet */

/* What a batch of n tokens needs beside the state; arrays are the caller's. rows as in the state. */
typedef struct {
    size_t n, cap;             /* tokens; tokens there is room for */
    int n_heads, n_kv_heads;
    int causal; /* 1: token m sees 0..m and what the state holds; 0: all n tokens and what the state holds */
    double *q_num, *q_den;     /* [n_heads, cap, rows]: phi(q), turned as S and as z want it */
    double *k_num, *k_den;     /* [n_kv_heads, cap, rows] */
    double *k_log;             /* [n_kv_heads, cap]: log factor left out of a key's features */
    double *keep;              /* [n_kv_heads, cap]: what S is multiplied by before a key is added: 1 but for FAVOR+ */
    double *inverse;           /* [n_heads, cap]: 1 / denominator; 0 where that is 0 */
} LinearBatch;

/* Tokens from `from` on, n of them, as a batch of their own. */
LinearBatch linear_part(const LinearBatch *b, size_t rows, size_t from, size_t n, int causal);

typedef enum { LINEAR_QUERY, LINEAR_KEY } LinearSide;

/* Step 1. Features of head h of token t, from x [head_dim] (after bias and norm, before RoPE); cos, sin [rotary_dim/2]:
 * the row of its position, rope_row64. */
void linear_features(const LinearConfig *c, const LinearBatch *b, LinearSide side, size_t t, int h, const float *x,
                     const double *cos, const double *sin, int rotary_dim, RopePairing pairing, const Kernels *kernels);
/* Key head h of token t is padding: no query weighs it. After its features. */
void linear_skip_key(const LinearBatch *b, size_t rows, size_t t, int h);
/* In front of step 2 and of step 3 where another text begins: z (with top), and strip i of S, as after linear_clear. */
void linear_clear_z(LinearState *s, int l, int h);
void linear_clear_strip(LinearState *s, int l, int h, size_t i);
/* Step 2, when all features of key/value head h and its queries are there: z takes the keys in, one by one. */
void linear_denominators(LinearState *s, const LinearConfig *c, const LinearBatch *b, int l, int h);
/* Step 3, when the denominators of h are there: strip i of S takes the keys and values in, one by one, and is read.
 * v [n, n_kv_heads, head_dim]; out [n, n_heads, head_dim] gets columns i*STATE_COLUMNS .. of h's query heads. */
void linear_numerators(float *out, const float *v, LinearState *s, const LinearBatch *b, int l, int h, size_t i,
                       const Kernels *kernels);
/* A way to take step 3 in chunks of C tokens (chunked.h); scratch: so many doubles, for each thread. */
typedef struct {
    size_t (*scratch)(size_t C, size_t rows, int n_heads, int n_kv_heads);
    void (*numerators)(float *out, const float *v, LinearState *s, const LinearBatch *b, int l, int h, size_t i,
                       size_t C, double *scratch, const Kernels *kernels);
} LinearChunks;

#endif
