/* model/llama.c - the decoder's forward pass: LLaMA, arXiv:2302.13971, and its relatives. The page to read first.
 *
 * A batch of n tokens goes through all layers inside one parallel region. Every thread runs this text; a loop under
 * `omp for` is shared out among them. It ends in a barrier, or, where it says nowait, the next `omp barrier` is the line
 * after which its results may be read. Which thread computes an output never changes its bits. */
#include "llama.h"

#include "steps.h"

/* xn[t] = rmsnorm(x[t]) * w */
static void norm(const Session *s, float *xn, const float *x, const float *w, size_t n, size_t d) {
    #pragma omp for schedule(static)
    for (size_t t = 0; t < n; t++) s->model->kernels->rmsnorm(xn + t * d, x + t * d, w, d, s->model->config.norm_eps);
}

/* xn = Wdown (silu(Wgate xn) * Wup xn), by pieces of a token's d_ff, so that a single token has work for all threads. */
enum { PIECE = 512 };

static void feed_forward(Session *s, const Layer *y, size_t n) {
    const Config *c = &s->model->config;
    size_t d = (size_t)c->d_model, ff = (size_t)c->d_ff, pieces = (ff + PIECE - 1) / PIECE;
    Packed a = step_pack(s, s->xn, n, d, &y->w_gate);
    step_linear(s, s->gate, &a, &y->w_gate, y->b_gate);
    step_linear(s, s->up, &a, &y->w_up, y->b_up);
    #pragma omp barrier
    #pragma omp for schedule(static)
    for (size_t i = 0; i < n * pieces; i++) {
        size_t at = i % pieces * PIECE, from = i / pieces * ff + at;
        s->model->kernels->silu_mul(s->gate + from, s->up + from, ff - at < PIECE ? ff - at : PIECE);
    }
    a = step_pack(s, s->gate, n, ff, &y->w_down);
    step_linear(s, s->xn, &a, &y->w_down, y->b_down);
    #pragma omp barrier
}

/* logits = lm_head xn, for tokens t .. t+n-1. */
static void logits(Session *s, size_t t, size_t n) {
    const Matrix *w = &s->model->lm_head;
    size_t d = (size_t)s->model->config.d_model;
    Packed a = step_pack(s, s->xn + t * d, n, d, w);
    step_linear(s, s->logits, &a, w, NULL);
}

/* What every thread runs. */
static void forward(Session *s, size_t n, size_t n_last) {
    const Model *m = s->model;
    const Config *c = &m->config;
    size_t d = (size_t)c->d_model;

    #pragma omp for schedule(static)
    for (size_t t = 0; t < n; t++) {
        matrix_row(s->x + t * d, &m->tok_emb, (size_t)s->tokens[t].id); /* x = embedding of the id */
        step_angles(s, t);                                              /* its position's angles, for all layers */
    }
    for (int l = 0; l < c->n_layers; l++) {
        const Layer *y = &m->layers[l];
        norm(s, s->xn, s->x, y->attn_norm, n, d);            /* xn = rmsnorm(x) */
        Packed a = step_pack(s, s->xn, n, d, &y->wq);
        step_linear(s, s->q, &a, &y->wq, y->bq);               /* q = Wq xn */
        step_linear(s, s->k, &a, &y->wk, y->bk);               /* k = Wk xn */
        step_linear(s, s->v, &a, &y->wv, y->bv);               /* v = Wv xn */
        #pragma omp barrier
        step_attend(s, l, n);                                /* att = softmax(R q (R K)^T / sqrt(head_dim)) V */
        a = step_pack(s, s->att, n, (size_t)c->n_heads * (size_t)c->head_dim, &y->wo);
        step_linear(s, s->xn, &a, &y->wo, y->bo);
        #pragma omp barrier
        step_add(s->x, s->xn, n * d);                             /* x += Wo att */
        norm(s, s->xn, s->x, y->ffn_norm, n, d);
        feed_forward(s, y, n);
        step_add(s->x, s->xn, n * d);                             /* x += Wdown (silu(Wgate xn) * Wup xn) */
    }
    norm(s, s->xn, s->x, m->final_norm, n, d);
    if (n_last) logits(s, n - n_last, n_last);
}

void llama_forward(Session *s, size_t n, size_t n_last) {
    int threads = step_threads(s, n * s->model->n_parameters);
    (void)threads; /* without OpenMP */
    #pragma omp parallel num_threads(threads)
    forward(s, n, n_last);
}

void llama_logits(Session *s, size_t t, size_t n) {
    int threads = step_threads(s, n * s->model->lm_head.rows * s->model->lm_head.cols);
    (void)threads;
    #pragma omp parallel num_threads(threads)
    logits(s, t, n);
}
