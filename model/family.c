/* model/family.c - whose model a file holds, and whether its settings can be. */
#include "family.h"

#include <stdio.h>
#include <string.h>

static const Family *find(const char *name, size_t len) {
    for (const Family *const *f = families; *f; f++)
        for (const char *const *a = (*f)->architectures; *a; a++)
            if (strlen(*a) == len && memcmp(*a, name, len) == 0) return *f;
    return NULL;
}

static void unknown(KeyReader *r, const char *name, size_t len) {
    char why[300];
    int n = snprintf(why, sizeof why, "architecture \"%.*s\" is not known here (", len > 60 ? 60 : (int)len, name);
    for (const Family *const *f = families; *f; f++)
        for (const char *const *a = (*f)->architectures; *a; a++)
            n += snprintf(why + n, sizeof why - (size_t)n, "%s%s",
                          f == families && a == (*f)->architectures ? "" : ", ", *a);
    snprintf(why + n, sizeof why - (size_t)n, " are)");
    key_complain(r, r->source->architecture, why);
}

static const Family *family_of(KeyReader *r, Config *c) {
    KeyValue v = r->source->look(r, r->source->architecture, r->source->architecture);
    if (v.kind != KEY_TEXT) {
        key_complain(r, r->source->architecture, r->source->missing);
        return NULL;
    }
    const Family *f = find(v.text, v.len);
    if (!f) unknown(r, v.text, v.len);
    else snprintf(c->arch, sizeof c->arch, "%.*s", (int)v.len, v.text);
    return f;
}

/* Linear attention rotates features: where there are not head_dim of them, the same share of them is rotated. */
static void check_linear(KeyReader *r, Config *c) {
    LinearConfig *linear = &c->linear;
    RopeConfig *rope = &c->rope;
    char why[200];
    linear->head_dim = c->head_dim;
    if (linear_check(linear, why, sizeof why)) {
        key_complain(r, "linear attention", why);
        return;
    }
    if (c->window) key_complain(r, "sliding_window", "linear attention cannot forget; it has no window");
    int rotates = linear->form->before_phi || linear->form->in_numerator || linear->form->in_denominator;
    if (rotates && rope->scaling->keys == ROPE_KEYS_BY_LENGTH) {
        snprintf(why, sizeof why,
                 "method %s changes with the text's length, and linear attention keeps no keys to turn anew; name "
                 "another (--rope)",
                 rope->scaling->name);
        key_complain(r, "rope", why);
    }
    int features = linear_features_n(linear);
    if (r->rc || features == c->head_dim || linear->form->before_phi) return;
    if (rotates && rope->n_divisors)
        key_complain(r, "rope_freqs.weight", "is for head_dim entries, but these features are more or fewer");
    rope->rotary_dim = (int)((int64_t)features * rope->rotary_dim / c->head_dim) / 2 * 2;
}

static void check_sizes(KeyReader *r, const Config *c, const Family *f) {
    key_range(r, "d_model", c->d_model, 1, CONFIG_MAX_DIM);
    key_range(r, "d_ff", c->d_ff, 1, CONFIG_MAX_DIM);
    key_range(r, "n_layers", c->n_layers, 1, CONFIG_MAX_LAYERS);
    if (c->n_heads % c->n_kv_heads) key_complain(r, "n_kv_heads", "must divide n_heads");
    if (c->head_dim < 2 || c->head_dim % 2 || c->head_dim > 2 * ROPE_MAX_PAIRS)
        key_complain(r, "head_dim", "must be even, from 2 to 1024");
    if ((int64_t)c->n_heads * c->head_dim > CONFIG_MAX_DIM)
        key_complain(r, "n_heads", "n_heads x head_dim is too large");
    if ((int64_t)c->n_heads * c->value_dim > CONFIG_MAX_DIM)
        key_complain(r, "n_heads", "n_heads x value_dim is too large");
    if (!(c->norm_eps >= 0 && c->norm_eps < 1))
        key_complain(r, f->encoder ? "layer_norm_eps" : "rms_norm_eps", "is missing or out of range");
    if (c->rope.rotary_dim > c->head_dim) key_complain(r, "rotary_dim", "is larger than head_dim");
}

int config_read(Config *c, const Family **family, const Weights *w, const ConfigOverride *o, char *err, size_t errlen) {
    KeyReader r = {.w = w, .source = key_sources[w->format], .arch = c->arch, .err = err, .errlen = errlen};
    memset(c, 0, sizeof *c);
    c->bos_id = -1;
    c->names = r.source->names;
    const Family *f = family_of(&r, c);
    if (f) f->read_config(&r, c);
    if (r.rc) return r.rc;
    if (c->value_dim == 0) c->value_dim = c->head_dim;
    if (c->d_embed == 0) c->d_embed = c->d_model;
    if (c->ff_rows == 0) c->ff_rows = c->d_ff;
    c->rope.n_ctx_train = c->n_ctx_train;
    check_sizes(&r, c, f);
    if (r.rc == 0 && o) config_override(&r, c, f, o);
    if (r.rc == 0 && c->linear.form) check_linear(&r, c);
    char why[200];
    if (r.rc == 0 && f->settle) f->settle(&r, c, o);
    if (r.rc == 0 && rope_check(&c->rope, why, sizeof why)) key_complain(&r, "rope", why);
    if (family) *family = f;
    return r.rc;
}
