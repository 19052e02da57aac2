/* tests/train_kit.c - small models to train. */
#include "train_kit.h"

#include "attention/maps.h"
#include "kernels/encoder_kernels.h"
#include "model/roformer.h"
#include "model/roformer_kinds.h"
#include "rope/scaling.h"
#include "test.h"

static void set_linear(Config *c, const Kind *k) {
    LinearConfig *l = &c->linear;
    l->form = linear_form(k->form);
    l->phi = k->phi ? feature_map(k->phi) : l->form->usual;
    l->phi_key = k->phi_key ? feature_map(k->phi_key) : NULL;
    l->head_dim = c->head_dim, l->favor_features = 24, l->favor_seed = 1;
    l->epsilon = l->phi->projection ? 0 : k->epsilon > 0 ? k->epsilon : 1e-6;
    if (!k->rotary_dim) c->rope.rotary_dim = (int)linear_features_n(l) / 2 * 2;
}

Config kind_config(const Kind *k, const KindSizes *z, Positions *p) {
    int heads = k->heads ? k->heads : 2, head = k->head_dim ? k->head_dim : z->d / heads;
    Config c = {.family = &family_llama, .arch = "llama", .d_model = z->d, .d_embed = z->d, .d_ff = z->d_ff,
                .ff_rows = z->d_ff, .n_layers = 2, .n_heads = heads, .n_kv_heads = k->kv_heads ? k->kv_heads : heads,
                .head_dim = head, .value_dim = head, .vocab_size = z->vocab, .n_ctx_train = (int64_t)z->length,
                .norm_eps = 1e-5f, .mask = MASK_CAUSAL, .window = k->window, .log_scale = k->log_n,
                .own_head = k->own_head, .bos_id = 1,
                .rope = {.scaling = &rope_none, .theta = 10000, .rotary_dim = k->rotary_dim ? k->rotary_dim : head,
                         .pairing = k->half ? ROPE_HALF : ROPE_INTERLEAVED}};
    if (k->encodes) {
        c.family = &family_roformer, c.mask = MASK_PADDING;
        c.roformer = (RoformerConfig){.variant = ROFORMER_V1, .activation = ACTIVATION_GELU, .n_types = 1};
    }
    if (k->form) set_linear(&c, k);
    const PositionKind *kind = k->position ? position_kind(k->position) : NULL;
    if (kind && kind->scaling) c.rope.scaling = rope_scaling(kind->scaling);
    if (!kind || kind->rotates) return c;
    *p = (Positions){.kind = kind, .width = z->d, .n_heads = heads, .n_trained = (int64_t)z->length, .max_bias = 8,
                     .n_buckets = 16, .max_distance = 40, .two_sided = k->encodes};
    c.rope.scaling = &rope_still, c.positions = p;
    return c;
}

int kind_begin(Trainee *t, const Kind *k, const KindSizes *z, Positions *p, const Kernels *kernels, int threads) {
    Config c = kind_config(k, z, p);
    char err[300] = "";
    int rc = trainee_init(t, &c, k->learns_frequencies, &(BatchShape){z->texts, z->length}, kernels, threads, err,
                          sizeof err);
    if (rc) printf("    %s: %s\n", k->name, err);
    CHECK(rc == 0);
    return rc;
}
