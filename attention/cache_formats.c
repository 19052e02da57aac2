/* attention/cache_formats.c - the table of what a cache's numbers are kept as, and how f16 and q8_0 are multiplied. */
#include "softmax.h"

static void store_q8_0(CacheSlot to, const float *x, const Kernels *kernels) {
    int8_t q[Q_BLOCK];
    float scale;
    for (size_t at = 0, n; at < to.n; at += n) {
        n = to.n - at < Q_BLOCK ? to.n - at : Q_BLOCK;
        kernels->mat->quantize(q, &scale, x + at, n, (int)n);
        kernels->cache->narrow(to.scales + at / Q_BLOCK * KEY_LANES, &scale, 1);
        for (size_t i = 0; i < n; i++) ((int8_t *)to.entries)[cache_entry(&to, at + i)] = q[i];
    }
}

/* ---- half floats made floats: a block of keys, [groups, head_dim, KEY_LANES], or PANEL columns of its values ---- */

enum { PANEL = 128 }; /* 32 KB of a block */

static size_t room_f16(size_t head_dim) { return SCORE_ROW * head_dim + KEY_BLOCK * PANEL; }

static Numbers keys_f16(const SoftmaxWork *w, const uint8_t *k, size_t groups) {
    w->kernels->cache->widen(w->room, (const uint16_t *)(const void *)k, groups * w->d * KEY_LANES);
    return (Numbers){.at = w->room};
}

static void mix_f16(const SoftmaxWork *w, const float *p, size_t b, size_t from, size_t n, Span all, Soon soon) {
    size_t columns = w->c->value_width;
    float *acc = w->acc + from * columns, *values = w->room + SCORE_ROW * w->d;
    const uint16_t *v = (const uint16_t *)(const void *)w->v + b * columns;
    for (size_t at = 0; at < columns; at += PANEL, soon.bytes = 0) { /* fetched once is enough */
        size_t width = columns - at < PANEL ? columns - at : PANEL;
        for (int t = all.lo; t < all.hi; t++)
            w->kernels->cache->widen(values + t * PANEL, v + (size_t)t * columns + at, width);
        w->kernels->att->mix(acc + at, columns, p, w->spans + from, w->run + from, n, (Numbers){.at = values}, PANEL,
                             width, soon);
    }
}

/* ---- bytes: multiplied as they are, by queries and weights that are bytes too ---- */

static size_t room_q8_0(size_t head_dim) { /* keys that will be rotated, or queries */
    size_t keys = SCORE_ROW * head_dim;
    size_t queries = ATTENTION_QUERIES * scale_blocks(head_dim) * sizeof(QueryBlock) / sizeof(float);
    return keys > queries ? keys : queries;
}

static void queries_q8_0(SoftmaxWork *w, size_t n) {
    QueryBlock *to = w->bytes = (QueryBlock *)w->room;
    for (size_t j = 0; j < n; j++)
        for (size_t at = 0; at < w->d; at += Q_BLOCK, to++) {
            size_t m = w->d - at < Q_BLOCK ? w->d - at : Q_BLOCK;
            *to = (QueryBlock){0};
            w->kernels->mat->quantize(to->q, &to->scale, w->q + j * w->d + at, m, (int)m);
            for (size_t i = 0; i < m; i++) to->sum += to->q[i];
        }
}

static Numbers keys_q8_0(const SoftmaxWork *w, const uint8_t *k, size_t groups) {
    for (size_t g = 0; g < groups; g++)
        w->kernels->cache->widen_keys(w->room + g * w->d * KEY_LANES, k + g * w->c->group_bytes, w->d);
    return (Numbers){.at = w->room};
}

static void mix_q8_0(const SoftmaxWork *w, const float *p, size_t b, size_t from, size_t n, Span all, Soon soon) {
    (void)all;
    w->kernels->cache->mix_q8(w->acc + from * w->c->value_width, p, w->spans + from, w->run + from, n,
                              w->v + b / KEY_LANES * KEY_LANES * w->c->row_bytes, b % KEY_LANES, w->c->value_width,
                              soon);
}

/* Half floats are made floats by kernels' own products where queries are few. */
static const CacheProducts products_f16 = {.from = 17, .room = room_f16, .keys = keys_f16, .mix = mix_f16};
static const CacheProducts products_q8_0 = {
    .from = 0, .room = room_q8_0, .queries = queries_q8_0, .keys = keys_q8_0, .mix = mix_q8_0};

const CacheFormat cache_formats[] = {
    [CACHE_F32] = {"f32", 4, 0, cache_store_f32, NULL},
    [CACHE_F16] = {"f16", 2, 0, cache_store_f16, &products_f16},
    [CACHE_Q8_0] = {"q8_0", 1, 1, store_q8_0, &products_q8_0},
    {0},
};
