/* model/keys.c - reading one key of a file's metadata, checked. */
#include "keys.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

void key_complain(KeyReader *r, const char *key, const char *why) {
    if (r->rc == 0) r->rc = base_error(r->err, r->errlen, -EINVAL, "%s: %s: %s", r->w->path, key, why);
}

int64_t key_range(KeyReader *r, const char *key, double v, double min, double max) {
    if (!(v >= min && v <= max) || v != floor(v)) {
        char why[120];
        snprintf(why, sizeof why, "%.17g is not a whole number from %.0f to %.0f", v, min, max);
        key_complain(r, key, why);
        return (int64_t)min;
    }
    return (int64_t)v;
}

/* ---- Hugging Face's config.json ---- */

int key_absent(const JsonValue *v) { return !v || v->type == JSON_NULL; }

double hf_number(KeyReader *r, const JsonValue *o, const char *key, double absent) {
    const JsonValue *v = json_get(o, key);
    if (key_absent(v)) return absent;
    if (v->type != JSON_NUMBER) key_complain(r, key, "must be a number");
    return v->number;
}

int64_t hf_int(KeyReader *r, const char *key, int64_t absent, double min, double max) {
    const JsonValue *v = json_get(r->w->config.root, key);
    if (key_absent(v)) {
        if (absent == 0) key_complain(r, key, "is missing in config.json");
        return absent;
    }
    return key_range(r, key, hf_number(r, r->w->config.root, key, 0), min, max);
}

int hf_bool(KeyReader *r, const char *key, int absent) {
    const JsonValue *v = json_get(r->w->config.root, key);
    if (key_absent(v)) return absent;
    if (v->type != JSON_BOOL) key_complain(r, key, "must be true or false");
    return v->boolean;
}

void hf_word(KeyReader *r, const char *key, char *out, size_t outlen) {
    const JsonValue *v = json_get(r->w->config.root, key);
    if (key_absent(v)) return;
    if (v->type != JSON_STRING || v->len == 0 || strlen(v->str) != v->len) key_complain(r, key, "must be a word");
    else snprintf(out, outlen, "%s", v->str);
}

/* ---- GGUF's metadata ---- */

const MetaValue *gguf_get(KeyReader *r, const char *name, char *key, size_t keylen) {
    snprintf(key, keylen, "%s.%s", r->arch, name);
    return weights_meta(r->w, key);
}

double gguf_number(KeyReader *r, const char *name, double absent) {
    char key[120];
    double v = absent;
    const MetaValue *m = gguf_get(r, name, key, sizeof key);
    if (m && (m->type == META_BOOL || !meta_number(m, &v))) key_complain(r, key, "must be a number");
    return v;
}

int64_t gguf_int(KeyReader *r, const char *name, int64_t absent, double min, double max) {
    char key[120];
    const MetaValue *m = gguf_get(r, name, key, sizeof key);
    int64_t v = 0, first = 0;
    if (!m) {
        if (absent < 0) key_complain(r, key, "is missing");
        return absent < 0 ? (int64_t)min : absent;
    }
    if (m->type == META_ARRAY) {
        const uint8_t *cursor = m->data;
        for (uint64_t i = 0; i < m->n; i++) {
            MetaValue e;
            meta_next(m, &cursor, &e);
            if (!meta_integer(&e, &v) || (i && v != first)) key_complain(r, key, "differs from layer to layer, which is not known here");
            first = v;
        }
    } else if (!meta_integer(m, &v)) {
        key_complain(r, key, "must be a whole number");
    }
    return key_range(r, key, (double)v, min, max);
}

int gguf_flag(KeyReader *r, const char *name, int absent) {
    char key[120];
    int64_t v = absent;
    const MetaValue *m = gguf_get(r, name, key, sizeof key);
    if (m && (m->type != META_BOOL || !meta_integer(m, &v))) key_complain(r, key, "must be true or false");
    return (int)v;
}

void gguf_word(KeyReader *r, const char *name, char *out, size_t outlen, char *key, size_t keylen) {
    const MetaValue *m = gguf_get(r, name, key, keylen);
    if (!m) return;
    if (m->type != META_STRING || m->n == 0 || memchr(m->data, 0, m->n)) key_complain(r, key, "must be a word");
    else snprintf(out, outlen, "%.*s", m->n < outlen ? (int)m->n : (int)outlen - 1, (const char *)m->data);
}
