/* model/family.c - a key of a file's metadata, checked; whose model a file holds, and whether its settings can be. */
#include "family.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- one key ---- */

void key_complain(KeyReader *r, const char *key, const char *why) {
    if (r->rc == 0) r->rc = base_error(r->err, r->errlen, -EINVAL, "%s: %s: %s", r->w->path, key, why);
}

void key_unknown(KeyReader *r, const char *key, const char *what, const char *word, size_t len, const char *known) {
    char why[400];
    snprintf(why, sizeof why, "%s\"%.*s\" is not known here (%s are)", what, len > 60 ? 60 : (int)len, word, known);
    key_complain(r, key, why);
}

int64_t key_range(KeyReader *r, const char *key, double v, double min, double max) {
    if (v >= min && v <= max && v == floor(v)) return (int64_t)v;
    char why[120];
    snprintf(why, sizeof why, "%.17g is not a whole number from %.0f to %.0f", v, min, max);
    key_complain(r, key, why);
    return (int64_t)min;
}

double key_number(KeyReader *r, const char *gguf, const char *hf, double absent) {
    KeyValue v = r->source->look(r, gguf, hf);
    if (v.kind != KEY_NUMBER && v.kind != KEY_ABSENT) key_complain(r, r->key, "must be a number");
    return v.kind == KEY_NUMBER ? v.number : absent;
}

int64_t key_int(KeyReader *r, const char *gguf, const char *hf, double absent, double min, double max) {
    KeyValue v = r->source->look(r, gguf, hf);
    if (v.kind == KEY_NUMBER && !v.is_float) return key_range(r, r->key, v.number, min, max);
    if (v.kind != KEY_ABSENT) key_complain(r, r->key, "must be a whole number");
    return (int64_t)absent;
}

int key_word(KeyReader *r, const char *gguf, const char *hf, char *out, size_t outlen) {
    KeyValue v = r->source->look(r, gguf, hf);
    if (v.kind == KEY_ABSENT) return 0;
    if (v.kind != KEY_TEXT || v.len == 0 || memchr(v.text, 0, v.len)) key_complain(r, r->key, "must be a word");
    else snprintf(out, outlen, "%.*s", v.len < outlen ? (int)v.len : (int)outlen - 1, v.text);
    return v.kind == KEY_TEXT;
}

double key_field(const KeyField *f, const Config *c) {
    const void *at = (const char *)c + f->at;
    if (f->type == FIELD_FLOAT) return (double)*(const float *)at;
    return f->type == FIELD_INT ? *(const int *)at : (double)*(const int64_t *)at;
}

void keys_read(KeyReader *r, const KeyField *f, Config *c) {
    for (; f->gguf || f->hf; f++) {
        void *at = (char *)c + f->at;
        double was = key_field(f, c);
        if (f->type == FIELD_FLOAT) *(float *)at = (float)key_number(r, f->gguf, f->hf, was);
        else if (f->type == FIELD_INT) *(int *)at = (int)key_int(r, f->gguf, f->hf, was, f->min, f->max);
        else *(int64_t *)at = key_int(r, f->gguf, f->hf, was, f->min, f->max);
        if (f->required && key_field(f, c) == 0) key_complain(r, r->key, r->source->missing);
    }
}

/* ---- settings ---- */

int config_even_split(KeyReader *r, const Config *c) {
    if (c->d_model % c->n_heads)
        key_complain(r, "head_dim", "is not given, and the heads do not divide the model's width");
    return c->d_model / c->n_heads;
}

void config_add_end(Config *c, double id) {
    for (int i = 0; i < c->n_eos; i++)
        if (c->eos_id[i] == id) return;
    if (id >= 0 && id < c->vocab_size && c->n_eos < CONFIG_MAX_EOS) c->eos_id[c->n_eos++] = (int)id;
}

/* One more of "a, b, c". */
static void also(char *known, size_t size, const char *name) {
    size_t n = strlen(known);
    snprintf(known + n, size - n, "%s%s", n ? ", " : "", name);
}

static void read_attention(KeyReader *r, Config *c) {
    char kind[32] = "softmax", phi[32] = "", form[32] = "numerator", maps[200] = "", forms[200] = "";
    c->linear.epsilon = key_number(r, "attention.denominator_epsilon", "attention_denominator_epsilon", 1e-6);
    key_word(r, "attention.kind", "attention_kind", kind, sizeof kind);
    if (strcmp(kind, "softmax") != 0 && strcmp(kind, "linear") != 0)
        key_unknown(r, r->key, "", kind, strlen(kind), "softmax and linear");
    for (int i = 0; feature_maps[i]; i++) also(maps, sizeof maps, feature_maps[i]->name);
    if (key_word(r, "attention.feature_map", "attention_feature_map", phi, sizeof phi) && !feature_map(phi))
        key_unknown(r, r->key, "", phi, strlen(phi), maps);
    for (int i = 0; linear_forms[i]; i++) also(forms, sizeof forms, linear_forms[i]->name);
    key_word(r, "attention.form", "attention_form", form, sizeof form);
    if (!(c->file_form = linear_form(form))) key_unknown(r, r->key, "", form, strlen(form), forms);
    if (r->rc) return;
    c->linear.form = strcmp(kind, "linear") == 0 ? c->file_form : NULL;
    c->linear.phi = *phi ? feature_map(phi) : linear_usual_map(c->file_form);
    c->linear.head_dim = c->head_dim;
}

static const Family *family_of(KeyReader *r, Config *c) {
    const char *key = r->source->architecture;
    char known[200] = "";
    KeyValue v = r->source->look(r, key, key);
    for (const Family *const *f = families; *f; f++)
        for (int i = 0; (*f)->architecture(i); i++) {
            const char *name = (*f)->architecture(i);
            also(known, sizeof known, name);
            if (v.kind != KEY_TEXT || strlen(name) != v.len || memcmp(name, v.text, v.len) != 0) continue;
            snprintf(c->arch, sizeof c->arch, "%s", name);
            return *f;
        }
    if (v.kind == KEY_TEXT) key_unknown(r, key, "architecture ", v.text, v.len, known);
    else key_complain(r, key, r->source->missing);
    return NULL;
}

static void check_sizes(KeyReader *r, const Config *c) {
    if (c->n_heads % c->n_kv_heads) key_complain(r, "n_kv_heads", "must divide n_heads");
    if (c->head_dim < 2 || c->head_dim % 2 || c->head_dim > 2 * ROPE_MAX_PAIRS)
        key_complain(r, "head_dim", "must be even, from 2 to 1024");
    if ((int64_t)c->n_heads * c->head_dim > CONFIG_MAX_DIM)
        key_complain(r, "n_heads", "n_heads x head_dim is too large");
    if (!(c->norm_eps >= 0 && c->norm_eps < 1))
        key_complain(r, c->roformer.variant ? "layer_norm_eps" : "rms_norm_eps", "is missing or out of range");
    if (c->rope.rotary_dim > c->head_dim) key_complain(r, "rotary_dim", "is larger than head_dim");
}

int config_read(Config *c, Weights *w, const ModelOptions *o, char *err, size_t errlen) {
    KeyReader r = {.w = w, .source = key_sources[w->format], .arch = c->arch, .err = err, .errlen = errlen};
    char why[200];
    memset(c, 0, sizeof *c);
    c->bos_id = -1;
    c->norm_eps = -1; /* not given */
    if ((c->family = family_of(&r, c))) c->family->read_config(&r, c);
    if (r.rc == 0) read_attention(&r, c);
    if (r.rc) return r.rc;
    r.source->ends(&r, c);
    check_sizes(&r, c);
    if (r.rc == 0) config_more(&r, c, o);
    if (r.rc == 0 && c->linear.form && linear_check(&c->linear, why, sizeof why))
        key_complain(&r, "linear attention", why);
    if (c->linear.form && c->window)
        key_complain(&r, "sliding_window", "linear attention cannot forget; it has no window");
    if (r.rc == 0 && rope_check(&c->rope, why, sizeof why)) key_complain(&r, "rope", why);
    return r.rc;
}
