/* weights-tools/mixture.c - types by name. A "mostly Q4_K" file has Q6_K where errors cost most: in the output, and in
 * v and ffn_down of the first and last eighth of the layers and every third one between. */
#include "mixture.h"

#include "model/layers/layers.h"

#include <ctype.h>
#include <string.h>

static const Mixture rows[] = {
    {"F32", TENSOR_F32, 0},   {"F16", TENSOR_F16, 1},      {"BF16", TENSOR_BF16, 32},   {"Q8_0", TENSOR_Q8_0, 7},
    {"Q4_0", TENSOR_Q4_0, 2}, {"Q4_K_M", TENSOR_Q4_K, 15}, {"Q5_K_M", TENSOR_Q5_K, 17}, {"Q6_K", TENSOR_Q6_K, 18},
};

enum { N_ROWS = sizeof rows / sizeof *rows };

const Mixture *mixture_row(int i) { return i < N_ROWS ? &rows[i] : NULL; }

const Mixture *mixture_find(const char *name) {
    for (int i = 0; i < N_ROWS; i++) {
        size_t k = 0;
        while (name[k] && toupper((unsigned char)name[k]) == rows[i].name[k]) k++;
        if (!name[k] && !rows[i].name[k]) return &rows[i];
    }
    return NULL;
}

static int is_block_format(int type) { return quant_format(type)->block > 1; }
static int has(const Item *i, const char *part) { return strstr(i->name, part) != NULL; }
static int is(const Item *i, const char *name) { return strcmp(i->name, name) == 0; }

/* The matrix that makes the logits. RoFormer's own head, where nothing ties it, is mlm.decoder. */
static int is_output(const Item *i) { return is(i, "output.weight") || is(i, "mlm.decoder.weight"); }

static int layer_of(const Item *i) {
    int layer = 0;
    if (strncmp(i->name, "blk.", 4) != 0) return 0;
    for (const char *p = i->name + 4; isdigit((unsigned char)*p) && layer < CONFIG_MAX_LAYERS; p++)
        layer = 10 * layer + (*p - '0');
    return layer;
}

static int more_bits(int layer, int n) { return layer < n / 8 || layer >= 7 * n / 8 || (layer - n / 8) % 3 == 2; }

/* llama.cpp's "70B": eight heads share a v, so that its matrix is small, and more bits for it cost little. */
static int is_70b(const Config *c) {
    return c->n_layers == 80 &&
           (strcmp(c->arch, "qwen2") == 0 || (strcmp(c->arch, "llama") == 0 && c->n_heads != c->n_kv_heads));
}

/* What was four bits from the first stays so, unless floats are wanted. */
static int keeps_blocks(const Mixture *m, const Item *i) {
    return item_own_type(i) == TENSOR_MXFP4 && is_block_format(m->type);
}

/* Eight experts share attention, so that its matrices are small beside theirs. 0: no type of their own. */
static int of_eight(const Mixture *m, const Config *c, const Item *i) {
    if (!c->decoder || c->decoder->n_experts != 8) return 0;
    if (has(i, "attn_output.weight")) return m->type == TENSOR_Q4_K ? TENSOR_Q5_K : 0;
    return has(i, "attn_v.weight") || has(i, "attn_k.weight") || has(i, "attn_qkv.weight") ? TENSOR_Q8_0 : 0;
}

/* The type by name, for a file whose other matrices are m->type, a block format. */
static int wanted(const Mixture *m, const Config *c, const Item *i, int tied) {
    int n = c->n_layers, mixed = m->type == TENSOR_Q4_K || m->type == TENSOR_Q5_K;
    if (is_output(i) || (tied && is(i, "token_embd.weight"))) {
        if (i->cols % (size_t)quant_format(m->type)->block != 0) return TENSOR_Q8_0;
        return m->type == TENSOR_Q8_0 ? TENSOR_Q8_0 : TENSOR_Q6_K;
    }
    if (of_eight(m, c, i)) return of_eight(m, c, i);
    if (has(i, "attn_v.weight") || has(i, "attn_qkv.weight")) {
        int type = mixed && more_bits(layer_of(i), n) ? TENSOR_Q6_K : m->type;
        return type == TENSOR_Q4_K && is_70b(c) ? TENSOR_Q5_K : type;
    }
    return mixed && has(i, "ffn_down") && more_bits(layer_of(i), n) ? TENSOR_Q6_K : m->type;
}

/* What divides the row, where the wanted type does not. */
static int fallback(const Item *i, int type) {
    if (i->cols % (size_t)quant_format(type)->block == 0) return type;
    type = type == TENSOR_Q4_K ? TENSOR_Q5_0
           : type == TENSOR_Q5_K ? TENSOR_Q5_1
           : type == TENSOR_Q6_K ? TENSOR_Q8_0 : type;
    return i->cols % (size_t)quant_format(type)->block == 0 ? type : TENSOR_F16;
}

/* What stays: vectors become F32 where the input was no GGUF file, as llama.cpp's converter has them. */
static int stays(const Source *s, const Item *i) {
    return s->is_gguf || item_own_type(i) == TENSOR_MXFP4 ? item_own_type(i) : TENSOR_F32;
}

/* Matrices that get another type than they should, those of one kind together. */
typedef struct {
    struct { int want, got; size_t cols, n; const char *first; } kinds[32];
    size_t n_kinds, n, others; /* others: of kinds for which there was no room */
} Fallbacks;

static void count_fallback(Fallbacks *f, const Item *i, int want) {
    size_t k = 0;
    for (; k < f->n_kinds; k++)
        if (f->kinds[k].want == want && f->kinds[k].got == i->type && f->kinds[k].cols == i->cols) break;
    f->n++;
    if (k == sizeof f->kinds / sizeof *f->kinds) {
        f->others++;
        return;
    }
    if (k == f->n_kinds) {
        f->kinds[k].want = want, f->kinds[k].got = i->type, f->kinds[k].cols = i->cols, f->kinds[k].first = i->name;
        f->n_kinds++;
    }
    f->kinds[k].n++;
}

static void report_fallbacks(const Fallbacks *f, const Report *r) {
    for (size_t k = 0; k < f->n_kinds; k++) {
        char more[40] = "";
        if (f->kinds[k].n > 1) snprintf(more, sizeof more, " and %zu more", f->kinds[k].n - 1);
        report_note(r, "%.80s%s: rows of %zu are no whole blocks of %s: %s instead", f->kinds[k].first, more,
                    f->kinds[k].cols, quant_format(f->kinds[k].want)->name, quant_format(f->kinds[k].got)->name);
    }
    if (f->others) report_note(r, "%zu tensors more have rows that are no whole blocks either", f->others);
}

size_t mixture_apply(const Mixture *m, Source *s, const Report *r) {
    Fallbacks fallbacks = {.n = 0};
    int tied = 1;
    for (size_t i = 0; i < s->n_items; i++) tied &= !is_output(&s->items[i]);
    for (size_t k = 0; k < s->n_items; k++) {
        Item *i = &s->items[k];
        if (!item_is_weight(i) || keeps_blocks(m, i)) {
            i->type = stays(s, i);
            continue;
        }
        int want = is_block_format(m->type) ? wanted(m, &s->config, i, tied) : m->type;
        i->type = fallback(i, want);
        if (i->type != want) count_fallback(&fallbacks, i, want);
    }
    report_fallbacks(&fallbacks, r);
    return fallbacks.n;
}
