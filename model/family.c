/* model/family.c - from a file to a Model: its keys, each checked; whose model it holds, and whether its settings can
 * be; every expected tensor looked up, its type and shape checked. */
#include "family.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- one key ---- */

void key_complain(KeyReader *r, const char *key, const char *why) { base_complain(&r->line, "%s: %s", key, why); }

int64_t key_range(KeyReader *r, const char *key, double v, double min, double max) {
    if (v >= min && v <= max && v == floor(v)) return (int64_t)v;
    base_complain(&r->line, "%s: %.17g is not a whole number from %.0f to %.0f", key, v, min, max);
    return (int64_t)min;
}

static double number(KeyReader *r, const MetaValue *v, const char *why) {
    double out = 0;
    if (v->type == META_BOOL || v->type == META_STRING || v->type == META_ARRAY) key_complain(r, r->key, why);
    else if (!meta_number(v, &out)) out = (double)load_u64(v->data); /* above what an int64_t holds */
    return out;
}

double key_number(KeyReader *r, const char *gguf, const char *hf, double absent) {
    const MetaValue *v = r->source->look(r, gguf, hf);
    return v ? number(r, v, "must be a number") : absent;
}

int64_t key_int(KeyReader *r, const char *gguf, const char *hf, double absent, double min, double max) {
    static const char *const why = "must be a whole number";
    const MetaValue *v = r->source->look(r, gguf, hf);
    if (!v) return (int64_t)absent;
    if ((v->type == META_F32 || v->type == META_F64) && r->w->format != FORMAT_HF) key_complain(r, r->key, why);
    return key_range(r, r->key, number(r, v, why), min, max);
}

int key_word(KeyReader *r, const char *gguf, const char *hf, char *out, size_t outlen) {
    const MetaValue *v = r->source->look(r, gguf, hf);
    if (!v) return 0;
    int is_word = v->type == META_STRING && v->n && !memchr(v->data, 0, (size_t)v->n);
    if (!is_word) key_complain(r, r->key, "must be a word");
    else snprintf(out, outlen, "%.*s", v->n < outlen ? (int)v->n : (int)outlen - 1, (const char *)v->data);
    return is_word;
}

const void *key_row(KeyReader *r, const char *gguf, const char *hf, const char *usual, const char *what,
                    const void *rows) {
    char word[61] = "", known[200] = "";
    const char *const *row; /* a pointer is a pointer on every POSIX system: to a row, so to its name */
    int there = key_word(r, gguf, hf, word, sizeof word);
    if (!there && usual) snprintf(word, sizeof word, "%s", usual);
    if (!there && !usual) key_complain(r, r->key, r->source->missing);
    for (const char *at = rows; memcpy(&row, at, sizeof row), row; at += sizeof row) {
        if (strcmp(*row, word) == 0) return row;
        snprintf(known + strlen(known), sizeof known - strlen(known), "%s%s", *known ? ", " : "", *row);
    }
    base_complain(&r->line, "%s: %s\"%.80s\" is not known here (%s are)", r->key, what, word,
                  strlen(known) + 1 < sizeof known ? known : "--help models lists those that");
    return NULL;
}

double key_field(const KeyField *f, const void *c) {
    const void *at = (const char *)c + f->at;
    if (f->type == FIELD_FLOAT) return (double)*(const float *)at;
    return f->type == FIELD_INT ? *(const int *)at : (double)*(const int64_t *)at;
}

void keys_read(KeyReader *r, const KeyField *f, void *c) {
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

int config_add_end(Config *c, double id) {
    int there = !(id >= 0 && id < c->vocab_size); /* outside the vocabulary none comes up */
    for (int i = 0; i < c->n_eos; i++) there |= c->eos_id[i] == id;
    if (!there && c->n_eos == CONFIG_MAX_EOS) return -ENOSPC;
    if (!there) c->eos_id[c->n_eos++] = (int)id;
    return 0;
}

static void read_attention(KeyReader *r, Config *c) {
    char kind[32] = "softmax";
    c->linear.epsilon = key_number(r, "attention.denominator_epsilon", "attention_denominator_epsilon", 1e-6);
    key_word(r, "attention.kind", "attention_kind", kind, sizeof kind);
    int linear = strcmp(kind, "linear") == 0;
    if (!linear && strcmp(kind, "softmax") != 0)
        base_complain(&r->line, "%s: \"%.80s\" is not known here (softmax and linear are)", r->key, kind);
    c->file_form = key_row(r, "attention.form", "attention_form", "numerator", "", linear_forms);
    if (!c->file_form) return;
    const char *usual = c->file_form->usual->name;
    c->linear.phi = key_row(r, "attention.feature_map", "attention_feature_map", usual, "", feature_maps);
    if (r->source->look(r, "attention.feature_map_key", "attention_feature_map_key"))
        c->linear.phi_key =
            key_row(r, "attention.feature_map_key", "attention_feature_map_key", NULL, "", feature_maps);
    c->linear.form = linear ? c->file_form : NULL;
    c->linear.head_dim = c->head_dim;
}

int config_read(Config *c, Weights *w, const ModelOptions *o, char *err, size_t errlen) {
    KeyReader r = {.w = w, .source = key_sources[w->format], .arch = c->arch, .line = {w->path, err, errlen, 0}};
    const int *rc = &r.line.rc;
    char why[200];
    *c = (Config){.bos_id = -1, .norm_eps = -1}; /* not given */
    const Architecture *a = key_row(&r, "general.architecture", "model_type", NULL, "architecture ", architectures);
    if (!a) return *rc;
    snprintf(c->arch, sizeof c->arch, "%s", a->name);
    if (a->with_experts && key_number(&r, "expert_count", NULL, 0) > 0) a = a->with_experts;
    c->family = a->family;
    c->family->read_config(&r, c, a);
    if (*rc == 0) read_attention(&r, c);
    if (*rc) return *rc;
    if (c->n_heads % c->n_kv_heads) key_complain(&r, "n_kv_heads", "must divide n_heads");
    if (c->head_dim < 2 || c->head_dim % 2 || c->head_dim > 2 * ROPE_MAX_PAIRS)
        key_complain(&r, "head_dim", "must be even, from 2 to 1024");
    if ((int64_t)c->n_heads * c->head_dim > CONFIG_MAX_DIM)
        key_complain(&r, "n_heads", "n_heads x head_dim is too large");
    if (!(c->norm_eps >= 0 && c->norm_eps < 1))
        key_complain(&r, c->roformer.variant ? "layer_norm_eps" : "rms_norm_eps", "is missing or out of range");
    if (c->rope.rotary_dim > c->head_dim) key_complain(&r, "rotary_dim", "is larger than head_dim");
    if (*rc == 0) config_more(&r, c, o);
    if (*rc == 0 && rope_check(&c->rope, why, sizeof why)) key_complain(&r, "rope", why);
    return *rc;
}

/* ---- tensors ---- */

void load_out_of_memory(Loader *ld) {
    if (ld->line.rc == 0)
        ld->line.rc = base_error(ld->line.err, ld->line.errlen, -ENOMEM, "%s: out of memory", ld->line.name);
}

/* The last dimension is cols, and those before it come to rows: a stack of matrices is one below the other. */
static int fits(const Tensor *t, size_t rows, size_t cols) {
    int last = t->n_dims - (cols > 0);
    uint64_t n = 1; /* of dimensions whose product the file holds */
    for (int i = 0; i < last; i++) n *= t->shape[i];
    return last > 0 && n == rows && (!cols || t->shape[last] == cols);
}

/* 0 where t has that shape (cols 0: a vector of rows entries) and a type that computes. */
static int check(Loader *ld, const Tensor *t, const char *name, size_t rows, size_t cols) {
    const QuantFormat *f = t ? quant_format(t->type) : NULL;
    char shape[200] = "", wanted[50]; /* 8 dimensions of at most 20 digits */
    if (!t) return base_complain(&ld->line, "tensor %s is missing", name);
    if (!fits(t, rows, cols)) {
        for (int i = 0, n = 0; i < t->n_dims; i++)
            n += snprintf(shape + n, sizeof shape - (size_t)n, "%s%llu", i ? ", " : "",
                          (unsigned long long)t->shape[i]);
        snprintf(wanted, sizeof wanted, cols ? "%zu, %zu" : "%zu", rows, cols);
        return base_complain(&ld->line, "tensor %s has shape [%s], the model needs [%s]", name, shape, wanted);
    }
    if (!f || !f->row || (!cols && matrix_group(&(Matrix){.type = (TensorType)t->type, .group = 1})))
        return base_complain(&ld->line, "tensor %s has type %s, which is not computed with here (%s)", name,
                             t->type_name,
                             cols ? "F32, F16, BF16 and the formats Q, IQ and TQ are" : "F32, F16 and BF16 are");
    ld->m->n_parameters += rows * (cols ? cols : 1);
    ld->m->used[t - ld->m->weights.tensors] = 1;
    return 0;
}

Matrix load_matrix(Loader *ld, const Tensor *t, const char *name, size_t rows, size_t cols) {
    if (check(ld, t, name, rows, cols)) return (Matrix){0};
    Matrix w = {.type = (TensorType)t->type, .group = t->group, .rows = rows, .cols = cols, .data = t->data,
                .scales = t->scales};
    int group = matrix_group(&w);
    if (group && (ld->m->min_group == 0 || group < ld->m->min_group)) ld->m->min_group = group;
    return w;
}

const float *load_vector(Loader *ld, const Tensor *t, const char *name, size_t n) {
    if (check(ld, t, name, n, 0)) return NULL;
    float *out = weights_own(&ld->m->weights, calloc(n, sizeof *out), free);
    if (!out) load_out_of_memory(ld);
    else matrix_row(out, &(Matrix){.type = (TensorType)t->type, .rows = 1, .cols = n, .data = t->data}, 0);
    return out;
}

int model_load(Model *m, char *err, size_t errlen) {
    Weights *w = &m->weights;
    Loader ld = {m, {w->path, err, errlen, 0}};
    size_t layers = (size_t)m->config.n_layers;
    if (layers > w->n_tensors)
        return base_complain(&ld.line, "%zu layers are claimed, but there are only %zu tensors", layers, w->n_tensors);
    m->kernels = kernels_best();
    m->has_logits = 1;
    m->layers = weights_own(w, calloc(layers, sizeof *m->layers), free);
    m->used = weights_own(w, calloc(w->n_tensors, 1), free);
    if (m->layers && m->used) m->config.family->load(&ld);
    else load_out_of_memory(&ld);
    return ld.line.rc;
}

int model_open_memory(Model *m, const void *data, size_t size, const char *name, const ModelOptions *o, char *err,
                      size_t errlen) {
    memset(m, 0, sizeof *m);
    int rc = weights_open_memory(&m->weights, data, size, name, err, errlen);
    if (rc == 0) rc = weights_expand(&m->weights, err, errlen);
    if (rc == 0) rc = config_read(&m->config, &m->weights, o, err, errlen);
    if (rc == 0) rc = model_load(m, err, errlen);
    if (rc == 0) rc = model_more(m, o, err, errlen);
    if (rc) model_close(m);
    return rc;
}

void model_close(Model *m) {
    model_unpack(m);
    weights_close(&m->weights);
    memset(m, 0, sizeof *m);
}
