/* model/roformer.c - RoFormer's forward pass, arXiv:2104.09864: v1, v2 and GAU-alpha. Beside llama.c, which has the
 * words on threads: the same steps in another order. A norm stands behind each half of a layer, on the sum, not in
 * front of it.
 *
 * Source: transformers' modeling_roformer.py (v1); bert4keras' RoFormerV2 and GAU_alpha. */
#include "roformer.h"

#include "attend_texts.h"
#include "kernels/encoder_kernels.h"
#include "roformer_kinds.h"
#include "steps.h"

#include <string.h>

/* y = norm(x): with mean, weight and bias in v1; x / sqrt(mean(x^2) + eps) in the others, whose w is all ones. */
static void norm(const Session *s, float *y, const float *x, const float *w, const float *b, size_t d) {
    const Kernels *kernels = s->model->kernels;
    if (b) kernels->enc->layernorm(y, x, w, b, d, s->model->config.norm_eps);
    else kernels->vec->rmsnorm(y, x, w, d, s->model->config.norm_eps);
}

/* x = norm(x + xn) */
static void add_and_norm_nowait(Session *s, const float *w, const float *b, size_t n) {
    size_t d = (size_t)s->model->config.d_model;
    for (Share t = team_share(&s->scratch->team, n); t.at < t.end; t.at++) {
        float *x = s->scratch->x + t.at * d;
        for (size_t i = 0; i < d; i++) x[i] += s->scratch->xn[t.at * d + i];
        norm(s, x, x, w, b, d);
    }
}

/* x = norm(word + type), carried from E to d_model where these differ. A RoFormer has no position embeddings; a model
 * of another kind (rope/positions.h) may. */
static void embed(Session *s, size_t n) {
    const Model *m = s->model;
    const Encoder *e = m->encoder;
    size_t d = (size_t)m->config.d_model, E = (size_t)m->config.d_embed;
    for (Share t = team_share(&s->scratch->team, n); t.at < t.end; t.at++) {
        float *word = s->scratch->xn + t.at * E, *type = s->scratch->x + t.at * E;
        matrix_row(word, &m->tok_emb, (size_t)s->scratch->tokens[t.at].id);
        matrix_row(type, &e->types, (size_t)s->scratch->tokens[t.at].type);
        for (size_t i = 0; i < E; i++) word[i] += type[i];
        if (m->config.place) m->config.place(m->config.positions, word, (int64_t)s->scratch->tokens[t.at].pos);
        norm(s, e->emb_proj.data ? word : s->scratch->x + t.at * d, word, e->emb_norm, e->emb_norm_b, E);
        step_angles_nowait(s, t.at);
    }
    if (!e->emb_proj.data) return;
    Packed a = step_pack(s, s->scratch->xn, n, E, &e->emb_proj);
    step_linear_nowait(s, s->scratch->x, &a, &e->emb_proj, e->emb_proj_b);
    team_wait(&s->scratch->team);
}

static void activate_nowait(Session *s, float *x, size_t n, size_t width, int activation) {
    for (Share t = team_share(&s->scratch->team, n); t.at < t.end; t.at++)
        s->model->kernels->enc->activate(x + t.at * width, width, activation);
}

/* q = R_m q, k = R_m k (rope_rotate), head by head, m the token's position; v too where the model says so. Linear
 * attention rotates features of q and k instead: then there may be no cos and sin. */
static void rotate_nowait(Session *s, size_t n) {
    const Config *c = &s->model->config;
    const VectorKernels *vec = s->model->kernels->vec;
    Scratch *w = s->scratch;
    size_t d = (size_t)c->head_dim, vd = (size_t)c->value_dim, half = (size_t)c->rope.rotary_dim / 2,
           heads = (size_t)c->n_heads;
    for (Share i = team_share(&w->team, n * 2 * heads); i.at < i.end; i.at++) {
        size_t t = i.at / (2 * heads), h = i.at % (2 * heads), at = t * heads + h % heads, row = t * half;
        float *x = h < heads ? w->q + at * d : w->k + at * d;
        if (!s->rotates) vec->rotate(x, w->cos + row, w->sin + row, c->rope.rotary_dim, c->rope.pairing);
        if (h >= heads && c->rotary_value)
            vec->rotate(w->v + at * vd, w->cos + row, w->sin + row, c->rope.rotary_dim, c->rope.pairing);
    }
}

/* xn = W y + b */
static void project(Session *s, const float *y, size_t n, size_t d, const Matrix *w, const float *b) {
    Packed a = step_pack(s, y, n, d, w);
    step_linear_nowait(s, s->scratch->xn, &a, w, b);
    team_wait(&s->scratch->team);
}

/* A layer of v1 and v2: attention, then a feed-forward network without a gate. */
static void layer(Session *s, int l, size_t n) {
    const Config *c = &s->model->config;
    const Layer *y = &s->model->layers[l];
    const EncoderLayer *more = &s->model->encoder->layers[l];
    size_t d = (size_t)c->d_model, ff = (size_t)c->d_ff;
    Packed a = step_pack(s, s->scratch->x, n, d, &y->wq);
    step_linear_nowait(s, s->scratch->q, &a, &y->wq, y->bq);          /* q = Wq x + bq */
    step_linear_nowait(s, s->scratch->k, &a, &y->wk, y->bk);          /* k = Wk x + bk */
    step_linear_nowait(s, s->scratch->v, &a, &y->wv, y->bv);          /* v = Wv x + bv */
    team_wait(&s->scratch->team);
    rotate_nowait(s, n);                                 /* q = R q, k = R k */
    step_attend(s, l, n);                                /* att = softmax(q k^T / sqrt(head_dim)) v */
    project(s, s->scratch->att, n, (size_t)c->n_heads * (size_t)c->value_dim, &y->wo, y->bo);
    add_and_norm_nowait(s, y->attn_norm, more->attn_norm_b, n);    /* x = norm(x + Wo att + bo) */
    a = step_pack(s, s->scratch->x, n, d, &y->w_up);
    step_linear_nowait(s, s->scratch->gate, &a, &y->w_up, y->b_up);
    team_wait(&s->scratch->team);
    activate_nowait(s, s->scratch->gate, n, ff, c->roformer.activation);
    project(s, s->scratch->gate, n, ff, &y->w_down, y->b_down);
    add_and_norm_nowait(s, y->ffn_norm, more->ffn_norm_b, n);      /* x = norm(x + W2 act(W1 x + b1) + b2) */
}

/* A gated attention unit (Hua et al., arXiv:2202.10447), which is a whole layer: one head whose values are d_ff wide
 * and whose output u gates. q and k are one small vector, each with a scale of its own. */
static void gated_unit(Session *s, int l, size_t n) {
    const Config *c = &s->model->config;
    const Layer *y = &s->model->layers[l];
    const EncoderLayer *more = &s->model->encoder->layers[l];
    size_t e = (size_t)c->d_ff, hd = (size_t)c->head_dim, width = 2 * e + hd;
    Packed a = step_pack(s, s->scratch->x, n, (size_t)c->d_model, &y->w_up);
    step_linear_nowait(s, s->scratch->gate, &a, &y->w_up, NULL);
    team_wait(&s->scratch->team);
    activate_nowait(s, s->scratch->gate, n, width, c->roformer.activation);  /* u, v, b = act(Wi x) */
    for (Share t = team_share(&s->scratch->team, n); t.at < t.end; t.at++) {
        const float *v = s->scratch->gate + t.at * width + e, *b = v + e;
        memcpy(s->scratch->v + t.at * e, v, e * sizeof *v);
        for (size_t i = 0; i < hd; i++)
            s->scratch->q[t.at * hd + i] = b[i] * more->gau_q[i], s->scratch->k[t.at * hd + i] = b[i] * more->gau_k[i];
    }
    team_wait(&s->scratch->team);
    rotate_nowait(s, n);
    step_attend(s, l, n);                                /* att = softmax(q k^T / sqrt(head_dim) * log(n)/log(512)) v */
    for (Share t = team_share(&s->scratch->team, n); t.at < t.end; t.at++)
        for (size_t i = 0; i < e; i++) s->scratch->att[t.at * e + i] *= s->scratch->gate[t.at * width + i];
    project(s, s->scratch->att, n, e, &y->w_down, NULL);
    add_and_norm_nowait(s, y->attn_norm, NULL, n);              /* x = norm(x + Wo (u * att)) */
}

/* The language model's head. v1: h = norm(act(W x + b)), logits = word embeddings h + bias; the others: word embeddings
 * x. */
static void logits(Session *s, size_t t, size_t n) {
    const Model *m = s->model;
    const Encoder *e = m->encoder;
    size_t d = (size_t)m->config.d_model, E = (size_t)m->config.d_embed;
    const float *h = s->scratch->x + t * d;
    if (e->mlm_dense.data) {
        Packed a = step_pack(s, h, n, d, &e->mlm_dense);
        step_linear_nowait(s, s->scratch->head, &a, &e->mlm_dense, e->mlm_dense_b);
        team_wait(&s->scratch->team);
        activate_nowait(s, s->scratch->head, n, E, e->mlm_activation);
        for (Share i = team_share(&s->scratch->team, n); i.at < i.end; i.at++)
            norm(s, s->scratch->head + i.at * E, s->scratch->head + i.at * E, e->mlm_norm, e->mlm_norm_b, E);
        h = s->scratch->head;
    }
    Packed a = step_pack(s, h, n, E, &m->lm_head);
    step_linear_nowait(s, s->logits, &a, &m->lm_head, e->mlm_bias);
}

static void step(Session *s, int l, size_t n) {
    if (l < 0) embed(s, n);
    else if (s->model->config.roformer.variant == ROFORMER_GAU) gated_unit(s, l, n);
    else layer(s, l, n);
}

/* What every thread runs. */
static void forward_layer(void *arg) {
    const Batch *batch = arg;
    step(batch->s, batch->l, batch->n);
}

static void forward(void *arg) {
    const Batch *batch = arg;
    for (int l = -1; l < batch->s->model->config.n_layers; l++) step(batch->s, l, batch->n);
    if (!batch->n_last) return;
    team_wait(&batch->s->scratch->team);
    logits(batch->s, batch->n - batch->n_last, batch->n_last);
}

static void forward_logits(void *arg) {
    const Batch *batch = arg;
    logits(batch->s, batch->t, batch->n);
}

static void roformer_step(Session *s, int l, size_t n) {
    step_run(s, n * s->model->n_parameters, forward_layer, (Batch){.n = n, .l = l});
}

static void roformer_forward(Session *s, size_t n, size_t n_last) {
    step_run(s, n * s->model->n_parameters, forward, (Batch){.n = n, .n_last = n_last});
}

static void roformer_logits(Session *s, size_t t, size_t n) {
    step_run(s, n * s->model->lm_head.rows * s->model->lm_head.cols, forward_logits, (Batch){.t = t, .n = n});
}

static const char *refuses(const Model *m) {
    const Config *c = &m->config;
    if (c->mask == MASK_PADDING) return "this encoder reads a text whole, not id by id (its mask is not causal)";
    return c->mask == MASK_UNILM && c->roformer.n_types < 2 ? "this model knows one token type only" : NULL;
}

const Family family_roformer = {.read_config = roformer_read_config,
                                .load = roformer_load,
                                .refuses = refuses,
                                .linear = &linear_texts,
                                .step = roformer_step,
                                .forward = roformer_forward,
                                .logits = roformer_logits};
