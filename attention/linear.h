/* attention/linear.h - linear attention with RoPE in the numerator: a head's whole past in one matrix of fixed size.
 *
 *     LinearState s;
 *     if (linear_init(&s, &c, n_layers, n_kv_heads, err, sizeof err)) ...        c: phi.h
 *     LinearBatch b = ...;                                                       arrays for n tokens (below)
 *     for t, h:  linear_features(&c, &b, LINEAR_QUERY or LINEAR_KEY, t, h, x, cos, sin, rotary_dim, pairing, kernels);
 *     for h:     linear_denominators(&s, &c, &b, l, h);                          key/value heads, in any order
 *     for h, i:  linear_numerators(out, v, &s, &b, l, h, i, kernels);            i < s.n_strips
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

#include "kernels/attention_kernels.h"
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
    size_t n, cap;         /* tokens; tokens there is room for */
    int n_heads, n_kv_heads;
    double *q_num, *q_den; /* [n_heads, cap, rows]: phi(q), turned as S and as z want it */
    double *k_num, *k_den; /* [n_kv_heads, cap, rows] */
    double *k_log;         /* [n_kv_heads, cap]: log factor left out of a key's features */
    double *keep;          /* [n_kv_heads, cap]: what S is multiplied by before a key is added: 1 but for FAVOR+ */
    double *inverse;       /* [n_heads, cap]: 1 / denominator; 0 where that is 0 */
} LinearBatch;

typedef enum { LINEAR_QUERY, LINEAR_KEY } LinearSide;
/* Step 1. Features of head h of token t, from x [head_dim] (after bias and norm, before RoPE); cos, sin [rotary_dim/2]:
 * the row of its position, rope_row64. */
void linear_features(const LinearConfig *c, const LinearBatch *b, LinearSide side, size_t t, int h, const float *x,
                     const double *cos, const double *sin, int rotary_dim, RopePairing pairing, const Kernels *kernels);
/* Step 2, when all features of key/value head h and its queries are there: z takes the keys in, one by one, each seen
 * by the queries from its own token on. */
void linear_denominators(LinearState *s, const LinearConfig *c, const LinearBatch *b, int l, int h);
/* Step 3, when the denominators of h are there: strip i of S takes the keys and values in, one by one, and is read.
 * v [n, n_kv_heads, head_dim]; out [n, n_heads, head_dim] gets columns i*STATE_COLUMNS .. of h's query heads. */
void linear_numerators(float *out, const float *v, LinearState *s, const LinearBatch *b, int l, int h, size_t i,
                       const Kernels *kernels);

/* Steps 2 and 3 a token at a time, for those who take keys in otherwise. */
void linear_take_z(LinearState *s, const LinearConfig *c, const LinearBatch *b, int l, int h, size_t t);
void linear_read_z(const LinearState *s, const LinearConfig *c, const LinearBatch *b, int l, int h, size_t t);

typedef struct {
    double *S;           /* [rows, STATE_COLUMNS] */
    size_t rows, stride; /* from one query head's features to the next one's, of the same token */
    size_t first, width; /* columns first .. first+width-1 of a head */
    size_t h, group;     /* its key/value head, and how many query heads share it */
    const LinearBatch *b;
    const Kernels *kernels;
} Strip;

Strip strip_of(LinearState *s, const LinearBatch *b, int l, int h, size_t i, const Kernels *kernels);
/* Token t's values in the strip's columns; part [STATE_COLUMNS] is room for those of a last strip that is not full. */
const float *strip_values(const Strip *p, const float *v, size_t t, size_t head_dim, float *part);
/* o = numerator / denominator, query head g of the group. */
void strip_write(const Strip *p, float *out, size_t t, size_t g, size_t head_dim, const double *num);
/* S = keep S + k v^T where take is not 0, and S is read by the queries of token t where out is not NULL. */
void strip_step(const Strip *p, float *out, const float *v, size_t t, size_t head_dim, int take);

#endif
