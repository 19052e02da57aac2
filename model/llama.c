/* model/llama.c - the decoder's forward pass: LLaMA, arXiv:2302.13971, and its relatives. The page to read first.
 *
 * A batch of n tokens goes through all layers inside one parallel region. Every thread runs this text; a loop under
 * `omp for` is shared out among them. It ends in a barrier, or, where it says nowait, the next `omp barrier` is the line
 * after which its results may be read. Which thread computes an output never changes its bits. */
#include "llama.h"

#include "../base/threads.h"

#include <math.h>

/* xn[t] = rmsnorm(x[t]) * w */
static void norm(const Session *s, float *xn, const float *x, const float *w, size_t n, size_t d) {
    #pragma omp for schedule(static)
    for (size_t t = 0; t < n; t++) s->model->kernels->rmsnorm(xn + t * d, x + t * d, w, d, s->model->config.norm_eps);
}

/* Activations x [n, d] as the weights w will want them: as they are, or quantized in w's groups. */
static Activations activations(const Session *s, const float *x, size_t n, size_t d, const Matrix *w) {
    int group = matrix_group(w);
    Activations a = {.d = d, .x = x, .group = group, .q = s->act_q, .scale = s->act_scale};
    if (group) {
        #pragma omp for schedule(static)
        for (size_t t = 0; t < n; t++)
            s->model->kernels->quantize(s->act_q + t * d, s->act_scale + t * (d / (size_t)group), x + t * d, d, group);
    }
    return a;
}

/* y[t] = W x[t] + b, no barrier behind it; threads share the rows of W, in strips of 16: a cache line of outputs. */
enum { STRIP = 16 };

static void linear(const Session *s, float *y, Activations *a, size_t n, const Matrix *w, const float *b) {
    if (matrix_group(w) != a->group) { /* a file may mix types within a layer */
        #pragma omp barrier
        *a = activations(s, a->x, n, a->d, w);
    }
    #pragma omp for schedule(static) nowait
    for (size_t strip = 0; strip < (w->rows + STRIP - 1) / STRIP; strip++) {
        size_t r0 = strip * STRIP, r1 = r0 + STRIP < w->rows ? r0 + STRIP : w->rows;
        s->model->kernels->matmul(y, w->rows, a, n, w, r0, r1);
        for (size_t t = 0; b && t < n; t++)
            for (size_t r = r0; r < r1; r++) y[t * w->rows + r] += b[r];
    }
}

static void add(float *x, const float *y, size_t n) {
    #pragma omp for schedule(static)
    for (size_t i = 0; i < n; i++) x[i] += y[i];
}

/* Head i of the batch's, n_heads of q and n_kv_heads of k a token: normalised where the model does so (qwen3). */
typedef struct {
    float *x;
    size_t t;
    int h, is_key;
} Head;

static Head head(const Session *s, int l, size_t i) {
    const Config *c = &s->model->config;
    const Layer *y = &s->model->layers[l];
    size_t hd = (size_t)c->head_dim, q_heads = (size_t)c->n_heads, kv_heads = (size_t)c->n_kv_heads, t = i / (q_heads + kv_heads);
    size_t h = i % (q_heads + kv_heads);
    int is_key = h >= q_heads;
    if (is_key) h -= q_heads;
    float *x = is_key ? s->k + (t * kv_heads + h) * hd : s->q + (t * q_heads + h) * hd;
    const float *weight = is_key ? y->k_norm : y->q_norm;
    if (weight) s->model->kernels->rmsnorm(x, x, weight, hd, c->norm_eps);
    return (Head){.x = x, .t = t, .h = (int)h, .is_key = is_key};
}

/* Softmax: q and k are turned by their token's position; keys and values go to the cache. */
static void turn_and_store(Session *s, int l, size_t n) {
    const Config *c = &s->model->config;
    size_t half = (size_t)c->rope.rotary_dim / 2, heads = (size_t)(c->n_heads + c->n_kv_heads);
    #pragma omp for schedule(static)
    for (size_t i = 0; i < n * heads; i++) {
        Head a = head(s, l, i);
        s->model->kernels->rotate(a.x, s->cos + a.t * half, s->sin + a.t * half, c->rope.rotary_dim, c->rope.pairing);
        if (a.is_key)
            cache_store(&s->cache, l, a.h, s->pos + a.t, a.x, s->v + (a.t * (size_t)c->n_kv_heads + (size_t)a.h) * (size_t)c->head_dim);
    }
}

/* Every head of every token against the cache; groups of n_heads/n_kv_heads query heads share a key head. */
static void attend_softmax(Session *s, int l, size_t n) {
    const Config *c = &s->model->config;
    size_t hd = (size_t)c->head_dim, heads = (size_t)c->n_heads, group = heads / (size_t)c->n_kv_heads;
    float scale = 1 / sqrtf((float)hd), *scores = s->scores + (size_t)threads_number() * s->options.n_ctx;
    turn_and_store(s, l, n);
    #pragma omp for schedule(dynamic)
    for (size_t i = 0; i < n * heads; i++) {
        size_t t = i / heads, h = i % heads;
        attention_softmax(s->att + i * hd, s->q + i * hd, &s->cache, l, (int)(h / group), s->pos + t, s->model->layers[l].window,
                          scale, scores, s->model->kernels);
    }
}

/* Linear: features of q and k, turned where the form says so; then the state of each key head takes the tokens in, in
 * order, first z (for the denominators), then S, whose columns are independent of each other. */
static void attend_linear(Session *s, int l, size_t n) {
    const Config *c = &s->model->config;
    const Kernels *kernels = s->model->kernels;
    size_t half = (size_t)c->rope.rotary_dim / 2, strips = s->state.n_strips;
    double *scratch = s->chunk + (size_t)threads_number() * s->chunk_floats;
    LinearBatch b = s->batch;
    b.n = n;
    #pragma omp for schedule(static)
    for (size_t i = 0; i < n * (size_t)(c->n_heads + c->n_kv_heads); i++) {
        Head a = head(s, l, i);
        linear_features(&c->linear, &b, a.is_key ? LINEAR_KEY : LINEAR_QUERY, a.t, a.h, a.x, s->cos64 + a.t * half, s->sin64 + a.t * half,
                        c->rope.rotary_dim, c->rope.pairing, kernels);
    }
    #pragma omp for schedule(static)
    for (int h = 0; h < c->n_kv_heads; h++) linear_denominators(&s->state, &c->linear, &b, l, h);
    #pragma omp for schedule(static)
    for (size_t i = 0; i < (size_t)c->n_kv_heads * strips; i++) {
        if (s->options.chunk > 1)
            linear_numerators_chunked(s->att, s->v, &s->state, &b, l, (int)(i / strips), i % strips, s->options.chunk, scratch, kernels);
        else linear_numerators(s->att, s->v, &s->state, &b, l, (int)(i / strips), i % strips, kernels);
    }
}

/* xn = Wdown (silu(Wgate xn) * Wup xn), by pieces of a token's d_ff, so that a single token has work for all threads. */
enum { PIECE = 512 };

static void feed_forward(Session *s, const Layer *y, size_t n) {
    const Config *c = &s->model->config;
    size_t d = (size_t)c->d_model, ff = (size_t)c->d_ff, pieces = (ff + PIECE - 1) / PIECE;
    Activations a = activations(s, s->xn, n, d, &y->w_gate);
    linear(s, s->gate, &a, n, &y->w_gate, y->b_gate);
    linear(s, s->up, &a, n, &y->w_up, y->b_up);
    #pragma omp barrier
    #pragma omp for schedule(static)
    for (size_t i = 0; i < n * pieces; i++) {
        size_t at = i % pieces * PIECE, from = i / pieces * ff + at;
        s->model->kernels->silu_mul(s->gate + from, s->up + from, ff - at < PIECE ? ff - at : PIECE);
    }
    a = activations(s, s->gate, n, ff, &y->w_down);
    linear(s, s->xn, &a, n, &y->w_down, y->b_down);
    #pragma omp barrier
}

/* logits = lm_head xn, for tokens t .. t+n-1. */
static void logits(Session *s, size_t t, size_t n) {
    const Matrix *w = &s->model->lm_head;
    size_t d = (size_t)s->model->config.d_model;
    Activations a = activations(s, s->xn + t * d, n, d, w);
    linear(s, s->logits, &a, n, w, NULL);
}

/* What every thread runs. */
static void forward(Session *s, const int *ids, size_t n, size_t n_last) {
    const Model *m = s->model;
    const Config *c = &m->config;
    size_t d = (size_t)c->d_model, half = (size_t)c->rope.rotary_dim / 2;

    #pragma omp for schedule(static)
    for (size_t t = 0; t < n; t++) {
        matrix_row(s->x + t * d, &m->tok_emb, (size_t)ids[t]);                           /* x = embedding of the id */
        if (s->cos) rope_row(&s->rope, (int64_t)(s->pos + t), s->cos + t * half, s->sin + t * half); /* its position's angles, */
        else rope_row64(&s->rope, (int64_t)(s->pos + t), s->cos64 + t * half, s->sin64 + t * half);  /* for all layers          */
    }
    for (int l = 0; l < c->n_layers; l++) {
        const Layer *y = &m->layers[l];
        norm(s, s->xn, s->x, y->attn_norm, n, d);            /* xn = rmsnorm(x) */
        Activations a = activations(s, s->xn, n, d, &y->wq);
        linear(s, s->q, &a, n, &y->wq, y->bq);               /* q = Wq xn */
        linear(s, s->k, &a, n, &y->wk, y->bk);               /* k = Wk xn */
        linear(s, s->v, &a, n, &y->wv, y->bv);               /* v = Wv xn */
        #pragma omp barrier
        if (c->linear.form) attend_linear(s, l, n);          /* att = (R phi(q))^T S / (phi(q) . z), S += R phi(k) v^T */
        else attend_softmax(s, l, n);                        /* att = softmax(R q (R K)^T / sqrt(head_dim)) V */
        a = activations(s, s->att, n, (size_t)c->n_heads * (size_t)c->head_dim, &y->wo);
        linear(s, s->xn, &a, n, &y->wo, y->bo);
        #pragma omp barrier
        add(s->x, s->xn, n * d);                             /* x += Wo att */
        norm(s, s->xn, s->x, y->ffn_norm, n, d);
        feed_forward(s, y, n);
        add(s->x, s->xn, n * d);                             /* x += Wdown (silu(Wgate xn) * Wup xn) */
    }
    norm(s, s->xn, s->x, m->final_norm, n, d);
    if (n_last) logits(s, n - n_last, n_last);
}

/* Threads wait for each other some dozen times a layer, and where another program takes a core they wait long: a model that
 * one core runs through in a fraction of a millisecond is left to one. */
static int threads_for(const Session *s, size_t multiplications) {
    size_t most = 1 + multiplications / s->options.grain;
    return most < (size_t)s->options.threads ? (int)most : s->options.threads;
}

void llama_forward(Session *s, const int *ids, size_t n, size_t n_last) {
    int threads = threads_for(s, n * s->model->n_parameters);
    (void)threads; /* without OpenMP */
    #pragma omp parallel num_threads(threads)
    forward(s, ids, n, n_last);
}

void llama_logits(Session *s, size_t t, size_t n) {
    int threads = threads_for(s, n * s->model->lm_head.rows * s->model->lm_head.cols);
    (void)threads;
    #pragma omp parallel num_threads(threads)
    logits(s, t, n);
}
