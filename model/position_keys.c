/* model/position_keys.c - see position_keys.h. */
#include "position_keys.h"

#include "keys_more.h"
#include "roformer_names.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The tensor that GGUF calls so, whatever this file does; *name: what it calls it, or would. */
static const Tensor *find_table(const Weights *w, const PositionKind *kind, int is_roformer, const char **name) {
    *name = w->format != FORMAT_HF || is_roformer ? kind->table : kind->table_hf;
    for (size_t i = 0; w->format == FORMAT_HF && is_roformer && i < w->n_tensors; i++) {
        int layer;
        const RoformerName *row = roformer_names_find(ROFORMER_IN_TORCH, w->tensors[i].name, &layer);
        if (row && row->gguf && strcmp(row->gguf, kind->table) == 0) *name = w->tensors[i].name;
    }
    return weights_find(w, *name);
}

/* ---- which kind ---- */

/* Hugging Face's words. Configurations of BERT's descendants, RoFormer's and ModernBERT's too, say "absolute" whatever
 * their code does; it is meant where the table is there. */
static const char *usual_name(const Weights *w, const char *word, const Config *c) {
    const char *name;
    int is_roformer = c->roformer.variant != 0, is_encoder = is_roformer || c->mask != MASK_CAUSAL;
    int has_table = find_table(w, position_kind("learned"), is_roformer, &name) != NULL;
    if (strcmp(word, "absolute") == 0) return has_table || !is_encoder ? "learned" : "rope";
    return strcmp(word, "rotary") == 0 || strcmp(word, "rope_gptj") == 0 ? "rope" : word; /* Cohere 2's */
}

/* The row that the file names; `usual` where it names none. NULL after a complaint. */
static const PositionKind *read_kind(KeyReader *r, const Config *c, const char *usual) {
    char word[61] = "";
    const char *name = NULL;
    if (r->w->format == FORMAT_HF && key_word(r, NULL, "position_embedding_type", word, sizeof word))
        name = usual_name(r->w, word, c);
    if (name && name != word) return position_kind(name);
    return key_row(r, "attention.position", "position_embedding_type", usual, "", position_kinds);
}

/* A model without RoPE has nothing that frequencies could be scaled by. */
static void stop_rope(KeyReader *r, Config *c, const PositionKind *kind) {
    const RopeNumbers *n = rope_numbers(&c->rope);
    char why[120];
    snprintf(why, sizeof why, "is for models that rotate, and this one's positions are %s", kind->name);
    if (c->rope.scaling != &rope_none) key_complain(r, "rope.scaling.type", why);
    else if (n->n_divisors) key_complain(r, "rope_freqs.weight", why);
    c->rope.scaling = &rope_still;
}

static void take_scaling(KeyReader *r, Config *c, const PositionKind *kind) {
    const RopeScaling *named = rope_scaling(kind->scaling);
    if (c->rope.scaling != &rope_none && c->rope.scaling != named)
        key_complain(r, "rope.scaling.type", "is another method than the one that the kind of position names");
    c->rope.scaling = named;
}

static Positions *read_numbers(KeyReader *r, const Config *c, const PositionKind *kind) {
    Positions *p = weights_own(r->w, calloc(1, sizeof *p), free);
    if (!p) {
        key_no_memory(r);
        return NULL;
    }
    *p = (Positions){.kind = kind, .width = c->d_embed, .n_heads = c->n_heads, .n_trained = c->n_ctx_train,
                     .two_sided = c->mask != MASK_CAUSAL};
    for (const PositionNumber *n = kind->numbers; n && n->gguf; n++) {
        char *at = (char *)p + n->at;
        if (n->whole) *(int64_t *)(void *)at = key_int(r, n->gguf, n->hf, n->usual, 1, 1e9);
        else *(double *)(void *)at = key_number(r, n->gguf, n->hf, n->usual);
    }
    return p;
}

void position_read(KeyReader *r, Config *c) {
    char why[200];
    int flag = key_flag(r, NULL, "alibi", 0);
    int alibi = flag || key_number(r, "attention.max_alibi_bias", "alibi_bias_max", 0) != 0; /* as llama.cpp tells */
    c->log_scale = (int)key_int(r, "attention.log_scale", "attention_log_scale", c->log_scale, 2, 1e9);
    const PositionKind *kind = read_kind(r, c, alibi ? "alibi" : "rope");
    if (r->line.rc) return;
    if (alibi && kind != position_kind("alibi")) {
        snprintf(why, sizeof why, "is ALiBi's, and attention.position says %s", kind->name);
        key_complain(r, flag ? "alibi" : "attention.max_alibi_bias", why);
        return;
    }
    if (kind->scaling) take_scaling(r, c, kind);
    if (kind->rotates) return;
    stop_rope(r, c, kind);
    Positions *p = c->positions = read_numbers(r, c, kind);
    if (r->line.rc) return;
    if (positions_check(p, why, sizeof why)) base_complain(&r->line, "%s", why);
    c->place = kind->add;
}

void position_settle(KeyReader *r, Config *c, const char *extend) {
    const char *name = position_kind_of(c->positions)->name;
    char why[300];
    if (extend && !c->positions)
        base_complain(&r->line, "--position-extend is for learned positions; this model has RoPE, which --rope "
                                "stretches");
    else if (extend && positions_extend(c->positions, extend, why, sizeof why))
        base_complain(&r->line, "--position-extend: %s", why);
    c->n_places = (size_t)positions_most(c->positions);
    if (c->linear.form && c->positions && c->positions->kind->bias)
        base_complain(&r->line, "this model's positions are %s, a number for each query and key; linear attention "
                                "keeps a sum of keys, which has no place for it", name);
    if (c->linear.form && c->log_scale)
        key_complain(r, "attention.log_scale", "is for softmax; linear attention divides by its own sum");
}

/* ---- its table ---- */

int position_load(Model *m, char *err, size_t errlen) {
    Positions *p = m->config.positions;
    Loader ld = {m, {m->weights.path, err, errlen, 0}};
    const char *name;
    size_t rows, cols;
    if (!p || !p->kind->table) return 0;
    const Tensor *t = find_table(&m->weights, p->kind, m->config.roformer.variant != 0, &name);
    p->kind->shape(p, &rows, &cols);
    Matrix w = load_matrix(&ld, t, name, rows, cols);
    if (ld.line.rc) return ld.line.rc;
    float *table = weights_own(&m->weights, calloc(rows, cols * sizeof *table), free);
    if (!table) {
        load_out_of_memory(&ld);
        return ld.line.rc;
    }
    for (size_t i = 0; i < rows; i++) matrix_row(table + i * cols, &w, i);
    for (size_t i = 0; i < rows * cols; i++)
        if (!isfinite(table[i])) return base_complain(&ld.line, "tensor %s: row %zu holds a number that is not finite",
                                                      name, i / cols);
    p->table = table;
    return 0;
}
