/* model/fingerprint.c - a number for a model, so that a saved state finds its own again. */
#include "fingerprint.h"
#include "base/hash.h"
#include "model/layers/layers.h"

#include "rope/positions.h"
#include "rope/spec.h"

#include <string.h>

static void mix_in(uint64_t *hash, const void *data, size_t n) { *hash = hash_bytes(*hash, data, n); }

static void mix_in_text(uint64_t *hash, const char *s) { mix_in(hash, s, strlen(s) + 1); }

static void mix_in_rope(uint64_t *hash, const RopeConfig *c, int64_t length) {
    Rope r;
    rope_init(&r, c, length);
    mix_in_text(hash, c->scaling->name);
    mix_in(hash, &rope_numbers(c)->n_ctx_original, sizeof(int64_t)); /* longrope's border */
    mix_in(hash, &c->pairing, sizeof c->pairing);
    mix_in(hash, &r.scale, sizeof r.scale);
    mix_in(hash, r.inv_freq, (size_t)r.rotary_dim / 2 * sizeof *r.inv_freq);
}

static void mix_in_tensor(uint64_t *hash, const Tensor *t) {
    enum { SAMPLES = 16, SAMPLE = 256 };
    mix_in_text(hash, t->name);
    mix_in(hash, &t->type, sizeof t->type);
    mix_in(hash, t->shape, (size_t)t->n_dims * sizeof *t->shape);
    if (t->type == TENSOR_NVFP4 && t->scales) mix_in(hash, t->scales, 4 * (t->n_dims == 3 ? (size_t)t->shape[0] : 1));
    if (t->size <= SAMPLES * SAMPLE) mix_in(hash, t->data, t->size);
    else
        for (size_t i = 0; i < SAMPLES; i++) mix_in(hash, t->data + (t->size - SAMPLE) / (SAMPLES - 1) * i, SAMPLE);
}

/* What a spec changes beside the frequencies. */
static void mix_in_spec(uint64_t *hash, const RopeConfig *c) {
    const RopeNumbers *n = rope_numbers(c);
    char spec[ROPE_SPEC_MOST];
    if (!n->relative && !n->any_nope && !n->scores[0] && !c->scaling->method->each) return;
    rope_spec_print(c, spec, sizeof spec);
    mix_in_text(hash, spec);
}

/* Another kind than RoPE; its table is among the tensors. */
static void mix_in_positions(uint64_t *hash, const Positions *p) {
    mix_in_text(hash, p->kind->name);
    mix_in(hash, &p->alpha, sizeof p->alpha);
    for (const PositionNumber *n = p->kind->numbers; n && n->gguf; n++)
        mix_in(hash, (const char *)p + n->at, sizeof(int64_t)); /* or a double */
    mix_in(hash, &p->two_sided, sizeof p->two_sided);
}

/* Layers that are not LLaMA's. */
static void mix_in_layers(uint64_t *hash, const Decoder *x, int n_layers) {
    const float numbers[] = {x->embed_scale, x->residual_scale, x->logit_scale, x->logit_cap, x->score_scale,
                             x->score_cap, x->temperature, x->clamp, x->alpha};
    const int more[] = {(int)x->parallel, (int)x->activation,
                        x->n_used,   x->renormalise, x->tiled, x->key_heads, x->value_heads};
    mix_in(hash, numbers, sizeof numbers);
    mix_in(hash, more, sizeof more);
    if (x->share_scale != 1) mix_in(hash, &x->share_scale, sizeof x->share_scale);
    if (x->clip > 0) mix_in(hash, &x->clip, sizeof x->clip);
    mix_in(hash, &x->temperature_n, sizeof x->temperature_n);
    mix_in(hash, x->kinds, (size_t)n_layers * sizeof *x->kinds);
    if (x->traits->local_rope) mix_in_rope(hash, &x->local, 1);
}

uint64_t model_fingerprint(const Model *m) {
    const Config *c = &m->config;
    const LinearConfig *linear = &c->linear;
    uint64_t hash = HASH_START;
    const RoformerConfig *f = &c->roformer;
    const int sizes[] = {c->d_model,    c->d_ff,         c->n_layers,        c->n_heads,
                         c->n_kv_heads, c->head_dim,     c->vocab_size,      (int)c->window,
                         (int)c->mask,  (int)f->variant, (int)f->activation, c->rotary_value};
    mix_in_text(&hash, c->arch);
    mix_in(&hash, sizes, sizeof sizes);
    mix_in(&hash, &c->norm_eps, sizeof c->norm_eps);
    mix_in(&hash, c->windowed, (size_t)c->n_layers);
    mix_in_rope(&hash, &c->rope, 1);
    mix_in_rope(&hash, &c->rope, INT64_MAX);
    mix_in_spec(&hash, &c->rope);
    if (c->positions) mix_in_positions(&hash, c->positions);
    if (c->decoder) mix_in_layers(&hash, c->decoder, c->n_layers);
    if (c->log_scale && !f->variant) mix_in(&hash, &c->log_scale, sizeof c->log_scale);
    mix_in_text(&hash, linear->form ? linear->form->name : "softmax");
    if (linear->form) {
        mix_in_text(&hash, linear->phi->name);
        if (linear_key_map(linear) != linear->phi) mix_in_text(&hash, linear_key_map(linear)->name);
        mix_in(&hash, &linear->epsilon, sizeof linear->epsilon);
    }
    if (linear->form && linear->phi->projection) {
        mix_in(&hash, &linear->favor_features, sizeof linear->favor_features);
        mix_in(&hash, &linear->favor_seed, sizeof linear->favor_seed);
    }
    for (size_t i = 0; i < m->weights.n_tensors; i++)
        if (m->used[i]) mix_in_tensor(&hash, &m->weights.tensors[i]);
    return hash;
}
