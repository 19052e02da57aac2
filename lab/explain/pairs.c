/* lab/explain/pairs.c - see pairs.h. */
#include "pairs.h"

#include "kernels/attention_kernels.h"

#include <math.h>
#include <stdlib.h>

/* The two entries of pair i. */
static void entries(const RopeConfig *c, int i, int *a, int *b) {
    int half = c->rotary_dim / 2;
    *a = c->pairing == ROPE_HALF ? i : 2 * i;
    *b = c->pairing == ROPE_HALF ? i + half : 2 * i + 1;
}

static int key_head(const Trace *t, int h) { return h / (t->model->config.n_heads / t->model->config.n_kv_heads); }

static double angle_of(const Rope *r, double pos, int i) {
    return r->angle ? r->angle(r, (int64_t)pos, i) : pos * r->inv_freq[i];
}

/* q conj(k) e^{i by}, its real part. */
static double product(const PairTerm *p, double by) {
    double re = p->q[0] * p->k[0] + p->q[1] * p->k[1], im = p->q[1] * p->k[0] - p->q[0] * p->k[1];
    return re * cos(by) - im * sin(by);
}

void pairs_of(const Trace *t, int l, int h, size_t m, size_t j, PairTerm *out, double *rest) {
    const Config *c = &t->model->config;
    const float *q = trace_q(t, l, h, m), *k = trace_k(t, l, key_head(t, h), j);
    double scale = trace_scale(t, l, m), turned = scale * t->rope.scale * t->rope.scale;
    for (int i = 0, a, b; i < c->rope.rotary_dim / 2; i++) {
        entries(&c->rope, i, &a, &b);
        PairTerm *p = &out[i];
        *p = (PairTerm){.q = {(double)q[a], (double)q[b]}, .k = {(double)k[a], (double)k[b]},
                        .angle_q = angle_of(&t->rope, (double)t->tokens[m].pos, i),
                        .angle_k = angle_of(&t->rope, (double)t->tokens[j].pos, i)};
        p->term = turned * product(p, p->angle_q - p->angle_k);
    }
    *rest = 0;
    for (int i = c->rope.rotary_dim; i < c->head_dim; i++) *rest += scale * (double)q[i] * (double)k[i];
}

double pairs_score_at(const Trace *t, int l, int h, size_t m, size_t j, double distance) {
    PairTerm pairs[ROPE_MAX_PAIRS];
    double sum;
    pairs_of(t, l, h, m, j, pairs, &sum);
    for (int i = 0; i < t->model->config.rope.rotary_dim / 2; i++)
        sum += trace_scale(t, l, m) * t->rope.scale * t->rope.scale *
               product(&pairs[i], angle_of(&t->rope, distance, i));
    return sum;
}

double pairs_engine_score(const Trace *t, int l, int h, size_t m, size_t j) {
    size_t d = (size_t)t->model->config.head_dim;
    const float *k = trace_rk(t, l, key_head(t, h), j);
    float s[SCORE_ROW], keys[2 * ROPE_MAX_PAIRS * KEY_LANES] = {0};
    for (size_t i = 0; i < d && i < 2 * ROPE_MAX_PAIRS; i++) keys[i * KEY_LANES] = k[i];
    t->model->kernels->att->scores(s, trace_rq(t, l, h, m), 1, (Numbers){keys, 0}, d, 1, (Soon){0});
    return (double)((float)trace_scale(t, l, m) * s[0]);
}
