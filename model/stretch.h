/* model/stretch.h - attention of a session whose RoPE is rewritten: distances, layers without rotation, frequencies
 * that each query has for itself. Keys are cached without rotation. */
#ifndef STRETCH_H
#define STRETCH_H

#include "attention/segments.h"
#include "rope/scaling.h"
#include "session.h"

typedef struct Stretch {
    const RopeRelative *row;   /* rope_plainly where distances stay */
    KeyAngles maps[2 * ROPE_MAPS]; /* of all slots; behind them the same by one query's own frequencies */
    int n_maps;                /* of these, without the second half where no method has `each` */
    float *tables;             /* what maps point to */
    size_t filled;             /* slots whose angles are there, by the frequencies of this choice: */
    int64_t choice;
    float *cos, *sin;          /* [n_batch, ROPE_SEGMENTS, rotary_dim/2]: the queries' angles */
    RopeSegment *segments;     /* [n_batch, ROPE_SEGMENTS] */
    int *n_segments;           /* [n_batch] */
    int *own;                  /* [n_batch]: 1: the query has frequencies of its own */
    float *scratch;            /* [threads, scratch_floats] */
    size_t scratch_floats;
    void *block;               /* owns all arrays */
    size_t bytes;
} Stretch;

/* 1: the model's settings need it. */
int stretch_wanted(const Model *m);
/* *out: NULL, or made for s, owned by the caller. 0 or -ENOMEM and a line. */
int stretch_init(Stretch **out, const Session *s, char *err, size_t errlen);
void stretch_free(Stretch *x); /* accepts NULL */

/* att = attention of layer l for the n tokens, whose keys are in the cache; every thread of the team calls it. */
void stretch_attend(Session *s, int l, size_t n);

#endif
