/* attention/softmax.h - softmax attention of queries against the keys and values of the past.
 *
 *     float *scratch = ... attention_scratch(..) floats, for each thread ...
 *     AttentionQuery query = {.q = q, .out = out, .end = slot + 1, .scale = 1 / sqrtf(head_dim)};
 *     attention_softmax(&query, 1, &cache, l, h, scratch, kernels); */
#ifndef SOFTMAX_H
#define SOFTMAX_H

#include "cache.h"

/* What a head's scaled scores get beside q . k, by distance (ALiBi, T5): the key in slot j the number
 * row[from + place], where place is places[j], or j itself where places is NULL. Sums wrap around 2^64, so that `from`
 * may be below 0. row NULL: nothing. */
typedef struct {
    const float *row;
    size_t from;
    const size_t *places;
} ScoreBias;

/* One head of one query: out [value_dim] = sum over j of softmax_j(scale * q . k_j + bias_j) v_j, first <= j < end
 * q [head_dim] (rotated); first, end: the slots it sees, which is all that a mask is: causal ends behind the query's
 * own, a window (Mistral 7B, arXiv:2310.06825) begins later, an encoder's goes from the text's first slot to its last.
 * No slot at all: out is 0. text <= first: the slot where its text begins, from which sums are counted. out may not be
 * q. cap above 0: scores become cap tanh(score / cap) (Gemma 2, arXiv:2408.00118), and there are no biases. sink: a
 * score more, of a key whose value is 0 (gpt-oss); NULL: none. */
typedef struct {
    const float *q;
    float *out;
    size_t text, first, end;
    float scale, cap;
    const float *sink;
    ScoreBias bias;
} AttentionQuery;

enum { ATTENTION_QUERIES = 96 }; /* that keys are loaded for at once */

/* n <= ATTENTION_QUERIES queries against layer l's key and value head h (with grouped queries all that share it, of
 * several tokens); all of them have a bias, or none, and the same cap. A query's bits depend on its own fields (text,
 * first and end only by their distances) and the slots it sees, not on the queries beside it. scratch:
 * attention_scratch floats, of each thread its own. Cannot fail.
 * Sources: Vaswani et al. 2017, section 3.2.1; the running maximum and sum are Milakov and Gimelshein's,
 * arXiv:1805.02867; that the scores are never stored is FlashAttention's idea, arXiv:2205.14135. */
void attention_softmax(const AttentionQuery *queries, size_t n, const KVCache *c, int l, int h, float *scratch,
                       const Kernels *kernels);
size_t attention_scratch(CacheType type, int head_dim, int value_dim);

/* A text's slots, from its first on, are summed in parts of so many, each by itself; then the parts' sums are added in
 * their order. So threads can share a head's past, and the bits are attention_softmax's. A part is some twenty
 * microseconds of work, of a head of 64: many beside what it takes to begin one. */
enum { ATTENTION_PART = 1024 };
_Static_assert(ATTENTION_PART % KEY_BLOCK == 0, "a block belongs to one part");
static inline size_t attention_parts(size_t end) { return (end + ATTENTION_PART - 1) / ATTENTION_PART; }
static inline size_t attention_sums(const KVCache *c) { return c->value_width + KEY_LANES; } /* acc, max, sum */

/* The part-th part of one text's queries: each one's out [attention_sums] gets its sums there, be it of no slot. */
void attention_part(const AttentionQuery *queries, size_t n, size_t part, const KVCache *c, int l, int h,
                    float *scratch, const Kernels *kernels);

/* out [value_dim] of sums [n parts, attention_sums], which it changes, of a query that sees some slot. */
void attention_join(float *out, float *sums, size_t n, const KVCache *c);

/* One call's scratch and running sums. */
typedef struct {
    const KVCache *c;
    const Kernels *kernels;
    const uint8_t *k, *v; /* this head's */
    size_t d;             /* head_dim */
    float *q;             /* [n, d] */
    float *s;             /* [n, SCORE_ROW]: scores, then weights */
    float *acc;           /* [n, c->value_width]: the values' sums, of a part */
    float *sums;          /* [n + 1, attention_sums]: of all parts so far; of one */
    float *room;          /* [CacheProducts.room] */
    QueryBlock *bytes;    /* q for a cache in bytes; NULL: its keys are made floats */
    float *rotated;       /* [SCORE_ROW, d]: keys rotated by KeyAngles */
    const ScoreBias *bias; /* [n], or NULL: none; run's scales are 1 then, and these the queries': */
    const float *scales;  /* [n], of a bias or a cap */
    float cap;            /* 0: none */
    Span *spans;          /* [n]: the slots of a block that each sees */
    Running *run;         /* [n] */
} SoftmaxWork;

/* What a work points to, of each query; what is read of it is set before. */
typedef struct {
    Span spans[ATTENTION_QUERIES];
    Running run[ATTENTION_QUERIES];
    ScoreBias bias[ATTENTION_QUERIES];
    float scales[ATTENTION_QUERIES];
} SoftmaxQueries;

/* Queries from .. to-1 take in the block that begins at slot b; all: the slots that any of them sees, by w->spans.
 * angles: what its keys are rotated by, w->rotated being there; NULL: they are as they should be. */
void softmax_block(SoftmaxWork *w, size_t b, size_t from, size_t to, Span all, const KeyAngles *angles);

/* Its first step: the scores q . k_t of slot b + t, at [(j - from) * SCORE_ROW + t] of what is returned. */
float *softmax_scores(SoftmaxWork *w, size_t b, size_t from, size_t to, Span all, const KeyAngles *angles);

/* How a cache's numbers are multiplied where kernels' scores and mix do not take them as they are. */
typedef struct CacheProducts {
    size_t from; /* fewer queries than that: kernels do */
    size_t (*room)(size_t head_dim);
    void (*queries)(SoftmaxWork *w, size_t n); /* makes w->bytes of w->q; NULL: they stay floats */
    Numbers (*keys)(const SoftmaxWork *w, const uint8_t *k, size_t groups); /* groups of them from k on as floats */
    /* acc = shrink acc + sum_t p_t v_t: n queries from the from-th on, slots all.lo .. all.hi-1 of the block at b. */
    void (*mix)(const SoftmaxWork *w, const float *p, size_t b, size_t from, size_t n, Span all, Soon soon);
} CacheProducts;

#endif
