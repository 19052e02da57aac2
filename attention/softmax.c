/* attention/softmax.c - queries against the keys they see, a block of KEY_BLOCK slots at a time: the softmax that the
 * chapter (README.md) says in formulas, with its maximum and its sum known only so far.
 *
 * Blocks are counted from the slot where a text begins, whatever the first slot is that a query sees, and follow each
 * other in order. So a query's sums have one order: alone or among others, its text alone in the cache or behind
 * another. */
#include "softmax.h"

#include <float.h>
#include <math.h>
#include <string.h>

size_t attention_scratch(CacheType type, int head_dim, int value_dim) {
    size_t d = (size_t)head_dim, each = whole_lanes(d) + SCORE_ROW + whole_lanes((size_t)value_dim);
    const CacheProducts *own = cache_formats[type].products;
    return ATTENTION_QUERIES * each + (own ? own->room(d) : 0);
}

/* The format's own products, where n queries are worth them. */
static const CacheProducts *own_products(const SoftmaxWork *w, size_t n) {
    const CacheProducts *own = w->c->format->products;
    return own && n >= own->from ? own : NULL;
}

static Numbers block_keys(const SoftmaxWork *w, size_t g0, size_t groups, size_t n, const KeyAngles *angles) {
    const uint8_t *k = w->k + g0 * w->c->group_bytes;
    const CacheProducts *own = own_products(w, n);
    int half = w->c->type == CACHE_F16, raw = angles ? !w->c->format->scaled : !own;
    Numbers keys = raw ? (Numbers){k, half} : own->keys(w, k, groups);
    if (!angles) return keys;
    w->kernels->att->rotate(w->rotated, keys, w->d, angles, g0, groups);
    return (Numbers){.at = w->rotated};
}

/* A block need not begin with a group of keys, so that it may have a part in one group more than it is long. */
float *softmax_scores(SoftmaxWork *w, size_t b, size_t from, size_t to, Span all, const KeyAngles *angles) {
    size_t g0 = (b + (size_t)all.lo) / KEY_LANES, g1 = (b + (size_t)all.hi + KEY_LANES - 1) / KEY_LANES, n = to - from;
    float *row = w->s + from * SCORE_ROW;
    Soon values = {w->v + (b + (size_t)all.lo) * w->c->row_bytes, (size_t)(all.hi - all.lo) * w->c->row_bytes};
    float *s = row + (g0 - b / KEY_LANES) * KEY_LANES;
    if (w->bytes)
        w->kernels->cache->scores_q8(s, w->bytes + from * scale_blocks(w->d), n, w->k + g0 * w->c->group_bytes, w->d,
                                     g1 - g0, values);
    else
        w->kernels->att->scores(s, w->q + from * w->d, n, block_keys(w, g0, g1 - g0, n, angles), w->d, g1 - g0,
                                values);
    return row + b % KEY_LANES;
}

/* scale s_t + bias_t: once a block, in front of its softmax, so that kernels and models without biases do not know of
 * it. */
static void add_bias(const SoftmaxWork *w, float *p, size_t b, size_t from, size_t to) {
    for (size_t j = from; j < to; j++) {
        const ScoreBias *bias = &w->bias[j];
        size_t lo = (size_t)w->spans[j].lo, n = (size_t)w->spans[j].hi - lo;
        float *s = p + (j - from) * SCORE_ROW + lo, scale = w->scales[j];
        if (w->spans[j].lo >= w->spans[j].hi) continue;
        if (bias->places) {
            for (size_t t = 0; t < n; t++) s[t] = scale * s[t] + bias->row[bias->from + bias->places[b + lo + t]];
            continue;
        }
        const float *row = bias->row + (bias->from + b + lo);
        for (size_t t = 0; t < n; t++) s[t] = scale * s[t] + row[t];
    }
}

/* cap tanh(scale s_t / cap), in the same place. */
static void cap_scores(const SoftmaxWork *w, float *p, size_t from, size_t to) {
    for (size_t j = from; j < to; j++)
        for (int t = w->spans[j].lo; t < w->spans[j].hi; t++) {
            float *s = p + (j - from) * SCORE_ROW + t;
            *s = w->cap * tanhf(w->scales[j] * *s / w->cap);
        }
}

void softmax_block(SoftmaxWork *w, size_t b, size_t from, size_t to, Span all, const KeyAngles *angles) {
    size_t g1 = (b + (size_t)all.hi + KEY_LANES - 1) / KEY_LANES, n = to - from, columns = w->c->value_width;
    float *p = softmax_scores(w, b, from, to, all, angles);
    Soon next_keys = {w->k + g1 * w->c->group_bytes, KEY_BLOCK / KEY_LANES * w->c->group_bytes};
    const CacheProducts *own = own_products(w, n);
    const AttentionKernels *kernels = w->kernels->att;
    if (w->bias) add_bias(w, p, b, from, to);
    else if (w->cap > 0) cap_scores(w, p, from, to);
    /* p_t = exp(scale s_t - the largest so far), s_t = q . k_t */
    kernels->softmax(p, w->spans + from, w->run + from, n);
    /* acc = shrink acc + sum_t p_t v_t */
    if (own) own->mix(w, p, b, from, n, all, next_keys);
    else kernels->mix(w->acc + from * columns, columns, p, w->spans + from, w->run + from, n,
                      (Numbers){w->v + b * w->c->row_bytes, w->c->type == CACHE_F16}, columns, columns, next_keys);
}

/* The slots of the block from b on that each query sees; *from, *to: the queries that see any, and some between them
 * may not. */
static Span look(SoftmaxWork *w, const AttentionQuery *queries, size_t n, size_t b, size_t *from, size_t *to) {
    Span all = {.lo = KEY_BLOCK, .hi = 0};
    *from = n, *to = 0;
    for (size_t j = 0; j < n; j++) {
        size_t first = queries[j].first > b ? queries[j].first - b : 0, end = queries[j].end;
        end = end <= b ? 0 : end - b < KEY_BLOCK ? end - b : KEY_BLOCK;
        w->spans[j] = first < end ? (Span){.lo = (int)first, .hi = (int)end} : (Span){0};
        if (first >= end) continue;
        if (*from == n) *from = j;
        *to = j + 1;
        if (w->spans[j].lo < all.lo) all.lo = w->spans[j].lo;
        if (w->spans[j].hi > all.hi) all.hi = w->spans[j].hi;
    }
    return all;
}

/* n queries of one text. */
static void attend(SoftmaxWork *w, const AttentionQuery *queries, size_t n) {
    size_t end = 0, first = SIZE_MAX, text = queries->text, from, to;
    ScoreBias bias[ATTENTION_QUERIES];
    float scales[ATTENTION_QUERIES];
    int biased = queries->bias.row != NULL, early = biased || queries->cap > 0; /* scaled before the softmax */
    if (biased) w->bias = bias;
    w->scales = scales, w->cap = queries->cap;
    for (size_t j = 0; j < n; j++) {
        memcpy(w->q + j * w->d, queries[j].q, w->d * sizeof *w->q);
        const float *sink = queries[j].sink; /* e^(sink - max) is in the sum, and nothing of it in acc */
        w->run[j] = (Running){.scale = early ? 1 : queries[j].scale, .max = sink ? *sink : -FLT_MAX,
                              .sum = sink != NULL, .shrink = 1};
        bias[j] = queries[j].bias, scales[j] = queries[j].scale;
        if (queries[j].first >= queries[j].end) continue;
        if (queries[j].first < first) first = queries[j].first;
        if (queries[j].end > end) end = queries[j].end;
    }
    memset(w->acc, 0, n * w->c->value_width * sizeof *w->acc);
    if (w->c->format->products && w->c->format->products->queries) w->c->format->products->queries(w, n);
    if (first < end) first = text + (first - text) / KEY_BLOCK * KEY_BLOCK;
    for (size_t b = first; b < end; b += KEY_BLOCK) {
        Span all = look(w, queries, n, b, &from, &to);
        if (from < to) softmax_block(w, b, from, to, all, NULL);
    }
    for (size_t j = 0; j < n; j++) { /* out = acc / sum; no slot at all: 0 */
        float r = queries[j].first < queries[j].end ? 1 / w->run[j].sum : 0;
        for (size_t i = 0; i < (size_t)w->c->value_dim; i++) queries[j].out[i] = r * w->acc[j * w->c->value_width + i];
    }
}

void attention_softmax(const AttentionQuery *queries, size_t n, const KVCache *c, int l, int h, float *scratch,
                       const Kernels *kernels) {
    size_t head = (size_t)l * (size_t)c->n_kv_heads + (size_t)h;
    SoftmaxWork w = {.c = c, .kernels = kernels, .d = (size_t)c->head_dim};
    w.k = c->k + head * c->k_stride, w.v = c->v + head * c->v_stride;
    w.q = scratch;
    w.s = w.q + n * whole_lanes(w.d);
    w.acc = w.s + n * SCORE_ROW;
    w.room = w.acc + n * c->value_width;
    for (size_t from = 0, to; from < n; from = to) { /* text by text */
        for (to = from + 1; to < n && queries[to].text == queries[from].text;) to++;
        attend(&w, queries + from, to - from);
    }
}
