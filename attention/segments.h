/* attention/segments.h - softmax attention where a query sees parts of its past under different angles: what methods
 * that rewrite positions need (rope/relative.h). The cache holds keys that are not rotated. */
#ifndef SEGMENTS_H
#define SEGMENTS_H

#include "rope/relative.h"
#include "softmax.h"

/* The slots first .. end-1 of a query: keys rotated by `keys` (NULL: not at all), the query by the row cos, sin
 * [rotary_dim/2] (NULL: not at all). */
typedef struct {
    size_t first, end;
    const KeyAngles *keys;
    const float *cos, *sin;
} Segment;

/* One head of one query: as AttentionQuery, but q [head_dim] is not rotated yet. Its segments [n] are in the order of
 * their slots and have none in common; several queries may share them. */
typedef struct {
    const float *q;
    float *out;
    float scale;
    int n;
    const Segment *segments;
} SegmentQuery;

/* As attention_softmax: one softmax over all of a query's segments. n_keys: KeyAngles that segments may point to, all
 * in one array `keys`. rotary_dim, pairing: of the queries. scratch: segments_scratch floats, of each thread its own.
 */
typedef struct {
    const KeyAngles *keys;
    int n_keys, rotary_dim;
    RopePairing pairing;
} SegmentMaps;

void attention_segments(const SegmentQuery *queries, size_t n, const SegmentMaps *maps, const KVCache *c, int l, int h,
                        float *scratch, const Kernels *kernels);
size_t segments_scratch(CacheType type, int head_dim, int value_dim);

#endif
