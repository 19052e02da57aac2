/* kernels/attention_tiles.h - the part of softmax attention that does not depend on how wide a vector is: which queries, slots
 * and columns a tile takes. The fast rows include it and define the three functions that it declares first.
 *
 * Scores and the mix of values are both C = A B with few rows in A (queries) and a block of the cache as B, whose rows lie so
 * that no product has to be summed across lanes. Each number of C is one chain of FMAs, i ascending, whatever tile it falls
 * into. */
#ifndef ATTENTION_TILES_H
#define ATTENTION_TILES_H

#include "inline.h"
#include "kernels.h"

/* The operands of C[j][x] += sum over i0 <= i < i1 of A[j][i] B[i][x]. Column x of B's row i is at
 * b[i*ldb + x / KEY_LANES * group + x % KEY_LANES]. For row 0 each step fetches `lines` cache lines of what is wanted soon, so
 * that memory is busy while this is computed. */
typedef struct {
    float *c;
    const float *a;
    Numbers b;
    size_t ldc, lda, ldb, group, i0, i1, lines;
    const char *soon, *soon_end;
} Product;

/* Rows j .. j+n-1 (one to six) of a product, groups of columns g .. g+groups-1. fresh: C begins as 0. */
INLINE void some_rows(int fresh, Product *p, size_t j, size_t n, size_t g, size_t groups);
/* Steps that row 0 of a product of n rows takes over B's `rows` rows and so many groups. */
INLINE size_t steps_of(size_t rows, size_t n, size_t groups);
/* acc *= shrink, so many groups. */
INLINE void shrink_row(float *acc, float shrink, size_t groups);

/* Rows of the next tile where n are left: of three or more never so many that one or two remain. */
INLINE size_t next_rows(size_t n) { return n <= 6 ? n : n <= 8 ? 4 : 6; }

/* The steps share the fetching. Many queries are not a single token's: the next block is in the second-level cache already,
 * and fetching would be in their way. */
INLINE void fetch(Product *p, Soon soon, size_t n, size_t steps) {
    enum { FEW = 16 };
    p->soon = soon.from;
    p->soon_end = p->soon + soon.bytes;
    p->lines = n <= FEW && soon.bytes ? (soon.bytes / 64 + steps) / steps : 0;
}

/* scores of kernels.h, `together` groups of keys at a time, which stay in the first-level cache while all queries pass. */
INLINE void scores_in_tiles(float *s, const float *q, size_t n, Numbers k, size_t head_dim, size_t groups, Soon soon, size_t together) {
    Product p = {.c = s, .ldc = SCORE_ROW, .a = q, .lda = head_dim, .b = k, .ldb = KEY_LANES, .group = head_dim * KEY_LANES, .i1 = head_dim};
    fetch(&p, soon, n, steps_of(head_dim, n, groups));
    for (size_t g = 0; g < groups; g += together)
        for (size_t j = 0, rows; j < n; j += rows)
            some_rows(1, &p, j, rows = next_rows(n - j), g, groups - g < together ? groups - g : together);
}

INLINE Span common(const Span *spans, size_t n) {
    Span c = spans[0];
    for (size_t j = 1; j < n; j++) {
        c.lo = c.lo > spans[j].lo ? c.lo : spans[j].lo;
        c.hi = c.hi < spans[j].hi ? c.hi : spans[j].hi;
    }
    return c;
}

/* Rows j .. j+n-1 over the slots lo .. hi-1, groups g .. g+groups-1. */
static void mix_slots(Product *p, int lo, int hi, size_t j, size_t n, size_t g, size_t groups) {
    if (lo >= hi) return;
    p->i0 = (size_t)lo, p->i1 = (size_t)hi;
    some_rows(0, p, j, n, g, groups);
}

/* The slots that all these rows see together, and those that one has alone before and after. */
static void mix_rows(Product *p, const Span *spans, size_t j, size_t n, size_t g, size_t groups) {
    Span all = common(spans + j, n);
    if (all.lo >= all.hi) all.lo = all.hi = KEY_BLOCK; /* nothing in common: all of a span lies before it */
    for (size_t r = j; r < j + n; r++)
        if (spans[r].lo < all.lo) mix_slots(p, spans[r].lo, spans[r].hi < all.lo ? spans[r].hi : all.lo, r, 1, g, groups);
    mix_slots(p, all.lo, all.hi, j, n, g, groups);
    for (size_t r = j; r < j + n; r++)
        if (spans[r].hi > all.hi) mix_slots(p, all.hi, spans[r].hi, r, 1, g, groups);
}

/* mix of kernels.h. */
INLINE void mix_in_tiles(float *acc, size_t lda, const float *p, const Span *spans, const Running *run, size_t n, Numbers v, size_t ldv,
                         size_t width, Soon soon) {
    enum { TOGETHER = 4 }; /* groups whose part of the values, 16 KB, stays in the first-level cache while all queries pass */
    size_t groups = width / KEY_LANES;
    for (size_t j = 0; j < n; j++)
        if (run[j].shrink != 1) shrink_row(acc + j * lda, run[j].shrink, groups);
    Product whole = {.c = acc, .ldc = lda, .a = p, .lda = SCORE_ROW, .b = v, .ldb = ldv, .group = KEY_LANES};
    fetch(&whole, soon, n, steps_of(KEY_BLOCK, n, groups));
    for (size_t g = 0; g < groups; g += TOGETHER) {
        size_t m = groups - g < TOGETHER ? groups - g : TOGETHER;
        for (size_t j = 0, rows; j < n; j += rows) mix_rows(&whole, spans, j, rows = next_rows(n - j), g, m);
    }
}

#endif
