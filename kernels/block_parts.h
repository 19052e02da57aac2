/* kernels/block_parts.h - what softmax attention's tiles over floats (attention_tiles.h) and over bytes (cache_tiles.h)
 * share: fetching what comes next while a block is computed, and older sums shrunk. Behind a row's vectors. */
#ifndef BLOCK_PARTS_H
#define BLOCK_PARTS_H

#include "attention_kernels.h"
#include "inline.h"

/* What is wanted soon, so many cache lines at a step. */
typedef struct {
    const char *at, *end;
    size_t lines;
} Fetch;

/* Shared among so many steps. Many queries are not a single token's: the next block is in the second-level cache
 * already, and fetching would be in their way. */
INLINE Fetch fetch_of(Soon soon, size_t n, size_t steps) {
    enum { FEW = 16 };
    if (n > FEW || !soon.bytes) return (Fetch){0};
    return (Fetch){soon.from, (const char *)soon.from + soon.bytes, (soon.bytes / 64 + steps) / steps};
}

/* Towards the second cache: the first has places for few lines under way, and loads wait where there is none. */
INLINE void fetch_step(Fetch *f) {
    for (size_t x = 0; x < f->lines && f->at < f->end; x++, f->at += 64) __builtin_prefetch(f->at, 0, 2);
}

/* n rows of sums, ld apart, that get a block whose maximum may be larger. */
INLINE void shrink_rows(float *acc, size_t ld, const Running *run, size_t n, size_t width) {
    for (size_t j = 0; j < n; j++, acc += ld)
        for (size_t i = 0; run[j].shrink != 1 && i < width; i += VEC)
            vec_store(acc + i, vec_mul(vec_all(run[j].shrink), vec_load(acc + i)));
}

#endif
