/* train/decoder.c - a decoder of the LLaMA family that learns: model/llama.c's page, and the way back.
 *
 * Forward keeps what backward needs: the x before each norm, what the norm made of it, q, k, v and attention's output,
 * gate and up. Backward goes through the same lines from the last to the first; dx is the gradient of the residual, to
 * which every branch adds its own. */
#include "base/base.h"
#include "base/system.h"
#include "model/family.h"
#include "trainee.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
    Param *attn_norm, *wq, *wk, *wv, *wo, *ffn_norm, *w_gate, *w_up, *w_down;
    float *x, *xn, *q, *k, *v, *att, *kept; /* kept [trainee_kept]; the others [n, ..] */
    float *y, *yn, *gate, *up, *h;          /* y: x and attention; yn: its norm */
} Stage;

typedef struct {
    Param *tok_emb, *final_norm, *lm_head;
    Stage *layers;
    float *x, *xn;                       /* behind the last layer; its norm */
    float *d1, *d2, *d3, *dq, *dk, *dv;  /* gradients: d1, d2 [n, widest], d3 [n, d_model] */
    float *memory;
    size_t floats;
} Page;

/* ---- what there is: the engine's table ---- */

static int declare(Trainee *t) {
    const Config *c = &t->config;
    char name[TENSOR_NAME];
    for (int l = -1; l <= c->n_layers; l++) /* what is in no layer: before them and behind them */
        for (const DecoderTensor *d = decoder_tensors; d->gguf; d++) {
            int in_layer = strchr(d->gguf, '#') != NULL, first = d == decoder_tensors;
            if (in_layer != (l >= 0 && l < c->n_layers) || (!in_layer && first != (l < 0)) || decoder_has(c, d) <= 0)
                continue;
            weights_layer_name(name, d->gguf, l);
            if (params_add(&t->params, name, decoder_size(c, d->rows), decoder_size(c, d->cols), d->cols != 0))
                return -ENOMEM;
        }
    return 0;
}

static Param *find(Trainee *t, const char *pattern, int l) {
    char name[TENSOR_NAME];
    weights_layer_name(name, pattern, l);
    return params_find(&t->params, name);
}

static void find_parameters(Trainee *t, Page *p) {
    p->tok_emb = find(t, "token_embd.weight", 0);
    p->final_norm = find(t, "output_norm.weight", 0);
    p->lm_head = find(t, "output.weight", 0);
    if (!p->lm_head) p->lm_head = p->tok_emb;
    for (int l = 0; l < t->config.n_layers; l++) {
        Stage *y = &p->layers[l];
        y->attn_norm = find(t, "blk.#.attn_norm.weight", l);
        y->wq = find(t, "blk.#.attn_q.weight", l);
        y->wk = find(t, "blk.#.attn_k.weight", l);
        y->wv = find(t, "blk.#.attn_v.weight", l);
        y->wo = find(t, "blk.#.attn_output.weight", l);
        y->ffn_norm = find(t, "blk.#.ffn_norm.weight", l);
        y->w_gate = find(t, "blk.#.ffn_gate.weight", l);
        y->w_up = find(t, "blk.#.ffn_up.weight", l);
        y->w_down = find(t, "blk.#.ffn_down.weight", l);
    }
}

/* Where everything lies in memory; NULL: only how many floats there are, which is returned. */
static size_t lay_out(const Trainee *t, Page *p, float *memory) {
    const Config *c = &t->config;
    size_t n = trainee_tokens(t), d = n * (size_t)c->d_model, ff = n * (size_t)c->d_ff,
           q = n * (size_t)c->n_heads * (size_t)c->head_dim,
           kv = n * (size_t)c->n_kv_heads * (size_t)c->head_dim, widest = ff > q ? ff : q, at = 0;
    if (d > widest) widest = d;
    for (int l = 0; l < c->n_layers; l++) {
        Stage *y = &p->layers[l];
        float **const parts[] = {&y->x, &y->xn, &y->q, &y->k, &y->v, &y->att, &y->kept,
                                 &y->y, &y->yn, &y->gate, &y->up, &y->h};
        const size_t sizes[] = {d, d, q, kv, kv, q, trainee_kept(t), d, d, ff, ff, ff};
        for (size_t i = 0; i < sizeof sizes / sizeof *sizes; at += sizes[i++]) *parts[i] = memory ? memory + at : NULL;
    }
    float **const parts[] = {&p->x, &p->xn, &p->d1, &p->d2, &p->d3, &p->dq, &p->dk, &p->dv};
    const size_t sizes[] = {d, d, widest, widest, d, q, kv, kv};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; at += sizes[i++]) *parts[i] = memory ? memory + at : NULL;
    return at;
}

static void release(Trainee *t) {
    Page *p = t->page;
    pages_free(p->memory, p->floats * sizeof *p->memory);
    free(p->layers);
    free(p);
    t->page = NULL;
}

static int allocate(Trainee *t) {
    Page *p = t->page = calloc(1, sizeof *p);
    size_t bytes;
    if (!p || !(p->layers = calloc((size_t)t->config.n_layers, sizeof *p->layers))) return -ENOMEM;
    find_parameters(t, p);
    p->floats = lay_out(t, p, NULL);
    if (!size_mul(p->floats, sizeof *p->memory, &bytes) || !(p->memory = pages_new(bytes))) return -ENOMEM;
    t->bytes += bytes;
    lay_out(t, p, p->memory);
    return 0;
}

static Param *head(Trainee *t, Param **bias) {
    *bias = NULL;
    return ((Page *)t->page)->lm_head;
}

/* ---- forward ---- */

/* y = x + y */
static void add(Work *w, float *y, const float *x, size_t n) {
    for (Share i = team_share(&w->team, n); i.at < i.end; i.at++) y[i.at] += x[i.at];
    team_wait(&w->team);
}

static const float *forward(Trainee *t, const int *ids) {
    const Config *c = &t->config;
    Page *p = t->page;
    Work *w = &t->work;
    size_t n = trainee_tokens(t), d = n * (size_t)c->d_model, ff = n * (size_t)c->d_ff;
    embedding_forward(w, c->n_layers ? p->layers[0].x : p->x, ids, p->tok_emb, n);
    trainee_place(t, c->n_layers ? p->layers[0].x : p->x);
    for (int l = 0; l < c->n_layers; l++) {
        Stage *y = &p->layers[l];
        float *next = l + 1 < c->n_layers ? p->layers[l + 1].x : p->x;
        rmsnorm_forward(w, y->xn, y->x, y->attn_norm, n, c->norm_eps);          /* xn = rmsnorm(x) */
        linear_forward(w, y->q, 0, y->xn, y->wq, NULL, n);                      /* q = Wq xn */
        linear_forward(w, y->k, 0, y->xn, y->wk, NULL, n);                      /* k = Wk xn */
        linear_forward(w, y->v, 0, y->xn, y->wv, NULL, n);                      /* v = Wv xn */
        trainee_attend(t, y->att, y->kept, y->q, y->k, y->v);                   /* q = R q, k = R k, attention */
        linear_forward(w, y->y, 0, y->att, y->wo, NULL, n);
        add(w, y->y, y->x, d);                                                  /* y = x + Wo att */
        rmsnorm_forward(w, y->yn, y->y, y->ffn_norm, n, c->norm_eps);
        linear_forward(w, y->gate, 0, y->yn, y->w_gate, NULL, n);
        linear_forward(w, y->up, 0, y->yn, y->w_up, NULL, n);
        swiglu_forward(w, y->h, y->gate, y->up, ff);
        linear_forward(w, next, 0, y->h, y->w_down, NULL, n);
        add(w, next, y->y, d);                                                  /* x = y + Wdown (silu(gate) * up) */
    }
    rmsnorm_forward(w, p->xn, p->x, p->final_norm, n, c->norm_eps);
    return p->xn;
}

/* ---- and back: the same lines, from the last ---- */

static void backward(Trainee *t, const int *ids, float *dxn) {
    const Config *c = &t->config;
    Page *p = t->page;
    Work *w = &t->work;
    size_t n = trainee_tokens(t), d = n * (size_t)c->d_model, ff = n * (size_t)c->d_ff;
    float *dx = p->d3;
    for (Share i = team_share(&w->team, d); i.at < i.end; i.at++) dx[i.at] = 0;
    team_wait(&w->team);
    rmsnorm_backward_add(w, dx, dxn, p->x, p->final_norm, n, c->norm_eps);
    for (int l = c->n_layers - 1; l >= 0; l--) {
        Stage *y = &p->layers[l];
        linear_backward(w, p->d1, 0, y->h, &(Mapped){dx, y->w_down, NULL}, 1, n); /* d1 = dh */
        swiglu_backward(w, p->d1, p->d2, p->d1, y->gate, y->up, ff);            /* d1 = dgate, d2 = dup */
        const Mapped of_yn[] = {{p->d1, y->w_gate, NULL}, {p->d2, y->w_up, NULL}},
                     of_xn[] = {{p->dq, y->wq, NULL}, {p->dk, y->wk, NULL}, {p->dv, y->wv, NULL}};
        linear_backward(w, dxn, 0, y->yn, of_yn, 2, n);                         /* dxn = dyn */
        rmsnorm_backward_add(w, dx, dxn, y->y, y->ffn_norm, n, c->norm_eps);    /* dx = dy */
        linear_backward(w, p->d1, 0, y->att, &(Mapped){dx, y->wo, NULL}, 1, n); /* d1 = datt */
        trainee_attend_backward(t, p->dq, p->dk, p->dv, p->d1, y->att, y->kept, y->q, y->k, y->v);
        linear_backward(w, dxn, 0, y->xn, of_xn, 3, n);
        rmsnorm_backward_add(w, dx, dxn, y->x, y->attn_norm, n, c->norm_eps);
    }
    trainee_place_backward(t, dx);
    embedding_backward(w, dx, ids, p->tok_emb, n);
}

const TraineeFamily trainee_decoder = {.arch = "llama", .declare = declare, .allocate = allocate, .release = release,
                                       .forward = forward, .backward = backward, .head = head};
