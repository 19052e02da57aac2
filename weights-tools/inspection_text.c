/* weights-tools/inspection_text.c - an Inspection in lines: first what the model is, then the table of its tensors. */
#include "inspection.h"

#include "model/layers/layers.h"
#include "model/roformer_kinds.h"
#include "rope/positions.h"
#include "rope/scaling.h"

#include <string.h>

enum { NAME_MOST = 60 };

static void clean(Buffer *b, const char *s) { buffer_clean(b, s, strlen(s)); }

static void label(Buffer *b, const char *name) { buffer_print(b, "%-14s ", name); }

static void size(Buffer *b, uint64_t bytes) {
    if (bytes < 10000) buffer_print(b, "%llu bytes", (unsigned long long)bytes);
    else if (bytes < 10000000) buffer_print(b, "%.1f kB", (double)bytes / 1e3);
    else buffer_print(b, "%.1f MB", (double)bytes / 1e6);
}

static void model_line(const Inspection *i, Buffer *b) {
    const Config *c = &i->config;
    label(b, "model");
    clean(b, c->arch);
    if (c->roformer.variant) buffer_print(b, " %s", roformer_variant_names[c->roformer.variant]);
    buffer_print(b, ": %d layers, width %d, feed-forward %d, vocabulary %d, context %lld\n", c->n_layers, c->d_model,
                 c->d_ff, c->vocab_size, (long long)c->n_ctx_train);
    label(b, "heads");
    buffer_print(b, "%d of %d", c->n_heads, c->head_dim);
    if (c->n_kv_heads != c->n_heads) buffer_print(b, " on %d of keys and values", c->n_kv_heads);
    const Decoder *x = c->decoder;
    buffer_print(b, "\n");
    if (!x) return;
    if (x->local_dim) label(b, "");
    if (x->local_dim) buffer_print(b, "with a window %d of %d on %d\n", c->n_heads, x->local_dim, x->local_kv);
    if (x->n_borrowers) label(b, "");
    if (x->n_borrowers) buffer_print(b, "the last %d layers borrow keys and values\n", x->n_borrowers);
}

static void rope_line(const Inspection *i, Buffer *b) {
    const RopeConfig *r = &i->config.rope;
    const RopeNumbers *n = rope_numbers(r);
    const Positions *p = i->config.positions;
    if (p) {
        label(b, "positions");
        buffer_print(b, "%s: %s\n", p->kind->name, p->kind->source);
    }
    if (!position_kind_of(p)->rotates) return;
    label(b, "rope");
    buffer_print(b, "%s, theta %.9g", strcmp(r->scaling->name, "none") ? r->scaling->name : "not stretched", r->theta);
    if (n->factor > 0) buffer_print(b, ", factor %.9g", n->factor);
    if (n->factor > 0 && n->n_ctx_original > 0) buffer_print(b, " of a context of %lld", (long long)n->n_ctx_original);
    if (n->n_divisors) buffer_print(b, ", frequencies divided by rope_freqs.weight");
    if (n->n_long) buffer_print(b, ", %d long and %d short factors", n->n_long, n->n_short);
    buffer_print(b, "\n");
    label(b, "pairs");
    buffer_print(b, "%d of a head's %d entries, %s\n", r->rotary_dim - 2 * rope_still_pairs(r), i->config.head_dim,
                 r->pairing == ROPE_HALF ? "(i, i + d/2): half-split" : "(2i, 2i + 1): interleaved");
}

static void attention_line(const Inspection *i, Buffer *b) {
    const Config *c = &i->config;
    label(b, "attention");
    if (c->linear.form)
        buffer_print(b, "linear, feature map %s%s%s, form %s", c->linear.phi->name,
                     c->linear.phi_key ? ", of keys " : "", c->linear.phi_key ? c->linear.phi_key->name : "",
                     c->linear.form->name);
    else buffer_print(b, "softmax");
    buffer_print(b, ", %s", c->mask == MASK_CAUSAL ? "causal" : mask_names[c->mask]);
    if (c->window) buffer_print(b, ", window %lld", (long long)c->window);
    if (c->log_scale) buffer_print(b, ", scores by ln(keys) / ln(%d)", c->log_scale);
    if (c->roformer.variant) buffer_print(b, "; pooler %s", pooler_names[c->roformer.pooler]);
    buffer_print(b, "\n");
}

static void tokenizer_line(const Inspection *i, Buffer *b) {
    label(b, "tokenizer");
    if (*i->tokenizer) {
        clean(b, i->tokenizer);
        buffer_print(b, ", %zu pieces", i->pieces);
        if (i->bos >= 0) buffer_print(b, ", bos %d", i->bos);
        if (i->eos >= 0) buffer_print(b, ", eos %d", i->eos);
    } else if (*i->no_tokenizer) {
        buffer_print(b, "not opened: ");
        clean(b, i->no_tokenizer);
    } else buffer_print(b, "none");
    buffer_print(b, "\n");
}

static void types_lines(const Inspection *i, Buffer *b) {
    label(b, "weights");
    buffer_print(b, "%zu tensor%s, ", i->n_tensors, plural(i->n_tensors));
    if (i->values < 1000000) buffer_print(b, "%llu values", (unsigned long long)i->values);
    else buffer_print(b, "%.4g million values", (double)i->values / 1e6);
    uint64_t bytes = 0;
    for (size_t t = 0; t < i->n_types; t++) bytes += i->types[t].bytes;
    if (i->values) buffer_print(b, ", %.2f bits each", 8.0 * (double)bytes / (double)i->values);
    buffer_print(b, "\n");
    for (size_t t = 0; t < i->n_types; t++) {
        label(b, "");
        buffer_print(b, "%-9s %5zu tensor%s, ", i->types[t].type, i->types[t].tensors, plural(i->types[t].tensors));
        size(b, i->types[t].bytes);
        buffer_print(b, "\n");
    }
}

/* Characters of s as a terminal counts them, nearly: no wide ones stand in names of tensors. */
static int width(const char *s) {
    int n = 0;
    for (; *s; s++) n += ((unsigned char)*s & 0xc0) != 0x80;
    return n;
}

static void tensor_lines(const Inspection *i, Buffer *b) {
    int column = 6;
    for (size_t t = 0; t < i->n_tensors; t++)
        if (width(i->tensors[t].name) > column) column = width(i->tensors[t].name);
    if (column > NAME_MOST) column = NAME_MOST;
    buffer_print(b, "\n%-*s  %-9s %14s  shape\n", column, "tensor", "type", "bytes");
    for (size_t t = 0; t < i->n_tensors; t++) {
        const TensorLine *l = &i->tensors[t];
        clean(b, l->name);
        int fill = column - width(l->name);
        buffer_print(b, "%*s  %-9s %14llu  [", fill > 0 ? fill : 0, "", l->type, (unsigned long long)l->bytes);
        for (int d = 0; d < l->n_dims; d++) buffer_print(b, "%s%llu", d ? ", " : "", (unsigned long long)l->shape[d]);
        buffer_print(b, "]\n");
    }
}

static void value(Buffer *b, const MetaValue *v) {
    double number;
    int64_t whole;
    if (v->type == META_STRING) {
        buffer_clean(b, (const char *)v->data, v->n > 200 ? 200 : (size_t)v->n);
        if (v->n > 200) buffer_print(b, " .. (%llu bytes)", (unsigned long long)v->n);
    } else if (v->type == META_BOOL) buffer_print(b, v->data[0] ? "true" : "false");
    else if (meta_integer(v, &whole)) buffer_print(b, "%lld", (long long)whole);
    else if (meta_number(v, &number)) buffer_print(b, "%.9g", number);
    else buffer_print(b, "a number too large");
}

static void key_lines(const Inspection *i, Buffer *b) {
    buffer_print(b, "\nkeys\n");
    for (size_t k = 0; k < i->weights->n_meta; k++) {
        const MetaValue *v = &i->weights->meta[k];
        MetaValue e;
        const uint8_t *cursor = v->data;
        clean(b, v->key);
        buffer_print(b, " = ");
        if (v->type != META_ARRAY) value(b, v);
        else {
            buffer_print(b, "[");
            for (uint64_t n = 0; n < v->n && n < 4; n++) {
                meta_next(v, &cursor, &e);
                buffer_print(b, n ? ", " : "");
                value(b, &e);
            }
            buffer_print(b, v->n > 4 ? ", .. (%llu)]" : "]", (unsigned long long)v->n);
        }
        buffer_print(b, "\n");
    }
}

void inspection_text(const Inspection *i, Buffer *b, int with_tensors, int with_keys) {
    label(b, "file");
    clean(b, i->path);
    buffer_print(b, ": %s, ", i->format);
    size(b, i->file_bytes);
    if (i->n_files > 1) buffer_print(b, " in %zu files", i->n_files);
    buffer_print(b, "\n");
    if (i->has_config) {
        model_line(i, b);
        rope_line(i, b);
        attention_line(i, b);
    } else {
        label(b, "model");
        buffer_print(b, "not one that ./run opens: ");
        clean(b, i->refused);
        buffer_print(b, "\n");
    }
    if (i->weights) tokenizer_line(i, b);
    types_lines(i, b);
    if (with_tensors) tensor_lines(i, b);
    if (with_keys && i->weights && i->weights->n_meta) key_lines(i, b);
}
