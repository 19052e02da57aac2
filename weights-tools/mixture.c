/* weights-tools/mixture.c - types by name. A "mostly Q4_K" file has Q6_K where errors cost most: in the output, and in
 * v and ffn_down of the first and last eighth of the layers and every third one between. The rules are rows' fields. */
#include "mixture.h"

#include "model/layers/layers.h"

#include <ctype.h>
#include <string.h>

static const Mixture rows[] = {
    {.name = "F32", .type = TENSOR_F32, .file_type = 0},
    {.name = "F16", .type = TENSOR_F16, .file_type = 1},
    {.name = "BF16", .type = TENSOR_BF16, .file_type = 32},
    {.name = "Q8_0", .type = TENSOR_Q8_0, .file_type = 7},
    {.name = "Q6_K", .type = TENSOR_Q6_K, .file_type = 18},
    {.name = "Q5_K_M", .type = TENSOR_Q5_K, .file_type = 17, .more = TENSOR_Q6_K},
    {.name = "Q5_K_S", .type = TENSOR_Q5_K, .file_type = 16},
    {.name = "Q5_1", .type = TENSOR_Q5_1, .file_type = 9},
    {.name = "Q5_0", .type = TENSOR_Q5_0, .file_type = 8},
    {.name = "Q4_K_M", .type = TENSOR_Q4_K, .file_type = 15, .more = TENSOR_Q6_K, .output_of_8 = TENSOR_Q5_K},
    {.name = "Q4_K_S", .type = TENSOR_Q4_K, .file_type = 14, .early = 4, .early_v = TENSOR_Q5_K, .share = 8,
     .early_down = TENSOR_Q5_K, .output_of_8 = TENSOR_Q5_K},
    {.name = "IQ4_NL", .type = TENSOR_IQ4_NL, .file_type = 25, .shared_v = TENSOR_Q5_K, .share = 8,
     .early_down = TENSOR_Q5_K, .output_of_8 = TENSOR_Q5_K},
    {.name = "IQ4_XS", .type = TENSOR_IQ4_XS, .file_type = 30, .shared_v = TENSOR_Q5_K, .share = 8,
     .early_down = TENSOR_Q5_K, .output_of_8 = TENSOR_Q5_K},
    {.name = "Q4_1", .type = TENSOR_Q4_1, .file_type = 3},
    {.name = "Q4_0", .type = TENSOR_Q4_0, .file_type = 2},
    {.name = "Q3_K_L", .type = TENSOR_Q3_K, .file_type = 13, .v = TENSOR_Q5_K, .down = TENSOR_Q5_K,
     .output = TENSOR_Q5_K},
    {.name = "Q3_K_M", .type = TENSOR_Q3_K, .file_type = 12, .early = 2, .early_v = TENSOR_Q5_K, .v = TENSOR_Q4_K,
     .share = 16, .early_down = TENSOR_Q5_K, .down = TENSOR_Q4_K, .output = TENSOR_Q4_K, .output_of_8 = TENSOR_Q5_K},
    {.name = "Q3_K_S", .type = TENSOR_Q3_K, .file_type = 11, .output_of_8 = TENSOR_Q5_K},
    {.name = "Q2_K", .type = TENSOR_Q2_K, .file_type = 10, .shared_v = TENSOR_Q4_K, .v = TENSOR_Q3_K,
     .down = TENSOR_Q3_K, .output = TENSOR_Q3_K, .output_of_8 = TENSOR_Q5_K},
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

static int shares_keys(const Config *c) { return c->n_kv_heads > 0 && c->n_heads / c->n_kv_heads >= 4; }

/* Eight experts share attention, so that its matrices are small beside theirs. 0: no type of their own. */
static int of_eight(const Mixture *m, const Config *c, const Item *i) {
    if (!c->decoder || c->decoder->n_experts != 8) return 0;
    if (has(i, "attn_output.weight")) return m->output_of_8 ? m->output_of_8 : m->type;
    return has(i, "attn_v.weight") || has(i, "attn_k.weight") || has(i, "attn_qkv.weight") ? TENSOR_Q8_0 : 0;
}

static int of_v(const Mixture *m, const Config *c, int layer) {
    int type = m->more && more_bits(layer, c->n_layers) ? m->more
               : layer < m->early                       ? m->early_v
               : m->shared_v && shares_keys(c)          ? m->shared_v
               : m->v                                   ? m->v : m->type;
    return (type == TENSOR_Q3_K || type == TENSOR_Q4_K) && is_70b(c) ? TENSOR_Q5_K : type;
}

static int of_down(const Mixture *m, const Config *c, int layer) {
    if (m->more && more_bits(layer, c->n_layers)) return m->more;
    if (m->share && layer < c->n_layers / m->share) return m->early_down;
    return m->down ? m->down : m->type;
}

/* The type by name, for a file whose other matrices are m->type, a block format. */
static int wanted(const Mixture *m, const Config *c, const Item *i, int tied) {
    int words = is(i, "token_embd.weight") || is(i, "per_layer_token_embd.weight");
    if (is_output(i) || (tied && words)) {
        if (i->cols % (size_t)quant_format(m->type)->block != 0) return TENSOR_Q8_0;
        return m->type == TENSOR_Q8_0 ? TENSOR_Q8_0 : TENSOR_Q6_K;
    }
    if (of_eight(m, c, i)) return of_eight(m, c, i);
    if (has(i, "attn_v.weight") || has(i, "attn_qkv.weight")) return of_v(m, c, layer_of(i));
    if (has(i, "ffn_down")) return of_down(m, c, layer_of(i));
    return m->output && has(i, "attn_output.weight") ? m->output : m->type;
}

/* What divides the row, where the wanted type does not. */
static int fallback(const Item *i, int type) {
    static const int smaller[][2] = {{TENSOR_Q2_K, TENSOR_Q4_0}, {TENSOR_Q3_K, TENSOR_Q4_0}, {TENSOR_Q4_K, TENSOR_Q5_0},
                                     {TENSOR_Q5_K, TENSOR_Q5_1}, {TENSOR_Q6_K, TENSOR_Q8_0},
                                     {TENSOR_IQ4_XS, TENSOR_IQ4_NL}};
    if (i->cols % (size_t)quant_format(type)->block == 0) return type;
    for (size_t k = 0; k < sizeof smaller / sizeof *smaller; k++)
        if (smaller[k][0] == type) {
            type = smaller[k][1];
            break;
        }
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
        int projects = is(i, "per_layer_model_proj.weight"); /* which llama.cpp leaves as it is */
        if (projects || !item_is_weight(i) || keeps_blocks(m, i)) {
            i->type = projects && item_own_type(i) >= 0 ? item_own_type(i) : stays(s, i);
            continue;
        }
        int want = is_block_format(m->type) ? wanted(m, &s->config, i, tied) : m->type;
        i->type = fallback(i, want);
        if (i->type != want) count_fallback(&fallbacks, i, want);
    }
    report_fallbacks(&fallbacks, r);
    return fallbacks.n;
}
