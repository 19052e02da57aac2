/* model/stretch.c - see stretch.h. Where queries and keys stand is the row's (rope/relative.c); here are the angles of
 * these positions, and who attends to what. */
#include "stretch.h"

#include "base/base.h"
#include "bias.h"
#include "choose.h"
#include "model/layers/layers.h"
#include "past.h"
#include "rope/positions.h"
#include "scratch.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

int stretch_wanted(const Session *s) {
    const RopeConfig *c = &s->model->config.rope;
    const RopeNumbers *n = rope_numbers(c);
    return s->options.shifts || n->relative || n->any_nope || c->scaling->method->each || c->scaling->method->growth;
}

/* ---- memory ---- */

/* A map's cosines; table_floats further on, its sines. */
static float *cosines(const Stretch *x, int map) { return x->tables + (size_t)(2 * map) * x->table_floats; }

static void carve(Carver *k, Stretch *x, const Session *s) {
    const Config *c = &s->model->config;
    const SessionOptions *o = &s->options;
    size_t half = (size_t)c->rope.rotary_dim / 2;
    uint64_t threads = (uint64_t)o->threads, B = o->n_batch, rows = B * (size_t)x->n_rows * half;
    x->table_floats = (uint64_t)whole_lanes(o->n_ctx) * half;
    x->scratch_floats = whole_lanes(segments_scratch(o->cache, c->head_dim, c->value_dim));
    x->maps = scratch_carve(k, (size_t)x->n_maps, sizeof *x->maps);
    x->tables = scratch_carve(k, (size_t)x->n_maps * 2 * x->table_floats, sizeof *x->tables);
    x->cos = scratch_carve(k, rows, sizeof *x->cos);
    x->sin = scratch_carve(k, rows, sizeof *x->sin);
    x->segments = scratch_carve(k, B * ROPE_SEGMENTS, sizeof *x->segments);
    x->n_segments = scratch_carve(k, B, sizeof *x->n_segments);
    x->own = scratch_carve(k, B, sizeof *x->own);
    x->scratch = scratch_carve(k, x->scratch_floats * threads, sizeof *x->scratch);
    x->seen = scratch_carve(k, threads * ATTENTION_QUERIES * x->most_segments, sizeof *x->seen);
    for (int i = 0; i < x->n_maps && k->block; i++)
        x->maps[i] = (KeyAngles){.cos = cosines(x, i), .sin = cosines(x, i) + x->table_floats,
                                 .rotary_dim = c->rope.rotary_dim, .pairing = c->rope.pairing};
}

int stretch_init(Stretch **out, const Session *s, char *err, size_t errlen) {
    const RopeConfig *rope = &s->model->config.rope;
    const RopeNumbers *n = rope_numbers(rope);
    const Chooser *chooser = s->past->chooser;
    Stretch *x = *out = calloc(1, sizeof *x);
    Carver k = {0};
    if (!x) return base_error(err, errlen, -ENOMEM, "out of memory");
    x->row = n->relative ? n->relative : &rope_plainly;
    x->n_common = x->row->n_maps + (x->row->chooses == ROPE_BY_HEADS ? n->distance.heads : 0);
    x->n_maps = x->n_common * (rope->scaling->method->each ? 2 : 1);
    x->n_rows = x->row->chooses == ROPE_BY_HEADS ? x->n_common : ROPE_SEGMENTS;
    x->most_segments = chooser && chooser->most_segments > ROPE_SEGMENTS ? chooser->most_segments : ROPE_SEGMENTS;
    const Decoder *layers = s->model->config.decoder; /* the first layer that comes here */
    while (layers && x->first + 1 < s->model->config.n_layers && layers->kinds[x->first].turn != TURN_MAIN) x->first++;
    x->middle = (double)s->options.origin + (double)s->options.n_ctx / 2;
    if (rope->scaling->method->growth &&
        (double)s->options.n_ctx / 2 * -rope->scaling->method->growth(rope, 0) > 80) /* e^88 is no float */
        return base_error(err, errlen, -EINVAL, "rope xpos: a context of %zu is too long for what its pairs shrink by; "
                          "give a smaller one (-c)", s->options.n_ctx);
    carve(&k, x, s);
    if (k.overflow || !size_add(k.used, 63, &x->bytes) || !(x->block = calloc(1, x->bytes)))
        return base_error(err, errlen, -ENOMEM,
                          "out of memory: the angles of a context of %zu; give a smaller one (-c)", s->options.n_ctx);
    k = (Carver){.block = (char *)(((uintptr_t)x->block + 63) & ~(uintptr_t)63)};
    carve(&k, x, s);
    return 0;
}

void stretch_free(Stretch *x) {
    if (x) free(x->block);
    free(x);
}

/* ---- angles ---- */

/* What pair i of a query at `at` is multiplied by (xpos); a key there by the inverse. Positions count from the middle
 * of the context, so that neither becomes too large for a float. */
static double grown(const Session *s, double at, int i) {
    const RopeConfig *c = &s->model->config.rope;
    return c->scaling->method->growth ? exp((at - s->past->stretch->middle) * c->scaling->method->growth(c, i)) : 1;
}

/* The angles of slot j under a map. */
static void fill_slot(const Session *s, int map, const Rope *r, double at, size_t j) {
    const Stretch *x = s->past->stretch;
    size_t half = (size_t)r->rotary_dim / 2, first = j / KEY_LANES * half * KEY_LANES + j % KEY_LANES;
    float *cosine = cosines(x, map) + first, *sine = cosine + x->table_floats;
    for (size_t i = 0; i < half; i++) {
        double shrunk = 1 / grown(s, at, (int)i);
        cosine[i * KEY_LANES] = (float)(cos(at * r->inv_freq[i]) * shrunk);
        sine[i * KEY_LANES] = (float)(sin(at * r->inv_freq[i]) * shrunk);
    }
}

/* The same for a group of slots whose positions follow each other: e^(i(a+t)w) = e^(iaw) e^(itw), in double, with
 * e^(itw) in lanes [half][2][KEY_LANES]. */
static void fill_group(const Stretch *x, int map, const Rope *r, const double *lanes, double at, size_t group) {
    size_t half = (size_t)r->rotary_dim / 2;
    float *c = cosines(x, map) + group * half * KEY_LANES, *s = c + x->table_floats;
    for (size_t i = 0; i < half; i++, c += KEY_LANES, s += KEY_LANES, lanes += 2 * KEY_LANES) {
        double a = cos(at * r->inv_freq[i]), b = sin(at * r->inv_freq[i]);
        for (int t = 0; t < KEY_LANES; t++) {
            c[t] = (float)(a * lanes[t] - b * lanes[KEY_LANES + t]);
            s[t] = (float)(a * lanes[KEY_LANES + t] + b * lanes[t]);
        }
    }
}

static void fill_lanes(double *lanes, const Rope *r) {
    for (int i = 0; i < r->rotary_dim / 2; i++)
        for (int t = 0; t < KEY_LANES; t++) {
            lanes[(2 * i) * KEY_LANES + t] = cos(t * r->inv_freq[i]);
            lanes[(2 * i + 1) * KEY_LANES + t] = sin(t * r->inv_freq[i]);
        }
}

/* All slots up to n, by frequencies that are one query's own. The team shares it. */
static void fill_own(Session *s, const Rope *r, size_t n) {
    const Stretch *x = s->past->stretch;
    const RelativeNumbers *numbers = &rope_numbers(&s->model->config.rope)->distance;
    double lanes[ROPE_MAX_PAIRS * 2 * KEY_LANES];
    fill_lanes(lanes, r);
    for (int map = 0; map < x->n_common; map++)
        for (Share g = team_share(&s->scratch->team, (n + KEY_LANES - 1) / KEY_LANES); g.at < g.end; g.at++) {
            int64_t j = (int64_t)(g.at * KEY_LANES + s->options.origin);
            double at = x->row->key(numbers, map, j), last = x->row->key(numbers, map, j + KEY_LANES - 1);
            int follow = last - at == KEY_LANES - 1 && floor(at) == at, own = x->n_common + map;
            if (follow) fill_group(x, own, r, lanes, at, g.at);
            for (int t = 0; !follow && t < KEY_LANES; t++)
                fill_slot(s, own, r, x->row->key(numbers, map, j + t), g.at * KEY_LANES + (size_t)t);
        }
}

/* Where token t stands: for each of its segments, or under each map; times the method's magnitude, and the keys' too,
 * which are cached without it. */
static void fill_query(Session *s, size_t t) {
    const RopeConfig *c = &s->model->config.rope;
    const RopeNumbers *numbers = rope_numbers(c);
    Stretch *x = s->past->stretch;
    size_t half = (size_t)c->rotary_dim / 2;
    int64_t m = (int64_t)s->scratch->tokens[t].pos;
    int by_heads = x->row->chooses == ROPE_BY_HEADS;
    RopeSegment *segments = x->segments + t * ROPE_SEGMENTS;
    Rope own;
    const Rope *r = &s->rope;
    if (c->scaling->method->each) rope_init_each(&own, c, m + 1), r = &own;
    x->own[t] = r->choice != s->rope.choice;
    x->n_segments[t] = x->row->look(&numbers->distance, m, segments);
    double a = r->scale * (numbers->relative && numbers->distance.magnitude > 0 ? numbers->distance.magnitude : 1);
    for (int i = 0; i < (by_heads ? x->n_rows : x->n_segments[t]); i++) {
        double at = by_heads ? x->row->key(&numbers->distance, i, m) : segments[i].at;
        float *cosine = x->cos + (t * (size_t)x->n_rows + (size_t)i) * half, *sine = cosine - x->cos + x->sin;
        for (size_t k = 0; k < half; k++) {
            double magnitude = a * a * grown(s, at, (int)k);
            cosine[k] = (float)(cos(at * r->inv_freq[k]) * magnitude);
            sine[k] = (float)(sin(at * r->inv_freq[k]) * magnitude);
        }
    }
}

/* A batch's angles, for all layers: of its queries, and of the slots that have none yet. */
static void prepare(Session *s, size_t n) {
    Stretch *x = s->past->stretch;
    Scratch *w = s->scratch;
    const RelativeNumbers *numbers = &rope_numbers(&s->model->config.rope)->distance;
    size_t from = x->choice == s->rope.choice ? x->filled : 0, end = w->tokens[n - 1].end;
    for (Share j = team_share(&w->team, from < end ? end - from : 0); j.at < j.end; j.at++)
        for (int map = 0; map < x->n_common; map++)
            fill_slot(s, map, &s->rope, x->row->key(numbers, map, (int64_t)(s->options.origin + from + j.at)),
                      from + j.at);
    for (Share t = team_share(&w->team, n); t.at < t.end; t.at++) fill_query(s, t.at);
    team_wait(&w->team);
    if (team_member() != 0) return;
    x->filled = from < end ? end : from, x->choice = s->rope.choice;
    s->past->upto = end;
}

/* ---- attention ---- */

/* What head h of token t sees in layer l: into q, its segments into out [most_segments]. */
static void take_segments(const Session *s, int l, size_t t, size_t h, Segment *out, SegmentQuery *q) {
    const Config *c = &s->model->config;
    const Stretch *x = s->past->stretch;
    const Token *token = &s->scratch->tokens[t];
    size_t window = s->model->layers[l].window, half = (size_t)c->rope.rotary_dim / 2, n = 0;
    size_t first = window && token->end > window ? token->end - window : 0, rows = t * (size_t)x->n_rows;
    size_t origin = s->options.origin;
    int by_blocks = x->row->chooses == ROPE_BY_BLOCKS;
    int nope = rope_numbers(&c->rope)->nope[l] || !position_kind_of(c->positions)->rotates;
    int own = x->own[t] ? x->n_common : 0, last = x->n_segments[t] - 1;
    int head_map = x->row->chooses == ROPE_BY_HEADS ? choose_map(s, l, h) : 0;
    if (by_blocks) n = (size_t)choose_segments(s, l, t, &x->maps[own], out);
    for (int i = 0; i <= last && !by_blocks; i++, n++) {
        const RopeSegment *r = &x->segments[t * ROPE_SEGMENTS + (size_t)i];
        size_t begin = (size_t)r->first, end = (size_t)r->end; /* of what lies before the text nothing is seen */
        out[n] = (Segment){.first = begin > origin ? begin - origin : 0,
                           .end = end > origin ? end - origin : 0,
                           .row = i,
                           .from = bias_of(s->past->bias, 0, (size_t)r->at - origin).from,
                           .keys = r->map == ROPE_UNTURNED ? NULL : &x->maps[r->map + head_map + own]};
    }
    q->n = 0;
    for (size_t i = 0; i < n; i++) { /* the layer's own window, and whether it rotates at all */
        if (out[i].first < first) out[i].first = first;
        if (nope) out[i].keys = NULL;
        if (out[i].first < out[i].end) out[q->n++] = out[i];
    }
    q->segments = out;
    q->n_rows = last + 1;
    for (int i = 0; i <= last; i++) {
        size_t at = (rows + (size_t)(by_blocks ? last - i : head_map + i)) * half;
        q->cos[i] = nope ? NULL : x->cos + at;
        q->sin[i] = nope ? NULL : x->sin + at;
    }
}

static void attend_tile(Session *s, int l, const AttendTile *tile) {
    const Config *c = &s->model->config;
    const Stretch *x = s->past->stretch;
    const Scratch *w = s->scratch;
    SegmentMaps maps = {.keys = x->maps, .n_keys = x->n_maps, .rotary_dim = c->rope.rotary_dim,
                        .pairing = c->rope.pairing};
    size_t hd = (size_t)c->head_dim, vd = (size_t)c->value_dim, n_heads = (size_t)c->n_heads;
    size_t member = (size_t)team_member(), most = x->most_segments;
    Segment *seen = x->seen + member * ATTENTION_QUERIES * most;
    SegmentQuery queries[ATTENTION_QUERIES], *q = queries;
    if (x->row->chooses == ROPE_BY_BLOCKS) maps.weights = choose_weights(s, l, tile->h);
    for (size_t i = 0; i < tile->n; i++) {
        SegmentQuery common = {.scale = (float)attention_scale(c, &w->tokens[tile->t + i], l)};
        take_segments(s, l, tile->t + i, tile->h, seen + i * most, &common);
        for (size_t j = tile->h, at = (tile->t + i) * n_heads + j; j < tile->h + tile->heads; j++, at++) {
            common.q = w->q + at * hd, common.out = w->att + at * vd;
            common.bias = bias_of(s->past->bias, j, 0).row;
            *q++ = common;
        }
    }
    size_t head = tile->h / (n_heads / (size_t)c->n_kv_heads);
    attention_segments(queries, tile->n * tile->heads, &maps, &s->past->cache, past_layer(s, l), (int)head,
                       x->scratch + member * x->scratch_floats, s->model->kernels);
}

/* Head by head, its tokens in their order: what keys gather is summed in one order. */
static void attend_blocks(Session *s, int l, size_t from, size_t n) {
    for (Share h = team_share(&s->scratch->team, (size_t)s->model->config.n_heads); h.at < h.end; h.at++)
        for (size_t t = 0; t < n; t += ATTENTION_QUERIES) {
            size_t m = n - t < ATTENTION_QUERIES ? n - t : ATTENTION_QUERIES;
            attend_tile(s, l, &(AttendTile){.t = from + t, .n = m, .h = h.at, .heads = 1, .part = WHOLE_PAST});
        }
    team_wait(&s->scratch->team);
}

/* By frequencies of the query's own: it makes the tables that it looks through. */
static void make_own(Session *s, size_t t) {
    const Token *token = &s->scratch->tokens[t];
    Rope r;
    rope_init_each(&r, &s->model->config.rope, (int64_t)token->pos + 1);
    fill_own(s, &r, token->end);
    team_wait(&s->scratch->team);
}

void stretch_attend(Session *s, int l, size_t n) {
    const Stretch *x = s->past->stretch;
    const Chooser *chooser = s->past->chooser;
    if (l == x->first) prepare(s, n);
    for (size_t t = 0, m; t < n; t += m) {
        size_t most = chooser ? choose_run(s, t, n) : n - t;
        for (m = 1; m < most && !x->own[t] && !x->own[t + m];) m++;
        if (chooser) choose_before(s, l, t);
        if (x->own[t]) make_own(s, t);
        size_t heads = chooser ? 1 : ATTENTION_QUERIES; /* 1: they differ in their maps */
        if (chooser && chooser->kind == ROPE_BY_BLOCKS) attend_blocks(s, l, t, m);
        else attend_tiles(s, l, &(AttendJob){.t = t, .n = m, .most_heads = heads}, attend_tile);
        if (chooser) choose_after(s, l, t, m);
    }
}
