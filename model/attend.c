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

/* The queries of heads h .. h+heads-1 of tokens t .. t+n-1, into out [n*heads]. */
static void take_queries(const Session *s, int l, size_t t, size_t n, size_t h, size_t heads, AttentionQuery *out) {
    const Config *c = &s->model->config;
    const Scratch *w = s->scratch;
    size_t window = s->model->layers[l].window, hd = (size_t)c->head_dim, vd = (size_t)c->value_dim;
    for (size_t end = t + n; t < end; t++) {
        const Token *token = &w->tokens[t];
        size_t first = window && token->end > window + token->first ? token->end - window : token->first;
        size_t n_keys = token->end - first > 16 ? token->end - first : 16;
        float scale = 1 / sqrtf((float)c->head_dim);
        if (c->log_scale) /* larger where there are more keys */
            scale = scale * logf((float)n_keys) / logf((float)c->log_scale);
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

/* Features of q and k, rotated where the form says so; then the state of each key head takes the tokens in, in order,
 * first z (for the denominators), then S, whose columns are independent of each other. */
static void attend_linear(Session *s, int l, size_t n) {
    const Config *c = &s->model->config;
    const RopeConfig *rope = &c->rope;
    const LinearSteps *other = s->options.linear;
    Scratch *w = s->scratch;
    size_t half = (size_t)rope->rotary_dim / 2, heads = (size_t)c->n_heads, kv = (size_t)c->n_kv_heads;
    for (Share i = team_share(&w->team, n * (heads + kv)); i.at < i.end; i.at++) {
        size_t t = i.at / (heads + kv), h = i.at % (heads + kv), is_key = h >= heads;
        const float *x = is_key ? w->k + (t * kv + h - heads) * (size_t)c->head_dim
                                : w->q + (t * heads + h) * (size_t)c->head_dim;
        linear_features(&c->linear, &w->batch, is_key ? LINEAR_KEY : LINEAR_QUERY, t, (int)(is_key ? h - heads : h), x,
                        w->cos64 + t * half, w->sin64 + t * half, rope->rotary_dim, rope->pairing, s->model->kernels);
    }
    team_wait(&w->team);
    for (Share h = team_share(&w->team, kv); h.at < h.end; h.at++)
        if (other) other->denominators(s, l, (int)h.at);
        else linear_denominators(&s->state, &c->linear, &w->batch, l, (int)h.at);
    team_wait(&w->team);
    for (Share i = team_share(&w->team, kv * s->state.n_strips); i.at < i.end; i.at++) {
        int h = (int)(i.at / s->state.n_strips);
        size_t strip = i.at % s->state.n_strips;
        if (other) other->numerators(s, l, h, strip);
        else linear_numerators(w->att, w->v, &s->state, &w->batch, l, h, strip, s->model->kernels);
    }
    team_wait(&w->team);
}

void step_attend(Session *s, int l, size_t n) {
    if (s->model->config.linear.form) attend_linear(s, l, n); /* att = (R phi(q))^T S / (phi(q) . z) */
    else attend_softmax(s, l, n);                             /* att = softmax(R q (R K)^T / sqrt(head_dim)) V */
}
