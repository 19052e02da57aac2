/* model/llama.c - the decoder's forward pass: LLaMA, arXiv:2302.13971, and its relatives. The page to read first.
 *
 * A batch of n tokens goes through all layers in one run of the session's team (base/threads.h). Every thread runs this text; a
 * loop over a team_share is shared out among them, and team_wait is the line behind which the others' results may be read. A share
 * of the same tokens is always the same thread's, so add, norm, silu_mul and step_pack follow each other without one. Which thread
 * computes an output never changes its bits. */
#include "llama.h"

#include "steps.h"

/* xn = rmsnorm(x) * w */
static void norm(Session *s, const float *w, size_t n) {
    size_t d = (size_t)s->model->config.d_model;
    for (Share t = team_share(&s->team, n); t.at < t.end; t.at++)
        s->model->kernels->vec->rmsnorm(s->xn + t.at * d, s->x + t.at * d, w, d, s->model->config.norm_eps);
}

/* x += xn */
static void add(Session *s, size_t n) {
    size_t d = (size_t)s->model->config.d_model;
    for (Share t = team_share(&s->team, n); t.at < t.end; t.at++)
        for (size_t i = t.at * d; i < (t.at + 1) * d; i++) s->x[i] += s->xn[i];
}

/* xn = Wdown (silu(Wgate xn) * Wup xn) */
static void feed_forward(Session *s, const Layer *y, size_t n) {
    const Config *c = &s->model->config;
    size_t d = (size_t)c->d_model, ff = (size_t)c->d_ff;
    Packed a = step_pack(s, s->xn, n, d, &y->w_gate);
    step_linear(s, s->gate, &a, &y->w_gate, y->b_gate);
    step_linear(s, s->up, &a, &y->w_up, y->b_up);
    team_wait(&s->team);
    for (Share t = team_share(&s->team, n); t.at < t.end; t.at++) s->model->kernels->vec->silu_mul(s->gate + t.at * ff, s->up + t.at * ff, ff);
    a = step_pack(s, s->gate, n, ff, &y->w_down);
    step_linear(s, s->xn, &a, &y->w_down, y->b_down);
    team_wait(&s->team);
}

/* logits = lm_head xn, for tokens t .. t+n-1. */
static void logits(Session *s, size_t t, size_t n) {
    const Matrix *w = &s->model->lm_head;
    size_t d = (size_t)s->model->config.d_model;
    Packed a = step_pack(s, s->xn + t * d, n, d, w);
    step_linear(s, s->logits, &a, w, NULL);
}

/* What every thread runs. */
static void forward(void *arg) {
    const Batch *batch = arg;
    Session *s = batch->s;
    size_t n = batch->n;
    const Model *m = s->model;
    const Config *c = &m->config;
    size_t d = (size_t)c->d_model;

    for (Share t = team_share(&s->team, n); t.at < t.end; t.at++) {
        matrix_row(s->x + t.at * d, &m->tok_emb, (size_t)s->tokens[t.at].id); /* x = embedding of the id */
        step_angles(s, t.at);                                                 /* its position's angles, for all layers */
    }
    for (int l = 0; l < c->n_layers; l++) {
        const Layer *y = &m->layers[l];
        norm(s, y->attn_norm, n);                              /* xn = rmsnorm(x) */
        Packed a = step_pack(s, s->xn, n, d, &y->wq);
        step_linear(s, s->q, &a, &y->wq, y->bq);               /* q = Wq xn */
        step_linear(s, s->k, &a, &y->wk, y->bk);               /* k = Wk xn */
        step_linear(s, s->v, &a, &y->wv, y->bv);               /* v = Wv xn */
        team_wait(&s->team);
        step_attend(s, l, n);                                  /* att = softmax(R q (R K)^T / sqrt(head_dim)) V */
        a = step_pack(s, s->att, n, (size_t)c->n_heads * (size_t)c->head_dim, &y->wo);
        step_linear(s, s->xn, &a, &y->wo, y->bo);
        team_wait(&s->team);
        add(s, n);                                             /* x += Wo att */
        norm(s, y->ffn_norm, n);
        feed_forward(s, y, n);
        add(s, n);                                             /* x += Wdown (silu(Wgate xn) * Wup xn) */
    }
    norm(s, m->final_norm, n);
    if (!batch->n_last) return;
    team_wait(&s->team);
    logits(s, n - batch->n_last, batch->n_last);
}

static void forward_logits(void *arg) {
    const Batch *batch = arg;
    logits(batch->s, batch->t, batch->n);
}

void llama_forward(Session *s, size_t n, size_t n_last) {
    team_run(&s->team, step_threads(s, n * s->model->n_parameters), forward, &(Batch){.s = s, .n = n, .n_last = n_last});
}

void llama_logits(Session *s, size_t t, size_t n) {
    team_run(&s->team, step_threads(s, n * s->model->lm_head.rows * s->model->lm_head.cols), forward_logits, &(Batch){.s = s, .t = t, .n = n});
}
