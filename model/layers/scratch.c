/* model/layers/scratch.c - room for a batch. */
#include "scratch.h"

#include "model/session.h"
#include "parts.h"

static size_t larger(size_t a, size_t b) { return a > b ? a : b; }

/* Of a token no wider than d, for whichever of the model's matrices. */
static size_t packed_bytes(const Model *m, size_t d) {
    return larger(scratch_packed_bytes(m->kernels, d, 0),
                  m->min_group ? scratch_packed_bytes(m->kernels, d, m->min_group) : 0);
}

static void carve_latent(Carver *k, const Session *s, LayerScratch *made) {
    const Config *c = &s->model->config;
    const Decoder *x = c->decoder;
    const uint64_t B = s->options.n_batch, F = sizeof(float), heads = (uint64_t)c->n_heads;
    const size_t narrow = larger((size_t)x->nope_dim, (size_t)x->kv_rank);
    made->low = scratch_carve(k, B * (uint64_t)c->head_dim, F);
    made->low_q = scratch_carve(k, B * (uint64_t)x->q_rank, F);
    made->own_q = scratch_carve(k, B * heads * (uint64_t)(x->nope_dim + c->head_dim - x->kv_rank), F);
    made->values = scratch_carve(k, B * heads * (uint64_t)x->v_dim, F);
    made->head_packed = scratch_carve(k, B * heads, packed_bytes(s->model, narrow));
}

/* packed: bytes of a token for one of their matrices. */
static void carve_experts(Carver *k, const Session *s, size_t packed, LayerScratch *made) {
    const Decoder *x = s->model->config.decoder;
    const uint64_t B = s->options.n_batch, F = sizeof(float), E = (size_t)x->n_experts;
    const uint64_t used = E ? (size_t)x->n_used : 0, S = B * used, d = (size_t)s->model->config.d_model,
                   ff = (size_t)x->d_expert;
    made->shares = scratch_carve(k, B * (E + used), F);
    made->chosen = scratch_carve(k, S, sizeof *made->chosen);
    made->slot = scratch_carve(k, S, sizeof *made->slot);
    made->token = scratch_carve(k, S, sizeof *made->token);
    made->first = scratch_carve(k, E + 1, sizeof *made->first);
    made->slot_gate = scratch_carve(k, S * ff, F);
    made->slot_up = scratch_carve(k, S * ff, F);
    made->slot_out = scratch_carve(k, S * d, F);
    made->slot_packed = scratch_carve(k, S * packed, used > 0);
}

/* Expert and delta net, or convolution, of the widest: what their matrices meet. */
size_t layers_carve(Carver *k, Session *s) {
    const Model *m = s->model;
    const Config *c = &m->config;
    const Decoder *x = c->decoder;
    uint64_t B = s->options.n_batch, F = sizeof(float), d = (size_t)c->d_model,
           q = (size_t)c->n_heads * (size_t)c->head_dim, gated = x->traits->gated_output ? q : 0,
           half = (size_t)x->local.rotary_dim / 2, values = layer_size(c, 'Z'),
           channels = x->n_states ? layer_size(c, 'C') : 0;
    const size_t packed = packed_bytes(m, larger((size_t)c->d_model, (size_t)x->d_expert));
    LayerScratch *w = scratch_carve(k, 1, sizeof *w), made = {0};
    if (x->traits->latent) carve_latent(k, s, &made);
    made.branch = scratch_carve(k, B * d, F);
    made.gated = scratch_carve(k, 2 * B * gated, F);
    made.gates = scratch_carve(k, B * gated, F);
    made.cos = scratch_carve(k, B * half, F);
    made.sin = scratch_carve(k, B * half, F);
    made.mean = scratch_carve(k, m->encoder ? d : 0, sizeof *made.mean);
    made.zeroes = scratch_carve(k, m->encoder ? larger(d, (size_t)c->head_dim) : (size_t)c->head_dim, F);
    made.ones = scratch_carve(k, x->traits->value_norm ? (size_t)c->head_dim : 0, F);
    made.per_layer = scratch_carve(k, B * x->per_layer_rows.cols, F);
    made.per_layer_row = scratch_carve(k, B * x->per_layer_rows.cols, F);
    carve_experts(k, s, packed, &made);
    made.mix = scratch_carve(k, B * channels, F);
    made.mixed = scratch_carve(k, B * channels, F);
    made.z = scratch_carve(k, x->n_states ? B * values : 0, F);
    made.beta = scratch_carve(k, x->n_states ? B * (x->value_heads ? (size_t)x->value_heads : channels) : 0, F);
    made.alpha = scratch_carve(k, x->n_states ? B * (size_t)x->value_heads : 0, F);
    if (w) {
        if (half) rope_init(&made.local, &x->local, 1);
        for (int i = 0; x->traits->value_norm && i < c->head_dim; i++) made.ones[i] = 1;
        *w = made;
        s->scratch->more = w;
    }
    size_t heads_or_rank = larger((size_t)c->n_heads * (size_t)x->v_dim, (size_t)x->q_rank);
    return larger(larger(x->n_states ? values : 0, heads_or_rank), larger((size_t)x->per_layer, (size_t)c->ff_rows));
}
