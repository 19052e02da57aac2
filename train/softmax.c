/* train/softmax.c - softmax attention and its gradients, a tile of queries at a time, as FlashAttention-2 does it
 * (arXiv:2307.08691): of the weights P only the logarithm of each row's sum is kept, and backward makes P again.
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

/* y [.., length], rows of a tile, = x k^T of queries i0 .. i1-1 and the keys that they see; what a query does not see
 * is left to be anything. x [.., head_dim], ldq apart, k^T packed. */
static void by_keys(const Work *w, float *y, const float *x, const float *keys, const AttentionBatch *a,
                    const Place *p, size_t i0, size_t i1) {
    for (size_t i = i0, n; i < i1; i += n) {
        n = few(i, i1);
        w->k->multiply(y + (i - i0) * a->length, a->length, 0, (Floats){x + i * p->ldq, p->ldq, 1},
                       panels_packed(w->k, keys, a->head_dim), n, keys_end(a, i + n), a->head_dim);
    }
}

/* And back: y [.., head_dim] = x v of x [.., length], which is 0 where a query sees nothing; v packed. */
static void by_values(const Work *w, float *y, const float *x, const float *values, const AttentionBatch *a,
                      const Place *p, size_t i0, size_t i1) {
    for (size_t i = i0, n; i < i1; i += n) {
        n = few(i, i1);
        w->k->multiply(y + i * p->ldq, p->ldq, 0, (Floats){x + (i - i0) * a->length, a->length, 1},
                       panels_packed(w->k, values, a->length), n, a->head_dim, keys_end(a, i + n));
    }
}

/* y [.., head_dim], of all keys before the tile's end, += x^T z, x [.., length] as above, z [.., head_dim] ldq apart
 * (room: for its panels, where it cannot be read as it lies): to keys in the tile from queries behind them alone. */
static void add_by_queries(const Work *w, float *y, const float *x, const float *z, float *room,
                           const AttentionBatch *a, const Place *p, size_t i0, size_t i1) {
    Floats tile = {z + i0 * p->ldq, p->ldq, 1};
    Panels panels = panels_as_they_lie(w->k, tile, a->head_dim);
    size_t all = a->causal ? i0 : a->length;
    if (!panels.at) {
        w->k->pack(room, tile, i1 - i0, a->head_dim);
        panels = panels_packed(w->k, room, i1 - i0);
    }
    w->k->multiply(y, p->ldk, 1, (Floats){x, 1, a->length}, panels, all, a->head_dim, i1 - i0);
    for (size_t j = i0, n; a->causal && j < i1; j += n, panels.at += n * panels.row) {
        n = few(j, i1);
        w->k->multiply(y + j * p->ldk, p->ldk, 1, (Floats){x + (j - i0) * a->length + j, 1, a->length}, panels, n,
                       a->head_dim, i1 - j);
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
static double exp_seen(const Work *w, float *s, const AttentionBatch *a, size_t first, size_t last, float times,
                       float less) {
    enum { VECTOR = 16 }; /* the widest row's */
    size_t whole = (last - first + VECTOR - 1) / VECTOR * VECTOR + first;
    if (whole > a->length) whole = last;
    for (size_t j = last; j < whole; j++) s[j] = -FLT_MAX;
    return w->k->exp(s + first, whole - first, times, less);
}

static void head_forward(Work *w, float *out, float *lse, const float *q, const AttentionBatch *a, const Place *p) {
    Desk desk = desk_of(w, a);
    float over[TILE];
    for (size_t i0 = 0; i0 < a->length; i0 += TILE) {
        size_t i1 = i0 + TILE < a->length ? i0 + TILE : a->length, end = keys_end(a, i1), first, last;
        by_keys(w, desk.s, q, desk.keys, a, p, i0, i1);
        for (size_t i = i0; i < i1; i++) {
            sees(a, i, &first, &last);
            float *s = desk.s + (i - i0) * a->length, times = logits(s, a, p, i, first, last),
                  max = times * w->k->largest(s + first, last - first);
            double sum = exp_seen(w, s, a, first, last, times, max);
            clear_unseen(s, first, last, end);
            lse[i * a->n_heads] = max + (float)log(sum);
            over[i - i0] = (float)(1 / sum);
        }
        by_values(w, out, desk.s, desk.values, a, p, i0, i1);
        for (size_t i = i0; i < i1; i++)
            for (size_t c = 0; c < a->head_dim; c++) out[i * p->ldq + c] *= over[i - i0];
    }
}

void softmax_forward(Work *w, float *out, float *lse, const float *q, const float *k, const float *v,
                     const AttentionBatch *a) {
    Desk desk = desk_of(w, a);
    for (Share item; team_take(&w->team, a->texts * a->n_kv_heads, &item);)
        for (; item.at < item.end; item.at++) {
            Place p = place_of(a, item.at);
            w->k->pack(desk.keys, (Floats){k + p.kv, 1, p.ldk}, a->head_dim, a->length);
            w->k->pack(desk.values, (Floats){v + p.kv, p.ldk, 1}, a->length, a->head_dim);
            for (size_t g = 0; g < p.group; g++) {
                size_t at = p.q + g * a->head_dim;
                p.head = p.first_head + g;
                head_forward(w, out + at, lse + p.text * a->length * a->n_heads + p.head, q + at, a, &p);
            }
        }
    team_wait(&w->team);
}

/* P of query i, from its scores; then its dS from dP, in place. Their scale is q's and k's affair, not the bias's. */
static void scores_backward(const Work *w, float *s, float *d, float *dbias, const float *dout, const float *out,
                            float lse, const AttentionBatch *a, const Place *p, size_t i, size_t end) {
    size_t first, last;
    float along;
    sees(a, i, &first, &last);
    exp_seen(w, s, a, first, last, logits(s, a, p, i, first, last), lse);
    along = work_dot(dout + i * p->ldq, out + i * p->ldq, a->head_dim);
    clear_unseen(s, first, last, end);
    clear_unseen(d, first, last, end);
    w->k->softmax_back(d + first, s + first, along, dbias ? 1 : a->scale[i], last - first);
    for (size_t j = first; dbias && j < last; j++) dbias[a->length - 1 + i - j] += d[j], d[j] *= a->scale[i];
}

/* The gradients of one query head; those of its keys and values are added to. */
static void head_backward(Work *w, Desk *desk, float *dq, float *dk, float *dv, float *dbias, const float *dout,
                          const float *out, const float *lse, const float *q, const AttentionBatch *a, const Place *p) {
    float *tile = desk->other + packed(w, a);
    for (size_t i0 = 0; i0 < a->length; i0 += TILE) {
        size_t i1 = i0 + TILE < a->length ? i0 + TILE : a->length;
        by_keys(w, desk->s, q, desk->keys, a, p, i0, i1);
        by_keys(w, desk->d, dout, desk->values, a, p, i0, i1);
        for (size_t i = i0; i < i1; i++)
            scores_backward(w, desk->s + (i - i0) * a->length, desk->d + (i - i0) * a->length, dbias, dout, out,
                            lse[i * a->n_heads], a, p, i, keys_end(a, i1));
        add_by_queries(w, dv, desk->s, dout, tile, a, p, i0, i1); /* dv += P^T do */
        add_by_queries(w, dk, desk->d, q, tile, a, p, i0, i1);    /* dk += dS^T q */
        by_values(w, dq, desk->d, desk->other, a, p, i0, i1);
    }
}

void softmax_backward(Work *w, float *dq, float *dk, float *dv, float *dbias, const float *dout, const float *out,
                      const float *lse, const float *q, const float *k, const float *v, const AttentionBatch *a) {
    Desk desk = desk_of(w, a);
    size_t d = a->head_dim, biases = 2 * a->length - 1;
    for (Share item; team_take(&w->team, a->texts * a->n_kv_heads, &item);)
        for (; item.at < item.end; item.at++) {
            Place p = place_of(a, item.at);
            w->k->pack(desk.keys, (Floats){k + p.kv, 1, p.ldk}, d, a->length);   /* k^T, for scores */
            w->k->pack(desk.values, (Floats){v + p.kv, 1, p.ldk}, d, a->length); /* v^T, for dP */
            w->k->pack(desk.other, (Floats){k + p.kv, p.ldk, 1}, a->length, d);  /* k, for dq */
            for (size_t t = 0; t < a->length; t++) {
                memset(dk + p.kv + t * p.ldk, 0, d * sizeof *dk);
                memset(dv + p.kv + t * p.ldk, 0, d * sizeof *dv);
            }
            for (size_t g = 0; g < p.group; g++) {
                size_t at = p.q + g * d;
                p.head = p.first_head + g;
                float *grown = dbias ? dbias + (p.text * a->n_heads + p.head) * biases : NULL;
                if (grown) memset(grown, 0, biases * sizeof *grown);
                head_backward(w, &desk, dq + at, dk + p.kv, dv + p.kv, grown, dout + at, out + at,
                              lse + p.text * a->length * a->n_heads + p.head, q + at, a, &p);
            }
        }
    team_wait(&w->team);
}
