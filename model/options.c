/* model/options.c - what the command line says, over what the file says. */
#include "options.h"
#include "lora.h"

#include "keys_more.h"
#include "model/layers/layers.h"
#include "notes.h"
#include "rope/positions.h"
#include "rope/relative.h"
#include "rope/scores.h"
#include "rope/spec.h"

#include <errno.h>
#include <string.h>

/* Numbers that options of their own give, over what the spec and the file say. */
static int override_numbers(RopeConfig *rope, const RopeOverride *o, char *err, size_t errlen) {
    RopeNumbers *n = rope->numbers;
    const RopeKey *k = rope->scaling->method->keys;
    const char *option = o->factor > 0 ? "--rope-factor" : "--rope-original-context";
    if (o->factor <= 0 && o->n_ctx_original <= 0) return 0;
    if (rope->scaling == &rope_none)
        return base_error(err, errlen, -EINVAL, "%s: no method to give it to; add --rope linear or another", option);
    while (k->name && k->at != ROPE_AT(factor)) k++;
    if (o->factor > 0 && !k->name)
        return base_error(err, errlen, -EINVAL, "--rope-factor: %s has no factor", rope->scaling->name);
    if (o->factor > 0) n->factor = o->factor;
    if (o->n_ctx_original > 0) n->n_ctx_original = o->n_ctx_original;
    return 0;
}

_Static_assert((int)ROPE_MOST_LAYERS == (int)CONFIG_MAX_LAYERS, "a list of layers has room for every model's");

/* What may be said of a model without RoPE: that keys are hidden, which is no rotation, and factors on scores. */
static int check_still(RopeConfig *rope, const PositionKind *kind, const RopeOverride *o, char *err, size_t errlen) {
    const RopeNumbers *n = rope_numbers(rope);
    const char *what = o->theta > 0                                 ? "--rope-theta"
                       : o->factor > 0                              ? "--rope-factor"
                       : o->n_ctx_original > 0                      ? "--rope-original-context"
                       : strcmp(rope->scaling->name, "none") != 0   ? rope->scaling->name
                       : n->any_nope                                ? "nope"
                       : n->relative && !n->relative->only_hides    ? n->relative->name
                                                                    : NULL;
    rope->scaling = &rope_still;
    return what ? base_error(err, errlen, -EINVAL, "rope: %s stretches RoPE, and this model has none: its positions "
                             "are %s", what, kind->name) : 0;
}

int config_stretch(Config *c, const RopeOverride *o, char *err, size_t errlen) {
    RopeConfig *rope = &c->rope;
    RopeNumbers *n = rope->numbers;
    const PositionKind *kind = position_kind_of(c->positions);
    if (!kind->rotates && !o->spec) return check_still(rope, kind, o, err, errlen);
    if (o->theta > 0) rope->theta = o->theta;
    if (!n) return 0; /* nothing but theta */
    n->n_ctx = o->n_ctx;
    n->n_layers = c->n_layers;
    n->n_pairs = rope->rotary_dim / 2;
    n->distance.heads = c->n_heads;
    if (o->n_ctx_original > 0) n->n_ctx_original = o->n_ctx_original;
    int rc = o->spec ? rope_spec_apply(rope, o->spec, err, errlen) : 0;
    if (rc == 0 && !kind->rotates) return check_still(rope, kind, o, err, errlen);
    return rc ? rc : override_numbers(rope, o, err, errlen);
}

/* What rewrites positions or scores needs a softmax over keys, each with its distance, all of them in the past. */
int config_check_stretch(const Config *c, char *err, size_t errlen) {
    const RopeNumbers *n = rope_numbers(&c->rope);
    const LinearForm *form = c->linear.form;
    const char *name = n->relative    ? n->relative->name
                       : n->any_nope  ? "nope"
                       : n->scores[0] ? n->scores[0]->name
                                      : NULL;
    if (c->rope.scaling->method->each || c->rope.scaling->method->growth) name = c->rope.scaling->name;
    if (form && (form->before_phi || form->in_numerator || form->in_denominator) && c->rope.scaling->choice)
        return base_error(err, errlen, -EINVAL, "rope: method %s changes with the text's length, and linear attention "
                          "keeps no keys to turn anew; name another (--rope)", c->rope.scaling->name);
    if (n->relative && n->relative->chooses == ROPE_BY_HEADS &&
        (c->rope.scaling->choice || c->rope.scaling->method->each))
        return base_error(err, errlen, -EINVAL,
                          "rope: %s ranks heads by a text's beginning, and %s changes with its length; "
                          "give one",
                          n->relative->name, c->rope.scaling->name);
    if (name && form)
        return base_error(err, errlen, -EINVAL,
                          "rope: %s needs softmax attention: linear attention keeps a sum of keys, "
                          "in which none has a distance or a score of its own",
                          name);
    const char *has = c->decoder && name ? layers_unstretched(c, n) : NULL;
    if (has)
        return base_error(err, errlen, -EINVAL, "rope: %s is not known together with %s, which this model has", name,
                          has);
    if (name && c->mask != MASK_CAUSAL)
        return base_error(err, errlen, -EINVAL, "rope: %s needs a model that reads from left to right; this one sees "
                          "whole texts", name);
    return 0;
}

int model_stretch(Model *view, RopeNumbers *numbers, const Model *m, const RopeOverride *o, char *err, size_t errlen) {
    *view = *m;
    *numbers = *rope_numbers(&m->config.rope);
    if (numbers->n_ctx_train == 0) numbers->n_ctx_train = m->config.n_ctx_train;
    view->config.rope.numbers = numbers;
    int rc = config_stretch(&view->config, o, err, errlen);
    if (rc == 0) rc = config_check_stretch(&view->config, err, errlen);
    return rc ? rc : rope_check(&view->config.rope, err, errlen);
}

static void override_rope(KeyReader *r, Config *c, const RopeOverride *o) {
    char why[400];
    const int still = o->spec ? rope_still_pairs(&c->rope) : 0;
    int numbers = o->spec || o->factor > 0 || o->n_ctx_original > 0;
    if (numbers && !key_rope_numbers(r, &c->rope, c->n_ctx_train)) return;
    if (r->line.rc == 0 && config_stretch(c, o, why, sizeof why)) base_complain(&r->line, "%s", why);
    if (r->line.rc == 0 && still && !rope_still_pairs(&c->rope))
        weights_note(r->w, "--rope %s turns all pairs of this model, of which %d stood still in training", o->spec,
                     still);
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
        if (a->phi || a->phi_key || a->form || a->epsilon || a->favor_features || a->favor_seed)
            base_complain(&r->line, "--phi, --phi-key, --form, --epsilon and --favor-.. are for linear attention, and "
                                    "this model's is softmax; add --attention linear");
        return;
    }
    if (a->form) linear->form = a->form;
    if (linear->form->cosine != c->file_form->cosine)
        linear->phi = linear->form->usual, linear->phi_key = NULL;
    if (a->phi) linear->phi = a->phi, linear->phi_key = NULL;
    if (a->phi_key) linear->phi_key = a->phi_key;
    if (a->epsilon) linear->epsilon = *a->epsilon;
    if ((a->favor_features || a->favor_seed) && !linear->phi->projection)
        base_complain(&r->line, "--favor-features and --favor-seed are for --phi favor+");
    if (a->favor_features) linear->favor_features = a->favor_features;
    if (a->favor_seed) linear->favor_seed = *a->favor_seed;
    c->attention_changed = linear->form != was.form || linear->phi != was.phi ||
                           linear_key_map(linear) != linear_key_map(&was) || linear->epsilon != was.epsilon ||
                           linear->favor_features != was.favor_features || linear->favor_seed != was.favor_seed;
}

void config_override(KeyReader *r, Config *c, const ModelOptions *o) {
    const LayerTraits *traits = c->decoder ? c->decoder->traits : NULL;
    for (int i = 0; r->line.rc == 0 && i < o->n_loras; i++)
        r->line.rc = lora_merge(r->w, traits, o->loras[i], r->line.err, r->line.errlen);
    if (r->line.rc == 0) override_rope(r, c, &o->rope);
    if (r->line.rc == 0) override_attention(r, c, &o->attention);
    if (!c->roformer.variant && (o->roformer.variant || o->roformer.mask || o->roformer.pooler))
        base_complain(&r->line, "--arch, --mask and --pooler are for RoFormer models, and this is none");
}
