/* kernels/attention_kernels.h - the group of functions (kernels.h) that attention in tiles and strips is written with:
 * attention/softmax.c, attention/linear.c. */
#ifndef ATTENTION_KERNELS_H
#define ATTENTION_KERNELS_H

#include "kernels.h"

enum { STATE_COLUMNS = 16 }; /* two cache lines of doubles; in AVX2 four vectors to read S into and four to sum into */

/* Keys that lie side by side, entry by entry, and columns of values that are taken together; room for the scores of
 * KEY_BLOCK slots, wherever in a group of keys they begin. */
enum { KEY_LANES = 16, SCORE_ROW = KEY_BLOCK + KEY_LANES };
static inline size_t whole_lanes(size_t n) { return (n + KEY_LANES - 1) / KEY_LANES * KEY_LANES; } /* n, rounded up */

typedef struct { int lo, hi; } Span; /* the slots of a block that a query sees: lo <= t < hi; none where lo >= hi */
typedef struct { const void *at; int half; } Numbers;    /* floats, or half floats, that a product is made with */
typedef struct { const void *from; size_t bytes; } Soon; /* that will be wanted; never read, only fetched */

/* The angles that cached keys are rotated by where they are read: entry i of slot t at
 * [t / KEY_LANES][i][t % KEY_LANES], i < rotary_dim/2. Keys of a cache that holds them rotated need none. */
typedef struct {
    const float *cos, *sin;
    int rotary_dim;
    RopePairing pairing;
} KeyAngles;

/* A query's softmax so far. */
typedef struct {
    float scale;  /* what scores are multiplied by */
    float max;    /* the largest score; begins as -FLT_MAX */
    float sum;    /* of exp(score - max); begins as 0 */
    float shrink; /* exp(the max before the last block - max): what older sums are multiplied by */
} Running;

/* Tokens of a gated delta rule, a value head's: of token t q and k begin at t*ld_qk, v at t*ld_v, what is read goes to
 * out + t*ld_out; how much stays and how much is written are g[t*ld_gb], b[t*ld_gb]. */
typedef struct {
    const float *q, *k, *v, *g, *b;
    size_t ld_qk, ld_v, ld_gb;
    float *out;
    size_t ld_out;
} DeltaTokens;

/* Queries against what the past has left. */
typedef struct AttentionKernels {
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

    /* rope_rotate of `groups` groups of keys k, [groups][head_dim][KEY_LANES], into out, laid out alike: each slot by
     * its own angles, which are those from group `first` on. */
    void (*rotate)(float *out, Numbers k, size_t head_dim, const KeyAngles *angles, size_t first, size_t groups);

    /* Linear attention, in double: STATE_COLUMNS columns of S, [rows, STATE_COLUMNS], take a token in and are read.
     *   S[i] += b[i] * v                               b [rows], v [STATE_COLUMNS]; b = NULL: S stays, v is not read
     *   out[g] = sum over i of a[g*lda + i] * S[i]     g < n; out [n, STATE_COLUMNS], i ascending */
    void (*state_step)(double *out, double *S, size_t rows, const double *b, const float *v, const double *a, size_t n,
                       size_t lda);

    /* The gated delta rule: columns [0, columns) of S, row i of `rows` at S + i*ld, take n tokens in, one after the
     * other, and are read after each. The same bits however tokens and columns are cut into calls.
     *   S[i] = g S[i] + k[i] c,  c = b (v - g sum over i of k[i] S[i]);   then out = sum over i of q[i] S[i] */
    void (*delta)(float *S, size_t ld, size_t rows, size_t columns, size_t n, const DeltaTokens *tokens);
} AttentionKernels;

extern const AttentionKernels ref_attention; /* ref_attention.c: the specification */

#endif
