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

enum { STATE_COLUMNS = 16 }; /* two cache lines of doubles; in AVX2 four vectors to read S into and four to sum into */

/* Attention: keys that lie side by side, entry by entry, and columns of values that are taken together; slots that are
 * taken in at once; room for their scores, wherever in a group of keys they begin. */
enum { KEY_LANES = 16, KEY_BLOCK = 64, SCORE_ROW = KEY_BLOCK + KEY_LANES };
static inline size_t whole_lanes(size_t n) { return (n + KEY_LANES - 1) / KEY_LANES * KEY_LANES; } /* n, rounded up */

typedef struct { int lo, hi; } Span; /* the slots of a block that a query sees: lo <= t < hi; none where lo >= hi */
typedef struct { const void *at; int half; } Numbers;    /* floats, or half floats, that a product is made with */
typedef struct { const void *from; size_t bytes; } Soon; /* that will be wanted; never read, only fetched */

/* A query's softmax so far. */
typedef struct {
    float scale;  /* what scores are multiplied by */
    float max;    /* the largest score; begins as -FLT_MAX */
    float sum;    /* of exp(score - max); begins as 0 */
    float shrink; /* exp(the max before the last block - max): what older sums are multiplied by */
} Running;

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

/* Queries against what the past has left. */
typedef struct {
    /* Softmax attention of n >= 1 queries, a block of KEY_BLOCK slots at a time (attention/softmax.c). soon: memory
     * that will be read when the function has returned; a row may fetch it meanwhile, or not.
     * Scores of `groups` groups of slots, at most SCORE_ROW / KEY_LANES: for query j < n, slot t < groups * KEY_LANES
     *   s[j*SCORE_ROW + t] = sum over i of q[j*head_dim + i] * k[(t/KEY_LANES*head_dim + i)*KEY_LANES + t%KEY_LANES] */
    void (*scores)(float *s, const float *q, size_t n, Numbers k, size_t head_dim, size_t groups, Soon soon);

    /* A block's scores s[j*SCORE_ROW + t] become weights, for t in the query's span; its running sums take them in:
     *   m = max(max, scale s_t), shrink = exp(max - m), s_t = exp(scale s_t - m), sum = shrink sum + sum s_t, max = m
     * An empty span leaves all but shrink = 1. Outside the span s may hold anything, before and after. exp of what is
     * below -87.33 may be 0. A NaN or +infinity among the scores makes weights and sum NaN. */
    void (*softmax)(float *s, const Span *spans, Running *run, size_t n);

    /* acc[j*lda + i] = shrink_j * acc[j*lda + i] + sum over t of p[j*SCORE_ROW + t] * v[t*ldv + i],  i < width, t in
     * j's span, ascending; nothing for an empty one. width: a multiple of KEY_LANES. v is read for slots in a span. */
    void (*mix)(float *acc, size_t lda, const float *p, const Span *spans, const Running *run, size_t n, Numbers v,
                size_t ldv, size_t width, Soon soon);

    /* Linear attention, in double: STATE_COLUMNS columns of S, [rows, STATE_COLUMNS], take a token in and are read.
     *   S[i] += b[i] * v                               b [rows], v [STATE_COLUMNS]; b = NULL: S stays, v is not read
     *   out[g] = sum over i of a[g*lda + i] * S[i]     g < n; out [n, STATE_COLUMNS], i ascending */
    void (*state_step)(double *out, double *S, size_t rows, const double *b, const float *v, const double *a, size_t n,
                       size_t lda);

    /* out[i] = x[i] as a half float, to nearest, ties to even, NaN stays NaN; [n]. The same bits in every row. */
    void (*narrow)(uint16_t *out, const float *x, size_t n);
} AttentionKernels;

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
    const AttentionKernels *att;
    const VectorKernels *vec;
    const struct EncoderKernels *enc; /* what not every model and cache needs (encoder_kernels.h, cache_kernels.h) */
    const struct CacheKernels *cache; /* NULL, as enc: not in this build */
} Kernels;

const Kernels *kernels_best(void); /* the fastest row that this CPU can run (rows.c; rows.h has them all) */

/* The reference row (rows.c), and the groups of ref.c, from which others borrow what they do not speed up. */
extern const Kernels kernels_ref;
extern const MatmulKernels ref_matmul;
extern const AttentionKernels ref_attention;
extern const VectorKernels ref_vector;
enum { REF_LANES = 8 };
float ref_fold(float lane[REF_LANES]); /* the partial sums of a long sum, folded in halves */

#endif
