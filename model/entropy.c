/* model/entropy.c - attention's weights once more, in double (entropy.h). What a query sees, and under which angles, is
 * what attend.c and stretch.c give it. */
#include "entropy.h"

#include "base/base.h"
#include "bias.h"
#include "kernels/cache_kernels.h"
#include "attention/cache_bytes.h"
#include "model/layers/layers.h"
#include "past.h"
#include "rope/relative.h"
#include "stretch.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 2 * ROPE_MAX_PAIRS }; /* entries of a head */

/* The slots first .. end-1 that a query sees under one map of keys, and itself turned for it. */
typedef struct {
    size_t first, end, map;
    double *q; /* [head_dim] */
    ScoreBias bias;
} Part;

static EntropyMeter *meter(const Session *s) { return (EntropyMeter *)(uintptr_t)s->options.attention; }

/* ---- memory ---- */

static int init(Session *s, char *err, size_t errlen) {
    const Config *c = &s->model->config;
    const RopeRelative *row = rope_numbers(&c->rope)->relative;
    EntropyMeter *m = meter(s);
    if (s->options.origin) return base_error(err, errlen, -EINVAL, "entropy: of texts from position 0 only");
    if (c->linear.form)
        return base_error(err, errlen, -EINVAL, "entropy: linear attention has no weights that add up to one");
    if (c->head_dim > MOST)
        return base_error(err, errlen, -EINVAL, "entropy: heads of %d entries are too wide", c->head_dim);
    if (row && row->chooses != ROPE_BY_POSITION)
        return base_error(err, errlen, -EINVAL, "entropy: %s chooses keys by more than their positions", row->name);
    if (c->decoder && (c->decoder->n_states || c->decoder->score_cap > 0 || c->decoder->traits->sinks ||
                       c->decoder->local_dim))
        return base_error(err, errlen, -EINVAL, "entropy: not known for %s, whose weights are more than a softmax of "
                          "scores, or whose heads differ", c->arch);
    if (c->rope.scaling->method->growth)
        return base_error(err, errlen, -EINVAL, "entropy: not known for %s", c->rope.scaling->name);
    int rc = attention_tiles.init(s, err, errlen);
    if (rc) return rc;
    const SessionOptions *o = &s->options;
    m->groups = (o->n_ctx + KEY_LANES - 1) / KEY_LANES;
    m->n_maps = s->past->stretch ? (size_t)s->past->stretch->row->n_maps + 1 : 1;
    size_t each = o->n_batch * (size_t)c->n_heads, keys = m->n_maps * m->groups * KEY_LANES * (size_t)c->head_dim,
           scores = (size_t)o->threads * m->groups * KEY_LANES;
    m->each = calloc(each, sizeof *m->each);
    m->keys = calloc(keys, sizeof *m->keys);
    m->scores = calloc(scores, sizeof *m->scores);
    m->bytes = (each + keys + scores) * sizeof *m->keys;
    return m->each && m->keys && m->scores ? 0 : base_error(err, errlen, -ENOMEM, "out of memory for the entropy");
}

static void free_all(Session *s) {
    EntropyMeter *m = meter(s);
    attention_tiles.free(s);
    free(m->each);
    free(m->keys);
    free(m->scores);
    m->each = m->keys = m->scores = NULL;
}

/* ---- keys ---- */

static void read_key(double *out, const Session *s, int l, int h, size_t slot) {
    float k[MOST];
    cache_floats(&s->past->cache, past_layer(s, l), h, slot, 0, k);
    for (int i = 0; i < s->model->config.head_dim; i++) out[i] = (double)k[i];
}

static void put_key(EntropyMeter *m, size_t map, size_t slot, const double *k, size_t d) {
    double *to = m->keys + (map * m->groups + slot / KEY_LANES) * d * KEY_LANES + slot % KEY_LANES;
    for (size_t i = 0; i < d; i++) to[i * KEY_LANES] = k[i];
}

/* The keys of slots below end, turned by the frequencies r under each map, and last as they are. The team shares it. */
static void take_keys(Session *s, int l, int h, const Rope *r, size_t end) {
    const Config *c = &s->model->config;
    const Stretch *x = s->past->stretch;
    const RopeNumbers *numbers = rope_numbers(&c->rope);
    EntropyMeter *m = meter(s);
    size_t d = (size_t)c->head_dim, half = (size_t)c->rope.rotary_dim / 2;
    double k[MOST], turned[MOST], cosines[MOST / 2], sines[MOST / 2];
    for (Share j = team_share(&s->scratch->team, end); j.at < j.end; j.at++) {
        read_key(k, s, l, h, j.at);
        put_key(m, m->n_maps - 1, j.at, k, d);
        for (size_t map = 0; x && !numbers->nope[l] && map + 1 < m->n_maps; map++) {
            double at = x->row->key(&numbers->distance, (int)map, (int64_t)j.at);
            for (size_t i = 0; i < half; i++)
                cosines[i] = cos(at * r->inv_freq[i]), sines[i] = sin(at * r->inv_freq[i]);
            memcpy(turned, k, d * sizeof *k);
            rope_rotate64(turned, cosines, sines, c->rope.rotary_dim, c->rope.pairing);
            put_key(m, map, j.at, turned, d);
        }
    }
    team_wait(&s->scratch->team);
}

/* ---- queries ---- */

/* What head h of token t sees in layer l; q [ROPE_SEGMENTS, MOST] is theirs. Returns how many parts. */
static int take_parts(const Session *s, int l, size_t t, size_t h, Part *out, double *q) {
    const Config *c = &s->model->config;
    const RopeNumbers *numbers = rope_numbers(&c->rope);
    const Stretch *x = s->past->stretch;
    const Token *token = &s->scratch->tokens[t];
    size_t d = (size_t)c->head_dim, half = (size_t)c->rope.rotary_dim / 2, window = s->model->layers[l].window;
    size_t first = window && token->end > window + token->first ? token->end - window : token->first;
    const float *from = s->scratch->q + (t * (size_t)c->n_heads + h) * d;
    int n = 0, segments = x ? x->n_segments[t] : 1;
    for (int i = 0; i < segments; i++) {
        double *mine = q + i * MOST, cosines[MOST / 2], sines[MOST / 2];
        Part part = {.first = first, .end = token->end, .map = meter(s)->n_maps - 1, .q = mine,
                     .bias = bias_of_token(s->past->bias, h, token)};
        for (size_t k = 0; k < d; k++) mine[k] = (double)from[k];
        if (x) {
            const RopeSegment *r = &x->segments[t * ROPE_SEGMENTS + (size_t)i];
            size_t row = (t * ROPE_SEGMENTS + (size_t)i) * half;
            if ((size_t)r->first > first) part.first = (size_t)r->first;
            part.end = (size_t)r->end;
            part.bias = bias_of(s->past->bias, h, (size_t)r->at);
            if (!numbers->nope[l] && r->map != ROPE_UNTURNED) part.map = (size_t)r->map;
            for (size_t k = 0; k < half; k++) cosines[k] = (double)x->cos[row + k], sines[k] = (double)x->sin[row + k];
            if (!numbers->nope[l]) rope_rotate64(mine, cosines, sines, c->rope.rotary_dim, c->rope.pairing);
        }
        if (part.first < part.end) out[n++] = part;
    }
    return n;
}

/* The scores of a part, one behind the other into out; returns behind the last. */
static double *score(double *out, const EntropyMeter *m, const Part *p, size_t d, double scale) {
    for (size_t g = p->first / KEY_LANES; g * KEY_LANES < p->end; g++) {
        const double *k = m->keys + (p->map * m->groups + g) * d * KEY_LANES;
        double lanes[KEY_LANES] = {0};
        for (size_t i = 0; i < d; i++, k += KEY_LANES)
            for (int t = 0; t < KEY_LANES; t++) lanes[t] += p->q[i] * k[t];
        for (size_t t = 0, slot = g * KEY_LANES; t < KEY_LANES; t++, slot++)
            if (slot >= p->first && slot < p->end) *out++ = scale * lanes[t] + bias_at(&p->bias, slot);
    }
    return out;
}

/* Of softmax(x): with z = sum e^(x - max), it is ln z - sum (x - max) e^(x - max) / z. */
static double entropy(const double *x, size_t n) {
    double max = n ? x[0] : 0, z = 0, sum = 0;
    for (size_t i = 1; i < n; i++)
        if (x[i] > max) max = x[i];
    for (size_t i = 0; i < n; i++) {
        double e = exp(x[i] - max);
        z += e;
        sum += e * (x[i] - max);
    }
    return n ? log(z) - sum / z : 0;
}

/* Tokens t .. end-1, by the heads that share key head h. The team shares it. */
static void take_queries(Session *s, int l, int h, size_t t, size_t end) {
    const Config *c = &s->model->config;
    EntropyMeter *m = meter(s);
    size_t group = (size_t)(c->n_heads / c->n_kv_heads), first = (size_t)h * group;
    double *scores = m->scores + (size_t)team_member() * m->groups * KEY_LANES, q[ROPE_SEGMENTS * MOST];
    for (Share i; team_take(&s->scratch->team, (end - t) * group, &i);)
        for (; i.at < i.end; i.at++) {
            size_t at = t + i.at / group, head = first + i.at % group;
            double scale = attention_scale(c, &s->scratch->tokens[at], l), *to = scores;
            Part parts[ROPE_SEGMENTS];
            int n = take_parts(s, l, at, head, parts, q);
            for (int k = 0; k < n; k++) to = score(to, m, &parts[k], (size_t)c->head_dim, scale);
            m->each[at * (size_t)c->n_heads + head] = entropy(scores, (size_t)(to - scores));
        }
    team_wait(&s->scratch->team);
}

/* ---- behind a layer's attention ---- */

static void attend(Session *s, int l, size_t n) {
    const Config *c = &s->model->config;
    const Stretch *x = s->past->stretch;
    EntropyMeter *m = meter(s);
    size_t first = 0;
    attention_tiles.attend(s, l, n);
    while (first < n && s->scratch->tokens[first].pos < m->from) first++;
    if (first == n) return;
    for (int h = 0; h < c->n_kv_heads; h++)
        for (size_t t = first, end; t < n; t = end) { /* tokens whose keys have one angle each, together */
            Rope own;
            const Rope *r = &s->rope;
            for (end = t + 1; end < n && x && !x->own[t] && !x->own[end];) end++;
            if (!x) end = n;
            if (x && x->own[t]) rope_init_each(&own, &c->rope, (int64_t)s->scratch->tokens[t].end), r = &own;
            take_keys(s, l, h, r, s->scratch->tokens[end - 1].end);
            take_queries(s, l, h, t, end);
        }
    if (team_member()) return; /* the others wait for it in the next layer's attention */
    for (size_t i = first * (size_t)c->n_heads; i < n * (size_t)c->n_heads; i++) m->sum += m->each[i], m->n++;
}

void entropy_meter(EntropyMeter *m) { *m = (EntropyMeter){.attention = {init, free_all, attend, NULL}}; }

EntropyMeter *entropy_of(const Session *s) { return s->options.attention->attend == attend ? meter(s) : NULL; }
