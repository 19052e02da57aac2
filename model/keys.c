/* model/keys.c - reading one key of a file's metadata, checked; and the keys that all families share. */
#include "keys.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

void key_complain(KeyReader *r, const char *key, const char *why) {
    if (r->rc == 0) r->rc = base_error(r->err, r->errlen, -EINVAL, "%s: %s: %s", r->w->path, key, why);
}

void key_unknown(KeyReader *r, const char *key, const char *word, size_t len, const char *known) {
    char why[400];
    snprintf(why, sizeof why, "\"%.*s\" is not known here (%s)", len > 60 ? 60 : (int)len, word, known);
    key_complain(r, key, why);
}

int64_t key_range(KeyReader *r, const char *key, double v, double min, double max) {
    if (v >= min && v <= max && v == floor(v)) return (int64_t)v;
    char why[120];
    snprintf(why, sizeof why, "%.17g is not a whole number from %.0f to %.0f", v, min, max);
    key_complain(r, key, why);
    return (int64_t)min;
}

/* The key's value where it is of that kind; a complaint where it is of another; absent where there is none. */
static KeyValue look(KeyReader *r, const char *gguf, const char *hf, KeyKind kind, const char *must) {
    KeyValue v = r->source->look(r, gguf, hf);
    if (v.kind == KEY_NULL) v.kind = KEY_ABSENT;
    if (v.kind != kind && v.kind != KEY_ABSENT) {
        key_complain(r, r->key, must);
        v.kind = KEY_ABSENT;
    }
    return v;
}

double key_number(KeyReader *r, const char *gguf, const char *hf, double absent) {
    KeyValue v = look(r, gguf, hf, KEY_NUMBER, "must be a number");
    return v.kind == KEY_ABSENT ? absent : v.number;
}

int64_t key_int(KeyReader *r, const char *gguf, const char *hf, double absent, double min, double max) {
    KeyValue v = look(r, gguf, hf, KEY_NUMBER, "must be a whole number");
    if (v.kind == KEY_ABSENT && absent == KEY_REQUIRED) key_complain(r, r->key, r->source->missing);
    if (v.kind == KEY_ABSENT) return (int64_t)(absent == KEY_REQUIRED ? min : absent);
    if (v.is_float) key_complain(r, r->key, "must be a whole number");
    return key_range(r, r->key, v.number, min, max);
}

int key_flag(KeyReader *r, const char *gguf, const char *hf, int absent) {
    KeyValue v = look(r, gguf, hf, KEY_FLAG, "must be true or false");
    return v.kind == KEY_ABSENT ? absent : (int)v.number;
}

int key_word(KeyReader *r, const char *gguf, const char *hf, char *out, size_t outlen) {
    KeyValue v = look(r, gguf, hf, KEY_TEXT, "must be a word");
    if (v.kind == KEY_ABSENT) return 0;
    if (v.len == 0 || memchr(v.text, 0, v.len)) key_complain(r, r->key, "must be a word");
    else snprintf(out, outlen, "%.*s", v.len < outlen ? (int)v.len : (int)outlen - 1, v.text);
    return 1;
}

static void set_field(const KeyField *f, void *into, double v) {
    char *at = (char *)into + f->at;
    if (f->type == FIELD_INT) *(int *)(void *)at = (int)v;
    else if (f->type == FIELD_INT64) *(int64_t *)(void *)at = (int64_t)v;
    else if (f->type == FIELD_FLOAT) *(float *)(void *)at = (float)v;
    else *(double *)(void *)at = v;
}

double key_field(const KeyField *f, const void *from) {
    const char *at = (const char *)from + f->at;
    if (f->type == FIELD_INT) return *(const int *)(const void *)at;
    if (f->type == FIELD_INT64) return (double)*(const int64_t *)(const void *)at;
    return f->type == FIELD_FLOAT ? (double)*(const float *)(const void *)at : *(const double *)(const void *)at;
}

void keys_read(KeyReader *r, const KeyField *fields, size_t n, void *into) {
    for (const KeyField *f = fields; f < fields + n; f++) {
        KeyValue v = r->source->look(r, f->gguf, f->hf);
        int whole = f->type == FIELD_INT || f->type == FIELD_INT64;
        if (v.kind == KEY_NULL && f->null_is_zero) set_field(f, into, 0);
        if (v.kind == KEY_OTHER && r->rc) continue; /* it has been complained of */
        if (v.kind == KEY_ABSENT || v.kind == KEY_NULL) {
            if (f->required && key_field(f, into) == 0) key_complain(r, r->key, r->source->missing);
            continue;
        }
        if (v.kind != KEY_NUMBER || (whole && v.is_float))
            key_complain(r, r->key, whole ? "must be a whole number" : "must be a number");
        else set_field(f, into, whole ? (double)key_range(r, r->key, v.number, f->min, f->max) : v.number);
    }
}

/* ---- what all families say alike ---- */

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

/* "a, b, c are", of the rows' names. */
static const char *known_maps(char *out, size_t size) {
    int n = 0;
    for (int i = 0; feature_maps[i]; i++)
        n += snprintf(out + n, size - (size_t)n, "%s%s", i ? ", " : "", feature_maps[i]->name);
    snprintf(out + n, size - (size_t)n, " are");
    return out;
}

static const char *known_forms(char *out, size_t size) {
    int n = 0;
    for (int i = 0; linear_forms[i]; i++)
        n += snprintf(out + n, size - (size_t)n, "%s%s", i ? ", " : "", linear_forms[i]->name);
    snprintf(out + n, size - (size_t)n, " are");
    return out;
}

void config_read_attention(KeyReader *r, Config *c) {
    char kind[32] = "softmax", phi[32] = "", form[32] = "numerator", known[200];
    double epsilon = key_number(r, "attention.denominator_epsilon", "attention_denominator_epsilon", 1e-6);
    if (key_word(r, "attention.kind", "attention_kind", kind, sizeof kind) && strcmp(kind, "softmax") &&
        strcmp(kind, "linear"))
        key_unknown(r, r->key, kind, strlen(kind), "softmax and linear are");
    if (key_word(r, "attention.feature_map", "attention_feature_map", phi, sizeof phi) && !feature_map(phi))
        key_unknown(r, r->key, phi, strlen(phi), known_maps(known, sizeof known));
    key_word(r, "attention.form", "attention_form", form, sizeof form);
    if (!(c->file_form = linear_form(form)))
        key_unknown(r, r->key, form, strlen(form), known_forms(known, sizeof known));
    int64_t features = key_int(r, "attention.favor_features", "attention_favor_features", 128, 2, 2 * ROPE_MAX_PAIRS);
    int64_t seed = key_int(r, "attention.favor_seed", "attention_favor_seed", 1, 0, 9e15);
    if (r->rc) return;
    c->linear = (LinearConfig){.form = strcmp(kind, "linear") == 0 ? c->file_form : NULL,
                               .phi = *phi ? feature_map(phi) : linear_usual_map(c->file_form),
                               .epsilon = epsilon,
                               .favor_features = (int)features,
                               .favor_seed = (uint64_t)seed};
}
