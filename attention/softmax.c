/* attention/softmax.c - queries against the keys they see, a block of KEY_BLOCK slots at a time: the softmax that the
 * chapter (README.md) says in formulas, with its maximum and its sum known only so far.
 *
 * Blocks, and parts of ATTENTION_PART slots, are counted from the slot where a text begins, whatever the first slot is
 * that a query sees. Blocks of a part follow each other in order, and so do the parts' sums. So a query's sums have one
 * order: alone or among others, its text alone in the cache or behind another, its parts summed by one thread or by
 * several. */
#include "softmax.h"

#include <float.h>
#include <math.h>
#include <string.h>

typedef struct { size_t first, end; } Slots;

size_t attention_scratch(CacheType type, int head_dim, int value_dim) {
    size_t d = (size_t)head_dim, columns = whole_lanes((size_t)value_dim), sums = columns + KEY_LANES;
    const CacheProducts *own = cache_formats[type].products;
    return ATTENTION_QUERIES * (whole_lanes(d) + SCORE_ROW + columns + sums) + sums + (own ? own->room(d) : 0);
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

/* ---- parts of a text ---- */

/* Query j's, [acc, max, sum]. */
static void put_sums(float *sums, const SoftmaxWork *w, size_t j) {
    size_t columns = w->c->value_width;
    memcpy(sums, w->acc + j * columns, columns * sizeof *sums);
    sums[columns] = w->run[j].max, sums[columns + 1] = w->run[j].sum;
}

/* Those of later slots join these, under the larger maximum. Sums of no slot leave the other ones as they are. */
static void add_sums(float *sums, const float *more, size_t columns) {
    float *of = sums + columns, max = more[columns], sum = more[columns + 1], top = max > of[0] ? max : of[0];
    if (sum == 0) return;
    if (of[1] == 0) {
        memcpy(sums, more, (columns + 2) * sizeof *sums);
        return;
    }
    float shrink = expf(of[0] - top), weight = expf(max - top);
    for (size_t i = 0; i < columns; i++) sums[i] = shrink * sums[i] + weight * more[i];
    of[0] = top, of[1] = shrink * of[1] + weight * sum;
}

static void take_part(SoftmaxWork *w, const AttentionQuery *queries, size_t n, size_t part, Slots seen) {
    size_t text = queries->text, begin = text + part * ATTENTION_PART, from, to;
    int early = w->bias || w->cap > 0; /* scaled before the softmax */
    for (size_t j = 0; j < n; j++) {
        const float *sink = (queries[j].first - text) / ATTENTION_PART == part ? queries[j].sink : NULL;
        w->run[j] = (Running){.scale = early ? 1 : queries[j].scale, .max = sink ? *sink : -FLT_MAX,
                              .sum = sink != NULL, .shrink = 1}; /* e^(sink - max): nothing of it is in acc */
    }
    memset(w->acc, 0, n * w->c->value_width * sizeof *w->acc);
    if (seen.first < begin) seen.first = begin;
    if (seen.end > begin + ATTENTION_PART) seen.end = begin + ATTENTION_PART;
    for (size_t b = text + (seen.first - text) / KEY_BLOCK * KEY_BLOCK; b < seen.end; b += KEY_BLOCK) {
        Span all = look(w, queries, n, b, &from, &to);
        if (from < to) softmax_block(w, b, from, to, all, NULL);
    }
}

/* The slots that any of n queries sees. */
static Slots seen_by(const AttentionQuery *queries, size_t n) {
    Slots seen = {.first = SIZE_MAX};
    for (size_t j = 0; j < n; j++) {
        if (queries[j].first >= queries[j].end) continue;
        if (queries[j].first < seen.first) seen.first = queries[j].first;
        if (queries[j].end > seen.end) seen.end = queries[j].end;
    }
    return seen.first < seen.end ? seen : (Slots){queries->text, queries->text};
}

/* Into w->sums, part by part; the last of these is a part's own. */
static void all_parts(SoftmaxWork *w, const AttentionQuery *queries, size_t n, Slots seen) {
    size_t text = queries->text, first = (seen.first - text) / ATTENTION_PART, step = attention_sums(w->c);
    float *more = w->sums + n * step;
    for (size_t p = first; p == first || text + p * ATTENTION_PART < seen.end; p++) {
        take_part(w, queries, n, p, seen);
        for (size_t j = 0; j < n; j++) {
            put_sums(p == first ? w->sums + j * step : more, w, j);
            if (p > first) add_sums(w->sums + j * step, more, w->c->value_width);
        }
    }
}

/* n queries of one text, before their first part. */
static void begin_queries(SoftmaxWork *w, const AttentionQuery *queries, size_t n, SoftmaxQueries *of) {
    w->spans = of->spans, w->run = of->run;
    w->bias = queries->bias.row ? of->bias : NULL;
    w->scales = of->scales, w->cap = queries->cap;
    for (size_t j = 0; j < n; j++) {
        memcpy(w->q + j * w->d, queries[j].q, w->d * sizeof *w->q);
        of->bias[j] = queries[j].bias, of->scales[j] = queries[j].scale;
    }
    if (w->c->format->products && w->c->format->products->queries) w->c->format->products->queries(w, n);
}

static void attend(SoftmaxWork *w, const AttentionQuery *queries, size_t n) {
    SoftmaxQueries of;
    begin_queries(w, queries, n, &of);
    all_parts(w, queries, n, seen_by(queries, n));
    for (size_t j = 0; j < n; j++)
        if (queries[j].first < queries[j].end)
            attention_join(queries[j].out, w->sums + j * attention_sums(w->c), 1, w->c);
        else memset(queries[j].out, 0, (size_t)w->c->value_dim * sizeof(float));
}

static SoftmaxWork work(size_t n, const KVCache *c, int l, int h, float *scratch, const Kernels *kernels) {
    size_t head = (size_t)l * (size_t)c->n_kv_heads + (size_t)h;
    SoftmaxWork w = {.c = c, .kernels = kernels, .d = (size_t)c->head_dim};
    w.k = c->k + head * c->k_stride, w.v = c->v + head * c->v_stride;
    w.q = scratch;
    w.s = w.q + n * whole_lanes(w.d);
    w.acc = w.s + n * SCORE_ROW;
    w.sums = w.acc + n * c->value_width;
    w.room = w.sums + (n + 1) * attention_sums(c);
    return w;
}

void attention_softmax(const AttentionQuery *queries, size_t n, const KVCache *c, int l, int h, float *scratch,
                       const Kernels *kernels) {
    SoftmaxWork w = work(n, c, l, h, scratch, kernels);
    for (size_t from = 0, to; from < n; from = to) { /* text by text */
        for (to = from + 1; to < n && queries[to].text == queries[from].text;) to++;
        attend(&w, queries + from, to - from);
    }
}

void attention_part(const AttentionQuery *queries, size_t n, size_t part, const KVCache *c, int l, int h,
                    float *scratch, const Kernels *kernels) {
    SoftmaxWork w = work(n, c, l, h, scratch, kernels);
    SoftmaxQueries of;
    begin_queries(&w, queries, n, &of);
    take_part(&w, queries, n, part, seen_by(queries, n));
    for (size_t j = 0; j < n; j++) put_sums(queries[j].out, &w, j);
}

void attention_join(float *out, float *sums, size_t n, const KVCache *c) {
    size_t columns = c->value_width, step = attention_sums(c);
    for (size_t i = 1; i < n; i++) add_sums(sums, sums + i * step, columns);
    float r = 1 / sums[columns + 1]; /* out = acc / sum */
    for (size_t i = 0; i < (size_t)c->value_dim; i++) out[i] = r * sums[i];
}
