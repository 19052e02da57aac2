/* attention/linear.h - linear attention with RoPE in the numerator: a head's whole past in one matrix of fixed size.
 *
 *     LinearConfig c = {.phi = feature_map("elu+1"), .form = linear_form("numerator"), .epsilon = 1e-6, .head_dim = 64};
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
 * S holds turned keys, z the same keys not turned: z makes the weights a mean, S makes them depend on the distance.
 *
 * All of it is in double, features too: a sum in float is off by more than 1e-6 of itself after some 10,000 keys
 * (README.md), and one in double costs little beside the matmuls. Every loop has one fixed order, so the bits do not depend
 * on how the tokens came. */
#ifndef LINEAR_H
#define LINEAR_H

#include "kernels/kernels.h"

typedef struct LinearConfig LinearConfig;

typedef enum { PHI_POSITIVE, PHI_NONNEGATIVE, PHI_SIGNED } PhiSign;

/* A feature map: a row of the table in phi.c. */
typedef struct {
    const char *name;
    PhiSign sign;       /* of its features: signed ones may make a denominator vanish */
    int projected;      /* 0: r = head_dim; 1: r = LinearConfig.favor_features */
    const char *source;
    /* phi(x) into out [r]; x [head_dim]. Returns the log of a factor left out of out (FAVOR+; 0 elsewhere). */
    double (*map)(double *out, const double *x, const LinearConfig *c, const Kernels *kernels);
} FeatureMap;

/* Where the rotation goes: a row of the table in phi.c. */
typedef struct {
    const char *name;
    int before_phi;         /* 1: q and k turn before the map */
    int in_numerator;       /* 1: the features in S turn */
    int in_denominator;     /* 1: those in z too; then the denominator may vanish or be negative, and epsilon has its sign */
    int cosine;             /* 1: q and k are made unit vectors, and a feature that is always 1 and never turns is added */
    const char *source;
} LinearForm;

struct LinearConfig {
    const FeatureMap *phi;
    const LinearForm *form;
    double epsilon;         /* added to every denominator; from 0 to below 1 */
    int head_dim;
    int favor_features;     /* favor+ only: r, even, 2 .. 1024 */
    uint64_t favor_seed;
    const double *favor_w;  /* favor+ only: the projection, by linear_projection; not owned */
};

/* The row of that name or NULL; row i in order, NULL after the last. */
const FeatureMap *feature_map(const char *name);
const FeatureMap *feature_map_row(int i);
const LinearForm *linear_form(const char *name);
const LinearForm *linear_form_row(int i);

/* 0, or -EINVAL and one line: cosine with another map than identity; epsilon not in [0, 1); favor_features out of range. */
int linear_check(const LinearConfig *c, char *err, size_t errlen);
/* r: features of one head, those that may turn. rows = r, +1 in the cosine forms: what S and z have. */
int linear_features_n(const LinearConfig *c);
int linear_rows(const LinearConfig *c);

/* FAVOR+'s projection W [r, head_dim] from a seed: blocks of head_dim orthogonal directions (Gram-Schmidt of Gaussian
 * vectors), each as long as a Gaussian vector of its own; Choromanski et al. 2021, arXiv:2009.14794, section 3.4. Stored as
 * linear_features reads it: linear_projection_size doubles, strips of STATE_COLUMNS rows of W.
 * linear_projection_set stores a W of the caller's instead, [r, head_dim] row-major. */
size_t linear_projection_size(const LinearConfig *c);
void linear_projection(double *w, const LinearConfig *c);
void linear_projection_set(double *w, const LinearConfig *c, const double *given);

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

int linear_init(LinearState *s, const LinearConfig *c, int n_layers, int n_heads, char *err, size_t errlen); /* -ENOMEM, -EOVERFLOW */
void linear_free(LinearState *s);  /* accepts a zeroed struct */
void linear_clear(LinearState *s); /* nothing read yet */

/* What a batch of n tokens needs beside the state; arrays are the caller's. rows as in the state. */
typedef struct {
    size_t n, cap;             /* tokens; tokens there is room for */
    int n_heads, n_kv_heads;
    int causal;                /* 1: token m sees 0..m and what the state holds; 0: all n tokens and what the state holds */
    double *q_num, *q_den;     /* [n_heads, cap, rows]: phi(q), turned as S and as z want it */
    double *k_num, *k_den;     /* [n_kv_heads, cap, rows] */
    double *k_log;             /* [n_kv_heads, cap]: log factor left out of a key's features */
    double *keep;              /* [n_kv_heads, cap]: what S is multiplied by before a key is added: 1 but for FAVOR+ */
    double *inverse;           /* [n_heads, cap]: 1 / denominator; 0 where that is 0 */
} LinearBatch;

/* Tokens from `from` on, n of them, as a batch of their own. */
LinearBatch linear_part(const LinearBatch *b, size_t rows, size_t from, size_t n, int causal);

typedef enum { LINEAR_QUERY, LINEAR_KEY } LinearSide;

/* Step 1. Features of head h of token t, from x [head_dim] (after bias and norm, before RoPE); cos, sin [rotary_dim/2]: the
 * row of its position, rope_row64. */
void linear_features(const LinearConfig *c, const LinearBatch *b, LinearSide side, size_t t, int h, const float *x, const double *cos,
                     const double *sin, int rotary_dim, RopePairing pairing, const Kernels *kernels);
/* Key head h of token t is padding: no query weighs it. After its features. */
void linear_skip_key(const LinearBatch *b, size_t rows, size_t t, int h);
/* In front of step 2 and of step 3 where another text begins: z (with top), and strip i of S, as after linear_clear. */
void linear_clear_z(LinearState *s, int l, int h);
void linear_clear_strip(LinearState *s, int l, int h, size_t i);
/* Step 2, when all features of key/value head h and its queries are there: z takes the keys in, one by one. */
void linear_denominators(LinearState *s, const LinearConfig *c, const LinearBatch *b, int l, int h);
/* Step 3, when the denominators of h are there: strip i of S takes the keys and values in, one by one, and is read.
 * v [n, n_kv_heads, head_dim]; out [n, n_heads, head_dim] gets columns i*STATE_COLUMNS .. of h's query heads. */
void linear_numerators(float *out, const float *v, LinearState *s, const LinearBatch *b, int l, int h, size_t i, const Kernels *kernels);
/* Step 3 in chunks of C tokens: S is read and written once a chunk, and inside a chunk every query meets every key. The
 * same sums in another order. scratch: linear_chunk_scratch doubles. Causal only. */
size_t linear_chunk_scratch(size_t C, size_t rows, int n_heads, int n_kv_heads);
void linear_numerators_chunked(float *out, const float *v, LinearState *s, const LinearBatch *b, int l, int h, size_t i, size_t C,
                               double *scratch, const Kernels *kernels);

#endif
