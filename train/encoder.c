/* train/encoder.c - RoFormer's encoder (v1) that learns as a masked language model: model/roformer.c's page, and the
 * way back. A norm stands behind each half of a layer, on the sum, so a layer keeps its sums; dx of a norm goes both
 * ways, into the branch and past it. */
#include "base/base.h"
#include "base/system.h"
#include "model/roformer_names.h"
#include "trainee.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
    Param *wq, *bq, *wk, *bk, *wv, *bv, *wo, *bo, *attn_norm, *attn_norm_b, *w_up, *b_up, *w_down, *b_down, *ffn_norm,
        *ffn_norm_b;
    float *x, *q, *k, *v, *att, *kept; /* kept [trainee_kept]; the others [n, ..] */
    float *y, *yn, *up, *h, *z;        /* y: x and attention; yn: its norm; z: yn and the feed-forward layer */
} Stage;

typedef struct {
    Param *words, *types, *norm, *norm_b, *dense, *dense_b, *mlm_norm, *mlm_norm_b, *bias;
    Stage *layers;
    float *sum, *x;                     /* word and type; behind the last layer */
    float *a, *g, *gn;                  /* the head: dense, GELU, its norm */
    float *d1, *d2, *dq, *dk, *dv;      /* gradients: d1 [n, widest], d2 [n, d_model] */
    float *memory;
    size_t floats;
} Page;

/* ---- what there is: the engine's table ---- */

static int takes(const RoformerName *row) {
    if (!row->gguf || row->flags & (NAME_ALIAS | NAME_OPTIONAL | NAME_PROJECTED | NAME_POSITIONS)) return 0;
    return row->group ? row->group == 'm' : (row->flags & NAME_V1) != 0;
}

static RoformerSizes sizes_of(const Config *c) {
    size_t heads = (size_t)c->n_heads, d = (size_t)c->d_model;
    return (RoformerSizes){.vocab = (size_t)c->vocab_size, .types = (size_t)c->roformer.n_types, .d_embed = d,
                           .d_model = d, .d_ff = (size_t)c->d_ff, .keys = heads * (size_t)c->head_dim,
                           .values = heads * (size_t)c->value_dim};
}

static int declare_row(Trainee *t, const RoformerName *row, int layer) {
    const RoformerSizes sizes = sizes_of(&t->config);
    char name[ROFORMER_NAME_MAX];
    size_t shape[2];
    int dims = roformer_names_shape(row, &sizes, shape);
    roformer_names_write(name, row, ROFORMER_IN_GGUF, layer, 0);
    return params_add(&t->params, name, shape[0], dims == 2 ? shape[1] : 0, dims == 2);
}

static int declare(Trainee *t) {
    const RoformerName *row;
    int rc = 0;
    for (size_t i = 0; (row = roformer_names_row(i)) && rc == 0; i++) {
        int in_layer = row->gguf && strchr(row->gguf, '#');
        for (int l = 0; takes(row) && l < (in_layer ? t->config.n_layers : 1) && rc == 0; l++)
            rc = declare_row(t, row, l);
    }
    return rc;
}

static Param *find(Trainee *t, const char *pattern, int l) {
    char name[TENSOR_NAME];
    weights_layer_name(name, pattern, l);
    return params_find(&t->params, name);
}

static void find_parameters(Trainee *t, Page *p) {
    struct { Param **at; const char *name; } of_page[] = {
        {&p->words, "token_embd.weight"}, {&p->types, "token_types.weight"}, {&p->norm, "token_embd_norm.weight"},
        {&p->norm_b, "token_embd_norm.bias"}, {&p->dense, "mlm.dense.weight"}, {&p->dense_b, "mlm.dense.bias"},
        {&p->mlm_norm, "mlm.norm.weight"}, {&p->mlm_norm_b, "mlm.norm.bias"}, {&p->bias, "mlm.bias"}};
    for (size_t i = 0; i < sizeof of_page / sizeof *of_page; i++) *of_page[i].at = find(t, of_page[i].name, 0);
    for (int l = 0; l < t->config.n_layers; l++) {
        Stage *y = &p->layers[l];
        struct { Param **at; const char *name; } of_layer[] = {
            {&y->wq, "blk.#.attn_q.weight"}, {&y->bq, "blk.#.attn_q.bias"}, {&y->wk, "blk.#.attn_k.weight"},
            {&y->bk, "blk.#.attn_k.bias"}, {&y->wv, "blk.#.attn_v.weight"}, {&y->bv, "blk.#.attn_v.bias"},
            {&y->wo, "blk.#.attn_output.weight"}, {&y->bo, "blk.#.attn_output.bias"},
            {&y->attn_norm, "blk.#.attn_output_norm.weight"}, {&y->attn_norm_b, "blk.#.attn_output_norm.bias"},
            {&y->w_up, "blk.#.ffn_up.weight"}, {&y->b_up, "blk.#.ffn_up.bias"}, {&y->w_down, "blk.#.ffn_down.weight"},
            {&y->b_down, "blk.#.ffn_down.bias"}, {&y->ffn_norm, "blk.#.layer_output_norm.weight"},
            {&y->ffn_norm_b, "blk.#.layer_output_norm.bias"}};
        for (size_t i = 0; i < sizeof of_layer / sizeof *of_layer; i++) *of_layer[i].at = find(t, of_layer[i].name, l);
    }
}

/* Where everything lies in memory; NULL: only how many floats there are, which is returned. */
static size_t lay_out(const Trainee *t, Page *p, float *memory) {
    const Config *c = &t->config;
    size_t n = trainee_tokens(t), d = n * (size_t)c->d_model, ff = n * (size_t)c->d_ff,
           q = n * (size_t)c->n_heads * (size_t)c->head_dim, widest = ff > q ? ff : q, at = 0;
    if (d > widest) widest = d;
    for (int l = 0; l < c->n_layers; l++) {
        Stage *y = &p->layers[l];
        float **const parts[] = {&y->x, &y->q, &y->k, &y->v, &y->att, &y->kept, &y->y, &y->yn, &y->up, &y->h, &y->z};
        const size_t sizes[] = {d, q, q, q, q, trainee_kept(t), d, d, ff, ff, d};
        for (size_t i = 0; i < sizeof sizes / sizeof *sizes; at += sizes[i++]) *parts[i] = memory ? memory + at : NULL;
    }
    float **const parts[] = {&p->sum, &p->x, &p->a, &p->g, &p->gn, &p->d1, &p->d2, &p->dq, &p->dk, &p->dv};
    const size_t sizes[] = {d, d, d, d, d, widest, d, q, q, q};
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
    *bias = ((Page *)t->page)->bias;
    return ((Page *)t->page)->words;
}

/* ---- forward ---- */

/* y [n, d] += x, or += x [d] in every row */
static void add(Work *w, float *y, const float *x, size_t n, size_t d, int same_row) {
    for (Share t = team_share(&w->team, n); t.at < t.end; t.at++)
        for (size_t i = 0; i < d; i++) y[t.at * d + i] += same_row ? x[i] : x[t.at * d + i];
    team_wait(&w->team);
}

static const float *forward(Trainee *t, const int *ids) {
    const Config *c = &t->config;
    Page *p = t->page;
    Work *w = &t->work;
    size_t n = trainee_tokens(t), d = (size_t)c->d_model, ff = (size_t)c->d_ff;
    float eps = c->norm_eps, *x = p->layers[0].x;
    embedding_forward(w, p->sum, ids, p->words, n);
    add(w, p->sum, p->types->w, n, d, 1);
    trainee_place(t, p->sum);
    layernorm_forward(w, x, p->sum, p->norm, p->norm_b, n, eps);                /* x = norm(word + type) */
    for (int l = 0; l < c->n_layers; l++) {
        Stage *y = &p->layers[l];
        x = l + 1 < c->n_layers ? p->layers[l + 1].x : p->x;
        linear_forward(w, y->q, 0, y->x, y->wq, y->bq, n);                      /* q = Wq x + bq */
        linear_forward(w, y->k, 0, y->x, y->wk, y->bk, n);
        linear_forward(w, y->v, 0, y->x, y->wv, y->bv, n);
        trainee_attend(t, y->att, y->kept, y->q, y->k, y->v);                   /* q = R q, k = R k, attention */
        linear_forward(w, y->y, 0, y->att, y->wo, y->bo, n);
        add(w, y->y, y->x, n, d, 0);
        layernorm_forward(w, y->yn, y->y, y->attn_norm, y->attn_norm_b, n, eps); /* yn = norm(x + Wo att + bo) */
        linear_forward(w, y->up, 0, y->yn, y->w_up, y->b_up, n);
        gelu_forward(w, y->h, y->up, n * ff);
        linear_forward(w, y->z, 0, y->h, y->w_down, y->b_down, n);
        add(w, y->z, y->yn, n, d, 0);
        layernorm_forward(w, x, y->z, y->ffn_norm, y->ffn_norm_b, n, eps);      /* x = norm(yn + W2 gelu(W1 yn)) */
    }
    linear_forward(w, p->a, 0, p->x, p->dense, p->dense_b, n);
    gelu_forward(w, p->g, p->a, n * d);
    layernorm_forward(w, p->gn, p->g, p->mlm_norm, p->mlm_norm_b, n, eps);      /* norm(gelu(W x + b)) */
    return p->gn;
}

/* ---- and back: the same lines, from the last ---- */

static void backward(Trainee *t, const int *ids, float *dx) {
    const Config *c = &t->config;
    Page *p = t->page;
    Work *w = &t->work;
    size_t n = trainee_tokens(t), d = (size_t)c->d_model, ff = (size_t)c->d_ff;
    float eps = c->norm_eps;
    layernorm_backward(w, p->d2, dx, p->g, p->mlm_norm, p->mlm_norm_b, n, eps);
    gelu_backward(w, p->d2, p->d2, p->a, n * d);                                /* d2 = da */
    linear_backward(w, dx, 0, p->x, &(Mapped){p->d2, p->dense, p->dense_b}, 1, n);
    for (int l = c->n_layers - 1; l >= 0; l--) {
        Stage *y = &p->layers[l];
        layernorm_backward(w, p->d2, dx, y->z, y->ffn_norm, y->ffn_norm_b, n, eps);    /* d2 = dz */
        const Mapped of_x[] = {{p->dq, y->wq, y->bq}, {p->dk, y->wk, y->bk}, {p->dv, y->wv, y->bv}};
        linear_backward(w, p->d1, 0, y->h, &(Mapped){p->d2, y->w_down, y->b_down}, 1, n);
        gelu_backward(w, p->d1, p->d1, y->up, n * ff);                                 /* d1 = dup */
        linear_backward(w, p->d2, 1, y->yn, &(Mapped){p->d1, y->w_up, y->b_up}, 1, n);  /* d2 = dyn */
        layernorm_backward(w, dx, p->d2, y->y, y->attn_norm, y->attn_norm_b, n, eps);  /* dx = dy */
        linear_backward(w, p->d1, 0, y->att, &(Mapped){dx, y->wo, y->bo}, 1, n);       /* d1 = datt */
        trainee_attend_backward(t, p->dq, p->dk, p->dv, p->d1, y->att, y->kept, y->q, y->k, y->v);
        linear_backward(w, dx, 1, y->x, of_x, 3, n);
    }
    layernorm_backward(w, p->d2, dx, p->sum, p->norm, p->norm_b, n, eps);
    trainee_place_backward(t, p->d2);
    work_sum_columns(w, p->types->g, p->d2, NULL, NULL, n, d);
    embedding_backward(w, p->d2, ids, p->words, n);
}

const TraineeFamily trainee_encoder = {.arch = "roformer", .declare = declare, .allocate = allocate,
                                       .release = release, .forward = forward, .backward = backward, .head = head};
