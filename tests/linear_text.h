/* tests/linear_text.h - what test_linear.c compares: a text run through the steps of attention/linear.h, and the same
 * by definition, every query meeting every key in long double.
 *
 *     Text x = text_of((Text){.form = "numerator", .phi = "elu+1", .head_dim = 16, .theta = 10000, .n = 512});
 *     text_run(out, &x, kernels, (Way){.piece = 64}, NULL);
 *     Key *keys = text_keys(&x, 0);
 *     health = text_pairwise(want, &x, keys, 0, 511);
 *
 * A run hands each step arrays in which everything that it must not read is NaN: the other heads, the other layer,
 * tokens and room behind the batch, and what only an earlier step may use. A breach fails the running test. */
#ifndef LINEAR_TEXT_H
#define LINEAR_TEXT_H

#include "attention/chunked.h"
#include "attention/favor.h"

enum { MAX_DIM = 130, MAX_ROWS = 140 };

/* A text of n tokens and what attends to it. */
typedef struct {
    const char *form, *phi;
    int full;               /* 1: every token sees all of them */
    int head_dim, rotary_dim, heads, kv_heads, features; /* features: favor+ only */
    RopePairing pairing;
    double theta, epsilon;  /* theta 0: nothing turns */
    size_t n;
    long start;             /* position of token 0 */
    const double *W;        /* favor+: [features, head_dim] */
    const float *q, *k, *v; /* [n, heads, head_dim], [n, kv_heads, head_dim] x 2 */
} Text;

/* n values of a tensor by formula: integers from -127 to 127 that tests/oracle/linear.py computes too, divided by
 * per. */
float *text_input(const char *name, int head_dim, size_t n, int per);
void *text_allocate(size_t n, size_t size); /* zeroed; the test program ends where there is no memory */

/* x with inputs of its sizes, which it then owns: q and k within 2, v within 1, W (where features are given) within 1.
 * Sizes left out: one head, rotary_dim = head_dim. */
Text text_of(Text x);
void text_free(Text *x);

/* How a text is handed over: so many tokens a call (0: all at once); in chunks of so many, or (0) token by token. */
typedef struct {
    size_t piece, chunk;
} Way;

/* The whole text into out [n, heads, head_dim]. end (may be NULL) gets where it then stands: S [kv_heads, n_strips,
 * rows, STATE_COLUMNS], and z [kv_heads, rows] behind it. */
void text_run(float *out, const Text *x, const Kernels *kernels, Way way, double *end);
size_t text_out_size(const Text *x); /* bytes */
float *text_out(const Text *x);      /* room for it, owned by the caller */

typedef struct {
    long double above[MAX_ROWS], below[MAX_ROWS], left_out;
} Key;

/* Key/value head h, [n], in malloc'ed memory. */
Key *text_keys(const Text *x, int h);
/* Row m of query head g into out [head_dim]; how far its denominator is from cancelling: |sum| / sum of magnitudes. */
double text_pairwise(double *out, const Text *x, const Key *keys, int g, size_t m);

/* The whole text by attention/reference.h, into out [n, heads, head_dim]: any map but favor+, any form that does not
 * turn before the map and is no cosine. */
void text_reference(double *out, const Text *x);

/* |a - b| / |b| over a row; 0 where both are zero; NaN where a is. */
double text_distance(const float *a, const double *b, int n);
extern const double text_tolerance; /* of that */
extern const double text_healthy;   /* a row whose denominator is nearer to cancelling says nothing */
/* Row m, as it should be. */
void text_expect_row(const float *got, const double *want, const Text *x, size_t m, const Kernels *k, Way way);
/* Rows 0, 1, 2 .. and then fewer and fewer of x, run in each of up to 8 ways, against pairs. How many were healthy. */
int text_expect_pairs(const Text *x, const Kernels *k, const Way *ways, int n_ways);
void text_print_worst(void); /* since the last time, where LINEAR_PRINT is set */

#endif
