/* model/layers/delta.c - see delta.h. Source: torch_recurrent_gated_delta_rule in transformers' qwen3_next. */
#include "delta.h"

#include "base/base.h"
#include "kernels/attention_kernels.h"
#include "model/past.h"
#include "model/steps.h"
#include "scratch.h"
#include "parts.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const Decoder *decoder(const Session *s) { return s->model->config.decoder; }

/* ---- what is kept ---- */

int delta_init(DeltaState **out, const Model *m, char *err, size_t errlen) {
    const Config *c = &m->config;
    const Decoder *x = c->decoder;
    *out = NULL;
    if (!x || !x->n_states) return 0;
    size_t channels = layer_size(c, 'C'), head = (size_t)x->key_dim * (size_t)x->value_dim, n = (size_t)x->n_states;
    DeltaState *d = *out = calloc(1, sizeof *d);
    if (!d) return base_error(err, errlen, -ENOMEM, "out of memory");
    *d = (DeltaState){.n_layers = n, .conv_floats = (size_t)(x->conv - 1) * channels,
                      .S_floats = (size_t)x->value_heads * head};
    double bytes = 4.0 * (double)n * ((double)d->conv_floats + (double)d->S_floats);
    if (bytes > 64e6 && bytes > 16.0 * (double)m->weights.file_bytes)
        return base_error(err, errlen, -EINVAL, "%s: what its layers keep would take many times as much memory as "
                          "the whole file", m->weights.path);
    size_t floats;
    int fits = size_mul(n, d->conv_floats + d->S_floats, &floats) && size_mul(floats, sizeof *d->S, &d->bytes);
    if (!fits || !(d->block = calloc(1, d->bytes)))
        return base_error(err, errlen, -ENOMEM, "out of memory: %.1f MB of layers' states", bytes / 1e6);
    d->S = d->block, d->conv = d->S + n * d->S_floats;
    return 0;
}

void delta_clear(DeltaState *d) {
    if (d) memset(d->block, 0, d->bytes);
}

void delta_free(DeltaState *d) {
    if (d) free(d->block);
    free(d);
}

/* Texts of a batch, one behind the other, of `each` tokens; all have the model's state in turn, or, where these are
 * tokens of several texts that go on (past.h), each its own. */
typedef struct { size_t from, n, each; } Texts;

static const DeltaState *state_of(const Session *s, size_t token) {
    return s->past->deltas ? s->past->deltas[token] : s->past->delta;
}

static float *kept_of(const Session *s, const LayerMore *y, size_t token) {
    const DeltaState *state = state_of(s, token);
    return state->conv + (size_t)y->past * state->conv_floats;
}

static float *S_of(const Session *s, const LayerMore *y, size_t token) {
    const DeltaState *state = state_of(s, token);
    return state->S + (size_t)y->past * state->S_floats;
}

/* ---- before it ---- */

/* Where a text begins nothing is behind it. */
static void begin_texts(Session *s, const LayerMore *y, Texts of) {
    for (size_t t = of.from; t < of.from + of.n * of.each; t += of.each) {
        if (s->scratch->tokens[t].slot != s->scratch->tokens[t].first) continue;
        const DeltaState *state = state_of(s, t);
        Share i = team_share(&s->scratch->team, state->conv_floats), j = team_share(&s->scratch->team, state->S_floats);
        memset(kept_of(s, y, t) + i.at, 0, (i.end - i.at) * sizeof(float));
        memset(S_of(s, y, t) + j.at, 0, (j.end - j.at) * sizeof(float));
        team_wait(&s->scratch->team);
    }
}

/* mixed = the last conv inputs of each channel, weighted, token by token, and of a delta net activated; earlier inputs
 * are the state's. */
static void convolve(Session *s, const LayerMore *y, Texts of) {
    const Decoder *x = decoder(s);
    LayerScratch *w = s->scratch->more;
    size_t channels = layer_size(&s->model->config, 'C'), wide = (size_t)x->conv;
    for (Share i = team_share(&s->scratch->team, of.n * of.each); i.at < i.end; i.at++) {
        size_t t = i.at % of.each, from = of.from + i.at - t; /* its place in its text, which begins there */
        const float *before = kept_of(s, y, from);
        float *out = w->mixed + (from + t) * channels;
        memset(out, 0, channels * sizeof *out);
        for (size_t j = 0; j < wide; j++) {
            size_t at = t + j + 1; /* at - wide: the token whose input this is */
            const float *in = at < wide ? before + (at - 1) * channels : w->mix + (from + at - wide) * channels;
            for (size_t c = 0; c < channels; c++) out[c] += y->conv[c * wide + j] * in[c];
        }
        if (x->value_heads) s->model->kernels->enc->activate(out, channels, x->activation);
    }
    team_wait(&s->scratch->team);
}

/* The last conv - 1 inputs stay. */
static void keep_inputs(Session *s, const LayerMore *y, Texts of) {
    LayerScratch *w = s->scratch->more;
    size_t channels = layer_size(&s->model->config, 'C'), rows = (size_t)decoder(s)->conv - 1, n = of.each;
    Share i = team_share(&s->scratch->team, channels);
    for (size_t from = of.from; from < of.from + of.n * n; from += n) {
        float *kept = kept_of(s, y, from);
        for (size_t r = 0; r < rows; r++) { /* row r is what will be rows - r tokens ago */
            const float *in = n + r < rows ? kept + (n + r) * channels : w->mix + (from + n + r - rows) * channels;
            memmove(kept + r * channels + i.at, in + i.at, (i.end - i.at) * sizeof *kept);
        }
    }
}

/* x / |x|, times by */
static void unit(float *x, size_t n, float by) {
    float lane[REF_LANES] = {0};
    for (size_t i = 0; i < n; i++) lane[i % REF_LANES] += x[i] * x[i];
    by /= sqrtf(ref_fold(lane) + 1e-6f);
    for (size_t i = 0; i < n; i++) x[i] *= by;
}

/* Heads of q and k become unit vectors, q's over sqrt(key_dim); beta and alpha become b and g. */
static void prepare(Session *s, const LayerMore *y, Texts of) {
    const Decoder *x = decoder(s);
    LayerScratch *w = s->scratch->more;
    size_t channels = layer_size(&s->model->config, 'C'), dk = (size_t)x->key_dim, heads = (size_t)x->key_heads,
           values = (size_t)x->value_heads, from = of.from, n = of.n * of.each;
    for (Share i = team_share(&s->scratch->team, n * 2 * heads); i.at < i.end; i.at++)
        unit(w->mixed + (from + i.at / (2 * heads)) * channels + i.at % (2 * heads) * dk, dk,
             i.at % (2 * heads) < heads ? 1 / sqrtf((float)dk) : 1);
    for (Share i = team_share(&s->scratch->team, n * values); i.at < i.end; i.at++) {
        float *alpha = &w->alpha[from * values + i.at], *beta = &w->beta[from * values + i.at];
        float a = *alpha + y->dt[i.at % values], softplus = a > 20 ? a : log1pf(expf(a));
        *beta = 1 / (1 + expf(-*beta));
        *alpha = expf(y->decay[i.at % values] * softplus);
    }
    team_wait(&s->scratch->team);
}

/* ---- the rule ---- */

enum { COLUMNS = 32 }; /* a strip of 128 rows stays in a core's first-level cache */

/* o, into mix [n, values]: a thread has whole strips, whose tokens come in order. */
static void recur(Session *s, const LayerMore *y, Texts of) {
    const Decoder *x = decoder(s);
    LayerScratch *w = s->scratch->more;
    size_t channels = layer_size(&s->model->config, 'C'), dk = (size_t)x->key_dim, dv = (size_t)x->value_dim,
           heads = (size_t)x->value_heads, keys = (size_t)x->key_heads, strips = (dv + COLUMNS - 1) / COLUMNS;
    for (Share i = team_share(&s->scratch->team, of.n * heads * strips); i.at < i.end; i.at++) {
        size_t from = of.from + i.at / (heads * strips) * of.each, h = i.at / strips % heads,
               j = i.at % strips * COLUMNS, columns = dv - j < COLUMNS ? dv - j : COLUMNS,
               key = x->tiled ? h % keys : h / (heads / keys);
        const float *mixed = w->mixed + from * channels, *q = mixed + key * dk;
        s->model->kernels->att->delta(S_of(s, y, from) + h * dk * dv + j, dv, dk, columns, of.each,
                                      &(DeltaTokens){.q = q, .k = q + keys * dk, .ld_qk = channels,
                                                     .v = mixed + 2 * keys * dk + h * dv + j, .ld_v = channels,
                                                     .g = w->alpha + from * heads + h, .b = w->beta + from * heads + h,
                                                     .ld_gb = heads, .out = w->mix + (from * heads + h) * dv + j,
                                                     .ld_out = heads * dv});
    }
    team_wait(&s->scratch->team);
}

/* mix = norm(o) * silu(z), head by head */
static void close_gates(Session *s, const LayerMore *y, size_t n) {
    const Decoder *x = decoder(s);
    LayerScratch *w = s->scratch->more;
    size_t dv = (size_t)x->value_dim, heads = (size_t)x->value_heads;
    for (Share t = team_share(&s->scratch->team, n); t.at < t.end; t.at++)
        for (size_t h = 0; h < heads; h++) {
            float *o = w->mix + (t.at * heads + h) * dv, *z = w->z + (t.at * heads + h) * dv;
            s->model->kernels->vec->rmsnorm(o, o, y->delta_norm, dv, s->model->config.norm_eps);
            s->model->kernels->vec->silu_mul(z, o, dv);
        }
}

static void mix_texts(Session *s, const LayerMore *y, Texts of) {
    begin_texts(s, y, of);
    convolve(s, y, of);
    keep_inputs(s, y, of);
    prepare(s, y, of);
    recur(s, y, of); /* whose outputs take no more of mix than inputs that have been read */
}

/* f for each text of the batch in turn, for they share a state; for all at once where each has its own. */
static void text_by_text(Session *s, const LayerMore *y, size_t n, void (*f)(Session *, const LayerMore *, Texts)) {
    const Token *tokens = s->scratch->tokens;
    if (s->past->deltas) f(s, y, (Texts){0, n, 1});
    for (size_t from = 0, end; from < n && !s->past->deltas; from = end) {
        for (end = from + 1; end < n && tokens[end].first == tokens[from].first;) end++;
        f(s, y, (Texts){from, 1, end - from});
    }
}

void delta_mix(Session *s, int l, size_t n) {
    const Config *c = &s->model->config;
    const Layer *layer = &s->model->layers[l];
    const LayerMore *y = layer->more;
    LayerScratch *w = s->scratch->more;
    Packed a = step_pack(s, s->scratch->xn, n, (size_t)c->d_model, &y->mix);
    step_linear_nowait(s, w->mix, &a, &y->mix, NULL);
    step_linear_nowait(s, w->z, &a, &y->z, NULL);
    step_linear_nowait(s, w->beta, &a, &y->beta, NULL);
    step_linear_nowait(s, w->alpha, &a, &y->alpha, NULL);
    team_wait(&s->scratch->team);
    text_by_text(s, y, n, mix_texts);
    close_gates(s, y, n);
    a = step_pack(s, w->z, n, layer_size(c, 'Z'), &layer->wo);
    step_linear_nowait(s, w->branch, &a, &layer->wo, NULL);
    team_wait(&s->scratch->team);
}

/* ---- a convolution alone ---- */

/* y *= x, token by token. */
static void multiply(Session *s, float *y, const float *x, size_t n) {
    size_t d = (size_t)s->model->config.d_model;
    Share i = team_share(&s->scratch->team, n);
    for (size_t k = i.at * d; k < i.end * d; k++) y[k] *= x[k];
    team_wait(&s->scratch->team);
}

static void convolve_texts(Session *s, const LayerMore *y, Texts of) {
    begin_texts(s, y, of);
    convolve(s, y, of);
    keep_inputs(s, y, of);
    team_wait(&s->scratch->team);
}

void conv_mix(Session *s, int l, size_t n) {
    const Layer *layer = &s->model->layers[l];
    const LayerMore *y = layer->more;
    LayerScratch *w = s->scratch->more;
    size_t d = (size_t)s->model->config.d_model;
    Packed a = step_pack(s, s->scratch->xn, n, d, &y->mix);
    step_linear_nowait(s, w->mix, &a, &y->mix, NULL);
    step_linear_nowait(s, w->z, &a, &y->z, NULL);
    step_linear_nowait(s, w->beta, &a, &y->beta, NULL);
    team_wait(&s->scratch->team);
    multiply(s, w->mix, w->beta, n);
    text_by_text(s, y, n, convolve_texts);
    multiply(s, w->z, w->mixed, n);
    a = step_pack(s, w->z, n, d, &layer->wo);
    step_linear_nowait(s, w->branch, &a, &layer->wo, NULL);
    team_wait(&s->scratch->team);
}
