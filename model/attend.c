/* model/attend.c - attention of a batch: softmax over the cache, or linear attention through its state. */
#include "steps.h"

#include "attention/softmax.h"

#include <math.h>

/* ---- softmax ---- */

static void store_keys(Session *s, int l, size_t n) {
    const Config *c = &s->model->config;
    Scratch *w = s->scratch;
    size_t heads = (size_t)c->n_heads, kv = (size_t)c->n_kv_heads;
    for (Share i = team_share(&w->team, n * (heads + kv)); i.at < i.end; i.at++) {
        size_t t = i.at / (heads + kv), h = i.at % (heads + kv), slot = w->tokens[t].slot;
        if (h < heads || slot == TOKEN_PADDING) continue;
        size_t at = t * kv + h - heads;
        cache_store(&s->cache, l % s->cache.n_layers, (int)(h - heads), slot, w->k + at * (size_t)c->head_dim,
                    w->v + at * (size_t)c->value_dim, s->model->kernels);
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
        for (size_t i = h, at = t * (size_t)c->n_heads + h; i < h + heads; i++, at++)
            *out++ = (AttentionQuery){.q = w->q + at * hd, .out = w->att + at * vd, .text = token->first,
                                      .first = first, .end = token->end, .scale = scale};
    }
}

/* Every head of every token against the cache. A task is a tile of tokens and heads that share a key head, so that a
 * key is loaded once for all of them: the whole group, unless there are fewer tasks than threads. */
static void attend_softmax(Session *s, int l, size_t n) {
    const Config *c = &s->model->config;
    Scratch *w = s->scratch;
    size_t kv = (size_t)c->n_kv_heads, group = (size_t)c->n_heads / kv, threads = (size_t)s->options.threads;
    size_t part = n * kv >= threads ? group : (n * kv * group + threads - 1) / threads;
    if (part > ATTENTION_QUERIES) part = ATTENTION_QUERIES;
    size_t parts = (group + part - 1) / part, tile = ATTENTION_QUERIES / part, tiles = (n + tile - 1) / tile;
    float *scratch = w->attend + (size_t)team_member() * w->attend_floats;
    store_keys(s, l, n);
    for (Share i; team_take(&w->team, kv * parts * tiles, &i);)
        for (; i.at < i.end; i.at++) { /* head by head, so that its keys stay near while all tokens pass */
            AttentionQuery queries[ATTENTION_QUERIES];
            size_t h = i.at / tiles / parts, from = i.at / tiles % parts * part;
            size_t heads = group - from < part ? group - from : part;
            size_t t = (tiles - 1 - i.at % tiles) * tile, m = n - t < tile ? n - t : tile; /* who sees most begins */
            take_queries(s, l, t, m, h * group + from, heads, queries);
            attention_softmax(queries, m * heads, &s->cache, l % s->cache.n_layers, (int)h, scratch, s->model->kernels);
        }
    team_wait(&w->team);
}

/* ---- linear ---- */

static void denominators(Session *s, int l, int h) {
    linear_denominators(&s->state, &s->model->config.linear, &s->scratch->batch, l, h);
}

static void numerators(Session *s, int l, int h, size_t strip, double *room) {
    (void)room;
    linear_numerators(s->scratch->att, s->scratch->v, &s->state, &s->scratch->batch, l, h, strip, s->model->kernels);
}

static const LinearSteps one_by_one = {denominators, numerators, NULL};

/* Features of q and k, rotated where the form says so; then the state of each key head takes the tokens in, in order,
 * first z (for the denominators), then S, whose columns are independent of each other. */
static void attend_linear(Session *s, int l, size_t n) {
    const Config *c = &s->model->config;
    const RopeConfig *rope = &c->rope;
    const LinearSteps *steps = s->options.linear ? s->options.linear : &one_by_one;
    Scratch *w = s->scratch;
    size_t half = (size_t)rope->rotary_dim / 2, heads = (size_t)c->n_heads, kv = (size_t)c->n_kv_heads;
    double *room = w->chunk + (size_t)team_member() * w->chunk_doubles;
    for (Share i = team_share(&w->team, n * (heads + kv)); i.at < i.end; i.at++) {
        size_t t = i.at / (heads + kv), h = i.at % (heads + kv), is_key = h >= heads;
        const float *x = is_key ? w->k + (t * kv + h - heads) * (size_t)c->head_dim
                                : w->q + (t * heads + h) * (size_t)c->head_dim;
        linear_features(&c->linear, &w->batch, is_key ? LINEAR_KEY : LINEAR_QUERY, t, (int)(is_key ? h - heads : h), x,
                        w->cos64 + t * half, w->sin64 + t * half, rope->rotary_dim, rope->pairing, s->model->kernels);
    }
    team_wait(&w->team);
    for (Share h = team_share(&w->team, kv); h.at < h.end; h.at++) steps->denominators(s, l, (int)h.at);
    team_wait(&w->team);
    for (Share i = team_share(&w->team, kv * s->state.n_strips); i.at < i.end; i.at++)
        steps->numerators(s, l, (int)(i.at / s->state.n_strips), i.at % s->state.n_strips, room);
    team_wait(&w->team);
}

void step_attend(Session *s, int l, size_t n) {
    if (s->model->config.linear.form) attend_linear(s, l, n); /* att = (R phi(q))^T S / (phi(q) . z) */
    else attend_softmax(s, l, n);                             /* att = softmax(R q (R K)^T / sqrt(head_dim)) V */
}
