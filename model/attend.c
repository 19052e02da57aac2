/* model/attend.c - attention of a batch: softmax over the cache, or linear attention through its state. */
#include "steps.h"

#include "attention/softmax.h"

#include <math.h>

/* Head i of a batch's, n_heads of q and n_kv_heads of k a token. */
typedef struct {
    float *x;
    size_t t;
    int h, is_key;
} Head;

static Head head_of(const Session *s, size_t i) {
    const Config *c = &s->model->config;
    size_t hd = (size_t)c->head_dim, q_heads = (size_t)c->n_heads, kv_heads = (size_t)c->n_kv_heads;
    size_t t = i / (q_heads + kv_heads), h = i % (q_heads + kv_heads);
    if (h < q_heads) return (Head){.x = s->scratch->q + (t * q_heads + h) * hd, .t = t, .h = (int)h};
    h -= q_heads;
    return (Head){.x = s->scratch->k + (t * kv_heads + h) * hd, .t = t, .h = (int)h, .is_key = 1};
}

/* ---- softmax ---- */

static void store_keys(Session *s, int l, size_t n) {
    const Config *c = &s->model->config;
    Scratch *w = s->scratch;
    for (Share i = team_share(&w->team, n * (size_t)(c->n_heads + c->n_kv_heads)); i.at < i.end; i.at++) {
        Head a = head_of(s, i.at);
        size_t slot = w->tokens[a.t].slot;
        const float *v = w->v + (a.t * (size_t)c->n_kv_heads + (size_t)a.h) * (size_t)c->value_dim;
        if (a.is_key && slot != TOKEN_PADDING)
            cache_store(&s->cache, l % s->cache.n_layers, a.h, slot, a.x, v, s->model->kernels);
    }
    team_wait(&w->team);
}

/* What scores are multiplied by: 1 / sqrt(head_dim); where the model says so, as much larger as the logarithm of the
 * number of keys is than that of log_scale. */
static float score_scale(const Config *c, size_t n_keys) {
    float scale = 1 / sqrtf((float)c->head_dim);
    return c->log_scale ? scale * logf((float)(n_keys > 16 ? n_keys : 16)) / logf((float)c->log_scale) : scale;
}

/* The queries of heads h .. h+heads-1 of tokens t .. t+n-1, into out [n*heads]. */
static void take_queries(const Session *s, int l, size_t t, size_t n, size_t h, size_t heads, AttentionQuery *out) {
    const Config *c = &s->model->config;
    const Scratch *w = s->scratch;
    size_t window = s->model->layers[l].window, hd = (size_t)c->head_dim, vd = (size_t)c->value_dim;
    for (size_t end = t + n; t < end; t++) {
        const Token *token = &w->tokens[t];
        size_t first = window && token->end > window + token->first ? token->end - window : token->first;
        float scale = score_scale(c, token->end - first);
        for (size_t i = h; i < h + heads; i++) {
            size_t at = t * (size_t)c->n_heads + i;
            *out++ = (AttentionQuery){.q = w->q + at * hd,
                                      .out = w->att + at * vd,
                                      .text = token->first,
                                      .first = first,
                                      .end = token->end,
                                      .scale = scale};
        }
    }
}

/* Every head of every token against the cache. A task is a tile of tokens and heads that share a key head, so that a
 * key is loaded once for all of them: the whole group, unless there are fewer tasks than threads. */
static void attend_softmax(Session *s, int l, size_t n) {
    const Config *c = &s->model->config;
    Scratch *w = s->scratch;
    size_t kv_heads = (size_t)c->n_kv_heads, group = (size_t)c->n_heads / kv_heads,
           threads = (size_t)s->options.threads;
    size_t part = n * kv_heads >= threads ? group : (n * kv_heads * group + threads - 1) / threads;
    if (part > ATTENTION_QUERIES) part = ATTENTION_QUERIES;
    size_t parts = (group + part - 1) / part, tile = ATTENTION_QUERIES / part, tiles = (n + tile - 1) / tile;
    float *scratch = w->attend + (size_t)team_member() * w->attend_floats;
    store_keys(s, l, n);
    for (Share i; team_take(&w->team, kv_heads * parts * tiles, &i);)
        for (; i.at < i.end; i.at++) { /* head by head, so that its keys stay near while all tokens pass */
            AttentionQuery queries[ATTENTION_QUERIES];
            size_t h = i.at / tiles / parts, from = i.at / tiles % parts * part,
                   heads = group - from < part ? group - from : part;
            size_t t = (tiles - 1 - i.at % tiles) * tile,
                   m = n - t < tile ? n - t : tile; /* the last see most: they begin */
            take_queries(s, l, t, m, h * group + from, heads, queries);
            attention_softmax(queries, m * heads, &s->cache, l % s->cache.n_layers, (int)h, scratch, s->model->kernels);
        }
    team_wait(&w->team);
}

/* ---- linear ---- */

static void denominators(Session *s, int l, int h) {
    const Scratch *w = s->scratch;
    for (const Block *k = w->blocks; k < w->blocks + w->n_blocks; k++) {
        LinearBatch part = linear_part(&w->batch, s->state.rows, k->from, k->n, k->causal);
        if (k->fresh) linear_clear_z(&s->state, l, h);
        linear_denominators(&s->state, &s->model->config.linear, &part, l, h);
    }
}

static void numerators(Session *s, int l, int h, size_t strip, double *scratch) {
    const Config *c = &s->model->config;
    const Kernels *kernels = s->model->kernels;
    Scratch *w = s->scratch;
    for (const Block *k = w->blocks; k < w->blocks + w->n_blocks; k++) {
        LinearBatch part = linear_part(&w->batch, s->state.rows, k->from, k->n, k->causal);
        float *out = w->att + k->from * (size_t)c->n_heads * (size_t)c->value_dim;
        const float *v = w->v + k->from * (size_t)c->n_kv_heads * (size_t)c->value_dim;
        size_t chunk = s->options.chunk;
        if (k->fresh) linear_clear_strip(&s->state, l, h, strip);
        if (chunk > 1 && k->causal)
            s->options.chunks->numerators(out, v, &s->state, &part, l, h, strip, chunk, scratch, kernels);
        else linear_numerators(out, v, &s->state, &part, l, h, strip, kernels);
    }
}

/* Features of q and k, rotated where the form says so; then the state of each key head takes the tokens in, in order,
 * first z (for the denominators), then S, whose columns are independent of each other. */
static void attend_linear(Session *s, int l, size_t n) {
    const Config *c = &s->model->config;
    const RopeConfig *rope = &c->rope;
    Scratch *w = s->scratch;
    size_t half = (size_t)rope->rotary_dim / 2, strips = s->state.n_strips;
    double *scratch = w->chunk + (size_t)team_member() * w->chunk_doubles;
    for (Share i = team_share(&w->team, n * (size_t)(c->n_heads + c->n_kv_heads)); i.at < i.end; i.at++) {
        Head a = head_of(s, i.at);
        const double *cos = w->cos64 + a.t * half, *sin = w->sin64 + a.t * half;
        linear_features(&c->linear, &w->batch, a.is_key ? LINEAR_KEY : LINEAR_QUERY, a.t, a.h, a.x, cos, sin,
                        rope->rotary_dim, rope->pairing, s->model->kernels);
        if (a.is_key && w->tokens[a.t].slot == TOKEN_PADDING) linear_skip_key(&w->batch, s->state.rows, a.t, a.h);
    }
    team_wait(&w->team);
    for (Share h = team_share(&w->team, (size_t)c->n_kv_heads); h.at < h.end; h.at++) denominators(s, l, (int)h.at);
    team_wait(&w->team);
    for (Share i = team_share(&w->team, (size_t)c->n_kv_heads * strips); i.at < i.end; i.at++)
        numerators(s, l, (int)(i.at / strips), i.at % strips, scratch);
    team_wait(&w->team);
}

void step_attend(Session *s, int l, size_t n) {
    if (s->model->config.linear.form)
        attend_linear(s, l, n); /* att = (R phi(q))^T S / (phi(q) . z), S += R phi(k) v^T */
    else attend_softmax(s, l, n);                             /* att = softmax(R q (R K)^T / sqrt(head_dim)) V */
}
