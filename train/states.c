/* train/states.c - linear attention and its gradients. With a_m, b_n the features above the line, A_m, B_n those below
 * it (eq. 19: a = R A), d_m = A_m . z_m + epsilon:
 *
 *     o_m = a_m^T S_m / d_m      S_m = sum over n <= m of b_n v_n^T       z_m = sum over n <= m of B_n
 *
 *     p_m = do_m / d_m           e_m = -(do_m . o_m) / d_m                the gradients above and below the line
 *     da_m = S_m p_m             dA_m = e_m z_m
 *     db_n = R_n v_n             dv_n = R_n^T b_n        R_n = sum over m >= n of a_m p_m^T     [rows, head_dim]
 *     dB_n = u_n                                         u_n = sum over m >= n of e_m A_m
 *
 * So backward is a scan, too, from the text's end: R and u are to it what S and z are forward. Both go by chunks:
 * within one all pairs, between them the states. A text that is not causal is one sum, seen by all. */
#include "features.h"

#include <math.h>
#include <string.h>

enum { CHUNK = 64 };

/* A thread's room for one text and key/value head. */
typedef struct {
    size_t rows, d, length, n_chunks;
    float *above_k, *below_k, *above_q, *below_q;     /* [length, rows]: b, B, a, A */
    float *dabove_k, *dbelow_k, *dabove_q, *dbelow_q; /* the same of their gradients */
    float *S, *z;    /* [n_chunks + 1, rows, d], [n_chunks + 1, rows]: before each chunk, and in the end */
    float *R, *u;    /* [rows, d], [rows] */
    float *num;      /* [length, d]: what stands above the line, or p */
    float *pairs;    /* [CHUNK, CHUNK] */
    float *below;    /* [length]: d, or e */
    float *panels;
} Desk;

static size_t larger(size_t a, size_t b) { return a > b ? a : b; }

/* The desk on a thread's room (NULL: only how many floats it takes, which is returned). */
static size_t desk_on(Desk *k, float *room, const Work *w, const LinearParts *p, const AttentionBatch *a) {
    size_t rows = features_rows(p), d = a->head_dim, n = a->length, chunks = (n + CHUNK - 1) / CHUNK, at = 0,
           wide = larger(larger(rows, d), CHUNK), deep = larger(larger(rows, d), a->causal ? CHUNK : n);
    *k = (Desk){.rows = rows, .d = d, .length = n, .n_chunks = chunks};
    const struct { float **place; size_t floats; } parts[] = {
        {&k->above_k, n * rows}, {&k->below_k, n * rows}, {&k->above_q, n * rows}, {&k->below_q, n * rows},
        {&k->dabove_k, n * rows}, {&k->dbelow_k, n * rows}, {&k->dabove_q, n * rows}, {&k->dbelow_q, n * rows},
        {&k->S, (chunks + 1) * rows * d}, {&k->z, (chunks + 1) * rows}, {&k->R, rows * d}, {&k->u, rows},
        {&k->num, n * d}, {&k->pairs, CHUNK * CHUNK}, {&k->below, n}, {&k->panels, work_panels(w, wide, deep)},
    };
    for (size_t i = 0; i < sizeof parts / sizeof *parts; at += parts[i++].floats)
        *parts[i].place = room ? room + at : NULL;
    return at;
}

void states_reserve(Work *w, const LinearParts *p, const AttentionBatch *a) {
    Desk k;
    work_reserve(w, 0, desk_on(&k, NULL, w, p, a), 0);
}

/* c (+)= x y, y packed in the desk where it must be. */
static void product(const Work *w, const Desk *k, float *c, size_t ldc, int add, Floats x, Floats y, size_t m, size_t n,
                    size_t depth) {
    Panels b = panels_as_they_lie(w->k, y, n);
    if (!b.at) {
        w->k->pack(k->panels, y, depth, n);
        b = panels_packed(w->k, k->panels, depth);
    }
    w->k->multiply(c, ldc, add, x, b, m, n, depth);
}

static Floats as_is(const float *x, size_t ld) { return (Floats){x, ld, 1}; }
static Floats transposed(const float *x, size_t ld) { return (Floats){x, 1, ld}; }

/* pairs [m, m] = x y^T of a chunk's tokens, x and y d wide; a query sees keys up to its own. */
static void chunk_pairs(const Work *w, const Desk *k, Floats x, Floats y, size_t m, size_t d) {
    product(w, k, k->pairs, CHUNK, 0, x, y, m, m, d);
    for (size_t i = 0; i < m; i++)
        for (size_t j = i + 1; j < m; j++) k->pairs[i * CHUNK + j] = 0;
}

static size_t chunk_size(const Desk *k, size_t c) {
    return k->length - c * CHUNK < CHUNK ? k->length - c * CHUNK : CHUNK;
}

/* The states before each chunk, and in the end. v: rows ld apart. */
static void scan(const Work *w, Desk *k, const float *v, size_t ld) {
    memset(k->S, 0, k->rows * k->d * sizeof *k->S);
    memset(k->z, 0, k->rows * sizeof *k->z);
    for (size_t c = 0; c < k->n_chunks; c++) {
        float *S = k->S + c * k->rows * k->d, *z = k->z + c * k->rows, *next = S + k->rows * k->d, *after = z + k->rows;
        size_t m = chunk_size(k, c), t = c * CHUNK;
        memcpy(next, S, k->rows * k->d * sizeof *S);
        memcpy(after, z, k->rows * sizeof *z);
        product(w, k, next, k->d, 1, transposed(k->above_k + t * k->rows, k->rows), as_is(v + t * ld, ld), k->rows,
                k->d, m);
        for (size_t i = t; i < t + m; i++)
            for (size_t j = 0; j < k->rows; j++) after[j] += k->below_k[i * k->rows + j];
    }
}

/* num and below of one query head. */
static void head_forward(const Work *w, Desk *k, const float *v, size_t ld, const LinearParts *p, int causal) {
    int may_be_negative = p->c->form->in_denominator && !p->c->form->cosine;
    float epsilon = (float)p->c->epsilon, z[2 * ROPE_MAX_PAIRS + 1];
    for (size_t c = 0; c < k->n_chunks; c++) {
        size_t m = chunk_size(k, c), t = c * CHUNK, seen = causal ? c : k->n_chunks;
        const float *S = k->S + seen * k->rows * k->d;
        Floats q = as_is(k->above_q + t * k->rows, k->rows);
        product(w, k, k->num + t * k->d, k->d, 0, q, as_is(S, k->d), m, k->d, k->rows);
        if (causal) {
            chunk_pairs(w, k, q, transposed(k->above_k + t * k->rows, k->rows), m, k->rows);
            product(w, k, k->num + t * k->d, k->d, 1, as_is(k->pairs, CHUNK), as_is(v + t * ld, ld), m, k->d, m);
        }
        memcpy(z, k->z + seen * k->rows, k->rows * sizeof *z);
        for (size_t i = t; i < t + m; i++) {
            float sum = 0;
            for (size_t j = 0; causal && j < k->rows; j++) z[j] += k->below_k[i * k->rows + j];
            for (size_t j = 0; j < k->rows; j++) sum += k->below_q[i * k->rows + j] * z[j];
            k->below[i] = sum + (may_be_negative ? copysignf(epsilon, sum) : epsilon);
        }
    }
}

/* The gradients of one query head's features, and what they add to those of keys and values: from p, in num, and e, in
 * below. */
static void head_backward(const Work *w, Desk *k, float *dv, const float *v, size_t ld) {
    size_t rows = k->rows, d = k->d;
    float z[2 * ROPE_MAX_PAIRS + 1];
    memset(k->R, 0, rows * d * sizeof *k->R);
    memset(k->u, 0, rows * sizeof *k->u);
    for (size_t c = k->n_chunks; c-- > 0;) {
        size_t m = chunk_size(k, c), t = c * CHUNK;
        const float *num = k->num + t * d, *S = k->S + c * rows * d;
        Floats a = as_is(k->above_q + t * rows, rows), b = as_is(k->above_k + t * rows, rows),
               values = as_is(v + t * ld, ld), grown = as_is(num, d), b_turned = transposed(b.at, rows),
               pairs = as_is(k->pairs, CHUNK), pairs_turned = transposed(k->pairs, CHUNK);
        float *da = k->dabove_q + t * rows, *db = k->dabove_k + t * rows;
        product(w, k, da, rows, 0, grown, transposed(S, d), m, rows, d);                /* S p of earlier chunks */
        product(w, k, db, rows, 1, values, transposed(k->R, d), m, rows, d);            /* R v of later ones */
        product(w, k, dv + t * ld, ld, 1, b, as_is(k->R, d), m, d, rows);
        chunk_pairs(w, k, grown, transposed(values.at, ld), m, d);                      /* p_m . v_n */
        product(w, k, da, rows, 1, pairs, b, m, rows, m);
        product(w, k, db, rows, 1, pairs_turned, a, m, rows, m);
        chunk_pairs(w, k, a, b_turned, m, rows);                                        /* a_m . b_n */
        product(w, k, dv + t * ld, ld, 1, pairs_turned, grown, m, d, m);
        product(w, k, k->R, d, 1, transposed(a.at, rows), grown, rows, d, m);
        memcpy(z, k->z + c * rows, rows * sizeof *z);
        for (size_t i = t; i < t + m; i++)
            for (size_t j = 0; j < rows; j++) {
                z[j] += k->below_k[i * rows + j];
                k->dbelow_q[i * rows + j] = k->below[i] * z[j];
            }
        for (size_t i = t + m; i-- > t;)
            for (size_t j = 0; j < rows; j++) {
                k->u[j] += k->below[i] * k->below_q[i * rows + j];
                k->dbelow_k[i * rows + j] += k->u[j];
            }
    }
}

/* The same where all see all. */
static void head_backward_whole(const Work *w, Desk *k, float *dv, const float *v, size_t ld) {
    size_t rows = k->rows, d = k->d, n = k->length;
    const float *S = k->S + k->n_chunks * rows * d, *z = k->z + k->n_chunks * rows;
    Floats grown = as_is(k->num, d);
    memset(k->u, 0, rows * sizeof *k->u);
    product(w, k, k->R, d, 0, transposed(k->above_q, rows), grown, rows, d, n);
    product(w, k, k->dabove_q, rows, 0, grown, transposed(S, d), n, rows, d);
    product(w, k, k->dabove_k, rows, 1, as_is(v, ld), transposed(k->R, d), n, rows, d);
    product(w, k, dv, ld, 1, as_is(k->above_k, rows), as_is(k->R, d), n, d, rows);
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < rows; j++) {
            k->dbelow_q[i * rows + j] = k->below[i] * z[j];
            k->u[j] += k->below[i] * k->below_q[i * rows + j];
        }
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < rows; j++) k->dbelow_k[i * rows + j] += k->u[j];
}

/* ---- heads and texts ---- */

typedef struct { size_t q, kv, ldq, ldk, below; } Place; /* offsets of a head, and how far apart its tokens lie */

static Place place_of(const AttentionBatch *a, size_t item, size_t g) {
    size_t kv = item % a->n_kv_heads, text = item / a->n_kv_heads, head = kv * (a->n_heads / a->n_kv_heads) + g,
           token = text * a->length;
    return (Place){(token * a->n_heads + head) * a->head_dim, (token * a->n_kv_heads + kv) * a->head_dim,
                   a->n_heads * a->head_dim, a->n_kv_heads * a->head_dim, token * a->n_heads + head};
}

static void make_features(const Work *w, float *above, float *below, const float *x, size_t ld, const Desk *k,
                          const LinearParts *p, FeatureSide side) {
    for (size_t t = 0; t < k->length; t++)
        features_forward(w, above + t * k->rows, below + t * k->rows, x + t * ld, t, p, side);
}

void states_forward(Work *w, float *out, float *den, const float *q, const float *k, const float *v,
                    const LinearParts *p, const AttentionBatch *a) {
    Desk desk;
    desk_on(&desk, work_room(w), w, p, a);
    for (Share item; team_take(&w->team, a->texts * a->n_kv_heads, &item);)
        for (; item.at < item.end; item.at++) {
            Place at = place_of(a, item.at, 0);
            make_features(w, desk.above_k, desk.below_k, k + at.kv, at.ldk, &desk, p, FEATURES_OF_KEY);
            scan(w, &desk, v + at.kv, at.ldk);
            for (size_t g = 0; g < a->n_heads / a->n_kv_heads; g++) {
                at = place_of(a, item.at, g);
                make_features(w, desk.above_q, desk.below_q, q + at.q, at.ldq, &desk, p, FEATURES_OF_QUERY);
                head_forward(w, &desk, v + at.kv, at.ldk, p, a->causal);
                for (size_t t = 0; t < a->length; t++) {
                    float below = den[at.below + t * a->n_heads] = desk.below[t];
                    for (size_t i = 0; i < a->head_dim; i++)
                        out[at.q + t * at.ldq + i] = below == 0 ? 0 : desk.num[t * a->head_dim + i] / below;
                }
            }
        }
    team_wait(&w->team);
}

/* p and e of a head. */
static void above_and_below(Desk *k, const float *dout, const float *out, const float *den, const Place *at,
                            const AttentionBatch *a) {
    for (size_t t = 0; t < a->length; t++) {
        float d = den[at->below + t * a->n_heads], by = d == 0 ? 0 : 1 / d, along = 0;
        for (size_t i = 0; i < a->head_dim; i++) {
            size_t j = at->q + t * at->ldq + i;
            along += dout[j] * out[j];
            k->num[t * a->head_dim + i] = dout[j] * by;
        }
        k->below[t] = -along * by;
    }
}

static void features_to(const Work *w, float *dx, const float *x, size_t ld, float *dabove, float *dbelow,
                        const Desk *k, const LinearParts *p, FeatureSide side) {
    for (size_t t = 0; t < k->length; t++)
        features_backward(w, dx + t * ld, dabove + t * k->rows, dbelow + t * k->rows, x + t * ld, t, p, side);
}

void states_backward(Work *w, float *dq, float *dk, float *dv, const float *dout, const float *out, const float *den,
                     const float *q, const float *k, const float *v, const LinearParts *p, const AttentionBatch *a) {
    Desk desk;
    desk_on(&desk, work_room(w), w, p, a);
    size_t features = a->length * desk.rows * sizeof(float);
    for (Share item; team_take(&w->team, a->texts * a->n_kv_heads, &item);)
        for (; item.at < item.end; item.at++) {
            Place at = place_of(a, item.at, 0);
            make_features(w, desk.above_k, desk.below_k, k + at.kv, at.ldk, &desk, p, FEATURES_OF_KEY);
            scan(w, &desk, v + at.kv, at.ldk);
            memset(desk.dabove_k, 0, features);
            memset(desk.dbelow_k, 0, features);
            for (size_t t = 0; t < a->length; t++) memset(dv + at.kv + t * at.ldk, 0, a->head_dim * sizeof *dv);
            for (size_t g = 0; g < a->n_heads / a->n_kv_heads; g++) {
                at = place_of(a, item.at, g);
                make_features(w, desk.above_q, desk.below_q, q + at.q, at.ldq, &desk, p, FEATURES_OF_QUERY);
                above_and_below(&desk, dout, out, den, &at, a);
                (a->causal ? head_backward : head_backward_whole)(w, &desk, dv + at.kv, v + at.kv, at.ldk);
                features_to(w, dq + at.q, q + at.q, at.ldq, desk.dabove_q, desk.dbelow_q, &desk, p, FEATURES_OF_QUERY);
            }
            features_to(w, dk + at.kv, k + at.kv, at.ldk, desk.dabove_k, desk.dbelow_k, &desk, p, FEATURES_OF_KEY);
        }
    team_wait(&w->team);
}
