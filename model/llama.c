/* model/llama.c - the decoder's forward pass: LLaMA, arXiv:2302.13971, and its relatives. The page to read first.
 *
 * A batch of n tokens goes through all layers in one run of the session's team (base/threads.h). Every thread runs this
 * text; a loop over a team_share is shared out among them, and team_wait is the line behind which the others' results
 * may be read. A share of the same items is always the same thread's, so functions that end in _nowait may follow each
 * other on them. Which thread computes an output never changes its bits. */
#include "family.h"
#include "steps.h"

/* xn = rmsnorm(x) * w */
static void norm_nowait(Session *s, const float *weight, size_t n) {
    Scratch *w = s->scratch;
    size_t d = (size_t)s->model->config.d_model;
    for (Share t = team_share(&w->team, n); t.at < t.end; t.at++)
        s->model->kernels->vec->rmsnorm(w->xn + t.at * d, w->x + t.at * d, weight, d, s->model->config.norm_eps);
}

/* x += xn */
static void add_nowait(Session *s, size_t n) {
    Scratch *w = s->scratch;
    size_t d = (size_t)s->model->config.d_model;
    for (Share t = team_share(&w->team, n); t.at < t.end; t.at++)
        for (size_t i = t.at * d; i < (t.at + 1) * d; i++) w->x[i] += w->xn[i];
}

/* q = R_m q, k = R_m k, head by head, m the token's position: RoPE, the one place where a LLaMA knows positions.
 * Before it, heads are normalised where the model has norms for them (qwen3). Linear attention rotates features of
 * these instead. */
static void rotate_nowait(Session *s, const Layer *y, size_t n) {
    const Config *c = &s->model->config;
    const VectorKernels *vec = s->model->kernels->vec;
    Scratch *w = s->scratch;
    size_t d = (size_t)c->head_dim, half = (size_t)c->rope.rotary_dim / 2, heads = (size_t)c->n_heads,
           kv = (size_t)c->n_kv_heads;
    for (Share i = team_share(&w->team, n * (heads + kv)); i.at < i.end; i.at++) {
        size_t t = i.at / (heads + kv), h = i.at % (heads + kv);
        float *x = h < heads ? w->q + (t * heads + h) * d : w->k + (t * kv + h - heads) * d;
        const float *weight = h < heads ? y->q_norm : y->k_norm;
        if (weight) vec->rmsnorm(x, x, weight, d, c->norm_eps);
        if (!s->rotates)
            vec->rotate(x, w->cos + t * half, w->sin + t * half, c->rope.rotary_dim, c->rope.pairing); /* rope_rotate */
    }
}

/* xn = Wdown (silu(Wgate xn) * Wup xn) */
static void feed_forward(Session *s, const Layer *y, size_t n) {
    const Config *c = &s->model->config;
    Scratch *w = s->scratch;
    size_t d = (size_t)c->d_model, ff = (size_t)c->d_ff;
    Packed a = step_pack(s, w->xn, n, d, &y->w_gate);
    step_linear_nowait(s, w->gate, &a, &y->w_gate, y->b_gate);
    step_linear_nowait(s, w->up, &a, &y->w_up, y->b_up);
    team_wait(&w->team);
    for (Share t = team_share(&w->team, n); t.at < t.end; t.at++)
        s->model->kernels->vec->silu_mul(w->gate + t.at * ff, w->up + t.at * ff, ff);
    a = step_pack(s, w->gate, n, ff, &y->w_down);
    step_linear_nowait(s, w->xn, &a, &y->w_down, y->b_down);
    team_wait(&w->team);
}

/* What every thread runs. */
static void forward(void *arg) {
    const Batch *batch = arg;
    Session *s = batch->s;
    Scratch *w = s->scratch;
    size_t n = batch->n;
    const Model *m = s->model;
    const Config *c = &m->config;
    size_t d = (size_t)c->d_model;

    for (Share t = team_share(&w->team, n); t.at < t.end; t.at++) {
        matrix_row(w->x + t.at * d, &m->tok_emb, (size_t)w->tokens[t.at].id); /* x = embedding of the id */
        if (c->place) c->place(c->positions, w->x + t.at * d, (int64_t)w->tokens[t.at].pos); /* and of its position */
        step_angles_nowait(s, t.at); /* its position's angles, for all layers */
    }
    for (int l = 0; l < c->n_layers; l++) {
        const Layer *y = &m->layers[l];
        norm_nowait(s, y->attn_norm, n);                              /* xn = rmsnorm(x) */
        Packed a = step_pack(s, w->xn, n, d, &y->wq);
        step_linear_nowait(s, w->q, &a, &y->wq, y->bq);               /* q = Wq xn */
        step_linear_nowait(s, w->k, &a, &y->wk, y->bk);               /* k = Wk xn */
        step_linear_nowait(s, w->v, &a, &y->wv, y->bv);               /* v = Wv xn */
        team_wait(&w->team);
        rotate_nowait(s, y, n);                                       /* q = R q, k = R k */
        step_attend(s, l, n);                                         /* att = softmax(q k^T / sqrt(head_dim)) v */
        a = step_pack(s, w->att, n, (size_t)c->n_heads * (size_t)c->head_dim, &y->wo);
        step_linear_nowait(s, w->xn, &a, &y->wo, y->bo);
        team_wait(&w->team);
        add_nowait(s, n);                                             /* x += Wo att */
        norm_nowait(s, y->ffn_norm, n);
        feed_forward(s, y, n);
        add_nowait(s, n);                                             /* x += Wdown (silu(Wgate xn) * Wup xn) */
    }
    norm_nowait(s, m->final_norm, n);
    if (!batch->n_last) return;
    team_wait(&w->team);
    Packed last = step_pack(s, w->xn + (n - batch->n_last) * d, batch->n_last, d, &m->lm_head);
    step_linear_nowait(s, s->logits, &last, &m->lm_head, NULL);       /* logits = lm_head xn */
}

static void llama_forward(Session *s, size_t n, size_t n_last) {
    step_run(s, n * s->model->n_parameters, forward, (Batch){.n = n, .n_last = n_last});
}

const Family family_llama = {.read_config = decoder_read_config,
                             .load = decoder_load,
                             .forward = llama_forward};
