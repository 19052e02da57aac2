/* rope/relative.h - methods that change what distance a query sees a key at. Frequencies stay as they are.
 *
 * A score of RoPE depends on the difference of two angles, so a method is two maps: where a query seems to stand, and
 * where a key does. Up to three pairs of maps (near, far, the first tokens) share the keys of a query among them. Keys
 * are cached without rotation and turned where they are read: a rewritten position is exact, whatever was read before.
 *
 *     RopeSegment s[ROPE_SEGMENTS];
 *     int n = row->look(&numbers->distance, m, s);         which keys the query at m sees, and how
 *     row->key(&numbers->distance, s[i].map, j)            where key j stands then; the query: s[i].at */
#ifndef RELATIVE_H
#define RELATIVE_H

#include "numbers.h"

enum { ROPE_SEGMENTS = 3, ROPE_UNTURNED = -1 };

/* The keys first .. end-1 of a query: each is turned by its position under `map` (RopeRelative.key), or not at all
 * (ROPE_UNTURNED), and the query as if it stood at `at`. */
typedef struct {
    int64_t first, end;
    int map;
    double at;
} RopeSegment;

/* What decides beside positions: nothing; which blocks of far keys the text's queries fit best (infllm: segments are
 * then near keys and all others); how its heads rank (ms-poe: that of rank r stands in map 1 + r). model/choose.c. */
typedef enum { ROPE_BY_POSITION, ROPE_BY_BLOCKS, ROPE_BY_HEADS } RopeChooses;

typedef struct RopeRelative {
    const char *name;
    const RopeKey *keys;
    int n_maps; /* of keys; ROPE_BY_HEADS: and one more for each head */
    double (*key)(const RelativeNumbers *r, int map, int64_t j);
    /* The segments of the query at m, who may see the keys up to its own: at most ROPE_SEGMENTS, in the order of their
     * keys, none empty, none overlapping. Returns how many. */
    int (*look)(const RelativeNumbers *r, int64_t m, RopeSegment *out);
    const char *(*wrong)(const RelativeNumbers *r); /* why its numbers do not fit each other, or NULL; may be NULL */
    RopeChooses chooses;
    const char *source;
    int only_hides; /* 1: it hides keys, and turns those that are left by whole positions: any model can have it */
} RopeRelative;

extern const RopeRelative *const rope_relatives[]; /* NULL after the last */
const RopeRelative *rope_relative(const char *name); /* the row of that name, or NULL */
extern const RopeRelative rope_plainly;            /* every key at its own position: where no method is set */

#endif
