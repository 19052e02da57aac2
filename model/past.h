/* model/past.h - what a session's attention keeps of its text, and works with (attend.c): for who looks into it. */
#ifndef PAST_H
#define PAST_H

#include "attention/cache.h"
#include "attention/linear.h"
#include "scratch.h"
#include "session.h"

typedef struct Past {
    KVCache cache, local; /* softmax attention's; of layers with a window whose heads are others (layers/layers.h) */
    LinearState state;    /* linear attention's */
    LinearBatch batch;    /* features of n_batch tokens; its n is the caller's to set, in a copy */
    double *chunk;        /* [threads, chunk_doubles]: scratch of the chunked form */
    float *attend;        /* [threads, attend_floats]: softmax's scratch */
    float *sums;          /* [sums_tokens, n_heads, parts of n_ctx, attention_sums]: of a past that threads share */
    size_t chunk_doubles, attend_floats, sums_tokens;
    size_t upto;          /* positions that were read one after the other; SIZE_MAX: they come from a file */
    struct Chooser *chooser; /* choose.h: where the text decides what is seen; else NULL */
    struct Bias *bias;    /* bias.h: where positions add to scores; else NULL */
    struct DeltaState *delta; /* layers/delta.h; NULL: no such layers */
    struct DeltaState **deltas; /* a token's own, where a batch has one of each of several texts; else NULL */
    struct Stretch *stretch; /* stretch.h: where the model's RoPE is rewritten; else NULL */
    void *block;          /* owns the arrays above: */
    size_t bytes;
} Past;

/* Linear attention's second and third step, for a batch whose features are there (attention/linear.h): of key head h;
 * of its strip. room: so many doubles a thread for chunks of C tokens; NULL: it knows no chunks. */
typedef struct LinearSteps {
    void (*denominators)(Session *s, const LinearBatch *b, int l, int h);
    void (*numerators)(Session *s, const LinearBatch *b, int l, int h, size_t strip);
    size_t (*room)(size_t C, size_t rows, int n_heads, int n_kv_heads);
} LinearSteps;

extern const struct Attention attention_tiles; /* attend.c: of this program (scratch.h) */

/* What is to be attended: of tokens t .. t+n-1 all heads, most_heads at most together. parts above 0: their past in so
 * many parts, from the part-th on (attention/softmax.h). */
typedef struct { size_t t, n, most_heads, part, parts; } AttendJob;

/* A tile of it: heads h .. h+heads-1, of one key head, at most ATTENTION_QUERIES queries. The past's part-th part, or
 * WHOLE_PAST. */
enum { WHOLE_PAST = -1 };
typedef struct { size_t t, n, h, heads; int64_t part; } AttendTile;

/* Softmax attention in layer l, by tiles that the team shares, and waits for. Called by every thread of the team. */
void attend_tiles(Session *s, int l, const AttendJob *job, void (*attend)(Session *s, int l, const AttendTile *tile));

/* Linear attention's steps, for an attention that turns heads by angles of its own. The first: features of token t's
 * head h, queries first, then keys, under cos, sin [rotary_dim/2]. The others, of n tokens whose features are there;
 * the team shares them. */
void attend_features(const Session *s, size_t t, size_t h, const double *cos, const double *sin);
void attend_sums(Session *s, int l, size_t n);

/* What the token's scores are multiplied by in layer l before softmax: 1/sqrt(head_dim), and what score methods
 * (rope/scores.h) and Config.log_scale make of it. */
double attention_scale(const Config *c, const Token *token, int l);

/* Where layer l's keys and values are: in which cache, whose heads are the layer's, and as which of its layers. An
 * encoder's layers share one place, a delta net has none. */
KVCache *past_cache(const Session *s, int l);
int past_layer(const Session *s, int l);

#endif
