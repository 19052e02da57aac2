/* model/choose.h - what a text decides about its own attention: which blocks of far keys its queries see (infllm), and
 * how far each head's positions are squeezed (ms-poe). Rows of rope/relative.c say which.
 *
 * Both are functions of the ids alone: choices are made at fixed positions, whatever calls the ids come in. Where a
 * session goes back, or goes on from a file, what it had found out is gone, and its ids are read again. */
#ifndef CHOOSE_H
#define CHOOSE_H

#include "attention/segments.h"
#include "rope/relative.h"
#include "session.h"

typedef struct Chooser {
    RopeChooses kind;
    RelativeNumbers numbers;
    size_t most_segments;    /* of a query */
    /* ms-poe */
    int scaled, ranked;      /* 1: heads are squeezed; their ranks are known */
    uint16_t *ranks;         /* [n_layers, n_heads] */
    /* infllm */
    size_t n_blocks;         /* room for so many */
    float *weights;          /* [n_layers, n_heads, n_ctx]: that near queries have given to each key */
    float *representatives;  /* [n_layers, n_heads, n_blocks, head_dim] */
    double *mean;            /* [n_layers, n_heads, head_dim]: sum of the chunk's queries, each rotated as a far one */
    int *chosen;             /* [n_layers, top]: blocks, ascending */
    int *n_chosen, *n_known; /* [n_layers]: of these; blocks that there are */
    double *room;            /* for weights of all keys, or scores of all blocks */
    void *block;             /* owns the arrays */
    size_t bytes;
} Chooser;

/* *out: made for s, or NULL where nothing is chosen; owned by the caller. 0 or -ENOMEM and a line. */
int choose_init(Chooser **out, const Session *s, char *err, size_t errlen);
void choose_free(Chooser *x); /* accepts NULL */

/* Before n more ids: 1 where those that are kept have to be read again, so that the logits are those of the whole text;
 * the session's caller is to do so. Reads ids by itself where only they tell (the first N of ms-poe). */
int choose_begin(Session *s, const int *ids, size_t n);

/* In layer l, by every thread of the team. before: the tokens t .. follow; where one begins a chunk. after: tokens t ..
 * t+n-1 have attended. choose_run: how many tokens from t on, at most n, go together. */
size_t choose_run(const Session *s, size_t t, size_t n);
void choose_before(Session *s, int l, size_t t);
void choose_after(Session *s, int l, size_t t, size_t n);

/* infllm: token t's segments in layer l, out [most_segments]; near keys are rotated by `near` and seen by row 0, far
 * ones by row 1. Returns how many. */
int choose_segments(const Session *s, int l, size_t t, const KeyAngles *near, Segment *out);
/* infllm: head h's weights in layer l. */
float *choose_weights(const Session *s, int l, size_t h);
/* ms-poe: which map head h of layer l stands in. */
int choose_map(const Session *s, int l, size_t h);

#endif
