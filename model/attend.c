/* model/attend.c - attention of a batch: softmax over the cache, in tiles of queries, or linear attention through its
 * state, in strips. plain.c is the page to read before. */
#include "past.h"

#include "attention/softmax.h"
#include "base/base.h"
#include "bias.h"
#include "choose.h"
#include "family.h"
#include "model/layers/delta.h"
#include "rope/positions.h"
#include "rope/scores.h"
#include "scratch.h"
#include "stretch.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

/* ---- what is kept ---- */

static void carve_linear(Carver *k, const Session *s) {
    const Config *c = &s->model->config;
    const SessionOptions *o = &s->options;
    Past *p = s->past;
    size_t rows = (size_t)linear_rows(&c->linear), D = sizeof(double);
    uint64_t B = o->n_batch, heads = (size_t)c->n_heads, kv_heads = (size_t)c->n_kv_heads;
    LinearBatch *b = &p->batch;
    *b = (LinearBatch){.cap = o->n_batch, .n_heads = c->n_heads, .n_kv_heads = c->n_kv_heads};
    b->q_num = scratch_carve(k, heads * B * rows, D);
    b->q_den = scratch_carve(k, heads * B * rows, D);
    b->inverse = scratch_carve(k, heads * B, D);
    b->k_num = scratch_carve(k, kv_heads * B * rows, D);
    b->k_den = scratch_carve(k, kv_heads * B * rows, D);
    b->k_log = scratch_carve(k, kv_heads * B, D);
    b->keep = scratch_carve(k, kv_heads * B, D);
    p->chunk_doubles = o->chunk ? o->linear->room(o->chunk, rows, c->n_heads, c->n_kv_heads) : 0;
    p->chunk = scratch_carve(k, p->chunk_doubles * (uint64_t)o->threads, D);
}

/* Of so many tokens at once the past is cut into parts: none where key heads are shares for the threads as they are, or
 * so many for each that one more is an eighth; and no more than are work enough for all. */
static size_t tokens_in_parts(const Session *s) {
    const SessionOptions *o = &s->options;
    size_t kv = (size_t)s->model->config.n_kv_heads, threads = (size_t)o->threads, most = 16;
    if (kv % threads == 0 || kv >= 8 * threads || s->model->config.mask != MASK_CAUSAL) return 0;
    if (s->past->stretch || o->n_ctx <= ATTENTION_PART) return 0;
    return o->n_batch < most ? o->n_batch : most;
}

static void carve_all(Carver *k, const Session *s) {
    const Config *c = &s->model->config;
    Past *p = s->past;
    if (c->linear.form) {
        carve_linear(k, s);
        return;
    }
    p->attend_floats = whole_lanes(attention_scratch(s->options.cache, c->head_dim, c->value_dim)); /* cache lines */
    p->attend = scratch_carve(k, p->attend_floats * (uint64_t)s->options.threads, sizeof *p->attend);
    uint64_t each = attention_parts(s->options.n_ctx) * attention_sums(&p->cache), heads = (uint64_t)c->n_heads;
    p->sums = scratch_carve(k, p->sums_tokens * heads * each, sizeof *p->sums);
}

/* A state is a fraction of the weights that make it, but where features are many (favor+): sizes that a file of a
 * megabyte may claim. */
static int init_state(LinearState *state, const Model *m, char *err, size_t errlen) {
    const Config *c = &m->config;
    double bytes = 8.0 * c->n_layers * c->n_kv_heads * linear_rows(&c->linear) * c->head_dim;
    if (bytes < 64e6 || bytes < 16.0 * (double)m->weights.file_bytes)
        return linear_init(state, &c->linear, c->n_layers, c->n_kv_heads, err, errlen);
    return base_error(err, errlen, -EINVAL,
                      "%s: linear attention's state would take many times as much memory as the whole file",
                      m->weights.path);
}

/* A learned table ends, and a context that it cannot fill is refused before anything is read. Where texts are read
 * whole, several share a context: encoder.c looks at each. */
static int check_places(const Session *s, char *err, size_t errlen) {
    const Config *c = &s->model->config;
    size_t n = s->options.n_ctx, origin = s->options.origin;
    if (!c->n_places || c->linear.form || s->model->encoder) return 0;
    if (origin <= c->n_places && n <= c->n_places - origin) return 0;
    return base_error(err, errlen, -EINVAL, "a context of %zu positions%s is longer than the %zu that this model has "
                      "learned; give a smaller one (-c), or --position-extend hierarchical", n,
                      origin ? " that begins later" : "", c->n_places);
}

static int init(Session *s, char *err, size_t errlen) {
    const Config *c = &s->model->config;
    SessionOptions *o = &s->options;
    Past *p = s->past = calloc(1, sizeof *p);
    int layers = c->decoder ? c->decoder->n_softmax : c->n_layers, rc;
    if (c->mask == MASK_PADDING) layers = 1; /* nothing follows such a text: one layer's room does */
    Carver k = {0};
    if (!p) return base_error(err, errlen, -ENOMEM, "out of memory");
    if ((rc = check_places(s, err, errlen))) return rc;
    if (!o->linear) o->linear = c->family->linear;
    if (!o->linear || !o->linear->room) o->chunk = 0;
    if (o->chunk > o->n_batch) o->n_batch = o->chunk < o->n_ctx ? o->chunk : o->n_ctx;
    if (c->linear.form) rc = init_state(&p->state, s->model, err, errlen);
    else rc = cache_init(&p->cache, o->cache, layers, c->n_kv_heads, c->head_dim, c->value_dim, o->n_ctx, err, errlen);
    const Decoder *x = c->decoder;
    if (rc == 0 && x && x->n_local)
        rc = cache_init(&p->local, o->cache, x->n_local, x->local_kv, x->local_dim, x->local_dim, o->n_ctx, err,
                        errlen);
    if (rc == 0) rc = delta_init(&p->delta, s->model, err, errlen);
    if (rc) return rc;
    if ((rc = choose_init(&p->chooser, s, err, errlen)) || (rc = bias_init(&p->bias, s, err, errlen))) return rc;
    if (!c->linear.form && stretch_wanted(s) && (rc = stretch_init(&p->stretch, s, err, errlen))) return rc;
    if (!c->linear.form) p->sums_tokens = tokens_in_parts(s);
    s->rotates = c->linear.form || p->stretch || !position_kind_of(c->positions)->rotates;
    carve_all(&k, s);
    if (k.overflow || !size_add(k.used, 63, &p->bytes) || !(p->block = calloc(1, p->bytes)))
        return base_error(err, errlen, -ENOMEM, "out of memory: attention's scratch for a context of %zu; give a "
                          "smaller one (-c)", o->n_ctx);
    k = (Carver){.block = (char *)(((uintptr_t)p->block + 63) & ~(uintptr_t)63)};
    carve_all(&k, s);
    return 0;
}

static void free_past(Session *s) {
    if (!s->past) return;
    cache_free(&s->past->cache);
    cache_free(&s->past->local);
    linear_free(&s->past->state);
    stretch_free(s->past->stretch);
    choose_free(s->past->chooser);
    bias_free(s->past->bias);
    delta_free(s->past->delta);
    free(s->past->block);
    free(s->past);
}

/* ---- softmax ---- */

KVCache *past_cache(const Session *s, int l) {
    const Decoder *x = s->model->config.decoder;
    return x && layer_is_local(x, l) ? &s->past->local : &s->past->cache;
}

int past_layer(const Session *s, int l) {
    return (s->model->config.decoder ? s->model->layers[l].more->past : l) % past_cache(s, l)->n_layers;
}

static void store_keys(Session *s, int l, size_t n) {
    const Config *c = &s->model->config;
    KVCache *cache = past_cache(s, l);
    Scratch *w = s->scratch;
    size_t heads = (size_t)c->n_heads, kv = (size_t)cache->n_kv_heads;
    for (Share i = team_share(&w->team, n * (heads + kv)); i.at < i.end; i.at++) {
        size_t t = i.at / (heads + kv), h = i.at % (heads + kv), slot = w->tokens[t].slot;
        if (h < heads || slot == TOKEN_PADDING) continue;
        if (h == heads && s->past->bias && s->past->bias->places) s->past->bias->places[slot] = w->tokens[t].pos;
        size_t at = t * kv + h - heads;
        cache_store(cache, past_layer(s, l), (int)(h - heads), slot, w->k + at * (size_t)cache->head_dim,
                    w->v + at * (size_t)cache->value_dim, s->model->kernels);
    }
    team_wait(&w->team);
}

double attention_scale(const Config *c, const Token *token, int l) {
    double scale = rope_score(&c->rope, (int64_t)token->pos, l) / sqrt((double)c->head_dim);
    if (c->decoder) scale *= (double)layers_score(c->decoder, (int64_t)token->pos) * sqrt((double)c->head_dim);
    double keys = token->end - token->first > 16 ? (double)(token->end - token->first) : 16;
    return c->log_scale ? scale * log(keys) / log((double)c->log_scale) : scale;
}

typedef struct { size_t first, end; } Seen;

static Seen seen_by(const Session *s, int l, const Token *token) {
    size_t window = s->model->layers[l].window;
    Seen seen = {token->first, token->end};
    if (window && token->end > window + token->first) seen.first = token->end - window;
    if (window && s->model->config.mask == MASK_PADDING && token->slot != TOKEN_PADDING) { /* so many on either side */
        seen.first = token->slot > window + token->first ? token->slot - window : token->first;
        if (seen.end - token->slot > window + 1) seen.end = token->slot + window + 1;
    }
    return seen;
}

/* The tile's queries, into out [n * heads]. */
static void take_queries(const Session *s, int l, const AttendTile *tile, AttentionQuery *out) {
    const Config *c = &s->model->config;
    const Scratch *w = s->scratch;
    const KVCache *cache = past_cache(s, l);
    size_t hd = (size_t)cache->head_dim, vd = (size_t)cache->value_dim;
    const float *sinks = c->decoder ? s->model->layers[l].more->sinks : NULL;
    for (size_t t = tile->t; t < tile->t + tile->n; t++) {
        const Token *token = &w->tokens[t];
        Seen seen = seen_by(s, l, token);
        size_t n_keys = token->end - token->first > 16 ? token->end - token->first : 16;
        float scale = c->decoder ? layers_score(c->decoder, (int64_t)token->pos) : 1 / sqrtf((float)c->head_dim);
        if (rope_numbers(&c->rope)->scores[0]) scale *= (float)rope_score(&c->rope, (int64_t)token->pos, l);
        if (c->log_scale) /* larger where there are more keys */
            scale = scale * logf((float)n_keys) / logf((float)c->log_scale);
        for (size_t i = tile->h, at = t * (size_t)c->n_heads + i; i < tile->h + tile->heads; i++, at++)
            *out++ = (AttentionQuery){.q = w->q + at * hd, .out = w->att + at * vd, .text = token->first,
                                      .first = seen.first, .end = seen.end, .scale = scale,
                                      .cap = c->decoder ? c->decoder->score_cap : 0, .sink = sinks ? &sinks[i] : NULL,
                                      .bias = bias_of_token(s->past->bias, i, token)};
    }
}

/* Of token t of a batch, head h: the sums of this part and, behind them, of later ones. */
static float *sums_of(const Session *s, int l, size_t t, size_t h, size_t part) {
    const KVCache *c = past_cache(s, l);
    size_t of = t * (size_t)s->model->config.n_heads + h;
    return s->past->sums + (of * attention_parts(c->n_ctx) + part) * attention_sums(c);
}

static void softmax_tile(Session *s, int l, const AttendTile *tile) {
    const Config *c = &s->model->config;
    const KVCache *cache = past_cache(s, l);
    Past *p = s->past;
    AttentionQuery queries[ATTENTION_QUERIES];
    size_t n = tile->n * tile->heads, part = (size_t)tile->part;
    int head = (int)(tile->h / (size_t)(c->n_heads / cache->n_kv_heads));
    float *scratch = p->attend + (size_t)team_member() * p->attend_floats;
    take_queries(s, l, tile, queries);
    if (tile->part == WHOLE_PAST) {
        attention_softmax(queries, n, cache, past_layer(s, l), head, scratch, s->model->kernels);
        return;
    }
    for (size_t j = 0; j < n; j++)
        queries[j].out = sums_of(s, l, tile->t + j / tile->heads, tile->h + j % tile->heads, part);
    attention_part(queries, n, part, cache, past_layer(s, l), head, scratch, s->model->kernels);
}

/* A key is loaded once for all heads of a tile: the whole group, unless there are fewer tasks than threads. */
void attend_tiles(Session *s, int l, const AttendJob *job, void (*attend)(Session *s, int l, const AttendTile *tile)) {
    const Config *c = &s->model->config;
    Team *team = &s->scratch->team;
    size_t kv = (size_t)past_cache(s, l)->n_kv_heads, group = (size_t)c->n_heads / kv,
           threads = (size_t)s->options.threads;
    size_t n = job->n, parts = job->parts ? job->parts : 1, tasks = n * kv * parts;
    size_t heads = tasks >= threads ? group : (tasks * group + threads - 1) / threads;
    if (heads > job->most_heads) heads = job->most_heads;
    size_t cuts = (group + heads - 1) / heads, tokens = ATTENTION_QUERIES / heads, tiles = (n + tokens - 1) / tokens;
    for (Share i; team_take(team, kv * parts * cuts * tiles, &i);)
        for (; i.at < i.end; i.at++) { /* head by head, so that its keys stay near while all tokens pass */
            size_t h = i.at / tiles / cuts / parts, part = i.at / tiles / cuts % parts;
            size_t first = i.at / tiles % cuts * heads;
            size_t t = (tiles - 1 - i.at % tiles) * tokens; /* who sees most begins */
            AttendTile tile = {.t = job->t + t, .n = n - t < tokens ? n - t : tokens, .h = h * group + first,
                               .heads = group - first < heads ? group - first : heads,
                               .part = job->parts ? (int64_t)(job->part + part) : WHOLE_PAST};
            attend(s, l, &tile);
        }
    team_wait(team);
}

static void join_parts(Session *s, int l, const AttendJob *job) {
    Scratch *w = s->scratch;
    const KVCache *cache = past_cache(s, l);
    size_t heads = (size_t)s->model->config.n_heads, vd = (size_t)cache->value_dim;
    for (Share i = team_share(&w->team, job->n * heads); i.at < i.end; i.at++)
        attention_join(w->att + i.at * vd, sums_of(s, l, i.at / heads, i.at % heads, job->part), job->parts, cache);
    team_wait(&w->team);
}

/* att = softmax(R q (R K)^T / sqrt(head_dim)) V. Cut are pasts that begin at slot 0, as a decoder's do. */
static void attend_softmax(Session *s, int l, size_t n) {
    const Token *tokens = s->scratch->tokens;
    AttendJob job = {.n = n, .most_heads = ATTENTION_QUERIES};
    if (n <= s->past->sums_tokens && s->options.threads > 1 && tokens->first == 0) {
        job.part = seen_by(s, l, tokens).first / ATTENTION_PART;
        job.parts = attention_parts(tokens[n - 1].end) - job.part;
    }
    if (job.parts == 1) job.parts = 0;
    attend_tiles(s, l, &job, softmax_tile);
    if (job.parts) join_parts(s, l, &job);
}

/* ---- linear ---- */

void attend_features(const Session *s, size_t t, size_t h, const double *cos, const double *sin) {
    const Config *c = &s->model->config;
    const Scratch *w = s->scratch;
    size_t heads = (size_t)c->n_heads, is_key = h >= heads, d = (size_t)c->head_dim;
    const float *x = is_key ? w->k + (t * (size_t)c->n_kv_heads + h - heads) * d : w->q + (t * heads + h) * d;
    linear_features(&c->linear, &s->past->batch, is_key ? LINEAR_KEY : LINEAR_QUERY, t, (int)(is_key ? h - heads : h),
                    x, cos, sin, c->rope.rotary_dim, c->rope.pairing, s->model->kernels);
}

void attend_sums(Session *s, int l, size_t n) {
    const Config *c = &s->model->config;
    const LinearSteps *other = s->options.linear;
    Scratch *w = s->scratch;
    LinearState *state = &s->past->state;
    LinearBatch b = s->past->batch;
    b.n = n;
    size_t kv = (size_t)c->n_kv_heads;
    for (Share h = team_share(&w->team, kv); h.at < h.end; h.at++)
        if (other) other->denominators(s, &b, l, (int)h.at);
        else linear_denominators(state, &c->linear, &b, l, (int)h.at);
    team_wait(&w->team);
    for (Share i = team_share(&w->team, kv * state->n_strips); i.at < i.end; i.at++) {
        int h = (int)(i.at / state->n_strips);
        size_t strip = i.at % state->n_strips;
        if (other) other->numerators(s, &b, l, h, strip);
        else linear_numerators(w->att, w->v, state, &b, l, h, strip, s->model->kernels);
    }
    team_wait(&w->team);
}

/* Features of q and k, rotated where the form says so; then the state of each key head takes the tokens in, in order,
 * first z (for the denominators), then S, whose columns are independent of each other. */
static void attend_linear(Session *s, int l, size_t n) {
    const Config *c = &s->model->config;
    Scratch *w = s->scratch;
    size_t half = (size_t)c->rope.rotary_dim / 2, heads = (size_t)c->n_heads + (size_t)c->n_kv_heads;
    for (Share i = team_share(&w->team, n * heads); i.at < i.end; i.at++) {
        size_t t = i.at / heads;
        attend_features(s, t, i.at % heads, w->cos64 + t * half, w->sin64 + t * half);
    }
    team_wait(&w->team);
    attend_sums(s, l, n);
}

static void attend(Session *s, int l, size_t n) {
    if (s->model->config.linear.form) { /* att = (R phi(q))^T S / (phi(q) . z) */
        attend_linear(s, l, n);
        return;
    }
    if (s->model->config.decoder && layer_borrows(&s->model->config, l)) team_wait(&s->scratch->team);
    else store_keys(s, l, n);
    if (s->past->stretch && (!s->model->config.decoder || s->model->config.decoder->kinds[l].turn == TURN_MAIN))
        stretch_attend(s, l, n); /* layers with angles of their own, or none, keep them */
    else attend_softmax(s, l, n);
}

const Attention attention_tiles = {init, free_past, attend, choose_begin};
