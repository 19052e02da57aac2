/* attention/segments.h - softmax attention where a query sees parts of its past under different angles: what methods
 * that rewrite positions need (rope/relative.h). The cache holds keys that are not rotated. */
#ifndef SEGMENTS_H
#define SEGMENTS_H

#include "softmax.h"

enum { QUERY_ROWS = 3 }; /* angles that a query may have at once */

/* The slots first .. end-1 of a query: keys rotated by `keys`, the query by its row `row`. */
typedef struct {
    size_t first, end;
    const KeyAngles *keys; /* one of SegmentMaps.keys; NULL: not rotated */
    int row;               /* 0 .. SegmentQuery.n_rows-1 */
    size_t from;           /* where slot 0's bias would stand in SegmentQuery.bias; where there are biases */
} Segment;

/* One head of one query, as AttentionQuery. Its arrays are the caller's, and several queries may share all but q, bias
 * and out. */
typedef struct {
    const float *q;          /* [head_dim], not rotated yet */
    const float *bias;       /* ScoreBias.row, of all queries of a call; NULL: none has biases */
    float *out;              /* [value_dim]; may not be q */
    float scale;             /* on scores */
    int n, n_rows;           /* segments, at least 1; rows, at most QUERY_ROWS */
    const Segment *segments; /* [n]: in the order of their slots, none empty, no slot in two */
    const float *cos[QUERY_ROWS], *sin[QUERY_ROWS]; /* [n_rows][rotary_dim/2]: what it is rotated by; NULL: not */
} SegmentQuery;

/* What all queries of a call share; its arrays are the caller's. */
typedef struct {
    const KeyAngles *keys; /* [n_keys]: what segments point to */
    int n_keys, rotary_dim;
    RopePairing pairing;   /* of queries; keys have their own, the same */
    float *weights; /* [slots]: grows by the weights that queries give to the keys of `row`; NULL: not wanted. The
                     * queries are then of one head, in their order, and the caller's calls too */
    int row;
} SegmentMaps;

/* As attention_softmax: n <= ATTENTION_QUERIES queries against layer l's key and value head h, one softmax over all of
 * a query's segments; its bits do not depend on the queries beside it. scratch: segments_scratch floats, of each thread
 * its own. Cannot fail. */
void attention_segments(const SegmentQuery *queries, size_t n, const SegmentMaps *maps, const KVCache *c, int l, int h,
                        float *scratch, const Kernels *kernels);
size_t segments_scratch(CacheType type, int head_dim, int value_dim); /* floats, for ATTENTION_QUERIES queries */

#endif
