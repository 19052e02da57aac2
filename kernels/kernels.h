/* kernels/kernels.h - the primitives everything numeric is written with, in rows: the same functions, once for every
 * kind of processor. ref is the specification: scalar, portable, always there. The others are faster and differ from it
 * in the last bits of float sums only.
 *
 *     const Kernels *k = kernels_best();
 *     k->vec->rmsnorm(xn, x, weight, d_model, eps);
 *     k->mat->pack(buffer, x, 1, d, matrix_group(&w), 0);
 *     k->mat->matmul(y, rows, &(Activations){1, d, matrix_group(&w), buffer}, &w, 0, w.rows);
 *
 * One rule holds in every row: an output depends on nothing but its own inputs, in one fixed order of summation. So it
 * has the same bits whether tokens come alone or in a batch, whether rows are computed by one thread or by ten. Nothing
 * is written beyond the sizes given; pointers need float alignment only (weights: none). None of these can fail. */
#ifndef KERNELS_H
#define KERNELS_H

#include "rope/rope.h"
#include "quants.h"

/* A batch of activations as matmul wants it: packed by pack of the same row. */
typedef struct {
    size_t n, d;      /* tokens; entries a token */
    int group;        /* matrix_group of the weights: 0: floats; otherwise int8, a scale for so many entries */
    const void *data; /* [packed_bytes(n, d, group)], at a multiple of 64 */
} Activations;

/* Matrices times batches. */
typedef struct {
    /* y[t*ldy + r] = sum over j of w[r][j] * x[t][j], for all tokens t of a and rows r in [r0, r1). r0 is a multiple of
     * 16; r1 too, or w->rows. a->group is matrix_group(w). w has panels where the row has lanes and panel_fits(w). */
    void (*matmul)(float *y, size_t ldy, const Activations *a, const Matrix *w, size_t r0, size_t r1);

    /* Token t's x [d] to its place in a batch of n, packed. Threads may pack different tokens of a batch. */
    size_t (*packed_bytes)(size_t n, size_t d, int group);
    void (*pack)(void *out, const float *x, size_t n, size_t d, int group, size_t t);

    /* One token's activations x [d] to q [d], scale [d/group]; d is a multiple of group. For each group:
     *   scale = amax / 127,  q = x * (127 / amax) rounded to the nearest integer, halves to even.
     * amax below 1e-30: scale and q are 0. An infinity or NaN in it: scale is NaN, so that it shows, and q is 0. */
    void (*quantize)(int8_t *q, float *scale, const float *x, size_t d, int group);
} MatmulKernels;

/* One vector at a time. */
typedef struct {
    /* y[i] = x[i] / sqrt(mean(x^2) + eps) * w[i]; [n]; y may be x. Source: RMSNorm, arXiv:1910.07467, as in LLaMA. */
    void (*rmsnorm)(float *y, const float *x, const float *w, size_t n, float eps);

    /* gate[i] = silu(gate[i]) * up[i], silu(x) = x / (1 + exp(-x)); [n]. SwiGLU, arXiv:2002.05202. */
    void (*silu_mul)(float *gate, const float *up, size_t n);

    void (*rotate)(float *x, const float *c, const float *s, int rotary_dim, RopePairing pairing); /* rope_rotate */

    /* x[i] = e^x[i], [n]: within 2 ulp for |x| <= 700; 0 below -708; NaN stays. */
    void (*exp64)(double *x, size_t n);
} VectorKernels;

/* A row: a name and its groups, which may be another row's where it has nothing faster. */
typedef struct {
    const char *name;
    int lanes; /* rows of the panels that weights in blocks are repacked to (panel.h); 0: they stay as they are */
    const MatmulKernels *mat;
    const VectorKernels *vec;
    /* What the core does without, each with a header of its own (attention_kernels.h ..); NULL: not in this build. */
    const struct AttentionKernels *att;
    const struct EncoderKernels *enc;
    const struct CacheKernels *cache;
    const struct TrainKernels *train;
} Kernels;

const Kernels *kernels_best(void); /* the fastest row that this CPU can run (rows.c; rows.h has them all) */

/* The reference row (rows.c), and the groups of ref.c, from which others borrow what they do not speed up. */
extern const Kernels kernels_ref;
extern const MatmulKernels ref_matmul;
extern const VectorKernels ref_vector;
enum { REF_LANES = 8, KEY_BLOCK = 64 }; /* KEY_BLOCK: slots of the past that a softmax takes in at once */
float ref_fold(float lane[REF_LANES]); /* the partial sums of a long sum, folded in halves */

#endif
