/* model/plain.c - attention, plainly: every query by itself, over keys and values side by side or over the state of eq.
 * 19. ./core attends so. What `run` does in tiles and strips (attend.c) has the bits of this with --kernels ref. */
#include "base/base.h"
#include "scratch.h"
#include "session.h"

#include <errno.h>
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_DIM = 2 * ROPE_MAX_PAIRS };

typedef struct Past { /* a decoder's, whose values are as wide as its keys; d = head_dim */
    float *k, *v;     /* [n_layers, n_kv_heads, n_ctx, d]: softmax; keys rotated */
    double *S, *z;    /* [n_layers, n_kv_heads, d, d], [n_layers, n_kv_heads, d]: linear attention */
    void *block;      /* owns them */
} Past;

static int init(Session *s, char *err, size_t errlen) {
    const Config *c = &s->model->config;
    size_t heads = (size_t)c->n_layers * (size_t)c->n_kv_heads, d = (size_t)c->head_dim, bytes;
    uint64_t each = c->linear.form ? d * (d + 1) * sizeof(double) : (uint64_t)s->options.n_ctx * d * 2 * sizeof(float);
    int known = c->mask == MASK_CAUSAL && !c->window && !c->log_scale && c->value_dim == c->head_dim && !c->positions;
    if (c->linear.form) known &= c->linear.form == &linear_numerator && !c->linear.phi->projection;
    if (!known || s->options.cache == CACHE_Q8_0)
        return base_error(err, errlen, -EINVAL, "%s: plain attention knows no positions but RoPE, windows, forms but "
                          "eq. 19, caches of bytes", s->model->weights.path);
    Past *p = s->past = calloc(1, sizeof *p);
    if (c->linear.form && heads * each > 64000000 && heads * each / 16 > s->model->weights.file_bytes)
        return base_error(err, errlen, -EINVAL, "%s: linear attention's state would take many times as much memory as "
                          "the whole file", s->model->weights.path);
    if (!p || each > SIZE_MAX || !size_mul(heads, (size_t)each, &bytes) || !(p->block = calloc(1, bytes)))
        return base_error(err, errlen, -ENOMEM, "a context of %zu needs more memory than there is", s->options.n_ctx);
    s->rotates = c->linear.form != NULL;
    if (c->linear.form) {
        p->S = p->block;
        p->z = p->S + heads * d * d;
    } else {
        p->k = p->block;
        p->v = p->k + heads * s->options.n_ctx * d;
    }
    return 0;
}

static void free_past(Session *s) {
    if (s->past) free(s->past->block);
    free(s->past);
}

/* ---- softmax ---- */

/* out = sum_t softmax_t(scale q . k_t) v_t over n keys, read once: a block of them at a time, the largest score and the
 * sum known so far. When a larger one comes, what was summed shrinks. Milakov and Gimelshein, arXiv:1805.02867. */
static void attend(float *out, const float *q, const float *k, const float *v, size_t n, size_t d, float scale) {
    float max = -FLT_MAX, sum = 0;
    memset(out, 0, d * sizeof *out);
    for (size_t b = 0, m; b < n; b += m, k += m * d, v += m * d) {
        float p[KEY_BLOCK] = {0}, lane[REF_LANES] = {0}, before = max, shrink;
        m = n - b < KEY_BLOCK ? n - b : KEY_BLOCK;
        for (size_t t = 0; t < m; t++) {
            for (size_t i = 0; i < d; i++) p[t] += q[i] * k[t * d + i]; /* eq. 16: (R_m q) . (R_t k) */
            p[t] *= scale;
            if (p[t] > max) max = p[t];
        }
        shrink = max > before ? expf(before - max) : 1;
        for (size_t t = 0; t < m; t++) {
            p[t] = expf(p[t] - max); /* at most 1: it cannot overflow */
            lane[t % REF_LANES] += p[t];
        }
        sum = shrink * sum + ref_fold(lane);
        for (size_t i = 0; i < d && shrink != 1; i++) out[i] *= shrink;
        for (size_t t = 0; t < m; t++)
            for (size_t i = 0; i < d; i++) out[i] += p[t] * v[t * d + i];
    }
    for (size_t i = 0; i < d; i++) out[i] *= 1 / sum;
}

/* What is kept of x [d]: x itself, or the nearest half floats. */
static void keep(float *to, const float *x, size_t d, CacheType type) {
    for (size_t i = 0; i < d; i++) to[i] = type == CACHE_F16 ? f16_to_f32(f32_to_f16(x[i])) : x[i];
}

/* ---- linear attention ---- */

/* In four partial sums, which a compiler can keep in vectors. */
static double dot(const double *a, const double *b, size_t n) {
    double lane[4] = {0};
    for (size_t i = 0; i < n; i++) lane[i % 4] += a[i] * b[i];
    return (lane[0] + lane[2]) + (lane[1] + lane[3]);
}

/* phi(x) by that map, and the same rotated by the position of token t. */
static void features(double *phi, double *rotated, const FeatureMap *map, const Session *s, const float *x, size_t t) {
    const Config *c = &s->model->config;
    size_t d = (size_t)c->head_dim, half = (size_t)c->rope.rotary_dim / 2;
    double y[MAX_DIM];
    for (size_t i = 0; i < d; i++) y[i] = (double)x[i];
    map->map(phi, y, &c->linear, s->model->kernels);
    memcpy(rotated, phi, d * sizeof *phi);
    rope_rotate64(rotated, s->scratch->cos64 + t * half, s->scratch->sin64 + t * half, c->rope.rotary_dim,
                  c->rope.pairing);
}

/* eq. 19, its sums so far: S = sum (R_t phi(k_t)) v_t^T, z = sum phi(k_t). */
static void take_key(double *S, double *z, const Session *s, const float *k, const float *v, size_t t) {
    size_t d = (size_t)s->model->config.head_dim;
    double phi[MAX_DIM], rotated[MAX_DIM];
    features(phi, rotated, linear_key_map(&s->model->config.linear), s, k, t);
    for (size_t i = 0; i < d; i++) {
        z[i] += phi[i];
        for (size_t j = 0; j < d; j++) S[i * d + j] += rotated[i] * (double)v[j];
    }
}

/* eq. 19: o_m = (R_m phi(q_m))^T S / (phi(q_m) . z + epsilon) */
static void read_query(float *out, const double *S, const double *z, const Session *s, const float *q, size_t t) {
    size_t d = (size_t)s->model->config.head_dim;
    double phi[MAX_DIM], rotated[MAX_DIM], above[MAX_DIM] = {0};
    features(phi, rotated, s->model->config.linear.phi, s, q, t);
    double below = dot(phi, z, d) + s->model->config.linear.epsilon;
    for (size_t i = 0; i < d; i++)
        for (size_t j = 0; j < d; j++) above[j] += rotated[i] * S[i * d + j];
    for (size_t j = 0; j < d; j++) out[j] = (float)(above[j] * (below == 0 ? 0 : 1 / below)); /* no key fits: 0 */
}

/* ---- a layer ---- */

/* Token t: its key and value are taken in, then its queries see all up to them. */
static void attend_token(Session *s, int l, size_t h, size_t t) {
    const Config *c = &s->model->config;
    const Scratch *w = s->scratch;
    size_t d = (size_t)c->head_dim, kv = (size_t)c->n_kv_heads, group = (size_t)c->n_heads / kv, pos = w->tokens[t].pos;
    size_t head = (size_t)l * kv + h, at = c->linear.form ? 0 : head * s->options.n_ctx * d;
    const float *k = w->k + (t * kv + h) * d, *v = w->v + (t * kv + h) * d;
    Past *p = s->past;
    if (c->linear.form) take_key(p->S + head * d * d, p->z + head * d, s, k, v, t);
    else {
        keep(p->k + at + pos * d, k, d, s->options.cache);
        keep(p->v + at + pos * d, v, d, s->options.cache);
    }
    for (size_t g = h * group; g < (h + 1) * group; g++) {
        const float *q = w->q + (t * (size_t)c->n_heads + g) * d;
        float *out = w->att + (t * (size_t)c->n_heads + g) * d;
        if (c->linear.form) read_query(out, p->S + head * d * d, p->z + head * d, s, q, t);
        else attend(out, q, p->k + at, p->v + at, pos + 1, d, 1 / sqrtf((float)d));
    }
}

/* A thread takes whole key heads. */
static void attend_layer(Session *s, int l, size_t n) {
    Team *team = &s->scratch->team;
    team_wait(team);
    for (Share h = team_share(team, (size_t)s->model->config.n_kv_heads); h.at < h.end; h.at++)
        for (size_t t = 0; t < n; t++) attend_token(s, l, h.at, t);
    team_wait(team);
}

const Attention attention_plain = {init, free_past, attend_layer, NULL};
