/* model/steps.c - what the decoder's and the encoder's forward pass have in common: matrix times batch, attention. */
#include "steps.h"

#include "base/threads.h"
#include "kernels/panel.h"

#include <math.h>

int step_threads(const Session *s, size_t multiplications) {
    size_t most = 1 + multiplications / s->options.grain;
    return most < (size_t)s->options.threads ? (int)most : s->options.threads;
}

static size_t token_bytes(const Kernels *k, size_t d, int group) { return (k->mat->packed_bytes(1, d, group) + 63) & ~(size_t)63; }

size_t step_packed_bytes(const Kernels *k, size_t n, size_t d, int group) { return n * token_bytes(k, d, group); }

/* Tokens of a piece: as many as the cache holds, pieces of about equal length, and whole tiles, which are 16, 12, 8, 6 or 4 tokens wide.
 * Float weights are turned for each piece, so there a batch is one. */
enum { TILES = 48 };

static size_t piece_tokens(const Session *s, size_t n, int group, size_t bytes) {
    if (n == 0) return TILES;
    if (group == 0) return n;
    size_t most = s->piece_bytes / bytes / TILES * TILES;
    if (most < TILES) most = TILES;
    size_t pieces = (n + most - 1) / most, each = (n + pieces - 1) / pieces;
    return (each + TILES - 1) / TILES * TILES;
}

Packed step_pack(Session *s, const float *x, size_t n, size_t d, const Matrix *w) {
    const Kernels *k = s->model->kernels;
    Packed a = {.x = x, .n = n, .d = d, .group = matrix_group(w)};
    a.token_bytes = token_bytes(k, d, a.group);
    a.most = piece_tokens(s, n, a.group, a.token_bytes);
    for (Share t = team_share(&s->team, n); t.at < t.end; t.at++) {
        size_t first = t.at / a.most * a.most, m = n - first < a.most ? n - first : a.most;
        k->mat->pack(s->packed + first * a.token_bytes, x + t.at * d, m, d, a.group, t.at - first);
    }
    team_wait(&s->team);
    return a;
}

/* Threads share the rows of W in strips of 16, a cache line of outputs, and long batches in pieces and strips of 32: of float weights two
 * vectors of rows are turned together then. */
enum { STRIP = 16 };

void step_linear(Session *s, float *y, Packed *a, const Matrix *w, const float *b) {
    if (matrix_group(w) != a->group) {
        team_wait(&s->team);
        *a = step_pack(s, a->x, a->n, a->d, w);
    }
    size_t strip = a->n < FLOAT_MANY ? STRIP : 2 * STRIP;
    size_t pieces = (a->n + a->most - 1) / a->most, strips = (w->rows + strip - 1) / strip;
    for (Share i; team_take(&s->team, pieces * strips, &i);)
        for (size_t next; i.at < i.end; i.at = next) { /* the strips of one piece together */
            size_t t0 = i.at / strips * a->most, first = i.at / strips * strips;
            next = i.end < first + strips ? i.end : first + strips;
            size_t r0 = (i.at - first) * strip, r1 = next < first + strips ? (next - first) * strip : w->rows;
            Activations part = {.n = a->n - t0 < a->most ? a->n - t0 : a->most, .d = a->d, .group = a->group, .data = s->packed + t0 * a->token_bytes};
            s->model->kernels->mat->matmul(y + t0 * w->rows, w->rows, &part, w, r0, r1);
            for (size_t t = t0; b && t < t0 + part.n; t++)
                for (size_t r = r0; r < r1; r++) y[t * w->rows + r] += b[r];
        }
}

void step_angles(Session *s, size_t t) {
    size_t half = (size_t)s->model->config.rope.rotary_dim / 2;
    if (s->cos) rope_row(&s->rope, (int64_t)s->tokens[t].pos, s->cos + t * half, s->sin + t * half);
    if (s->cos64) rope_row64(&s->rope, (int64_t)s->tokens[t].pos, s->cos64 + t * half, s->sin64 + t * half);
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
    if (weight) s->model->kernels->vec->rmsnorm(x, x, weight, hd, c->norm_eps);
    return (Head){.x = x, .t = t, .h = (int)h, .is_key = is_key};
}

static float *value_of(const Session *s, Head a) {
    const Config *c = &s->model->config;
    return s->v + (a.t * (size_t)c->n_kv_heads + (size_t)a.h) * (size_t)c->value_dim;
}

/* Softmax: q and k are turned by their token's position (v too, where a RoFormer says rotary_value); keys and values go to
 * the cache. */
static void turn_and_store(Session *s, int l, size_t n) {
    const Config *c = &s->model->config;
    const Kernels *kernels = s->model->kernels;
    size_t half = (size_t)c->rope.rotary_dim / 2, heads = (size_t)(c->n_heads + c->n_kv_heads);
    for (Share i = team_share(&s->team, n * heads); i.at < i.end; i.at++) {
        Head a = head(s, l, i.at);
        const float *cos = s->cos + a.t * half, *sin = s->sin + a.t * half;
        kernels->vec->rotate(a.x, cos, sin, c->rope.rotary_dim, c->rope.pairing);
        if (!a.is_key || s->tokens[a.t].slot == TOKEN_PADDING) continue;
        if (c->roformer.rotary_value) kernels->vec->rotate(value_of(s, a), cos, sin, c->rope.rotary_dim, c->rope.pairing);
        cache_store(&s->cache, l % s->cache.n_layers, a.h, s->tokens[a.t].slot, a.x, value_of(s, a), kernels);
    }
    team_wait(&s->team);
}

/* What scores are multiplied by: 1 / sqrt(head_dim); in GAU-alpha as much larger as the logarithm of the number of keys is
 * than that of 512 (facts: attention_normalize of bert4keras, "softmax_plus"). */
static float score_scale(const Config *c, size_t n_keys) {
    float scale = 1 / sqrtf((float)c->head_dim);
    return c->roformer.variant == ROFORMER_GAU ? scale * logf((float)(n_keys > 16 ? n_keys : 16)) / logf(512) : scale;
}

/* The queries of heads h .. h+heads-1 of tokens t .. t+n-1, into out [n*heads]. */
static void take_queries(const Session *s, int l, size_t t, size_t n, size_t h, size_t heads, AttentionQuery *out) {
    const Config *c = &s->model->config;
    size_t window = s->model->layers[l].window, hd = (size_t)c->head_dim, vd = (size_t)c->value_dim;
    for (size_t end = t + n; t < end; t++) {
        const Token *token = &s->tokens[t];
        size_t first = window && token->end > window + token->first ? token->end - window : token->first;
        float scale = score_scale(c, token->end - first);
        for (size_t i = h; i < h + heads; i++) {
            size_t at = t * (size_t)c->n_heads + i;
            *out++ = (AttentionQuery){.q = s->q + at * hd, .out = s->att + at * vd, .text = token->first, .first = first,
                                      .end = token->end, .scale = scale};
        }
    }
}

/* Every head of every token against the cache. A task is a tile of tokens and heads that share a key head, so that a key is
 * loaded once for all of them: the whole group, unless there are fewer tasks than threads. */
static void attend_softmax(Session *s, int l, size_t n) {
    const Config *c = &s->model->config;
    size_t kv_heads = (size_t)c->n_kv_heads, group = (size_t)c->n_heads / kv_heads, threads = (size_t)s->options.threads;
    size_t part = n * kv_heads >= threads ? group : (n * kv_heads * group + threads - 1) / threads;
    if (part > ATTENTION_QUERIES) part = ATTENTION_QUERIES;
    size_t parts = (group + part - 1) / part, tile = ATTENTION_QUERIES / part, tiles = (n + tile - 1) / tile;
    float *scratch = s->attend + (size_t)team_member() * s->attend_floats;
    turn_and_store(s, l, n);
    for (Share i; team_take(&s->team, kv_heads * parts * tiles, &i);)
        for (; i.at < i.end; i.at++) { /* head by head, so that its keys stay near while all tokens pass */
            AttentionQuery queries[ATTENTION_QUERIES];
            size_t h = i.at / tiles / parts, from = i.at / tiles % parts * part, heads = group - from < part ? group - from : part;
            size_t t = (tiles - 1 - i.at % tiles) * tile, m = n - t < tile ? n - t : tile; /* the last tokens see most: they begin */
            take_queries(s, l, t, m, h * group + from, heads, queries);
            attention_softmax(queries, m * heads, &s->cache, l % s->cache.n_layers, (int)h, scratch, s->model->kernels);
        }
    team_wait(&s->team);
}

static void denominators(Session *s, int l, int h) {
    const Config *c = &s->model->config;
    for (const Block *k = s->blocks; k < s->blocks + s->n_blocks; k++) {
        LinearBatch part = linear_part(&s->batch, s->state.rows, k->from, k->n, k->causal);
        if (k->fresh) linear_clear_z(&s->state, l, h);
        linear_denominators(&s->state, &c->linear, &part, l, h);
    }
}

static void numerators(Session *s, int l, int h, size_t strip, double *scratch) {
    const Config *c = &s->model->config;
    const Kernels *kernels = s->model->kernels;
    for (const Block *k = s->blocks; k < s->blocks + s->n_blocks; k++) {
        LinearBatch part = linear_part(&s->batch, s->state.rows, k->from, k->n, k->causal);
        float *out = s->att + k->from * (size_t)c->n_heads * (size_t)c->value_dim;
        const float *v = s->v + k->from * (size_t)c->n_kv_heads * (size_t)c->value_dim;
        if (k->fresh) linear_clear_strip(&s->state, l, h, strip);
        if (s->options.chunk > 1 && k->causal)
            linear_numerators_chunked(out, v, &s->state, &part, l, h, strip, s->options.chunk, scratch, kernels);
        else linear_numerators(out, v, &s->state, &part, l, h, strip, kernels);
    }
}

/* Linear: features of q and k, turned where the form says so; then the state of each key head takes the tokens in, in
 * order, first z (for the denominators), then S, whose columns are independent of each other. */
static void attend_linear(Session *s, int l, size_t n) {
    const Config *c = &s->model->config;
    const Kernels *kernels = s->model->kernels;
    const RopeConfig *rope = &c->rope;
    size_t half = (size_t)rope->rotary_dim / 2, strips = s->state.n_strips;
    double *scratch = s->chunk + (size_t)team_member() * s->chunk_doubles;
    for (Share i = team_share(&s->team, n * (size_t)(c->n_heads + c->n_kv_heads)); i.at < i.end; i.at++) {
        Head a = head(s, l, i.at);
        const double *cos = s->cos64 + a.t * half, *sin = s->sin64 + a.t * half;
        linear_features(&c->linear, &s->batch, a.is_key ? LINEAR_KEY : LINEAR_QUERY, a.t, a.h, a.x, cos, sin, rope->rotary_dim, rope->pairing,
                        kernels);
        if (a.is_key && s->tokens[a.t].slot == TOKEN_PADDING) linear_skip_key(&s->batch, s->state.rows, a.t, a.h);
        if (a.is_key && c->roformer.rotary_value)
            kernels->vec->rotate(value_of(s, a), s->cos + a.t * half, s->sin + a.t * half, rope->rotary_dim, rope->pairing);
    }
    team_wait(&s->team);
    for (Share h = team_share(&s->team, (size_t)c->n_kv_heads); h.at < h.end; h.at++) denominators(s, l, (int)h.at);
    team_wait(&s->team);
    for (Share i = team_share(&s->team, (size_t)c->n_kv_heads * strips); i.at < i.end; i.at++)
        numerators(s, l, (int)(i.at / strips), i.at % strips, scratch);
    team_wait(&s->team);
}

void step_attend(Session *s, int l, size_t n) {
    if (s->model->config.linear.form) attend_linear(s, l, n); /* att = (R phi(q))^T S / (phi(q) . z), S += R phi(k) v^T */
    else attend_softmax(s, l, n);                             /* att = softmax(R q (R K)^T / sqrt(head_dim)) V */
}
