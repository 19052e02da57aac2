/* train/softmax.c - softmax attention and its gradients, a tile of queries at a time, as FlashAttention-2 does it
 * (arXiv:2307.08691): of the weights P of long texts only the logarithm of each row's sum is kept, and backward makes P
 * again; of short ones P itself.
 *
 *     S = scale q k^T + bias         P = softmax(S)          o = P v
 *     dv = P^T do                    dP = do v^T             dS = P * (dP - D),  D = do . o of the row
 *     dq = scale dS k                dk = (scale dS)^T q     dbias = dS, summed where the bias is the same */
#include "attention.h"

#include <float.h>
#include <math.h>
#include <string.h>

enum { TILE = 48 }; /* queries */

/* Where a text's head begins, and how far apart its tokens lie. */
typedef struct {
    size_t q, kv;   /* of q and out; of k and v: offsets */
    size_t ldq, ldk;
    size_t head, first_head, group;
    size_t text;
    float *lse, *weights; /* what is kept of the head: a number a query, n_heads apart, or its tiles of P; else NULL */
} Place;

static Place place_of(const AttentionBatch *a, size_t item) {
    size_t kv = item % a->n_kv_heads, text = item / a->n_kv_heads, group = a->n_heads / a->n_kv_heads,
           token = text * a->length;
    return (Place){.q = (token * a->n_heads + kv * group) * a->head_dim,
                   .kv = (token * a->n_kv_heads + kv) * a->head_dim, .ldq = a->n_heads * a->head_dim,
                   .ldk = a->n_kv_heads * a->head_dim, .first_head = kv * group, .group = group, .text = text};
}

/* Behind the last key that some query of a tile sees. */
static size_t keys_end(const AttentionBatch *a, size_t i1) { return a->causal ? i1 : a->length; }

/* The same of query i alone. */
static void sees(const AttentionBatch *a, size_t i, size_t *first, size_t *end) {
    *end = a->causal ? i + 1 : a->length;
    *first = a->window && i + 1 > a->window ? i + 1 - a->window : 0;
}

/* A thread's room. */
typedef struct {
    float *s, *d;              /* [TILE, length] */
    float *keys, *values;      /* k^T [head_dim, length], and v [length, head_dim] or v^T, packed */
    float *other;              /* packed, too */
} Desk;

static size_t packed(const Work *w, const AttentionBatch *a) {
    size_t across = work_panels(w, a->length, a->head_dim), down = work_panels(w, a->head_dim, a->length);
    return across > down ? across : down;
}

static Desk desk_of(const Work *w, const AttentionBatch *a) {
    float *room = work_room(w);
    size_t tile = TILE * a->length, panels = packed(w, a);
    return (Desk){room, room + tile, room + 2 * tile, room + 2 * tile + panels, room + 2 * tile + 2 * panels};
}

void softmax_reserve(Work *w, const AttentionBatch *a) {
    work_reserve(w, 0, 2 * TILE * a->length + 3 * packed(w, a) + work_panels(w, a->head_dim, TILE), 0);
}

/* The next queries of a tile that are multiplied together, i1 at most: few, so that little is done behind the mask. */
static size_t few(size_t i, size_t i1) {
    enum { ROWS = 12 }; /* a multiple of every row's */
    return i1 - i < ROWS ? i1 - i : ROWS;
}

/* Queries i0 .. i1-1 of a head, each with all keys before `end`, which is behind the last that some of them see. */
typedef struct {
    float *at; /* [i1 - i0, end] */
    size_t i0, i1, end;
} Tile;

static Tile tile_of(const AttentionBatch *a, float *at, size_t i0) {
    size_t i1 = i0 + TILE < a->length ? i0 + TILE : a->length;
    return (Tile){at, i0, i1, keys_end(a, i1)};
}

static float *row_of(const Tile *t, size_t i) { return t->at + (i - t->i0) * t->end; }

/* What a head's tiles before query i0, a tile's first, take where they lie one behind the other; and all of them. */
static size_t tiles_before(const AttentionBatch *a, size_t i0) {
    return a->causal ? i0 * (i0 + TILE) / 2 : i0 * a->length;
}
static size_t tiles_of_head(const AttentionBatch *a) {
    size_t last = (a->length - 1) / TILE * TILE;
    return tiles_before(a, last) + (a->length - last) * a->length;
}

size_t softmax_kept(const AttentionBatch *a) {
    return a->texts * a->n_heads * (a->keeps_weights ? tiles_of_head(a) : a->length);
}

/* p's head is the g-th of its key head's. */
static void next_head(Place *p, size_t g, float *kept, const AttentionBatch *a) {
    p->head = p->first_head + g;
    if (a->keeps_weights) p->weights = kept + (p->text * a->n_heads + p->head) * tiles_of_head(a);
    else p->lse = kept + p->text * a->length * a->n_heads + p->head;
}

/* Where P of the queries from i0 on is kept, or the room for it. */
static float *weights_at(const AttentionBatch *a, const Place *p, size_t i0, float *room) {
    return p->weights ? p->weights + tiles_before(a, i0) : room;
}

/* y = x k^T of a tile's queries and the keys that they see; what a query does not see is left to be anything.
 * x [.., head_dim], ldq apart, k^T packed. */
static void by_keys(const Work *w, const Tile *y, const float *x, const float *keys, const AttentionBatch *a,
                    const Place *p) {
    for (size_t i = y->i0, n; i < y->i1; i += n) {
        n = few(i, y->i1);
        w->k->multiply(row_of(y, i), y->end, 0, (Floats){x + i * p->ldq, p->ldq, 1},
                       panels_packed(w->k, keys, a->head_dim), n, keys_end(a, i + n), a->head_dim);
    }
}

/* And back: y [.., head_dim] = x v of a tile x, which is 0 where a query sees nothing; v packed. */
static void by_values(const Work *w, float *y, const Tile *x, const float *values, const AttentionBatch *a,
                      const Place *p) {
    for (size_t i = x->i0, n; i < x->i1; i += n) {
        n = few(i, x->i1);
        w->k->multiply(y + i * p->ldq, p->ldq, 0, (Floats){row_of(x, i), x->end, 1},
                       panels_packed(w->k, values, a->length), n, a->head_dim, keys_end(a, i + n));
    }
}

/* y [.., head_dim], of all keys before a tile's end, += x^T z (z [.., head_dim] ldq apart; room: for its panels, where
 * it cannot be read as it lies): to keys in the tile from queries behind them alone. */
static void add_by_queries(const Work *w, float *y, const Tile *x, const float *z, float *room,
                           const AttentionBatch *a, const Place *p) {
    size_t queries = x->i1 - x->i0, all = a->causal ? x->i0 : a->length;
    Floats tile = {z + x->i0 * p->ldq, p->ldq, 1};
    Panels panels = panels_as_they_lie(w->k, tile, a->head_dim);
    if (!panels.at) {
        w->k->pack(room, tile, queries, a->head_dim);
        panels = panels_packed(w->k, room, queries);
    }
    w->k->multiply(y, p->ldk, 1, (Floats){x->at, 1, x->end}, panels, all, a->head_dim, queries);
    for (size_t j = x->i0, n; a->causal && j < x->i1; j += n, panels.at += n * panels.row) {
        n = few(j, x->i1);
        w->k->multiply(y + j * p->ldk, p->ldk, 1, (Floats){row_of(x, j) + j, 1, x->end}, panels, n, a->head_dim,
                       x->i1 - j);
    }
}

/* What query i's scores s are multiplied by to be logits. A bias is added here, and then that is done, too. */
static float logits(float *s, const AttentionBatch *a, const Place *p, size_t i, size_t first, size_t last) {
    const float *bias = a->bias ? a->bias + p->head * (2 * a->length - 1) + a->length - 1 + i : NULL;
    for (size_t j = first; bias && j < last; j++) s[j] = s[j] * a->scale[i] + *(bias - j);
    return bias ? 1 : a->scale[i];
}

/* Of a query's row, what it does not see, before `end`. */
static void clear_unseen(float *row, size_t first, size_t last, size_t end) {
    memset(row, 0, first * sizeof *row);
    memset(row + last, 0, (end - last) * sizeof *row);
}

/* e^(times s - less) of the keys that a query sees, times above 0; returns their sum. A rest that is no whole vector
 * costs as much as several: where the row is long enough it is filled up with what adds nothing. */
static double exp_seen(const Work *w, float *s, size_t first, size_t last, size_t end, float times, float less) {
    enum { VECTOR = 16 }; /* the widest row's */
    size_t whole = (last - first + VECTOR - 1) / VECTOR * VECTOR + first;
    if (whole > end) whole = last;
    for (size_t j = last; j < whole; j++) s[j] = -FLT_MAX;
    return w->k->exp(s + first, whole - first, times, less);
}

static void head_forward(Work *w, float *out, const float *q, const AttentionBatch *a, const Place *p) {
    Desk desk = desk_of(w, a);
    for (size_t i0 = 0; i0 < a->length; i0 += TILE) {
        Tile s = tile_of(a, weights_at(a, p, i0, desk.s), i0);
        by_keys(w, &s, q, desk.keys, a, p);
        for (size_t i = s.i0, first, last; i < s.i1; i++) {
            sees(a, i, &first, &last);
            float *row = row_of(&s, i), times = logits(row, a, p, i, first, last),
                  max = times * w->k->largest(row + first, last - first);
            double sum = exp_seen(w, row, first, last, s.end, times, max);
            float over = (float)(1 / sum);
            for (size_t j = first; j < last; j++) row[j] *= over;
            clear_unseen(row, first, last, s.end);
            if (p->lse) p->lse[i * a->n_heads] = max + (float)log(sum);
        }
        by_values(w, out, &s, desk.values, a, p);
    }
}

void softmax_forward(Work *w, float *out, float *kept, const float *q, const float *k, const float *v,
                     const AttentionBatch *a) {
    Desk desk = desk_of(w, a);
    for (Share item; team_take(&w->team, a->texts * a->n_kv_heads, &item);)
        for (; item.at < item.end; item.at++) {
            Place p = place_of(a, item.at);
            w->k->pack(desk.keys, (Floats){k + p.kv, 1, p.ldk}, a->head_dim, a->length);
            w->k->pack(desk.values, (Floats){v + p.kv, p.ldk, 1}, a->length, a->head_dim);
            for (size_t g = 0; g < p.group; g++) {
                size_t at = p.q + g * a->head_dim;
                next_head(&p, g, kept, a);
                head_forward(w, out + at, q + at, a, &p);
            }
        }
    team_wait(&w->team);
}

/* P of query i, from its scores where it was not kept; then its dS from dP and D (along), in place. Their scale is q's
 * and k's affair, not the bias's. */
static void scores_backward(const Work *w, const Tile *s, const Tile *d, float *dbias, float along,
                            const AttentionBatch *a, const Place *p, size_t i) {
    float *row = row_of(s, i), *grown = row_of(d, i);
    size_t first, last;
    sees(a, i, &first, &last);
    if (!p->weights) {
        exp_seen(w, row, first, last, s->end, logits(row, a, p, i, first, last), p->lse[i * a->n_heads]);
        clear_unseen(row, first, last, s->end);
    }
    clear_unseen(grown, first, last, s->end);
    w->k->softmax_back(grown + first, row + first, along, dbias ? 1 : a->scale[i], last - first);
    for (size_t j = first; dbias && j < last; j++)
        dbias[a->length - 1 + i - j] += grown[j], grown[j] *= a->scale[i];
}

/* The gradients of one query head; those of its keys and values are added to. */
static void head_backward(Work *w, Desk *desk, float *dq, float *dk, float *dv, float *dbias, const float *dout,
                          const float *out, const float *q, const AttentionBatch *a, const Place *p) {
    float *room = desk->other + packed(w, a);
    for (size_t i0 = 0; i0 < a->length; i0 += TILE) {
        Tile s = tile_of(a, weights_at(a, p, i0, desk->s), i0), d = tile_of(a, desk->d, i0);
        if (!p->weights) by_keys(w, &s, q, desk->keys, a, p);
        by_keys(w, &d, dout, desk->values, a, p);
        float along[TILE]; /* all of them first: so they wait for memory together */
        for (size_t i = i0; i < s.i1; i++) along[i - i0] = work_dot(dout + i * p->ldq, out + i * p->ldq, a->head_dim);
        for (size_t i = i0; i < s.i1; i++) scores_backward(w, &s, &d, dbias, along[i - i0], a, p, i);
        add_by_queries(w, dv, &s, dout, room, a, p); /* dv += P^T do */
        add_by_queries(w, dk, &d, q, room, a, p);    /* dk += dS^T q */
        by_values(w, dq, &d, desk->other, a, p);
    }
}

void softmax_backward(Work *w, float *dq, float *dk, float *dv, float *dbias, const float *dout, const float *out,
                      float *kept, const float *q, const float *k, const float *v, const AttentionBatch *a) {
    Desk desk = desk_of(w, a);
    size_t d = a->head_dim, biases = 2 * a->length - 1;
    for (Share item; team_take(&w->team, a->texts * a->n_kv_heads, &item);)
        for (; item.at < item.end; item.at++) {
            Place p = place_of(a, item.at);
            if (!a->keeps_weights)
                w->k->pack(desk.keys, (Floats){k + p.kv, 1, p.ldk}, d, a->length); /* k^T, for scores */
            w->k->pack(desk.values, (Floats){v + p.kv, 1, p.ldk}, d, a->length);   /* v^T, for dP */
            w->k->pack(desk.other, (Floats){k + p.kv, p.ldk, 1}, a->length, d);    /* k, for dq */
            for (size_t t = 0; t < a->length; t++) {
                memset(dk + p.kv + t * p.ldk, 0, d * sizeof *dk);
                memset(dv + p.kv + t * p.ldk, 0, d * sizeof *dv);
            }
            for (size_t g = 0; g < p.group; g++) {
                size_t at = p.q + g * d;
                next_head(&p, g, kept, a);
                float *grown = dbias ? dbias + (p.text * a->n_heads + p.head) * biases : NULL;
                if (grown) memset(grown, 0, biases * sizeof *grown);
                head_backward(w, &desk, dq + at, dk + p.kv, dv + p.kv, grown, dout + at, out + at, q + at, a, &p);
            }
        }
    team_wait(&w->team);
}
