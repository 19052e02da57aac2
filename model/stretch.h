/* model/stretch.h - attention of a session whose RoPE is rewritten: distances, layers without rotation, frequencies
 * that each query has for itself. Keys are cached without rotation. */
#ifndef STRETCH_H
#define STRETCH_H

#include "attention/segments.h"
#include "rope/relative.h"
#include "rope/scaling.h"
#include "session.h"

typedef struct Stretch {
    const RopeRelative *row;   /* rope_plainly where distances stay */
    KeyAngles *maps;           /* [n_maps]: of all slots; where a method has `each`, behind these as many more by one */
    int n_maps, n_common;      /* query's own frequencies; how many are not its own */
    int n_rows;                /* angles of a query: its segments', or its maps' where heads have their own */
    float *tables;             /* [n_maps, 2, table_floats]: what maps point to, cosines first */
    size_t table_floats;       /* of all slots' groups: [groups, rotary_dim/2, KEY_LANES] */
    double middle;             /* of the context: where xpos is 1 */
    size_t filled;             /* slots whose angles are there, by the frequencies of this choice: */
    int64_t choice;
    float *cos, *sin;          /* [n_batch, n_rows, rotary_dim/2]: the queries' angles */
    RopeSegment *segments;     /* [n_batch, ROPE_SEGMENTS] */
    int *n_segments;           /* [n_batch] */
    int *own;                  /* [n_batch]: 1: the query has frequencies of its own */
    float *scratch;            /* [threads, scratch_floats] */
    Segment *seen;             /* [threads, ATTENTION_QUERIES, most_segments]: of a tile's tokens */
    size_t scratch_floats, most_segments;
    void *block;               /* owns all arrays */
    size_t bytes;
} Stretch;

/* 1: the model's settings need it, or the session's: keys that move. */
int stretch_wanted(const Session *s);
/* *out: NULL, or made for s, owned by the caller. 0 or -ENOMEM and a line. */
int stretch_init(Stretch **out, const Session *s, char *err, size_t errlen);
void stretch_free(Stretch *x); /* accepts NULL */

/* att = attention of layer l for the n tokens, whose keys are in the cache; every thread of the team calls it. */
void stretch_attend(Session *s, int l, size_t n);

#endif
