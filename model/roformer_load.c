/* model/roformer_load.c - RoFormer's tensors, by the one table of names that the converter has too (roformer_names.c).
 */
#include "roformer.h"

#include "base/json.h"
#include "keys_more.h"
#include "notes.h"
#include "roformer_kinds.h"
#include "roformer_names.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A file's tensors by what they are: slot [layer + 1][row of the table], row being the first of its GGUF name. */
typedef struct {
    Loader *ld;
    const Tensor **slots;
    size_t n_rows;
    const char *other; /* a name under which something stands with other numbers than under its usual one; or NULL */
} Slots;

/* Somebody reads it: it is not extra. */
static void seen(Model *m, const Tensor *t) { m->used[t - m->weights.tensors] = 1; }

static size_t row_named(const char *gguf) {
    for (size_t i = 0; roformer_names_row(i); i++)
        if (roformer_names_row(i)->gguf && strcmp(roformer_names_row(i)->gguf, gguf) == 0) return i;
    return 0; /* never: only names of the table are asked for */
}

/* Two names for one thing, in either order: decoder.bias beside predictions.bias. Where they are not tied it is the
 * alias that transformers computes with. */
static void fill(Slots *s, RoformerWorld world, const Tensor **slot, const Tensor *t, int is_alias) {
    int layer;
    if (*slot && !is_alias && !(roformer_names_find(world, (*slot)->name, &layer)->flags & NAME_ALIAS))
        base_complain(&s->ld->line, "tensor %s is there under two names", t->name);
    if (*slot) seen(s->ld->m, is_alias ? *slot : t);
    if (*slot && !tensor_is_same(*slot, t)) s->other = is_alias ? t->name : (*slot)->name;
    if (!*slot || is_alias) *slot = t;
}

/* 0 without memory. */
static int slots_fill(Slots *s) {
    const Model *m = s->ld->m;
    const Weights *w = &m->weights;
    size_t layers = (size_t)m->config.n_layers;
    RoformerWorld world = w->format == FORMAT_HF ? ROFORMER_IN_TORCH : ROFORMER_IN_GGUF;
    while (roformer_names_row(s->n_rows)) s->n_rows++;
    s->slots = calloc((layers + 1) * s->n_rows, sizeof *s->slots);
    if (!s->slots) return 0;
    for (size_t i = 0; i < w->n_tensors; i++) {
        int layer;
        const RoformerName *row = roformer_names_find(world, w->tensors[i].name, &layer);
        if (!row || layer >= (int)layers) continue;
        if (!row->gguf) { /* a table of angles or positions: computed here */
            seen(s->ld->m, &w->tensors[i]);
            continue;
        }
        const Tensor **slot = &s->slots[(size_t)(layer + 1) * s->n_rows + row_named(row->gguf)];
        fill(s, world, slot, &w->tensors[i], row->flags & NAME_ALIAS);
    }
    return 1;
}

static const Tensor *slot(const Slots *s, const char *gguf, int layer) {
    return s->slots[(size_t)(layer + 1) * s->n_rows + row_named(gguf)];
}

/* The name for error lines: what the file calls it, or would. */
static const char *name_of(const Slots *s, const char *gguf, int layer, char out[ROFORMER_NAME_MAX]) {
    const Tensor *t = slot(s, gguf, layer);
    const Config *c = &s->ld->m->config;
    RoformerWorld world = s->ld->m->weights.format == FORMAT_HF ? ROFORMER_IN_TORCH : ROFORMER_IN_GGUF;
    if (t) return t->name;
    roformer_names_write(out, roformer_names_row(row_named(gguf)), world, layer, c->roformer.variant == ROFORMER_GAU);
    return out;
}

static void matrix(const Slots *s, Matrix *to, const char *gguf, int layer, size_t rows, size_t cols) {
    char name[ROFORMER_NAME_MAX];
    *to = load_matrix(s->ld, slot(s, gguf, layer), name_of(s, gguf, layer, name), rows, cols);
}

static const float *vector(const Slots *s, const char *gguf, int layer, size_t n) {
    char name[ROFORMER_NAME_MAX];
    return load_vector(s->ld, slot(s, gguf, layer), name_of(s, gguf, layer, name), n);
}

static void load_layer(const Slots *s, int l, const float *ones) {
    const Config *c = &s->ld->m->config;
    Layer *y = &s->ld->m->layers[l];
    EncoderLayer *more = &s->ld->m->encoder->layers[l];
    size_t d = (size_t)c->d_model, ff = (size_t)c->d_ff, keys = (size_t)c->n_heads * (size_t)c->head_dim,
           values = (size_t)c->n_heads * (size_t)c->value_dim;
    y->attn_norm = y->ffn_norm = ones;
    if (c->roformer.variant == ROFORMER_GAU) {
        matrix(s, &y->w_up, "blk.#.gau_in.weight", l, 2 * ff + (size_t)c->head_dim, d);
        more->gau_q = vector(s, "blk.#.gau_q_scale.weight", l, (size_t)c->head_dim);
        more->gau_k = vector(s, "blk.#.gau_k_scale.weight", l, (size_t)c->head_dim);
        matrix(s, &y->w_down, "blk.#.gau_out.weight", l, d, ff);
        return;
    }
    matrix(s, &y->wq, "blk.#.attn_q.weight", l, keys, d);
    matrix(s, &y->wk, "blk.#.attn_k.weight", l, keys, d);
    matrix(s, &y->wv, "blk.#.attn_v.weight", l, values, d);
    matrix(s, &y->wo, "blk.#.attn_output.weight", l, d, values);
    matrix(s, &y->w_up, "blk.#.ffn_up.weight", l, ff, d);
    matrix(s, &y->w_down, "blk.#.ffn_down.weight", l, d, ff);
    if (c->roformer.variant != ROFORMER_V1) return;
    y->bq = vector(s, "blk.#.attn_q.bias", l, keys);
    y->bk = vector(s, "blk.#.attn_k.bias", l, keys);
    y->bv = vector(s, "blk.#.attn_v.bias", l, values);
    y->bo = vector(s, "blk.#.attn_output.bias", l, d);
    y->b_up = vector(s, "blk.#.ffn_up.bias", l, ff);
    y->b_down = vector(s, "blk.#.ffn_down.bias", l, d);
    y->attn_norm = vector(s, "blk.#.attn_output_norm.weight", l, d);
    more->attn_norm_b = vector(s, "blk.#.attn_output_norm.bias", l, d);
    y->ffn_norm = vector(s, "blk.#.layer_output_norm.weight", l, d);
    more->ffn_norm_b = vector(s, "blk.#.layer_output_norm.bias", l, d);
}

/* What the head multiplies by: the file's own, or the embeddings where they are the same or it has none. What a
 * configuration ties and the file has apart is the file's (transformers does so, too), and a note says so. */
static void load_decoder(const Slots *s) {
    Model *m = s->ld->m;
    const Tensor *own = slot(s, "mlm.decoder.weight", -1), *words = slot(s, "token_embd.weight", -1);
    int tied = m->config.own_head == 0, twice = tied && own && words && tensor_is_same(own, words);
    char other[300] = "";
    if (twice) seen(m, own);
    if ((own && !twice) || m->config.own_head == 1)
        matrix(s, &m->lm_head, "mlm.decoder.weight", -1, (size_t)m->config.vocab_size, (size_t)m->config.d_embed);
    else m->lm_head = m->tok_emb;
    if (tied && own && !twice) snprintf(other, sizeof other, "%s", own->name);
    if (tied && s->other)
        snprintf(other + strlen(other), sizeof other - strlen(other), "%s%s", *other ? ", " : "", s->other);
    if (*other) weights_note(&m->weights, note_untied, other);
}

/* ELECTRA's generator has gelu in its head, whatever its layers have: modeling_electra.py. */
static Activation head_activation(const Slots *s) {
    const Tensor *dense = slot(s, "mlm.dense.weight", -1);
    if (dense && strncmp(dense->name, "generator_predictions.", 22) == 0) return ACTIVATION_GELU;
    return (Activation)s->ld->m->config.roformer.activation;
}

/* The heads that the file has; the language model's in v1 begins with a layer of its own. */
static void load_heads(const Slots *s) {
    Model *m = s->ld->m;
    const RoformerConfig *f = &m->config.roformer;
    Encoder *e = m->encoder;
    size_t d = (size_t)m->config.d_model, E = (size_t)m->config.d_embed, vocab = (size_t)m->config.vocab_size;
    int v1 = f->variant == ROFORMER_V1;
    int untied = m->config.own_head == 1 && !slot(s, "mlm.decoder.weight", -1); /* v2's head is this one matrix */
    /* without a layer between, widths agree */
    m->has_logits = v1 ? slot(s, "mlm.dense.weight", -1) != NULL : E == d && !untied;
    m->lm_head = m->tok_emb;
    if (m->has_logits) load_decoder(s);
    if (v1 && m->has_logits) {
        m->config.roformer.head_width = m->config.d_embed;
        matrix(s, &e->mlm_dense, "mlm.dense.weight", -1, E, d);
        e->mlm_dense_b = vector(s, "mlm.dense.bias", -1, E);
        e->mlm_activation = head_activation(s);
        e->mlm_norm = vector(s, "mlm.norm.weight", -1, E);
        e->mlm_norm_b = vector(s, "mlm.norm.bias", -1, E);
        e->mlm_bias = vector(s, "mlm.bias", -1, vocab);
    }
    if (f->pooler) {
        matrix(s, &e->pooler, "pooler.weight", -1, d, d);
        e->pooler_b = vector(s, "pooler.bias", -1, d);
    }
    const char *const *names =
        f->classifier == CLASSIFIER_SEQUENCE && slot(s, "cls.out.weight", -1)
            ? (const char *const[]){"cls.dense.weight", "cls.dense.bias", "cls.out.weight", "cls.out.bias"}
        : f->classifier == CLASSIFIER_REPLACED
            ? (const char *const[]){"disc.dense.weight", "disc.dense.bias", "disc.out.weight", "disc.out.bias"}
            : (const char *const[]){NULL, NULL, "cls.weight", "cls.bias"};
    if (f->classifier && names[0]) {
        matrix(s, &e->cls_dense, names[0], -1, d, d);
        e->cls_dense_b = vector(s, names[1], -1, d);
    }
    if (f->classifier) {
        matrix(s, &e->cls_out, names[2], -1, (size_t)f->n_labels, d);
        e->cls_out_b = vector(s, names[3], -1, (size_t)f->n_labels);
    }
}

/* v2 and GAU-alpha compute without: what v1 has beyond them would be dropped. A file of v1 may be read as v2, though,
 * where the command line asks for that. */
static void refuse_biases(const Slots *s) {
    size_t n = ((size_t)s->ld->m->config.n_layers + 1) * s->n_rows;
    if (slot(s, "token_embd_norm.weight", -1)) return;
    for (size_t i = 0; i < n; i++)
        if (s->slots[i] && (roformer_names_row(i % s->n_rows)->flags & NAME_ALL) == NAME_V1)
            base_complain(&s->ld->line, "tensor %.100s: a v2 or GAU-alpha that has biases is not read here",
                          s->slots[i]->name);
}

void roformer_load(Loader *ld) {
    Model *m = ld->m;
    const Config *c = &m->config;
    Slots s = {.ld = ld};
    size_t d = (size_t)c->d_model, E = (size_t)c->d_embed, wider = d > E ? d : E;
    int v1 = c->roformer.variant == ROFORMER_V1;
    /* Behind the layers: the weights of the norms of v2 and GAU-alpha, which have none. */
    size_t bytes = sizeof *m->encoder + (size_t)c->n_layers * sizeof *m->encoder->layers + wider * sizeof(float);
    Encoder *e = m->encoder = weights_own(&m->weights, calloc(1, bytes), free);
    float *ones = e ? (float *)(void *)(e->layers + c->n_layers) : NULL;
    if (!e || !slots_fill(&s)) {
        load_out_of_memory(ld);
        return;
    }
    for (size_t i = 0; i < wider; i++) ones[i] = 1;
    if (!v1) refuse_biases(&s);
    matrix(&s, &m->tok_emb, "token_embd.weight", -1, (size_t)c->vocab_size, E);
    matrix(&s, &e->types, "token_types.weight", -1, (size_t)c->roformer.n_types, E);
    e->emb_norm = v1 ? vector(&s, "token_embd_norm.weight", -1, E) : ones;
    if (v1) e->emb_norm_b = vector(&s, "token_embd_norm.bias", -1, E);
    if (E != d) matrix(&s, &e->emb_proj, "token_embd_proj.weight", -1, d, E);
    if (E != d && v1) e->emb_proj_b = vector(&s, "token_embd_proj.bias", -1, d);
    for (int l = 0; l < c->n_layers && ld->line.rc == 0; l++) load_layer(&s, l, ones);
    load_heads(&s);
    free(s.slots);
}

/* How far a stored table (of sines, then cosines, a row a position) is from plain RoPE. */
static double table_apart(const Tensor *t, const RopeConfig *plain) {
    double most = 0, cosines[ROPE_MAX_PAIRS], sines[ROPE_MAX_PAIRS];
    float row[2 * ROPE_MAX_PAIRS];
    Rope r;
    size_t half = (size_t)plain->rotary_dim / 2;
    rope_init(&r, plain, 1);
    for (size_t pos = 0; pos < t->shape[0]; pos++) {
        matrix_row(row, &(Matrix){.type = (TensorType)t->type, .rows = t->shape[0], .cols = 2 * half, .data = t->data},
                   pos);
        rope_row64(&r, (int64_t)pos, cosines, sines);
        for (size_t i = 0; i < half; i++) {
            double d = fmax(fabs((double)row[i] - sines[i]), fabs((double)row[half + i] - cosines[i]));
            if (!(d <= most)) most = d;
        }
    }
    return most;
}

void roformer_check_table(Model *m) {
    const Config *c = &m->config;
    const JsonValue *base = json_typed(m->weights.config, "rope_theta", JSON_NUMBER);
    const RopeConfig plain = {.scaling = &rope_none, .pairing = ROPE_INTERLEAVED, .rotary_dim = c->head_dim,
                              .theta = base ? base->number : 10000};
    for (size_t i = 0; i < m->weights.n_tensors && !c->positions; i++) {
        const Tensor *t = &m->weights.tensors[i];
        int layer, fits = t->n_dims == 2 && t->shape[1] == (uint64_t)c->head_dim;
        const RoformerName *known = roformer_names_find(ROFORMER_IN_TORCH, t->name, &layer);
        double rounding = t->type == TENSOR_F32 ? 1e-5 : t->type == TENSOR_F16 ? 5e-4 : 4e-3;
        if (!known || !(known->flags & NAME_COMPUTED) || !strstr(t->name, "embed_positions")) continue;
        if (!fits || (t->type != TENSOR_F32 && t->type != TENSOR_F16 && t->type != TENSOR_BF16)) continue;
        double apart = table_apart(t, &plain);
        if (!(apart <= rounding))
            weights_note(&m->weights, "the file's table of sines (%.100s) is up to %.2g from RoPE's, which counts "
                         "here; transformers turns by the table", t->name, apart);
    }
}

/* Element i of a list of strings in a GGUF file: 1, or 0 where there is none. */
static int text_of(const MetaValue *list, int i, MetaValue *out) {
    if (!list || list->type != META_ARRAY || list->elem != META_STRING || (uint64_t)i >= list->n) return 0;
    const uint8_t *cursor = list->data;
    for (int k = 0; k <= i; k++) meta_next(list, &cursor, out);
    return 1;
}

const char *model_label(const Model *m, int i, size_t *len) {
    const Weights *w = &m->weights;
    char key[80];
    MetaValue e;
    *len = 0;
    snprintf(key, sizeof key, "%s.classifier.%slabels", m->config.arch, m->config.roformer.variant ? "" : "output_");
    if (w->format == FORMAT_GGUF && text_of(weights_meta(w, key), i, &e)) {
        *len = (size_t)e.n;
        return (const char *)e.data;
    }
    snprintf(key, sizeof key, "%d", i);
    const JsonValue *v = json_typed(json_get(w->config, "id2label"), key, JSON_STRING);
    if (!v) return "";
    *len = v->len;
    return v->str;
}
