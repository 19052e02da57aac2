/* attention/cache_formats.c - the table of what a cache's numbers are kept as; q8_0, and the making of floats. */
#include "softmax.h"

#include "kernels/cache_kernels.h"

static void store_q8_0(CacheSlot to, const float *x, const Kernels *kernels) {
    int8_t q[Q_BLOCK];
    float scale;
    for (size_t at = 0, n; at < to.n; at += n) {
        n = to.n - at < Q_BLOCK ? to.n - at : Q_BLOCK;
        kernels->mat->quantize(q, &scale, x + at, n, (int)n);
        kernels->att->narrow(to.scales + at / Q_BLOCK * to.step, &scale, 1);
        for (size_t i = 0; i < n; i++) ((int8_t *)to.entries)[(at + i) * to.step] = q[i];
    }
}

/* ---- made floats: a block of keys, [groups, head_dim, KEY_LANES], or some columns of its values at a time ---- */

enum { PANEL = 128 }; /* such columns: 32 KB of a block; a multiple of Q_BLOCK */

static size_t room(size_t head_dim) { return SCORE_ROW * head_dim + KEY_BLOCK * PANEL; }

static Numbers keys_f16(const SoftmaxWork *w, const uint8_t *k, size_t groups) {
    w->kernels->cache->widen(w->room, (const uint16_t *)(const void *)k, groups * w->d * KEY_LANES);
    return (Numbers){.at = w->room};
}

/* Columns at .. at+width-1, at most PANEL and at a multiple of it, of the value row into out. */
static void values_f16(float *out, const SoftmaxWork *w, const uint8_t *row, size_t at, size_t width) {
    w->kernels->cache->widen(out, (const uint16_t *)(const void *)row + at, width);
}

static Numbers keys_q8_0(const SoftmaxWork *w, const uint8_t *k, size_t groups) {
    size_t d = w->d, scales = (d + Q_BLOCK - 1) / Q_BLOCK * KEY_LANES;
    float *out = w->room;
    for (size_t g = 0; g < groups; g++, k += w->c->group_bytes, out += d * KEY_LANES)
        w->kernels->cache->widen_q8(out, (const uint16_t *)(const void *)k, (const int8_t *)k + 2 * scales, d,
                                    KEY_LANES);
    return (Numbers){.at = w->room};
}

static void values_q8_0(float *out, const SoftmaxWork *w, const uint8_t *row, size_t at, size_t width) {
    const uint16_t *scales = (const uint16_t *)(const void *)row;
    const int8_t *q = (const int8_t *)(scales + (w->c->value_width + Q_BLOCK - 1) / Q_BLOCK);
    w->kernels->cache->widen_q8(out, scales + at / Q_BLOCK, q + at, width, 1);
}

static void mix(const SoftmaxWork *w, const float *p, const uint8_t *v, size_t from, size_t n, Span all, Soon soon) {
    size_t columns = w->c->value_width;
    float *acc = w->acc + from * columns, *values = w->room + SCORE_ROW * w->d;
    for (size_t at = 0; at < columns; at += PANEL, soon.bytes = 0) { /* fetched once is enough */
        size_t width = columns - at < PANEL ? columns - at : PANEL;
        for (int t = all.lo; t < all.hi; t++)
            (w->c->type == CACHE_F16 ? values_f16 : values_q8_0)(values + t * PANEL, w, v + (size_t)t * w->c->row_bytes,
                                                                 at, width);
        w->kernels->att->mix(acc + at, columns, p, w->spans + from, w->run + from, n, (Numbers){.at = values}, PANEL,
                             width, soon);
    }
}

/* Half floats are made floats by the product itself where queries are few; bytes always come first. */
static const CacheWide wide_f16 = {.from = 17, .room = room, .keys = keys_f16, .mix = mix};
static const CacheWide wide_q8_0 = {.from = 0, .room = room, .keys = keys_q8_0, .mix = mix};

const CacheFormat cache_formats[] = {
    [CACHE_F32] = {"f32", 4, 0, cache_store_f32, NULL},
    [CACHE_F16] = {"f16", 2, 0, cache_store_f16, &wide_f16},
    [CACHE_Q8_0] = {"q8_0", 1, 1, store_q8_0, &wide_q8_0},
    {0},
};
