/* model/options.c - what the command line says, over what the file says. */
#include "options.h"

#include "keys_more.h"
#include "rope/spec.h"

#include <errno.h>
#include <string.h>

/* A number that an option of its own gives, over what the spec and the file say. */
static void override_numbers(KeyReader *r, RopeConfig *rope, const RopeOverride *o) {
    RopeNumbers *n = rope->numbers;
    const RopeKey *k = rope->scaling->method->keys;
    const char *option = o->factor > 0 ? "--rope-factor" : "--rope-original-context";
    if (o->factor <= 0 && o->n_ctx_original <= 0) return;
    if (rope->scaling == &rope_none) key_complain(r, option, "no method to give it to; add --rope linear or another");
    while (k->name && k->at != ROPE_AT(factor)) k++;
    if (o->factor > 0 && !k->name) key_complain(r, "--rope-factor", "this method has no factor");
    if (o->factor > 0 && o->factor != n->factor) {
        n->factor = o->factor;
        n->attention_factor = n->attention_multiplier = 0; /* they belonged to the old one */
    }
    if (o->n_ctx_original > 0) n->n_ctx_original = o->n_ctx_original;
}

static void override_rope(KeyReader *r, Config *c, const RopeOverride *o) {
    RopeConfig *rope = &c->rope;
    char why[400];
    if (o->theta > 0) rope->theta = o->theta;
    if (!o->spec && o->factor <= 0 && o->n_ctx_original <= 0) return;
    RopeNumbers *n = key_rope_numbers(r, c);
    if (!n) return;
    n->n_ctx = o->n_ctx;
    n->n_layers = c->n_layers < ROPE_MOST_LAYERS ? c->n_layers : ROPE_MOST_LAYERS;
    n->n_pairs = rope->rotary_dim / 2;
    if (o->n_ctx_original > 0) n->n_ctx_original = o->n_ctx_original;
    if (o->spec && rope_spec_apply(rope, o->spec, why, sizeof why)) base_complain(&r->line, "%s", why);
    else override_numbers(r, rope, o);
}

static void override_attention(KeyReader *r, Config *c, const AttentionOverride *a) {
    LinearConfig *linear = &c->linear;
    const LinearConfig was = *linear;
    if (a->kind == ATTENTION_SOFTMAX) linear->form = NULL;
    if (a->kind == ATTENTION_LINEAR && !linear->form) { /* a window is softmax's: a sum cannot forget */
        linear->form = c->file_form;
        c->window = 0;
        memset(c->windowed, 0, sizeof c->windowed);
    }
    if (!linear->form) {
        c->attention_changed = was.form != NULL;
        if (a->phi || a->form || a->epsilon || a->favor_features || a->favor_seed)
            base_complain(&r->line, "--phi, --form, --epsilon and --favor-.. are for linear attention, and this "
                                    "model's is softmax; add --attention linear");
        return;
    }
    if (a->form) linear->form = a->form;
    if (linear->form->cosine != c->file_form->cosine) linear->phi = linear_usual_map(linear->form);
    if (a->phi) linear->phi = a->phi;
    if (a->epsilon) linear->epsilon = *a->epsilon;
    if ((a->favor_features || a->favor_seed) && !linear->phi->projection)
        base_complain(&r->line, "--favor-features and --favor-seed are for --phi favor+");
    if (a->favor_features) linear->favor_features = a->favor_features;
    if (a->favor_seed) linear->favor_seed = *a->favor_seed;
    c->attention_changed = linear->form != was.form || linear->phi != was.phi || linear->epsilon != was.epsilon ||
                           linear->favor_features != was.favor_features || linear->favor_seed != was.favor_seed;
}

void config_override(KeyReader *r, Config *c, const ModelOptions *o) {
    override_rope(r, c, &o->rope);
    if (r->line.rc == 0) override_attention(r, c, &o->attention);
    if (!c->roformer.variant && (o->roformer.variant || o->roformer.mask || o->roformer.pooler))
        key_complain(r, "--arch, --mask and --pooler", "are for RoFormer models");
}
