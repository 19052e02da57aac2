/* attention/wide.h - a cache's numbers made floats, a block of keys or some columns of values at a time: done once, it
 * serves all queries of a tile. Exact, so that no result depends on it. */
#ifndef WIDE_H
#define WIDE_H

#include "cache.h"

enum { PANEL = 128 }; /* columns of values that are made floats at once: 32 KB of a block; a multiple of Q_BLOCK */

struct CacheWide {
    size_t from; /* so many queries or more are worth it */
    /* `groups` groups of keys from k on into out [groups, head_dim, KEY_LANES]. */
    void (*keys)(float *out, const KVCache *c, const uint8_t *k, size_t groups, const Kernels *kernels);
    /* Columns at .. at+width-1, at most PANEL and at a multiple of it, of the value row into out. */
    void (*values)(float *out, const KVCache *c, const uint8_t *row, size_t at, size_t width, const Kernels *kernels);
};

#endif
