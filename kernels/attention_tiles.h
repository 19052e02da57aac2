/* kernels/attention_tiles.h - softmax attention's products, whatever the width of a vector: which queries, slots and
 * columns a tile takes. A row includes it behind its vectors (vectors.h) and defines groups_at_once.
 *
 * Scores and the mix of values are both C = A B with few rows in A (queries) and a block of the cache as B, whose rows
 * lie so that no product has to be summed across lanes. A tile keeps its part of C in registers while B passes: a
 * vector of B is loaded once for up to 6 queries, and 12 sums or more hide the latency of an FMA; one or two queries
 * alone take more columns instead. Each number of C is one chain of FMAs, i ascending, whatever tile it falls into. */
#ifndef ATTENTION_TILES_H
#define ATTENTION_TILES_H

#include "attention_kernels.h"
#include "block_parts.h"
#include "inline.h"

enum { TILE_ROWS = 6, TILE_GROUPS = 4 };  /* of a tile, at most */
enum { GROUP_VECTORS = KEY_LANES / VEC }; /* of a group of columns */

/* Groups of 16 columns that a tile of so many rows takes, so that its sums fit the registers: 1, 2 or 4. */
INLINE size_t groups_at_once(size_t rows);

/* The operands of C[j][x] += sum over i0 <= i < i1 of A[j][i] B[i][x]. Column x of B's row i is at
 *     b[i*ldb + x / KEY_LANES * group + x % KEY_LANES]
 * For row 0 each step fetches something of what is wanted soon, so that memory is busy meanwhile. */
typedef struct {
    float *c;
    const float *a;
    Numbers b;
    size_t ldc, lda, ldb, group, i0, i1;
    Fetch fetch;
} Product;

/* Q rows by G groups; all but p, j and g are constants where this is inlined. fresh: C begins as 0. */
INLINE void tile(int Q, int G, int half, int fresh, Product *p, size_t j, size_t g) {
    const TensorType type = half ? TENSOR_F16 : TENSOR_F32;
    const size_t each = half ? 2 : 4;
    Vec acc[TILE_ROWS][TILE_GROUPS * GROUP_VECTORS];
    float *c = p->c + j * p->ldc + g * KEY_LANES;
    const float *a = p->a + j * p->lda;
    const uint8_t *b = (const uint8_t *)p->b.at + g * p->group * each;
    size_t lda = p->lda, ldb = p->ldb, group = p->group, ldc = p->ldc, i1 = p->i1;
    Fetch fetch = j ? (Fetch){0} : p->fetch;
    UNROLL
    for (size_t q = 0; q < (size_t)Q; q++)
        UNROLL
        for (size_t v = 0; v < (size_t)G * GROUP_VECTORS; v++)
            acc[q][v] = fresh ? vec_zero() : vec_load(c + q * ldc + v * VEC);
    for (size_t i = p->i0; i < i1; i++) {
        fetch_step(&fetch);
        UNROLL
        for (size_t v = 0; v < (size_t)G * GROUP_VECTORS; v += GROUP_VECTORS) {
            Vec row[GROUP_VECTORS];
            UNROLL
            for (size_t k = 0; k < GROUP_VECTORS; k++)
                row[k] = vec_pin(vec_load_as(type, b + each * (i * ldb + v / GROUP_VECTORS * group + k * VEC)));
            UNROLL
            for (size_t q = 0; q < (size_t)Q; q++) {
                Vec x = vec_all(a[q * lda + i]);
                UNROLL
                for (size_t k = 0; k < GROUP_VECTORS; k++) acc[q][v + k] = vec_fma(acc[q][v + k], x, row[k]);
            }
        }
    }
    UNROLL
    for (size_t q = 0; q < (size_t)Q; q++)
        UNROLL
        for (size_t v = 0; v < (size_t)G * GROUP_VECTORS; v++) vec_store(c + q * ldc + v * VEC, acc[q][v]);
    if (j == 0) p->fetch = fetch;
}

/* Q rows from j on, so many groups from g on. */
INLINE void rows_of(int Q, int half, int fresh, Product *p, size_t j, size_t g, size_t groups) {
    const size_t most = groups_at_once((size_t)Q);
    for (; groups >= most; g += most, groups -= most) tile(Q, (int)most, half, fresh, p, j, g);
    if (most > 2 && groups & 2) tile(Q, 2, half, fresh, p, j, g), g += 2;
    if (most > 1 && groups & 1) tile(Q, 1, half, fresh, p, j, g);
}

INLINE void some_rows_of(int half, int fresh, Product *p, size_t j, size_t n, size_t g, size_t groups) {
    switch (n) {
    case 1: rows_of(1, half, fresh, p, j, g, groups); break;
    case 2: rows_of(2, half, fresh, p, j, g, groups); break;
    case 3: rows_of(3, half, fresh, p, j, g, groups); break;
    case 4: rows_of(4, half, fresh, p, j, g, groups); break;
    case 5: rows_of(5, half, fresh, p, j, g, groups); break;
    default: rows_of(6, half, fresh, p, j, g, groups);
    }
}

/* Rows j .. j+n-1 (one to six) of a product. */
INLINE void some_rows(int fresh, Product *p, size_t j, size_t n, size_t g, size_t groups) {
    if (p->b.half) some_rows_of(1, fresh, p, j, n, g, groups);
    else some_rows_of(0, fresh, p, j, n, g, groups);
}

/* Rows of the next tile where n are left: of three or more never so many that one or two remain. */
INLINE size_t next_rows(size_t n) { return n <= TILE_ROWS ? n : n <= 8 ? 4 : TILE_ROWS; }

/* Row 0 of a product of n rows shares the fetching among its steps: so many for each tile of columns. */
INLINE Fetch fetch_within(Soon soon, size_t n, size_t steps, size_t groups) {
    size_t most = groups_at_once(next_rows(n));
    return fetch_of(soon, n, steps * ((groups + most - 1) / most));
}

/* scores of kernels.h. So many groups of keys at a time stay in the first-level cache while all queries pass. */
static void scores(float *s, const float *q, size_t n, Numbers k, size_t head_dim, size_t groups, Soon soon) {
    Product p = {.c = s, .ldc = SCORE_ROW, .a = q, .lda = head_dim, .b = k, .i1 = head_dim};
    p.ldb = KEY_LANES, p.group = head_dim * KEY_LANES;
    p.fetch = fetch_within(soon, n, head_dim, groups);
    size_t together = n <= TILE_ROWS ? groups : groups_at_once(TILE_ROWS);
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
        if (spans[r].lo < all.lo)
            mix_slots(p, spans[r].lo, spans[r].hi < all.lo ? spans[r].hi : all.lo, r, 1, g, groups);
    mix_slots(p, all.lo, all.hi, j, n, g, groups);
    for (size_t r = j; r < j + n; r++)
        if (spans[r].hi > all.hi) mix_slots(p, all.hi, spans[r].hi, r, 1, g, groups);
}

/* mix of kernels.h. */
static void mix(float *acc, size_t lda, const float *p, const Span *spans, const Running *run, size_t n, Numbers v,
                size_t ldv, size_t width, Soon soon) {
    enum { TOGETHER = 4 }; /* groups whose part of the values, 16 KB, stays in the first-level cache for all queries */
    shrink_rows(acc, lda, run, n, width);
    Product whole = {.c = acc, .ldc = lda, .a = p, .lda = SCORE_ROW, .b = v, .ldb = ldv, .group = KEY_LANES};
    size_t groups = width / KEY_LANES;
    whole.fetch = fetch_within(soon, n, KEY_BLOCK, groups);
    for (size_t g = 0; g < groups; g += TOGETHER) {
        size_t m = groups - g < TOGETHER ? groups - g : TOGETHER;
        for (size_t j = 0, rows; j < n; j += rows) mix_rows(&whole, spans, j, rows = next_rows(n - j), g, m);
    }
}

/* Groups of keys rotated; half and the pairs' layout are constants where this is inlined. */
INLINE void rotate_groups(float *out, const uint8_t *k, size_t d, const KeyAngles *a, size_t first, size_t groups,
                          int half, size_t step) {
    const TensorType type = half ? TENSOR_F16 : TENSOR_F32;
    const size_t each = half ? 2 : 4, pairs = (size_t)a->rotary_dim / 2;
    const size_t gap = (step == 1 ? pairs : 1) * KEY_LANES;
    const float *c = a->cos + first * pairs * KEY_LANES, *s = a->sin + first * pairs * KEY_LANES;
    for (size_t g = 0; g < groups; g++, k += d * KEY_LANES * each, out += d * KEY_LANES) {
        for (size_t i = 0; i < pairs; i++, c += KEY_LANES, s += KEY_LANES)
            UNROLL
            for (size_t v = 0; v < KEY_LANES; v += VEC) {
                size_t at = i * step * KEY_LANES + v;
                Vec x = vec_load_as(type, k + at * each), y = vec_load_as(type, k + (at + gap) * each);
                Vec cv = vec_load(c + v), sv = vec_load(s + v);
                vec_store(out + at, vec_fnma(vec_mul(x, cv), y, sv));
                vec_store(out + at + gap, vec_fma(vec_mul(x, sv), y, cv));
            }
        for (size_t at = 2 * pairs * KEY_LANES; at < d * KEY_LANES; at += VEC)
            vec_store(out + at, vec_load_as(type, k + at * each));
    }
}

static void rotate(float *out, Numbers k, size_t d, const KeyAngles *a, size_t first, size_t groups) {
    const uint8_t *at = (const uint8_t *)k.at;
    if (a->pairing == ROPE_HALF && k.half) rotate_groups(out, at, d, a, first, groups, 1, 1);
    else if (a->pairing == ROPE_HALF) rotate_groups(out, at, d, a, first, groups, 0, 1);
    else if (k.half) rotate_groups(out, at, d, a, first, groups, 1, 2);
    else rotate_groups(out, at, d, a, first, groups, 0, 2);
}

#endif
