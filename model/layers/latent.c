/* model/layers/latent.c - queries taken to the short vectors that keys and values are made of, and sums of these taken
 * back: latent.h's lines in order. */
#include "latent.h"

#include "kernels/kernels.h"
#include "model/steps.h"
#include "scratch.h"

#include <string.h>

enum { STRIP = 16 };

/* One vector a head and token, `head` floats from a head's to the next one's, `token` from a token's. */
typedef struct {
    float *at;
    size_t head, token;
} Heads;

/* y_h = of[h] x_h for every head of n tokens. Threads share the heads' rows in strips. */
static void by_head(Session *s, Heads y, Heads x, const Matrix *of, size_t n) {
    const Kernels *k = s->model->kernels;
    const int group = matrix_group(of);
    const size_t heads = (size_t)s->model->config.n_heads, rows = of->rows, strip = n < FLOAT_MANY ? STRIP : 2 * STRIP,
                 strips = (rows + strip - 1) / strip, bytes = scratch_packed_bytes(k, of->cols, group);
    uint8_t *packed = s->scratch->more->head_packed;
    for (Share i = team_share(&s->scratch->team, heads * n); i.at < i.end; i.at++) {
        size_t h = i.at / n, t = i.at % n;
        k->mat->pack(packed + h * n * bytes, x.at + h * x.head + t * x.token, n, of->cols, group, t);
    }
    team_wait(&s->scratch->team);
    for (Share i; team_take(&s->scratch->team, heads * strips, &i);)
        for (size_t next; i.at < i.end; i.at = next) { /* the strips of one head together */
            size_t h = i.at / strips, r0 = i.at % strips * strip;
            next = i.end < (h + 1) * strips ? i.end : (h + 1) * strips;
            size_t r1 = next % strips ? next % strips * strip : rows;
            const Activations a = {.n = n, .d = of->cols, .group = group, .data = packed + h * n * bytes};
            k->mat->matmul(y.at + h * y.head, y.token, &a, &of[h], r0, r1);
        }
    team_wait(&s->scratch->team);
}

/* k = [r, c], v = c of each token, c normalised; q's own short vector, too. */
static void keep(Session *s, const LayerMore *m, size_t n) {
    const Config *c = &s->model->config;
    const Decoder *x = c->decoder;
    Scratch *w = s->scratch;
    const VectorKernels *vec = s->model->kernels->vec;
    size_t d = (size_t)c->head_dim, latent = (size_t)x->kv_rank, turned = d - latent, rank = (size_t)x->q_rank;
    for (Share t = team_share(&w->team, n); t.at < t.end; t.at++) {
        const float *from = w->more->low + t.at * d; /* c, then r, as files have them */
        float *k = w->k + t.at * d, *v = w->v + t.at * latent, *q = w->more->low_q + t.at * rank;
        vec->rmsnorm(v, from, m->latent_norm, latent, x->latent_eps);
        memcpy(k, from + latent, turned * sizeof *k);
        memcpy(k + turned, v, latent * sizeof *k);
        if (rank) vec->rmsnorm(q, q, m->q_a_norm, rank, x->latent_eps);
    }
    team_wait(&w->team);
}

/* q = [p, K^T n] of each head, from [n, p]. */
static void absorb(Session *s, const LayerMore *m, size_t n) {
    const Config *c = &s->model->config;
    const Decoder *x = c->decoder;
    Scratch *w = s->scratch;
    size_t heads = (size_t)c->n_heads, d = (size_t)c->head_dim, turned = d - (size_t)x->kv_rank,
           nope = (size_t)x->nope_dim, own = nope + turned;
    for (Share i = team_share(&w->team, heads * n); i.at < i.end; i.at++)
        memcpy(w->q + i.at * d, w->more->own_q + i.at * own + nope, turned * sizeof *w->q);
    const Heads from = {w->more->own_q, own, heads * own}, to = {w->q + turned, d, heads * d};
    by_head(s, to, from, m->k_b, n);
}

void latent_attend(Session *s, int l, size_t n, void (*rotate_nowait)(Session *s, int l, size_t n)) {
    const Config *c = &s->model->config;
    const Layer *y = &s->model->layers[l];
    const Decoder *x = c->decoder;
    Scratch *w = s->scratch;
    size_t heads = (size_t)c->n_heads, latent = (size_t)x->kv_rank, value = (size_t)x->v_dim;
    const Matrix *first = x->q_rank ? &y->more->q_a : &y->wq;
    Packed a = step_pack(s, w->xn, n, (size_t)c->d_model, first);
    step_linear_nowait(s, x->q_rank ? w->more->low_q : w->more->own_q, &a, first, NULL);
    step_linear_nowait(s, w->more->low, &a, &y->wk, NULL);
    team_wait(&w->team);
    keep(s, y->more, n);
    if (x->q_rank) {
        a = step_pack(s, w->more->low_q, n, (size_t)x->q_rank, &y->wq);
        step_linear_nowait(s, w->more->own_q, &a, &y->wq, NULL);
        team_wait(&w->team);
    }
    absorb(s, y->more, n);
    rotate_nowait(s, l, n);
    step_attend(s, l, n);
    const Heads sums = {w->att, latent, heads * latent}, values = {w->more->values, value, heads * value};
    by_head(s, values, sums, y->more->v_b, n);
}
