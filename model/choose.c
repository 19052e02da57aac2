/* model/choose.c - see choose.h. */
#include "choose.h"

#include "attention/cache_bytes.h"
#include "base/base.h"
#include "past.h"
#include "scratch.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_DIM = 2 * ROPE_MAX_PAIRS };

static size_t smaller(size_t a, size_t b) { return a < b ? a : b; }

/* ---- memory ---- */

static void carve(Carver *k, Chooser *x, const Session *s) {
    const Config *c = &s->model->config;
    uint64_t layers = (uint64_t)c->n_layers, heads = layers * (size_t)c->n_heads, d = (size_t)c->head_dim;
    size_t top = (size_t)x->numbers.top, n_ctx = s->options.n_ctx;
    if (x->kind == ROPE_BY_HEADS) {
        x->ranks = scratch_carve(k, heads, sizeof *x->ranks);
        x->room = scratch_carve(k, n_ctx + heads, sizeof *x->room);
        return;
    }
    x->n_blocks = n_ctx / (size_t)x->numbers.block + 1;
    top = smaller(top, x->n_blocks);
    x->numbers.top = (int64_t)top;
    x->most_segments = top + 3;
    x->weights = scratch_carve(k, heads * n_ctx, sizeof *x->weights);
    x->representatives = scratch_carve(k, heads * x->n_blocks * d, sizeof *x->representatives);
    x->mean = scratch_carve(k, heads * d, sizeof *x->mean);
    x->chosen = scratch_carve(k, layers * top, sizeof *x->chosen);
    x->room = scratch_carve(k, x->n_blocks, sizeof *x->room);
    x->n_chosen = scratch_carve(k, layers, sizeof *x->n_chosen);
    x->n_known = scratch_carve(k, layers, sizeof *x->n_known);
}

int choose_init(Chooser **out, const Session *s, char *err, size_t errlen) {
    const RopeNumbers *n = rope_numbers(&s->model->config.rope);
    Carver k = {0};
    *out = NULL;
    if (!n->relative || n->relative->chooses == ROPE_BY_POSITION) return 0;
    if (s->options.origin)
        return base_error(err, errlen, -EINVAL, "rope %s counts from a text's beginning, and cannot begin later",
                          n->relative->name);
    Chooser *x = *out = calloc(1, sizeof *x);
    if (!x) return base_error(err, errlen, -ENOMEM, "out of memory");
    x->kind = n->relative->chooses;
    x->numbers = n->distance;
    x->most_segments = 1;
    carve(&k, x, s);
    if (k.overflow || !size_add(k.used, 63, &x->bytes) || !(x->block = calloc(1, x->bytes)))
        return base_error(err, errlen, -ENOMEM, "out of memory: what %s keeps of a context of %zu; give a smaller one "
                          "(-c)", n->relative->name, s->options.n_ctx);
    k = (Carver){.block = (char *)(((uintptr_t)x->block + 63) & ~(uintptr_t)63)};
    carve(&k, x, s);
    return 0;
}

void choose_free(Chooser *x) {
    if (x) free(x->block);
    free(x);
}

/* ---- ms-poe: heads by rank ---- */

/* The first N ids, read plainly: kept ones where their keys are not there as such, then those that come. */
static void read_plainly(Session *s, const int *ids, size_t kept, size_t N) {
    Chooser *x = s->past->chooser;
    if (x->scaled || kept >= N) s->pos = 0;
    x->scaled = x->ranked = 0;
    for (size_t b; s->pos < N; session_batch(s, s->pos < kept ? s->ids + s->pos : ids + (s->pos - kept), b, 0))
        b = smaller((s->pos < kept ? smaller(kept, N) : N) - s->pos, s->options.n_batch);
    s->pos = kept;
}

static int begin_heads(Session *s, const int *ids, size_t n) {
    Chooser *x = s->past->chooser;
    size_t kept = s->pos, N = (size_t)x->numbers.at;
    int from_file = s->past->upto == SIZE_MAX;
    if (from_file) x->scaled = 1; /* as keys may be there: which, a file does not say */
    if (from_file || kept < N) x->ranked = 0; /* ranks are those of the first N ids while these are kept */
    int was = x->scaled;
    s->past->upto = kept;
    if (kept + n <= N) {
        x->scaled = 0;
        return was;
    }
    if (x->ranked && was) return 0;
    if (!x->ranked) read_plainly(s, ids, kept, N);
    x->scaled = 1;
    return 1;
}

/* The share of keys to which head h of the token gives more than three times the mean weight; nothing is rotated. */
static double outliers(const Session *s, int l, size_t t, size_t h, double *p) {
    const Config *c = &s->model->config;
    size_t d = (size_t)c->head_dim, n = s->scratch->tokens[t].end, over = 0;
    int kv = (int)h / (c->n_heads / c->n_kv_heads);
    const float *q = s->scratch->q + (t * (size_t)c->n_heads + h) * d;
    double max = -INFINITY, sum = 0;
    float k[MAX_DIM];
    for (size_t j = 0; j < n; j++) {
        cache_floats(&s->past->cache, l, kv, j, 0, k);
        p[j] = 0;
        for (size_t i = 0; i < d; i++) p[j] += (double)q[i] * (double)k[i];
        p[j] /= sqrt((double)d);
        if (p[j] > max) max = p[j];
    }
    for (size_t j = 0; j < n; j++) sum += exp(p[j] - max);
    for (size_t j = 0; j < n; j++) over += exp(p[j] - max) / sum > 3 / (double)n;
    return (double)over / (double)n;
}

/* Heads by that share, the largest first; equal ones in their order. */
static void rank_heads(Session *s, int l, size_t t) {
    Chooser *x = s->past->chooser;
    size_t heads = (size_t)s->model->config.n_heads, n = s->scratch->tokens[t].end;
    double *p = x->room, *share = p + n;
    uint16_t *ranks = x->ranks + (size_t)l * heads;
    for (size_t h = 0; h < heads; h++) share[h] = outliers(s, l, t, h, p);
    for (size_t h = 0; h < heads; h++) {
        ranks[h] = 0;
        for (size_t o = 0; o < heads; o++) ranks[h] += share[o] > share[h] || (share[o] == share[h] && o < h);
    }
    x->ranked = 1;
}

int choose_map(const Session *s, int l, size_t h) {
    const Chooser *x = s->past->chooser;
    if (!x->scaled || l < x->numbers.skip) return 0;
    return 1 + x->ranks[(size_t)l * (size_t)s->model->config.n_heads + h];
}

/* ---- infllm: blocks of far keys ---- */

/* Blocks that exist for the queries of chunk i: those that its first one no longer sees as near. */
static size_t known_blocks(const RelativeNumbers *r, size_t chunk) {
    int64_t n = (int64_t)chunk * r->every - r->init - r->local;
    return n > 0 ? (size_t)(n / r->block) : 0;
}

float *choose_weights(const Session *s, int l, size_t h) {
    return s->past->chooser->weights + ((size_t)l * (size_t)s->model->config.n_heads + h) * s->options.n_ctx;
}

/* The mean of the keys that near queries gave most weight to. */
static void represent(Session *s, int l, size_t h, size_t b) {
    const Config *c = &s->model->config;
    Chooser *x = s->past->chooser;
    const RelativeNumbers *r = &x->numbers;
    size_t d = (size_t)c->head_dim, first = (size_t)(r->init + (int64_t)b * r->block), n = (size_t)r->block;
    size_t most = smaller((size_t)r->representatives, n);
    float *w = choose_weights(s, l, h) + first, k[MAX_DIM];
    float *out = x->representatives + (((size_t)l * (size_t)c->n_heads + h) * x->n_blocks + b) * d;
    memset(out, 0, d * sizeof *out);
    for (size_t i = 0; i < most; i++) {
        size_t best = 0;
        for (size_t j = 1; j < n; j++)
            if (w[j] > w[best]) best = j;
        w[best] = -1; /* it leaves the near window: nothing is added to it any more */
        cache_floats(&s->past->cache, l, (int)h / (c->n_heads / c->n_kv_heads), first + best, 0, k);
        for (size_t e = 0; e < d; e++) out[e] += k[e] / (float)most;
    }
}

/* The blocks whose representatives fit the last chunk's queries best, over all heads. */
static void choose_blocks(Session *s, int l, size_t known) {
    const Config *c = &s->model->config;
    Chooser *x = s->past->chooser;
    size_t d = (size_t)c->head_dim, heads = (size_t)c->n_heads, top = smaller((size_t)x->numbers.top, known);
    int *chosen = x->chosen + (size_t)l * (size_t)x->numbers.top, n = 0;
    double *score = x->room;
    for (size_t b = 0; b < known; b++) {
        score[b] = 0;
        for (size_t h = 0; h < heads; h++)
            for (size_t e = 0, at = (size_t)l * heads + h; e < d; e++)
                score[b] += x->mean[at * d + e] * (double)x->representatives[(at * x->n_blocks + b) * d + e];
    }
    for (size_t b = 0; b < known; b++) { /* ascending: a block has its place where fewer than top are better */
        size_t better = 0;
        for (size_t o = 0; o < known; o++) better += score[o] > score[b] || (score[o] == score[b] && o < b);
        if (better < top) chosen[n++] = (int)b;
    }
    x->n_chosen[l] = n;
}

static void begin_chunk(Session *s, int l, size_t chunk) {
    const Config *c = &s->model->config;
    Chooser *x = s->past->chooser;
    Team *team = &s->scratch->team;
    size_t heads = (size_t)c->n_heads, d = (size_t)c->head_dim, n_ctx = s->options.n_ctx;
    size_t known = known_blocks(&x->numbers, chunk), before = chunk ? known_blocks(&x->numbers, chunk - 1) : 0;
    for (Share h = team_share(team, heads); h.at < h.end; h.at++) {
        if (chunk == 0) memset(choose_weights(s, l, h.at), 0, n_ctx * sizeof(float));
        for (size_t b = before; b < known; b++) represent(s, l, h.at, b);
    }
    team_wait(team);
    if (team_member() == 0) {
        choose_blocks(s, l, known);
        x->n_known[l] = (int)known;
        memset(x->mean + (size_t)l * heads * d, 0, heads * d * sizeof *x->mean);
    }
    team_wait(team);
}

/* What the chunk's queries look for far away, summed in their order. */
static void add_queries(Session *s, int l, size_t t, size_t n) {
    const Config *c = &s->model->config;
    Chooser *x = s->past->chooser;
    size_t heads = (size_t)c->n_heads, d = (size_t)c->head_dim;
    float cos[ROPE_MAX_PAIRS], sin[ROPE_MAX_PAIRS], q[MAX_DIM];
    rope_row(&s->rope, x->numbers.local - 1, cos, sin);
    for (Share h = team_share(&s->scratch->team, heads); h.at < h.end; h.at++)
        for (size_t i = t; i < t + n; i++) {
            memcpy(q, s->scratch->q + (i * heads + h.at) * d, d * sizeof *q);
            if (!rope_numbers(&c->rope)->nope[l]) rope_rotate(q, cos, sin, c->rope.rotary_dim, c->rope.pairing);
            for (size_t e = 0; e < d; e++) x->mean[((size_t)l * heads + h.at) * d + e] += (double)q[e];
        }
    team_wait(&s->scratch->team);
}

/* Appends slots first .. end-1, or lengthens the last segment by them. */
static int put(Segment *out, int n, size_t first, size_t end) {
    if (first >= end) return n;
    if (n && out[n - 1].end == first) {
        out[n - 1].end = end;
        return n;
    }
    out[n] = (Segment){.first = first, .end = end, .row = 1};
    return n + 1;
}

int choose_segments(const Session *s, int l, size_t t, const KeyAngles *near, Segment *out) {
    const Chooser *x = s->past->chooser;
    const RelativeNumbers *r = &x->numbers;
    size_t end = s->scratch->tokens[t].end, local = (size_t)r->local, init = (size_t)r->init, block = (size_t)r->block;
    size_t from = end > local ? end - local : 0; /* the first near key */
    int n = put(out, 0, 0, smaller(init, from));
    for (int i = 0; i < x->n_chosen[l]; i++) {
        size_t first = init + (size_t)x->chosen[l * r->top + i] * block;
        n = put(out, n, first, first + block);
    }
    n = put(out, n, init + (size_t)x->n_known[l] * block, from);
    out[n] = (Segment){.first = from, .end = end, .keys = near};
    return n + 1;
}

/* ---- both ---- */

int choose_begin(Session *s, const int *ids, size_t n) {
    Chooser *x = s->past->chooser;
    if (!x) return 0;
    if (x->kind == ROPE_BY_HEADS) return begin_heads(s, ids, n);
    return s->pos > 0 && s->past->upto != s->pos;
}

size_t choose_run(const Session *s, size_t t, size_t n) {
    const Chooser *x = s->past->chooser;
    size_t left = n - t, every = (size_t)x->numbers.every;
    if (x->kind == ROPE_BY_HEADS) return left;
    return smaller(left, every - s->scratch->tokens[t].pos % every);
}

void choose_before(Session *s, int l, size_t t) {
    const Chooser *x = s->past->chooser;
    size_t pos = s->scratch->tokens[t].pos;
    if (x->kind == ROPE_BY_BLOCKS && pos % (size_t)x->numbers.every == 0)
        begin_chunk(s, l, pos / (size_t)x->numbers.every);
}

void choose_after(Session *s, int l, size_t t, size_t n) {
    Chooser *x = s->past->chooser;
    if (x->kind == ROPE_BY_BLOCKS) {
        add_queries(s, l, t, n);
        return;
    }
    size_t last = (size_t)x->numbers.at - 1, pos = s->scratch->tokens[t].pos;
    int has_last = !x->scaled && pos <= last && last < pos + n;
    if (has_last && team_member() == 0) rank_heads(s, l, t + last - pos);
}
