/* attention/segments.c - softmax over segments of the past: block by block as softmax.c, and in each block segment by
 * segment, so that the order of a query's sums does not depend on the queries beside it. */
#include "segments.h"

#include <float.h>
#include <math.h>
#include <string.h>

size_t segments_scratch(CacheType type, int head_dim, int value_dim) {
    size_t d = (size_t)head_dim, q = ATTENTION_QUERIES * whole_lanes(d);
    return attention_scratch(type, head_dim, value_dim) + (QUERY_ROWS - 1) * q + SCORE_ROW * whole_lanes(d);
}

typedef struct {
    SoftmaxWork w;
    const SegmentQuery *queries;
    size_t n;
    const SegmentMaps *maps;
    float *q; /* [QUERY_ROWS, n, d]: rotated by each row */
    int most; /* segments of a query */
    ScoreBias *bias; /* [n], where queries have biases */
} Work;

static void rotate_queries(Work *k) {
    size_t d = k->w.d;
    for (size_t j = 0; j < k->n; j++)
        for (int i = 0; i < k->queries[j].n_rows; i++) {
            float *q = k->q + ((size_t)i * k->n + j) * d;
            memcpy(q, k->queries[j].q, d * sizeof *q);
            if (k->queries[j].cos[i])
                k->w.kernels->vec->rotate(q, k->queries[j].cos[i], k->queries[j].sin[i], k->maps->rotary_dim,
                                          k->maps->pairing);
        }
}

/* Queries that go through a block together: what they look for in it, and which of them find any. */
typedef struct {
    const KeyAngles *keys;
    size_t from, to; /* from == to: none */
    Span all;        /* the slots that any of them sees; each by itself: w.spans */
} Look;

/* Those whose i-th segment has slots of the block from b on, keys of that map (-1: as they are) and this row. */
static Look look(Work *k, size_t b, int i, int map, int row) {
    Look l = {.keys = map < 0 ? NULL : &k->maps->keys[map], .all = {.lo = KEY_BLOCK, .hi = 0}};
    k->w.q = k->q + (size_t)row * k->n * k->w.d;
    for (size_t j = 0; j < k->n; j++) {
        const Segment *s = i < k->queries[j].n ? &k->queries[j].segments[i] : NULL;
        k->w.spans[j] = (Span){0};
        if (!s || s->keys != l.keys || s->row != row || s->end <= b || s->first >= b + KEY_BLOCK) continue;
        Span span = {.lo = s->first > b ? (int)(s->first - b) : 0,
                     .hi = s->end - b < KEY_BLOCK ? (int)(s->end - b) : KEY_BLOCK};
        k->w.spans[j] = span;
        if (k->w.bias) k->bias[j] = (ScoreBias){.row = k->queries[j].bias, .from = s->from};
        if (l.to == 0) l.from = j;
        l.to = j + 1;
        if (span.lo < l.all.lo) l.all.lo = span.lo;
        if (span.hi > l.all.hi) l.all.hi = span.hi;
    }
    return l;
}

/* Every query sums by its segments in their order; those that share a segment's map and row share its keys. */
static void take_block(Work *k, size_t b) {
    for (int i = 0; i < k->most; i++)
        for (int map = -1; map < k->maps->n_keys; map++)
            for (int row = 0; row < QUERY_ROWS; row++) {
                Look l = look(k, b, i, map, row);
                if (l.from < l.to) softmax_block(&k->w, b, l.from, l.to, l.all, l.keys);
            }
}

/* p_t = exp(scale s_t - max) / sum once more, now that max and sum are those of all keys. */
static void add_weights(Work *k, size_t b) {
    float *weights = k->maps->weights + b;
    for (int i = 0; i < k->most; i++)
        for (int map = -1; map < k->maps->n_keys; map++) {
            Look l = look(k, b, i, map, k->maps->row);
            if (l.from == l.to) continue;
            const float *s = softmax_scores(&k->w, b, l.from, l.to, l.all, l.keys);
            for (size_t j = l.from; j < l.to; j++, s += SCORE_ROW)
                for (int t = k->w.spans[j].lo; t < k->w.spans[j].hi; t++)
                    weights[t] += expf(k->queries[j].scale * s[t] - k->w.run[j].max) / k->w.run[j].sum;
        }
}

void attention_segments(const SegmentQuery *queries, size_t n, const SegmentMaps *maps, const KVCache *c, int l, int h,
                        float *scratch, const Kernels *kernels) {
    size_t head = (size_t)l * (size_t)c->n_kv_heads + (size_t)h, d = (size_t)c->head_dim, end = 0, first = SIZE_MAX;
    SoftmaxQueries of;
    Work k = {.w = {.c = c, .kernels = kernels, .d = d, .spans = of.spans, .run = of.run}, .queries = queries, .n = n,
              .maps = maps, .q = scratch, .bias = of.bias};
    k.w.k = c->k + head * c->k_stride, k.w.v = c->v + head * c->v_stride;
    k.w.rotated = scratch + QUERY_ROWS * n * whole_lanes(d);
    k.w.s = k.w.rotated + SCORE_ROW * whole_lanes(d);
    k.w.acc = k.w.s + n * SCORE_ROW;
    k.w.room = k.w.acc + n * c->value_width;
    if (queries->bias) k.w.bias = of.bias, k.w.scales = of.scales;
    for (size_t j = 0; j < n; j++) {
        const SegmentQuery *q = &queries[j];
        k.w.run[j] = (Running){.scale = queries->bias ? 1 : q->scale, .max = -FLT_MAX, .shrink = 1};
        of.scales[j] = q->scale;
        if (q->n > k.most) k.most = q->n;
        if (q->n && q->segments[0].first < first) first = q->segments[0].first;
        if (q->n && q->segments[q->n - 1].end > end) end = q->segments[q->n - 1].end;
    }
    rotate_queries(&k);
    memset(k.w.acc, 0, n * c->value_width * sizeof *k.w.acc);
    for (size_t b = first / KEY_BLOCK * KEY_BLOCK; b < end; b += KEY_BLOCK) take_block(&k, b);
    for (size_t j = 0; j < n; j++) /* out = acc / sum; a query sees itself at least */
        for (size_t i = 0; i < (size_t)c->value_dim; i++)
            queries[j].out[i] = 1 / k.w.run[j].sum * k.w.acc[j * c->value_width + i];
    for (size_t b = first / KEY_BLOCK * KEY_BLOCK; maps->weights && b < end; b += KEY_BLOCK) add_weights(&k, b);
}
