/* rope/positions.h - the kinds of position a model can have been trained with, a row each: RoPE, and what stands beside
 * it. Who runs a model and who trains one include this header, so that both mean the same numbers.
 *
 *     Positions p = {.kind = position_kind("alibi"), .n_heads = 8, .max_bias = 8};
 *     if (positions_check(&p, err, sizeof err)) ...
 *     if (p.kind->add) p.kind->add(&p, x, pos);                     x [width], the embedding of the token at pos
 *     if (p.kind->bias) score += p.kind->bias(&p, h, pos - key);    q . k / sqrt(head_dim), before softmax
 *     if (p.kind->rotates) ...                                      q and k turn (rope.h)
 *
 * A kind is what its three columns say, and nothing else asks which one it is. Positions count from 0. */
#ifndef POSITIONS_H
#define POSITIONS_H

#include <stddef.h>
#include <stdint.h>

typedef struct Positions Positions;

/* A number that a kind has: its names in GGUF and in config.json, its field of Positions. */
typedef struct {
    const char *gguf, *hf; /* NULL behind a kind's last */
    size_t at;             /* of an int64_t where `whole`, else of a double */
    int whole;
    double usual;          /* where a file does not say it */
} PositionNumber;

typedef struct PositionKind {
    const char *name;    /* in files: ARCH.attention.position, position_embedding_type */
    int rotates;         /* 1: q and k turn by their positions' angles */
    const char *scaling; /* the method of its frequencies (scaling.h) that the name stands for; NULL: the file's */
    /* x [width] += what stands for pos. NULL: nothing is added. */
    void (*add)(const Positions *p, float *x, int64_t pos);
    /* What is added to head h's scaled score, distance = the query's position less the key's. NULL: nothing. */
    double (*bias)(const Positions *p, int h, int64_t distance);
    /* Its learned table: GGUF's name, Hugging Face's in a decoder, [rows, cols]. NULL: it has none. */
    const char *table, *table_hf;
    void (*shape)(const Positions *p, size_t *rows, size_t *cols);
    const PositionNumber *numbers;       /* NULL: it has none */
    int64_t (*most)(const Positions *p); /* how many positions there are. NULL: any number */
    const char *(*wrong)(const Positions *p); /* why its numbers cannot be, or NULL; may be NULL */
    const char *source;
} PositionKind;

/* A model's. Fields that a kind does not use may be anything. */
struct Positions {
    const PositionKind *kind;
    int width;            /* of an embedding: d_model (RoFormer: d_embed) */
    int n_heads;
    int64_t n_trained;    /* learned: rows of its table */
    double alpha;         /* learned: above 0, positions beyond the table are Su's; 0: there are none */
    double max_bias;      /* alibi: 8 in the paper; the last of n heads, n a power of two, has slope 2^-max_bias */
    int64_t n_buckets;    /* t5: 32 */
    int64_t max_distance; /* t5: 128; that and more is the last bucket's */
    int two_sided;        /* t5: half of the buckets are for keys behind the query (encoders) */
    const float *table;   /* learned [n_trained, width], t5 [n_buckets, n_heads]; not owned */
};

extern const PositionKind *const position_kinds[]; /* rope first; NULL after the last */
const PositionKind *position_kind(const char *name); /* the row of that name, or NULL */
const PositionKind *position_kind_of(const Positions *p); /* its row; of NULL: rope */

/* 0, or -EINVAL and a line that names the kind and the number that is out of range. The table is not looked at. */
int positions_check(const Positions *p, char *err, size_t errlen);
int64_t positions_most(const Positions *p); /* how many positions there are; 0: any number */
/* "hierarchical" or "hierarchical:alpha=.4": more positions than a learned table has rows. 0, or -EINVAL and a line. */
int positions_extend(Positions *p, const char *spec, char *err, size_t errlen);

/* ---- the formulas ---- */

/* Entry i of position pos's sinusoid of that width: sin(pos / 10000^(i/width)) where i is even, cos of the entry
 * before's angle where it is odd. Vaswani et al. 2017, arXiv:1706.03762, section 3.5; RoFormer eq. 4. */
double position_sinusoid(int64_t pos, int i, int width);

/* Head h's slope, of n: 2^(-max_bias (h+1) / n) where n is a power of two; else the heads up to the power of two below
 * n have its slopes, the others every second one of twice as many. Press et al., arXiv:2108.12409, and get_slopes of
 * its release; max_bias as in ggml. */
double position_slope(int h, int n, double max_bias);

/* T5 (arXiv:1910.10683): the bucket of a query at that distance from its key. Half of the buckets are for keys behind
 * the query where both directions are seen; of the rest half are distances of their own, the others grow
 * logarithmically up to `most`. At an exact power float32, as T5's own code has it, may land one lower. */
int position_bucket(int64_t distance, int n_buckets, int64_t most, int both_ways);

/* Su's hierarchical extension of a learned table e [n, d] (kexue.fm 7947; bert4keras): entry i of the row of position
 * k < n^2, alpha u[k/n] + (1 - alpha) u[k mod n] with u = (e - alpha e[0]) / (1 - alpha). alpha is 0.4 there; not 0.5,
 * with which (i, j) and (j, i) would be one place. Positions below n keep their rows. */
double position_hierarchical(const float *e, size_t n, size_t d, double alpha, size_t k, size_t i);

#endif
