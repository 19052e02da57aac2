/* model/layers/forward.c - the forward pass of models in layers. llama.c is the page to read first, and has the words
 * on threads; here the same steps have more to them, and each asks the model's row what it is. */
#include "config.h"
#include "delta.h"
#include "experts.h"
#include "kernels/encoder_kernels.h"
#include "latent.h"
#include "model/past.h"
#include "model/roformer.h"
#include "model/steps.h"
#include "per_layer.h"
#include "scratch.h"
#include "tensors.h"

#include <math.h>
#include <string.h>

static const Decoder *decoder(const Session *s) { return s->model->config.decoder; }

/* y = norm(x): RMSNorm, or LayerNorm where there are biases. */
static void norm(const Session *s, float *y, const float *x, const float *w, const float *b, size_t n) {
    const Kernels *k = s->model->kernels;
    if (b) k->enc->layernorm(y, x, w, b, n, s->model->config.norm_eps);
    else k->vec->rmsnorm(y, x, w, n, s->model->config.norm_eps);
}

void layers_take_in_nowait(Session *s, const float *weight, const float *bias, size_t n) {
    Scratch *w = s->scratch;
    size_t d = (size_t)s->model->config.d_model;
    for (Share t = team_share(&w->team, n); t.at < t.end; t.at++) {
        if (weight) norm(s, w->xn + t.at * d, w->x + t.at * d, weight, bias, d);
        else memcpy(w->xn + t.at * d, w->x + t.at * d, d * sizeof *w->x);
    }
}

/* x += scale * norm(branch), without a norm where the branch has none behind it; x = norm(x) where it is the sum's. */
static void add_nowait(Session *s, const float *weight, const float *sum, const float *sum_b, size_t n) {
    Scratch *w = s->scratch;
    size_t d = (size_t)s->model->config.d_model;
    float by = decoder(s)->residual_scale;
    for (Share t = team_share(&w->team, n); t.at < t.end; t.at++) {
        float *x = w->x + t.at * d, *y = w->more->branch + t.at * d;
        if (weight) norm(s, y, y, weight, NULL, d);
        for (size_t i = 0; i < d; i++) x[i] += by * y[i];
        if (sum) norm(s, x, x, sum, sum_b, d);
    }
}

void layers_scale_nowait(Session *s, float *x, float by, size_t n) {
    size_t d = (size_t)s->model->config.d_model;
    for (Share t = team_share(&s->scratch->team, n); t.at < t.end; t.at++)
        for (size_t i = t.at * d; i < (t.at + 1) * d; i++) x[i] *= by;
}

/* ---- attention ---- */

float layers_score(const Decoder *x, int64_t pos) {
    if (x->temperature == 0) return x->score_scale;
    return x->score_scale * (1 + x->temperature * logf(1 + (float)(pos / x->temperature_n)));
}

/* Behind each head's q stands its gate: they part. */
static void part_gates(Session *s, size_t n) {
    const Config *c = &s->model->config;
    Scratch *w = s->scratch;
    size_t d = (size_t)c->head_dim, heads = (size_t)c->n_heads;
    for (Share i = team_share(&w->team, n * heads); i.at < i.end; i.at++) {
        memcpy(w->q + i.at * d, w->more->gated + i.at * 2 * d, d * sizeof *w->q);
        memcpy(w->more->gates + i.at * d, w->more->gated + (i.at * 2 + 1) * d, d * sizeof *w->q);
    }
    team_wait(&w->team);
}

/* att *= sigmoid(gate) */
static void close_gates(Session *s, size_t n) {
    const Config *c = &s->model->config;
    Scratch *w = s->scratch;
    size_t width = (size_t)c->n_heads * (size_t)c->head_dim;
    for (Share t = team_share(&w->team, n); t.at < t.end; t.at++)
        for (size_t i = t.at * width; i < (t.at + 1) * width; i++) w->att[i] /= 1 + expf(-w->more->gates[i]);
}

static void norm_head(const Session *s, float *x, const float *weight, size_t h, size_t d) {
    const Config *c = &s->model->config;
    if (decoder(s)->traits->qk == QK_EACH)
        s->model->kernels->enc->layernorm(x, x, weight + h * d, s->scratch->more->zeroes, d, c->norm_eps);
    else s->model->kernels->vec->rmsnorm(x, x, weight, d, c->norm_eps);
}

/* All heads of q and of k as one vector each. */
static void norm_whole(Session *s, const Layer *y, size_t n) {
    const Config *c = &s->model->config;
    Scratch *w = s->scratch;
    size_t q = (size_t)c->n_heads * (size_t)c->head_dim, k = (size_t)c->n_kv_heads * (size_t)c->head_dim;
    for (Share t = team_share(&w->team, n); t.at < t.end; t.at++) {
        norm(s, w->q + t.at * q, w->q + t.at * q, y->q_norm, NULL, q);
        norm(s, w->k + t.at * k, w->k + t.at * k, y->k_norm, NULL, k);
    }
    team_wait(&w->team);
}

/* q, k and v stay within +-clip. */
static void clip(Session *s, size_t n) {
    const Config *c = &s->model->config;
    Scratch *w = s->scratch;
    size_t d = (size_t)c->head_dim, q = (size_t)c->n_heads * d, kv = (size_t)c->n_kv_heads * d;
    float most = decoder(s)->clip;
    for (Share t = team_share(&w->team, n); t.at < t.end; t.at++) {
        for (size_t i = t.at * q; i < (t.at + 1) * q; i++) w->q[i] = fmaxf(-most, fminf(w->q[i], most));
        for (size_t i = t.at * kv; i < (t.at + 1) * kv; i++) {
            w->k[i] = fmaxf(-most, fminf(w->k[i], most));
            w->v[i] = fmaxf(-most, fminf(w->v[i], most));
        }
    }
    team_wait(&w->team);
}

/* A key head's v, made of k where the layer has no matrix for it, normalised without weights. */
static void norm_value(const Session *s, const Layer *y, size_t at, size_t d) {
    float *v = s->scratch->v + at * d;
    if (!y->wv.data) memcpy(v, s->scratch->k + at * d, d * sizeof *v);
    s->model->kernels->vec->rmsnorm(v, v, s->scratch->more->ones, d, s->model->config.norm_eps);
}

/* q = R q, k = R k, head by head, by the layer's own angles, with norms before or behind. A layer without RoPE keeps
 * them as they are. */
static void rotate_nowait(Session *s, int l, size_t n) {
    const Config *c = &s->model->config;
    const Layer *y = &s->model->layers[l];
    const LayerTraits *traits = decoder(s)->traits;
    const RopeConfig *rope = decoder(s)->kinds[l].turn == TURN_LOCAL ? &decoder(s)->local : &c->rope;
    Scratch *w = s->scratch;
    int turn = decoder(s)->kinds[l].turn;
    size_t d = (size_t)layer_head_dim(c, l), half = (size_t)rope->rotary_dim / 2, heads = (size_t)c->n_heads,
           kv = layer_borrows(c, l) ? 0 : (size_t)layer_kv_heads(c, l);
    const float *cos = turn == TURN_LOCAL ? w->more->cos : w->cos, *sin = turn == TURN_LOCAL ? w->more->sin : w->sin;
    int rotates = turn != TURN_NOT && !(s->rotates && turn == TURN_MAIN), by_head = traits->qk != QK_WHOLE;
    for (Share i = team_share(&w->team, n * (heads + kv)); i.at < i.end; i.at++) {
        size_t t = i.at / (heads + kv), h = i.at % (heads + kv);
        float *x = h < heads ? w->q + (t * heads + h) * d : w->k + (t * kv + h - heads) * d;
        const float *weight = !by_head ? NULL : h < heads ? y->q_norm : y->k_norm;
        if (traits->value_norm && h >= heads) norm_value(s, y, t * kv + h - heads, d);
        if (weight && !traits->qk_after) norm_head(s, x, weight, h < heads ? h : h - heads, d);
        if (rotates)
            s->model->kernels->vec->rotate(x, cos + t * half, sin + t * half, rope->rotary_dim, rope->pairing);
        if (weight && traits->qk_after) norm_head(s, x, weight, h < heads ? h : h - heads, d);
    }
}

/* att: softmax attention, LLaMA's but for what the row says. */
static void attend_heads(Session *s, int l, size_t n) {
    const Config *c = &s->model->config;
    const Layer *y = &s->model->layers[l];
    Scratch *w = s->scratch;
    int gated = decoder(s)->traits->gated_output;
    Packed a = step_pack(s, w->xn, n, (size_t)c->d_model, &y->wq);
    step_linear_nowait(s, gated ? w->more->gated : w->q, &a, &y->wq, y->bq);
    if (y->wk.data) step_linear_nowait(s, w->k, &a, &y->wk, y->bk);
    if (y->wv.data) step_linear_nowait(s, w->v, &a, &y->wv, y->bv);
    team_wait(&w->team);
    if (gated) part_gates(s, n);
    if (decoder(s)->traits->qk == QK_WHOLE) norm_whole(s, y, n);
    if (decoder(s)->clip > 0) clip(s, n);
    rotate_nowait(s, l, n);
    step_attend(s, l, n);
    if (gated) close_gates(s, n);
}

/* branch = Wo att */
static void attend(Session *s, int l, size_t n) {
    const Layer *y = &s->model->layers[l];
    Scratch *w = s->scratch;
    int latent = decoder(s)->traits->latent;
    if (latent) latent_attend(s, l, n, rotate_nowait);
    else attend_heads(s, l, n);
    Packed a = step_pack(s, latent ? w->more->values : w->att, n, y->wo.cols, &y->wo);
    step_linear_nowait(s, w->more->branch, &a, &y->wo, y->bo);
    team_wait(&w->team);
}

/* ---- the feed-forward network ---- */

void layers_activate(const Session *s, float *gate, const float *up, size_t n) {
    const Kernels *k = s->model->kernels;
    const Decoder *x = decoder(s);
    switch (x->traits->gate) {
    case GATE_PLAIN:
        if (x->activation == ACTIVATION_SILU) {
            k->vec->silu_mul(gate, up, n);
            return;
        }
        k->enc->activate(gate, n, x->activation);
        for (size_t i = 0; i < n; i++) gate[i] *= up[i];
        return;
    case GATE_NONE:
        memcpy(gate, up, n * sizeof *gate);
        k->enc->activate(gate, n, x->activation);
        return;
    case GATE_CLAMPED: /* (up + 1) g sigmoid(alpha g), both within the clamp */
        for (size_t i = 0; i < n; i++) {
            float g = fminf(gate[i], x->clamp), u = fmaxf(fminf(up[i], x->clamp), -x->clamp);
            gate[i] = (u + 1) * g / (1 + expf(-x->alpha * g));
        }
    }
}

/* branch = Wdown (act(Wgate xn) * Wup xn). */
static void feed_forward(Session *s, const Layer *y, size_t n) {
    Scratch *w = s->scratch;
    size_t ff = y->w_up.rows;
    Packed a = step_pack(s, w->xn, n, (size_t)s->model->config.d_model, &y->w_up);
    if (y->w_gate.data) step_linear_nowait(s, w->gate, &a, &y->w_gate, y->b_gate);
    step_linear_nowait(s, w->up, &a, &y->w_up, y->b_up);
    team_wait(&w->team);
    for (Share t = team_share(&w->team, n); t.at < t.end; t.at++)
        layers_activate(s, w->gate + t.at * ff, w->up + t.at * ff, ff);
    a = step_pack(s, w->gate, n, ff, &y->w_down);
    step_linear_nowait(s, w->more->branch, &a, &y->w_down, y->b_down);
    team_wait(&w->team);
}

static void network(Session *s, int l, size_t n) {
    const Decoder *x = decoder(s);
    const Layer *y = &s->model->layers[l];
    if (!x->kinds[l].experts || x->d_shared) feed_forward(s, y, n);
    if (x->kinds[l].experts) experts_ask(s, l, n);
}

/* ---- the pass ---- */

/* What an encoder's x has besides: its token type's row, and a norm. */
static void embed_around(const Session *s, float *x, float *row, int type) {
    const Encoder *e = s->model->encoder;
    size_t d = (size_t)s->model->config.d_model;
    if (e->types.data) matrix_row(row, &e->types, (size_t)type);
    for (size_t i = 0; e->types.data && i < d; i++) x[i] += row[i];
    if (e->emb_norm) norm(s, x, x, e->emb_norm, e->emb_norm_b, d);
}

/* x = embedding of token t's id; its position's angles. */
static void embed_nowait(Session *s, size_t t) {
    const Config *c = &s->model->config;
    const Decoder *x = c->decoder;
    Scratch *w = s->scratch;
    size_t d = (size_t)c->d_model, half = (size_t)x->local.rotary_dim / 2;
    matrix_row(w->x + t * d, &s->model->tok_emb, (size_t)w->tokens[t].id);
    for (size_t i = t * d; x->embed_scale != 1 && i < (t + 1) * d; i++) w->x[i] *= x->embed_scale;
    if (c->place) c->place(c->positions, w->x + t * d, (int64_t)w->tokens[t].pos);
    if (s->model->encoder) embed_around(s, w->x + t * d, w->more->branch + t * d, w->tokens[t].type);
    step_angles_nowait(s, t);
    if (half) rope_row(&w->more->local, (int64_t)w->tokens[t].pos, w->more->cos + t * half, w->more->sin + t * half);
}

/* An encoder's way from x to words: h = norm(act(W x + b)), or x. */
static const float *words_head(Session *s, size_t t, size_t n) {
    const Model *m = s->model;
    const Encoder *e = m->encoder;
    Scratch *w = s->scratch;
    size_t d = (size_t)m->config.d_model;
    if (!e->mlm_dense.data) return w->x + t * d;
    Packed a = step_pack(s, w->x + t * d, n, d, &e->mlm_dense);
    step_linear_nowait(s, w->head, &a, &e->mlm_dense, e->mlm_dense_b);
    team_wait(&w->team);
    for (Share i = team_share(&w->team, n); i.at < i.end; i.at++) {
        float *h = w->head + i.at * d;
        m->kernels->enc->activate(h, d, m->config.roformer.activation);
        norm(s, h, h, e->mlm_norm, e->mlm_norm_b ? e->mlm_norm_b : w->more->zeroes, d);
    }
    return w->head;
}

/* logits = lm_head xn, scaled and capped where the model says so: cap tanh(z / cap). */
static void logits(Session *s, size_t t, size_t n) {
    const Model *m = s->model;
    const Decoder *x = decoder(s);
    Scratch *w = s->scratch;
    size_t d = (size_t)m->config.d_model, vocab = (size_t)m->config.vocab_size;
    const float *h = m->encoder ? words_head(s, t, n) : w->xn + t * d;
    Packed last = step_pack(s, h, n, d, &m->lm_head);
    step_linear_nowait(s, s->logits, &last, &m->lm_head, m->encoder ? m->encoder->mlm_bias : x->head_b);
    if (x->logit_scale == 1 && x->logit_cap == 0) return;
    team_wait(&w->team);
    for (Share i = team_share(&w->team, n * vocab); i.at < i.end; i.at++) {
        float z = s->logits[i.at] * x->logit_scale;
        s->logits[i.at] = x->logit_cap > 0 ? x->logit_cap * tanhf(z / x->logit_cap) : z;
    }
}

static void layer(Session *s, int l, size_t n) {
    const Layer *y = &s->model->layers[l];
    const LayerMore *more = y->more;
    const Decoder *x = decoder(s);
    int sums = x->traits->norm_sum;
    layers_take_in_nowait(s, sums ? NULL : y->attn_norm, more->attn_norm_b, n);
    if (x->kinds[l].mixer == MIXER_DELTA) delta_mix(s, l, n);
    else if (x->kinds[l].mixer == MIXER_CONV) conv_mix(s, l, n);
    else attend(s, l, n);
    if (x->parallel == OWN_NORMS) layers_take_in_nowait(s, y->ffn_norm, more->ffn_norm_b, n);
    add_nowait(s, more->attn_out, sums ? y->attn_norm : NULL, more->attn_norm_b, n);
    if (x->parallel == IN_TURN) layers_take_in_nowait(s, sums ? NULL : y->ffn_norm, more->ffn_norm_b, n);
    network(s, l, n);
    add_nowait(s, more->ffn_out, sums ? y->ffn_norm : NULL, more->ffn_norm_b, n);
    if (x->per_layer) per_layer_branch(s, l, n);
    if (x->per_layer) add_nowait(s, more->per_layer_after, NULL, NULL, n);
    if (more->out_scale) layers_scale_nowait(s, s->scratch->x, *more->out_scale, n);
}

/* Layer l, or for -1 the embeddings; behind the last one xn = norm(x), which an encoder's x becomes, too. */
static void step(Session *s, int l, size_t n) {
    const Model *m = s->model;
    Scratch *w = s->scratch;
    size_t d = (size_t)m->config.d_model;
    for (Share t = team_share(&w->team, l < 0 ? n : 0); t.at < t.end; t.at++) embed_nowait(s, t.at);
    if (l < 0 && m->config.decoder->per_layer) per_layer_embed(s, n);
    if (l >= 0) layer(s, l, n);
    if (l + 1 < m->config.n_layers) return;
    layers_take_in_nowait(s, m->final_norm, m->config.decoder->final_norm_b, n);
    for (Share t = team_share(&w->team, m->encoder ? n : 0); t.at < t.end; t.at++)
        memcpy(w->x + t.at * d, w->xn + t.at * d, d * sizeof *w->x);
}

/* What every thread runs. */
static void forward_step(void *arg) {
    const Batch *batch = arg;
    step(batch->s, batch->l, batch->n);
}

static void forward(void *arg) {
    const Batch *batch = arg;
    Session *s = batch->s;
    size_t n = batch->n;
    for (int l = -1; l < s->model->config.n_layers; l++) step(s, l, n);
    if (!batch->n_last) return;
    team_wait(&s->scratch->team);
    logits(s, n - batch->n_last, batch->n_last);
}

static void forward_logits(void *arg) {
    const Batch *batch = arg;
    logits(batch->s, batch->t, batch->n);
}

static void layers_forward(Session *s, size_t n, size_t n_last) {
    if (s->pos == 0 && decoder(s)->n_states) delta_clear(s->past->delta);
    step_run(s, n * s->model->n_parameters, forward, (Batch){.n = n, .n_last = n_last});
}

static void layers_logits(Session *s, size_t t, size_t n) {
    step_run(s, n * s->model->lm_head.rows * s->model->lm_head.cols, forward_logits, (Batch){.t = t, .n = n});
}

static void layers_step(Session *s, int l, size_t n) {
    step_run(s, n * s->model->n_parameters, forward_step, (Batch){.n = n, .l = l});
}

static const char *layers_refuse(const Model *m) {
    return m->encoder ? "this encoder reads a text whole, not id by id (its mask is not causal)" : NULL;
}

const Family family_layers = {.read_config = layers_read_config,
                              .load = layers_load,
                              .refuses = layers_refuse,
                              .carve = layers_carve,
                              .step = layers_step,
                              .forward = layers_forward,
                              .logits = layers_logits};
