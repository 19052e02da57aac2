/* weights-tools/inspection_json.c - an Inspection as one JSON object. */
#include "inspection.h"
#include "model/roformer_kinds.h"
#include "rope/positions.h"
#include "rope/scaling.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { ARRAY_MOST = 64 }; /* longer arrays of a file are counted, not listed: vocabularies */

/* s as a JSON string: cleaned, then quoted. */
static void string_n(Buffer *b, const char *s, size_t n) {
    Buffer text = {0};
    buffer_clean(&text, s, n);
    buffer_json(b, text.data ? (const char *)text.data : "", text.n);
    b->failed |= text.failed;
    free(text.data);
}

static void string(Buffer *b, const char *s) { string_n(b, s, strlen(s)); }

/* ,"name": - or without the comma behind a brace. */
static void key(Buffer *b, const char *name) {
    if (b->n && b->data[b->n - 1] != '{') buffer_print(b, ",");
    string(b, name);
    buffer_print(b, ":");
}

static void count(Buffer *b, const char *name, long long v) {
    key(b, name);
    buffer_print(b, "%lld", v);
}

static void real(Buffer *b, const char *name, double v) {
    key(b, name);
    if (isfinite(v)) buffer_print(b, "%.9g", v);
    else buffer_print(b, "null");
}

static void word(Buffer *b, const char *name, const char *v) {
    key(b, name);
    string(b, v);
}

static void rope(Buffer *b, const RopeConfig *r) {
    const RopeNumbers *n = rope_numbers(r);
    key(b, "rope");
    buffer_print(b, "{");
    word(b, "method", r->scaling->name);
    real(b, "theta", r->theta);
    count(b, "rotary_dim", r->rotary_dim);
    word(b, "pairing", r->pairing == ROPE_HALF ? "half" : "interleaved");
    if (n->factor > 0) real(b, "factor", n->factor);
    if (n->n_ctx_original > 0) count(b, "n_ctx_original", n->n_ctx_original);
    if (n->attention_factor > 0) real(b, "attention_factor", n->attention_factor);
    if (n->n_divisors) count(b, "divisors", n->n_divisors);
    if (n->n_long) count(b, "long_factors", n->n_long);
    buffer_print(b, "}");
}

static void config(Buffer *b, const Config *c) {
    key(b, "config");
    buffer_print(b, "{");
    count(b, "n_layers", c->n_layers);
    count(b, "d_model", c->d_model);
    count(b, "d_ff", c->d_ff);
    count(b, "n_heads", c->n_heads);
    count(b, "n_kv_heads", c->n_kv_heads);
    count(b, "head_dim", c->head_dim);
    count(b, "vocab_size", c->vocab_size);
    count(b, "n_ctx_train", c->n_ctx_train);
    real(b, "norm_eps", c->norm_eps);
    word(b, "mask", mask_names[c->mask]);
    if (c->window) count(b, "window", c->window);
    if (c->roformer.variant) word(b, "variant", roformer_variant_names[c->roformer.variant]);
    if (c->roformer.variant) word(b, "pooler", pooler_names[c->roformer.pooler]);
    word(b, "attention", c->linear.form ? "linear" : "softmax");
    if (c->linear.form) word(b, "feature_map", c->linear.phi->name);
    if (c->linear.form && c->linear.phi_key) word(b, "feature_map_key", c->linear.phi_key->name);
    if (c->linear.form) word(b, "form", c->linear.form->name);
    if (c->log_scale) count(b, "log_scale", c->log_scale);
    word(b, "position", position_kind_of(c->positions)->name);
    buffer_print(b, "}");
    if (position_kind_of(c->positions)->rotates) rope(b, &c->rope);
}

static void tokenizer(Buffer *b, const Inspection *i) {
    key(b, "tokenizer");
    if (!*i->tokenizer) {
        buffer_print(b, "null");
        if (*i->no_tokenizer) word(b, "tokenizer_refused", i->no_tokenizer);
        return;
    }
    buffer_print(b, "{");
    word(b, "kind", i->tokenizer);
    count(b, "pieces", (long long)i->pieces);
    if (i->bos >= 0) count(b, "bos", i->bos);
    if (i->eos >= 0) count(b, "eos", i->eos);
    buffer_print(b, "}");
}

static void types(Buffer *b, const Inspection *i) {
    key(b, "types");
    buffer_print(b, "{");
    for (size_t t = 0; t < i->n_types; t++) {
        key(b, i->types[t].type);
        buffer_print(b, "{");
        count(b, "tensors", (long long)i->types[t].tensors);
        count(b, "values", (long long)i->types[t].values);
        count(b, "bytes", (long long)i->types[t].bytes);
        buffer_print(b, "}");
    }
    buffer_print(b, "}");
}

static void tensors(Buffer *b, const Inspection *i) {
    key(b, "tensors");
    buffer_print(b, "[");
    for (size_t t = 0; t < i->n_tensors; t++) {
        const TensorLine *l = &i->tensors[t];
        buffer_print(b, t ? ",\n{" : "\n{");
        word(b, "name", l->name);
        word(b, "type", l->type);
        key(b, "shape");
        for (int d = 0; d < l->n_dims; d++) buffer_print(b, "%s%llu", d ? "," : "[", (unsigned long long)l->shape[d]);
        buffer_print(b, l->n_dims ? "]" : "[]");
        count(b, "bytes", (long long)l->bytes);
        buffer_print(b, "}");
    }
    buffer_print(b, "]");
}

static void value(Buffer *b, const MetaValue *v) {
    double number;
    int64_t whole;
    if (v->type == META_STRING) string_n(b, (const char *)v->data, (size_t)v->n);
    else if (v->type == META_BOOL) buffer_print(b, v->data[0] ? "true" : "false");
    else if (meta_integer(v, &whole)) buffer_print(b, "%lld", (long long)whole);
    else if (meta_number(v, &number) && isfinite(number)) buffer_print(b, "%.9g", number);
    else if (v->type == META_U64) buffer_print(b, "%llu", (unsigned long long)load_u64(v->data));
    else buffer_print(b, "null");
}

/* Keys of a GGUF file that differ only in what buffer_clean replaces would be one key twice, which JSON must not have:
 * they stand in a list. */
static void keys(Buffer *b, const Inspection *i) {
    key(b, "keys");
    buffer_print(b, "[");
    for (size_t k = 0; k < i->weights->n_meta; k++) {
        const MetaValue *v = &i->weights->meta[k];
        MetaValue e;
        const uint8_t *cursor = v->data;
        buffer_print(b, k ? ",\n{" : "\n{");
        word(b, "key", v->key);
        if (v->type == META_ARRAY) count(b, "n", (long long)v->n);
        if (v->type != META_ARRAY || v->n <= ARRAY_MOST) key(b, "value");
        if (v->type != META_ARRAY) value(b, v);
        else if (v->n <= ARRAY_MOST) {
            buffer_print(b, "[");
            for (uint64_t n = 0; n < v->n; n++) {
                meta_next(v, &cursor, &e);
                buffer_print(b, n ? "," : "");
                value(b, &e);
            }
            buffer_print(b, "]");
        }
        buffer_print(b, "}");
    }
    buffer_print(b, "]");
}

void inspection_json(const Inspection *i, Buffer *b) {
    buffer_print(b, "{");
    word(b, "file", i->path);
    word(b, "format", i->format);
    count(b, "bytes", (long long)i->file_bytes);
    count(b, "files", (long long)i->n_files);
    if (i->has_config) {
        word(b, "architecture", i->config.arch);
        config(b, &i->config);
    } else word(b, "refused", i->refused);
    if (i->weights) tokenizer(b, i);
    count(b, "values", (long long)i->values);
    types(b, i);
    tensors(b, i);
    if (i->weights && i->weights->format == FORMAT_GGUF) keys(b, i);
    buffer_print(b, "}\n");
}
