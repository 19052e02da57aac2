/* attention/segments.h - softmax attention where a query sees parts of its past under different angles: what methods
 * that rewrite positions need (rope/relative.h). The cache holds keys that are not rotated. */
#ifndef SEGMENTS_H
#define SEGMENTS_H

#include "softmax.h"

enum { QUERY_ROWS = 3 }; /* angles that a query may have at once */

/* The slots first .. end-1 of a query: keys rotated by `keys` (NULL: not at all), the query by its row `row`. */
typedef struct {
    size_t first, end;
    const KeyAngles *keys;
    int row;
} Segment;

/* One head of one query: as AttentionQuery, but q [head_dim] is not rotated yet. Its segments [n] are in the order of
 * their slots, none empty, and have none in common; cos, sin: [rotary_dim/2] of each of its rows, NULL: not rotated.
 * Several queries may share all but q and out. */
typedef struct {
    const float *q;
    float *out;
    float scale;
    int n, n_rows;
    const Segment *segments;
    const float *cos[QUERY_ROWS], *sin[QUERY_ROWS];
} SegmentQuery;

typedef struct {
    const KeyAngles *keys; /* [n_keys]: what segments point to */
    int n_keys, rotary_dim;
    RopePairing pairing;
    float *weights; /* [slots]: grows by the weights that queries give to the keys of `row`; NULL: not wanted. The
                     * queries are then of one head, in their order, and the caller's calls too */
    int row;
} SegmentMaps;

/* As attention_softmax: one softmax over all of a query's segments. scratch: segments_scratch floats, of each thread
 * its own. */
void attention_segments(const SegmentQuery *queries, size_t n, const SegmentMaps *maps, const KVCache *c, int l, int h,
                        float *scratch, const Kernels *kernels);
size_t segments_scratch(CacheType type, int head_dim, int value_dim);

#endif
