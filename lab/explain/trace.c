/* lab/explain/trace.c - see trace.h. */
#include "trace.h"

#include "base/base.h"
#include "lab/perplexity.h"
#include "model/past.h"
#include "model/timeline.h"
#include "rope/positions.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
    Trace *t;
    Probe probe;
} Reader;

/* ---- memory ---- */

static double linear_doubles(const Model *m, size_t n) {
    const Config *c = &m->config;
    return c->linear.form ? (double)n * linear_rows(&c->linear) * 2.0 * (c->n_heads + c->n_kv_heads) : 0;
}

double trace_bytes(const Model *m, size_t n, const TraceOptions *o) {
    const Config *c = &m->config;
    double turned = c->linear.form ? 1 : 2;
    double heads = turned * (c->n_heads + c->n_kv_heads) * c->head_dim + (double)(c->n_heads + c->n_kv_heads) *
                                                                             c->value_dim;
    double layer = (double)n * (heads + c->d_model) * sizeof(float) + linear_doubles(m, n) * sizeof(double);
    return layer * (o->layer_given ? 1 : c->n_layers);
}

/* n of so many bytes, zeroed and owned; NULL and *rc where there is no memory. */
static void *take(Trace *t, size_t n, size_t each, int *rc) {
    void *p = NULL, *owned = realloc(t->owned, (t->n_owned + 1) * sizeof *t->owned);
    if (owned) t->owned = owned, t->owned[t->n_owned++] = p = calloc(n ? n : 1, each);
    if (!p) *rc = -ENOMEM;
    return p;
}

static int reserve(Trace *t, char *err, size_t errlen) {
    const Config *c = &t->model->config;
    size_t all = (size_t)t->n_layers * t->n, heads = (size_t)c->n_heads, kv = (size_t)c->n_kv_heads,
           d = (size_t)c->head_dim, vd = (size_t)c->value_dim, F = sizeof(float), D = sizeof(double);
    int rc = 0;
    t->ids = take(t, t->n, sizeof *t->ids, &rc);
    t->tokens = take(t, t->n, sizeof *t->tokens, &rc);
    t->nll = take(t, t->n, D, &rc);
    if (c->mask == MASK_CAUSAL) t->logits = take(t, (size_t)c->vocab_size, F, &rc);
    t->x = take(t, all * (size_t)c->d_model, F, &rc);
    t->q = take(t, all * heads * d, F, &rc);
    t->k = take(t, all * kv * d, F, &rc);
    t->v = take(t, all * kv * vd, F, &rc);
    t->att = take(t, all * heads * vd, F, &rc);
    if (c->linear.form) {
        t->rows = (size_t)linear_rows(&c->linear);
        t->q_num = take(t, all * heads * t->rows, D, &rc);
        t->q_den = take(t, all * heads * t->rows, D, &rc);
        t->k_num = take(t, all * kv * t->rows, D, &rc);
        t->k_den = take(t, all * kv * t->rows, D, &rc);
        t->k_log = take(t, all * kv, D, &rc);
    } else {
        t->rq = take(t, all * heads * d, F, &rc);
        t->rk = take(t, all * kv * d, F, &rc);
    }
    return rc ? base_error(err, errlen, rc, "out of memory for what attention sees of %zu tokens; ask for one layer, "
                           "or a shorter text", t->n) : 0;
}

void trace_free(Trace *t) {
    for (size_t i = 0; i < t->n_owned; i++) free(t->owned[i]);
    free(t->owned);
    *t = (Trace){0};
}

/* ---- reading ---- */

/* A row a token of `from`, width wide, to where it belongs in layer l of `to`. */
static void copy(const Trace *t, float *to, const float *from, int l, size_t row, size_t b, size_t width) {
    memcpy(to + ((size_t)l * t->n + row) * width, from + b * width, width * sizeof *to);
}

/* Features of token b of a batch: arrays by head, then token. */
static void copy_features(const Trace *t, const LinearBatch *f, int l, size_t row, size_t b) {
    const Config *c = &t->model->config;
    size_t r = t->rows, heads = (size_t)c->n_heads, kv = (size_t)c->n_kv_heads;
    for (size_t h = 0; h < heads; h++) {
        size_t to = (((size_t)l * heads + h) * t->n + row) * r, from = (h * f->cap + b) * r;
        memcpy(t->q_num + to, f->q_num + from, r * sizeof *t->q_num);
        memcpy(t->q_den + to, f->q_den + from, r * sizeof *t->q_den);
    }
    for (size_t h = 0; h < kv; h++) {
        size_t at = ((size_t)l * kv + h) * t->n + row, from = h * f->cap + b;
        memcpy(t->k_num + at * r, f->k_num + from * r, r * sizeof *t->k_num);
        memcpy(t->k_den + at * r, f->k_den + from * r, r * sizeof *t->k_den);
        t->k_log[at] = f->k_log[from];
    }
}

static void see(void *arg, const Session *s, int l, size_t n) {
    const Reader *r = arg;
    Trace *t = r->t;
    const Config *c = &t->model->config;
    const Scratch *w = s->scratch;
    size_t heads = (size_t)c->n_heads, kv = (size_t)c->n_kv_heads, d = (size_t)c->head_dim, vd = (size_t)c->value_dim;
    int at = l - t->first;
    if (at < 0 || at >= t->n_layers) return;
    for (size_t b = 0; b < n; b++) {
        size_t row = w->tokens[b].pos - t->origin;
        t->tokens[row] = w->tokens[b];
        copy(t, t->x, w->x, at, row, b, (size_t)c->d_model);
        copy(t, t->q, r->probe.q, at, row, b, heads * d);
        copy(t, t->k, r->probe.k, at, row, b, kv * d);
        copy(t, t->v, w->v, at, row, b, kv * vd);
        copy(t, t->att, w->att, at, row, b, heads * vd);
        if (c->linear.form) copy_features(t, &s->past->batch, at, row, b);
        else copy(t, t->rq, w->q, at, row, b, heads * d), copy(t, t->rk, w->k, at, row, b, kv * d);
    }
}

static void hear(void *arg, size_t i, const float *logits) {
    Trace *t = arg;
    if (i + 1 < t->n) t->nll[i + 1] = perplexity_nll(t->model, logits, t->ids[i + 1]);
    else memcpy(t->logits, logits, (size_t)t->model->config.vocab_size * sizeof *logits);
}

static int read_text(Session *s, Trace *t, char *err, size_t errlen) {
    EncoderText text = {.ids = t->ids, .n = t->n};
    if (t->model->config.mask == MASK_CAUSAL) return session_eval_each(s, t->ids, t->n, hear, t, err, errlen);
    return encoder_read(s, &text, 1, err, errlen);
}

int trace_read(Trace *t, const Model *m, const int *ids, size_t n, const TraceOptions *o, char *err, size_t errlen) {
    Reader r = {.t = t};
    Session s = {0};
    *t = (Trace){.model = m, .n = n, .origin = o->origin, .n_layers = o->layer_given ? 1 : m->config.n_layers,
                 .first = o->layer_given ? o->layer : 0};
    if (n == 0) return base_error(err, errlen, -EINVAL, "there is no text");
    if (o->origin && m->config.mask != MASK_CAUSAL)
        return base_error(err, errlen, -EINVAL, "this model reads a text whole, from position 0 on");
    if (t->first < 0 || t->first >= m->config.n_layers)
        return base_error(err, errlen, -EINVAL, "there is no layer %d; layers are 0 to %d", t->first,
                          m->config.n_layers - 1);
    int rc = reserve(t, err, errlen);
    if (rc == 0) memcpy(t->ids, ids, n * sizeof *ids);
    for (size_t i = 0; rc == 0 && i < n; i++) t->nll[i] = NAN;
    probe_init(&r.probe, &r, see, o->turn);
    r.probe.turn_arg = o->turn_arg;
    SessionOptions options = {.n_ctx = n, .threads = o->threads, .cache = CACHE_F32, .origin = o->origin,
                              .n_logits = 8, .attention = &r.probe.attention, .progress = o->progress,
                              .progress_arg = o->progress_arg};
    if (rc == 0) rc = session_init(&s, m, &options, err, errlen);
    if (rc == 0 && !m->config.linear.form && !probe_turns(&s))
        rc = base_error(err, errlen, -EINVAL, "this way to stretch RoPE turns keys where they are read, each by "
                        "several angles; methods of frequencies can be shown");
    if (rc == 0) rc = read_text(&s, t, err, errlen);
    t->rope = s.rope;
    session_free(&s);
    if (rc) trace_free(t);
    return rc;
}

/* ---- looking ---- */

static const float *vector(const Trace *t, const float *all, int l, size_t heads, int h, size_t token, size_t width) {
    return all + (((size_t)(l - t->first) * t->n + token) * heads + (size_t)h) * width;
}

const float *trace_q(const Trace *t, int l, int h, size_t m) {
    return vector(t, t->q, l, (size_t)t->model->config.n_heads, h, m, (size_t)t->model->config.head_dim);
}

const float *trace_k(const Trace *t, int l, int h, size_t j) {
    return vector(t, t->k, l, (size_t)t->model->config.n_kv_heads, h, j, (size_t)t->model->config.head_dim);
}

const float *trace_rq(const Trace *t, int l, int h, size_t m) {
    return vector(t, t->rq, l, (size_t)t->model->config.n_heads, h, m, (size_t)t->model->config.head_dim);
}

const float *trace_rk(const Trace *t, int l, int h, size_t j) {
    return vector(t, t->rk, l, (size_t)t->model->config.n_kv_heads, h, j, (size_t)t->model->config.head_dim);
}

int trace_sees(const Trace *t, int l, size_t m, size_t j) {
    const Token *q = &t->tokens[m];
    size_t window = t->model->layers[l].window;
    size_t first = window && q->end > window + q->first ? q->end - window : q->first;
    return j >= first && j < q->end;
}

double trace_scale(const Trace *t, int l, size_t m) { return attention_scale(&t->model->config, &t->tokens[m], l); }

static double dot_f(const float *a, const float *b, size_t n) {
    double sum = 0;
    for (size_t i = 0; i < n; i++) sum += (double)a[i] * (double)b[i];
    return sum;
}

static double dot_d(const double *a, const double *b, size_t n) {
    double sum = 0;
    for (size_t i = 0; i < n; i++) sum += a[i] * b[i];
    return sum;
}

/* What the model's positions add to the score of m and j. */
static double bias_of_pair(const Trace *t, int h, size_t m, size_t j) {
    const Positions *p = t->model->config.positions;
    return p && p->kind->bias ? p->kind->bias(p, h, (int64_t)t->tokens[m].pos - (int64_t)t->tokens[j].pos) : 0;
}

static void softmax_row(const Trace *t, int l, int h, size_t m, double *out) {
    const Config *c = &t->model->config;
    double max = -INFINITY, sum = 0, scale = trace_scale(t, l, m);
    for (size_t j = 0; j < t->n; j++) {
        out[j] = NAN;
        if (!trace_sees(t, l, m, j)) continue;
        out[j] = scale * dot_f(trace_rq(t, l, h, m), trace_rk(t, l, h / (c->n_heads / c->n_kv_heads), j),
                               (size_t)c->head_dim) + bias_of_pair(t, h, m, j);
        max = fmax(max, out[j]);
    }
    for (size_t j = 0; j < t->n; j++)
        if (!isnan(out[j])) sum += out[j] = exp(out[j] - max);
    for (size_t j = 0; j < t->n; j++) out[j] /= sum;
}

/* eq. 19. FAVOR+'s features are kept divided by the largest factor of a key so far (attention/README.md): an earlier
 * key by less than the query's denominator has it. */
static void linear_row(const Trace *t, int l, int h, size_t m, double *out) {
    const Config *c = &t->model->config;
    const LinearForm *form = c->linear.form;
    size_t kv = (size_t)(h / (c->n_heads / c->n_kv_heads)), at = (size_t)(l - t->first), r = t->rows;
    const double *q_num = t->q_num + ((at * (size_t)c->n_heads + (size_t)h) * t->n + m) * r,
                 *q_den = t->q_den + ((at * (size_t)c->n_heads + (size_t)h) * t->n + m) * r;
    size_t keys = (at * (size_t)c->n_kv_heads + kv) * t->n;
    double below = 0, top = -INFINITY, so_far = -INFINITY;
    for (size_t j = 0; j < t->n; j++)
        if (trace_sees(t, l, m, j)) top = fmax(top, t->k_log[keys + j]);
    for (size_t j = 0; j < t->n; j++) {
        out[j] = NAN;
        if (!trace_sees(t, l, m, j)) continue;
        so_far = fmax(so_far, t->k_log[keys + j]);
        out[j] = exp(so_far - top) * dot_d(q_num, t->k_num + (keys + j) * r, r);
        below += exp(so_far - top) * dot_d(q_den, t->k_den + (keys + j) * r, r);
    }
    below += form->in_denominator && !form->cosine ? copysign(c->linear.epsilon, below) : c->linear.epsilon;
    for (size_t j = 0; j < t->n; j++) out[j] = below == 0 ? 0 * out[j] : out[j] / below;
}

void trace_weights(const Trace *t, int l, int h, double *out) {
    for (size_t m = 0; m < t->n; m++)
        if (t->model->config.linear.form) linear_row(t, l, h, m, out + m * t->n);
        else softmax_row(t, l, h, m, out + m * t->n);
}
