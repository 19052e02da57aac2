/* model/stretch.h - attention of a session whose RoPE is rewritten: distances, layers without rotation, frequencies
 * that each query has for itself. Keys are cached without rotation. */
#ifndef STRETCH_H
#define STRETCH_H

#include "attention/segments.h"
#include "rope/relative.h"
#include "rope/scaling.h"
#include "session.h"

/* B = n_batch. Kept by a session (past.h), written by prepare and make_own, read by all threads. */
typedef struct Stretch {
    const RopeRelative *row;   /* rope_plainly where distances stay */
    KeyAngles *maps;           /* [n_maps]: of all slots, by what keys may stand under: */
    int n_maps, n_common;      /* n_common by the session's frequencies; behind these, where a method has `each`, as
                                * many by one query's own */
    int n_rows;                /* angles of a query: one for each segment, or for each map where heads have their own */
    float *tables;             /* [n_maps, 2, table_floats]: what maps point to, cosines first */
    uint64_t table_floats;      /* of all slots' groups: [groups, rotary_dim/2, KEY_LANES] */
    int first;                 /* the first layer whose RoPE it is */
    double middle;             /* of the context: where xpos is 1 */
    size_t filled;             /* slots whose angles are in the common maps .. */
    int64_t choice;            /* .. by the frequencies of this choice (Rope.choice) */
    float *cos, *sin;          /* [B, n_rows, rotary_dim/2]: the queries' angles, times the method's magnitude squared:
                                * once for the keys, which have none */
    RopeSegment *segments;     /* [B, ROPE_SEGMENTS]: of each query, in positions */
    int *n_segments;           /* [B]: how many of these */
    int *own;                  /* [B]: 1: the query has frequencies of its own */
    float *scratch;            /* [threads, scratch_floats]: attention_segments' */
    Segment *seen;             /* [threads, ATTENTION_QUERIES, most_segments]: of a tile's tokens, in slots */
    size_t scratch_floats, most_segments;
    void *block;               /* owns all arrays */
    size_t bytes;              /* of block */
} Stretch;

/* 1: the model's settings need it, or the session's: keys that move. */
int stretch_wanted(const Session *s);
/* *out: made for s, whose options are settled and whose past->chooser is there; the caller's to free, also where it
 * fails. 0, or -ENOMEM, or -EINVAL (a context too long for xpos), and a line. */
int stretch_init(Stretch **out, const Session *s, char *err, size_t errlen);
void stretch_free(Stretch *x); /* accepts NULL */

/* The scratch's att [n, n_heads*value_dim] = attention of layer l for the batch's n tokens, from its q, which is not
 * rotated, and the cache, which has their keys already. Layers in their order; the first makes the angles for all.
 * Every thread of the team calls it. Cannot fail. */
void stretch_attend(Session *s, int l, size_t n);

#endif
