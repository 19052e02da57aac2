/* train/softmax.c - softmax attention and its gradients, a tile of queries at a time, as FlashAttention-2 does it
 * (arXiv:2307.08691): of the weights P only the logarithm of each row's sum is kept, and backward makes P again.
 *
 *     S = scale q k^T + bias         P = softmax(S)          o = P v
 *     dv = P^T do                    dP = do v^T             dS = P * (dP - D),  D = do . o of the row
 *     dq = scale dS k                dk = (scale dS)^T q     dbias = dS, summed where the bias is the same */
#include "attention.h"

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

/* Scores of queries i0 .. i1-1 with all keys before `end`; inside the mask scaled, with their bias. */
static void scores(const Work *w, float *s, const float *q, const float *keys, const AttentionBatch *a, const Place *p,
                   size_t i0, size_t i1, size_t end) {
    size_t first, last;
    w->k->multiply(s, a->length, 0, (Floats){q + i0 * p->ldq, p->ldq, 1}, panels_packed(w->k, keys, a->head_dim),
                   i1 - i0, end, a->head_dim);
    for (size_t i = i0; i < i1; i++, s += a->length) {
        const float *bias = a->bias ? a->bias + p->head * (2 * a->length - 1) + a->length - 1 + i : NULL;
        sees(a, i, &first, &last);
        for (size_t j = first; j < last; j++) s[j] *= a->scale[i];
        for (size_t j = first; bias && j < last; j++) s[j] += *(bias - j);
    }
}

/* The scores of query i, s [end], become weights e^(s - less), outside the mask 0; returns their sum. */
static double weights(const Work *w, float *s, const AttentionBatch *a, size_t i, size_t end, float less) {
    size_t first, last;
    sees(a, i, &first, &last);
    memset(s, 0, first * sizeof *s);
    memset(s + last, 0, (end - last) * sizeof *s);
    return w->k->exp(s + first, last - first, less);
}

static void head_forward(Work *w, float *out, float *lse, const float *q, const AttentionBatch *a, const Place *p) {
    Desk desk = desk_of(w, a);
    for (size_t i0 = 0; i0 < a->length; i0 += TILE) {
        size_t i1 = i0 + TILE < a->length ? i0 + TILE : a->length, end = keys_end(a, i1);
        scores(w, desk.s, q, desk.keys, a, p, i0, i1, end);
        for (size_t i = i0; i < i1; i++) {
            size_t first, last;
            sees(a, i, &first, &last);
            float *s = desk.s + (i - i0) * a->length, max = work_largest(s + first, last - first);
            double sum = weights(w, s, a, i, end, max);
            lse[i * a->n_heads] = max + (float)log(sum);
            for (size_t j = first; j < last; j++) s[j] *= (float)(1 / sum);
        }
        w->k->multiply(out + i0 * p->ldq, p->ldq, 0, (Floats){desk.s, a->length, 1},
                       panels_packed(w->k, desk.values, a->length), i1 - i0, a->head_dim, end);
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

/* dS of a tile from dP, in place; P is in desk->s. Their scale is q's and k's affair, and not the bias's. */
static void scores_backward(Desk *desk, float *dbias, const float *dout, const float *out, const AttentionBatch *a,
                            const Place *p, size_t i0, size_t i1, size_t end) {
    for (size_t i = i0; i < i1; i++) {
        float *weight = desk->s + (i - i0) * a->length, *d = desk->d + (i - i0) * a->length, along = 0;
        for (size_t c = 0; c < a->head_dim; c++) along += dout[i * p->ldq + c] * out[i * p->ldq + c];
        for (size_t j = 0; j < end; j++) d[j] = weight[j] * (d[j] - along);
        for (size_t j = 0; dbias && j < end; j++) dbias[a->length - 1 + i - j] += d[j];
        for (size_t j = 0; j < end; j++) d[j] *= a->scale[i];
    }
}

/* The gradients of one query head; those of its keys and values are added to. */
static void head_backward(Work *w, Desk *desk, float *dq, float *dk, float *dv, float *dbias, const float *dout,
                          const float *out, const float *lse, const float *q, const AttentionBatch *a, const Place *p) {
    const TrainKernels *x = w->k;
    float *tile = desk->other + packed(w, a);
    for (size_t i0 = 0; i0 < a->length; i0 += TILE) {
        size_t i1 = i0 + TILE < a->length ? i0 + TILE : a->length, end = keys_end(a, i1), n = i1 - i0,
               d = a->head_dim, wide = a->length;
        scores(w, desk->s, q, desk->keys, a, p, i0, i1, end);
        for (size_t i = i0; i < i1; i++) weights(w, desk->s + (i - i0) * wide, a, i, end, lse[i * a->n_heads]);
        x->multiply(desk->d, wide, 0, (Floats){dout + i0 * p->ldq, p->ldq, 1}, panels_packed(x, desk->values, d), n,
                    end, d);
        scores_backward(desk, dbias, dout, out, a, p, i0, i1, end);
        x->pack(tile, (Floats){dout + i0 * p->ldq, p->ldq, 1}, n, d); /* dv += P^T do */
        x->multiply(dv, p->ldk, 1, (Floats){desk->s, 1, wide}, panels_packed(x, tile, n), end, d, n);
        x->pack(tile, (Floats){q + i0 * p->ldq, p->ldq, 1}, n, d); /* dk += dS^T q */
        x->multiply(dk, p->ldk, 1, (Floats){desk->d, 1, wide}, panels_packed(x, tile, n), end, d, n);
        x->multiply(dq + i0 * p->ldq, p->ldq, 0, (Floats){desk->d, wide, 1},
                    panels_packed(x, desk->other, a->length), n, d, end);
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
