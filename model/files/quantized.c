/* model/files/quantized.c - which quantized matrices are read, and the list of tensors before and after. */
#include "quantized.h"

#include "base/json.h"
#include "base/paths.h"
#include "model/notes.h"
#include "quantized_forms.h"

#include <stdio.h>
#include <string.h>

/* ---- the table ---- */

static int is_listed(const JsonValue *v, const char *const *words) {
    while (*words && !json_is(v, *words)) words++;
    return *words != NULL;
}

static int is_any(const JsonValue *q) { return (void)q, 1; }

static int is_modelopt(const JsonValue *q) {
    static const char *const algorithms[] = {"FP8", "NVFP4", "W4A16_NVFP4", NULL};
    return is_listed(json_get(q, "quant_algo"), algorithms);
}

/* A format of `mixed-precision` is a group's: what a matrix is, its own tensors say. */
static int is_compressed(const JsonValue *q) {
    static const char *const formats[] = {"float-quantized", "naive-quantized", "int-quantized", "pack-quantized",
                                          "nvfp4-pack-quantized", "mxfp4-pack-quantized", "mixed-precision", NULL};
    const JsonValue *transform = json_get(q, "transform_config"), *sparse = json_get(q, "sparsity_config");
    int dense = !sparse || !sparse->child || json_is(json_get(sparse, "format"), "dense");
    return is_listed(json_get(q, "format"), formats) && (!transform || !transform->child) && dense;
}

/* 1 where nothing at the keys is another word than these. */
static int says(const JsonValue *q, const char *const *keys, const char *const *words) {
    for (; *keys; keys++)
        if (!json_absent(json_get(q, *keys)) && !is_listed(json_get(q, *keys), words)) return 0;
    return 1;
}

static int is_awq(const JsonValue *q) {
    static const char *const keys[] = {"version", "format", "checkpoint_format", NULL},
                             *const words[] = {"gemm", "GEMM", NULL};
    return expand_number(q, "bits", 0) == 4 && says(q, keys, words);
}

static int is_gptq(const JsonValue *q) {
    static const char *const keys[] = {"checkpoint_format", "format", NULL},
                             *const words[] = {"gptq", "gptq_v2", NULL};
    const JsonValue *dynamic = json_get(q, "dynamic"); /* other bits for some matrices */
    int bits = expand_number(q, "bits", 0);
    return (bits == 2 || bits == 3 || bits == 4 || bits == 8) && says(q, keys, words) &&
           !json_flag(q, "is_marlin_format", 0) && (!dynamic || !dynamic->child);
}

/* A tensor of codes: how its name ends, its type, what a note calls it. */
typedef struct {
    const char *tail, *dtype, *what;
    ExpandMatrix *expand;
} Form;

enum { FORMS = 5 };
static const Form fp8 = {"", "F8_E4M3", "8 bits (F8_E4M3)", fp8_expand},
                  packed = {".weight_packed", "I32", "packed whole numbers", packed_expand},
                  plain_bytes = {".weight", "I8", "8 bits (I8)", bytes_expand},
                  packed_fp4 = {".weight_packed", "U8", "4 bits (FP4)", fp4_expand},
                  plain_fp4 = {".weight", "U8", "4 bits (FP4)", fp4_expand},
                  awq = {".qweight", "I32", "4 bits (AWQ)", awq_expand},
                  gptq = {".qweight", "I32", "packed whole numbers (GPTQ)", gptq_expand};

typedef struct {
    const char *method;                /* quant_method */
    int (*reads)(const JsonValue *q);  /* 1 where the rest of it is known here, too */
    const Form *forms[FORMS];     /* NULL after the last */
} Method;

static const Method methods[] = {
    {"fp8", is_any, {&fp8}},
    {"fbgemm_fp8", is_any, {&fp8}},
    {"modelopt", is_modelopt, {&fp8, &plain_fp4}},
    {"compressed-tensors", is_compressed, {&fp8, &packed, &plain_bytes, &packed_fp4}},
    {"awq", is_awq, {&awq}},
    {"gptq", is_gptq, {&gptq}},
};

static const Method *method_of(const JsonValue *q) {
    for (size_t i = 0; i < sizeof methods / sizeof *methods; i++)
        if (json_is(json_get(q, "quant_method"), methods[i].method)) return methods[i].reads(q) ? &methods[i] : NULL;
    return NULL;
}

const JsonValue *quantized_config(const Weights *w) {
    const JsonValue *q = json_get(w->config, "quantization_config");
    return json_absent(q) ? json_get(w->outer, "quantization_config") : q;
}

int quantized_is(const JsonValue *q) { return method_of(q) != NULL; }

/* ---- all matrices ---- */

/* Rows and columns of a block where the configuration says them: [2], else 0. */
static void said_blocks(const JsonValue *q, size_t block[2]) {
    const JsonValue *groups = json_typed(q, "config_groups", JSON_OBJECT), *first = groups ? groups->child : NULL;
    const JsonValue *said = json_typed(q, "weight_block_size", JSON_ARRAY);
    enum { BLOCK_MOST = 1 << 20 };
    if (!said) said = json_typed(json_get(first, "weights"), "block_structure", JSON_ARRAY);
    const JsonValue *e = said && said->len == 2 ? said->child : NULL;
    for (int d = 0; d < 2; d++, e = e ? e->next : NULL)
        block[d] = e && e->type == JSON_NUMBER && e->number >= 1 && e->number <= BLOCK_MOST ? (size_t)e->number : 0;
}

static const Form *form_of(const Method *m, const Tensor *t) {
    for (const Form *const *f = m->forms; *f; f++)
        if (strcmp(t->type_name, (*f)->dtype) == 0 && (!*(*f)->tail || text_ends_with(t->name, (*f)->tail))) return *f;
    return NULL;
}

/* Beside a matrix, or of activations and keys and values, which stay as exact as they are here. */
static int is_part(const Tensor *t) {
    static const char *const ends[] = {".weight_scale_inv", ".weight_scale", ".weight_scale_2", ".weight_global_scale",
        ".weight_zero_point", ".weight_shape", ".weight_g_idx", ".qzeros", ".scales", ".g_idx", ".activation_scale",
        ".input_scale", ".input_scale_ub", ".input_global_scale", ".input_zero_point", ".output_scale", ".q_scale",
        ".k_scale", ".v_scale", ".kv_scale"};
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++)
        if (text_ends_with(t->name, ends[i])) return 1;
    return 0;
}

static int has_scales(const Expansion *x, const Tensor *t) {
    return expand_part(x, t, "", "_scale_inv") || expand_part(x, t, "", "_scale");
}

static int is_zero(const Tensor *t) {
    size_t i = 0;
    while (i < t->size && !t->data[i]) i++;
    return i == t->size;
}

/* GPTQ's programs wrote a bias for every matrix once, of zeros where the model has none. Such leave (n_dims -1), but
 * where another layer's matrix of that name has a bias: then it is the model's. */
static void leave_biases(const Expansion *x) {
    enum { NAMES = 64 };
    const char *own[NAMES];
    for (int leaves = 0, n = 0; leaves < 2; leaves++)
        for (size_t i = 0; i < x->w->n_tensors; i++) {
            Tensor *t = &x->w->tensors[i];
            if (!text_ends_with(t->name, ".bias") || !expand_part(x, t, ".bias", ".qweight")) continue;
            const char *name = t->name + strlen(t->name) - strlen(".bias");
            while (name > t->name && name[-1] != '.') name--;
            int k = 0;
            while (k < n && strcmp(own[k], name) != 0) k++;
            if (!leaves && k == n && n < NAMES && !is_zero(t)) own[n++] = name;
            if (leaves && k == n && is_zero(t)) t->n_dims = -1;
        }
}

/* The matrices by their usual names, without what stood beside them. */
static int leave_parts(Weights *w, char *err, size_t errlen) {
    static const char *const tails[] = {".weight_packed", ".qweight"};
    size_t kept = 0;
    for (size_t i = 0; i < w->n_tensors; i++) {
        Tensor *t = &w->tensors[i];
        char name[TENSOR_NAME + 16];
        if (is_part(t) || t->n_dims < 0) continue;
        for (int k = 0; k < 2 && t->type >= 0; k++) {
            if (!text_ends_with(t->name, tails[k]) || strlen(t->name) >= TENSOR_NAME) continue;
            int stem = (int)(strlen(t->name) - strlen(tails[k])),
                n = snprintf(name, sizeof name, "%.*s.weight", stem, t->name);
            if (!(t->name = weights_keep(w, name, (size_t)n))) return weights_no_memory(w->path, err, errlen);
        }
        w->tensors[kept++] = *t;
    }
    w->n_tensors = kept;
    return 0;
}

int quantized_expand(Weights *w, char *err, size_t errlen) {
    Expansion x = {.w = w, .config = quantized_config(w), .err = err, .errlen = errlen};
    const Method *m = method_of(x.config);
    size_t n[FORMS] = {0};
    int rc = 0, type = TENSOR_BF16;
    if (!m) return 0;
    said_blocks(x.config, x.said);
    for (size_t i = 0; i < w->n_tensors && rc == 0; i++) {
        Tensor *t = &w->tensors[i];
        const Form *f = is_part(t) ? NULL : form_of(m, t);
        if (!f && has_scales(&x, t)) rc = expand_refuse(&x, t, "has scales beside it, and no type that is read so");
        if (!f || rc || (rc = f->expand(&x, t))) continue;
        for (int k = 0; m->forms[k]; k++) n[k] += m->forms[k] == f;
        type = t->type;
    }
    if (rc == 0) leave_biases(&x);
    if (rc == 0) rc = leave_parts(w, err, errlen);
    for (int k = 0; rc == 0 && m->forms[k]; k++)
        if (n[k])
            weights_note(w, "%zu matri%s of %s %s %s in memory", n[k], n[k] == 1 ? "x" : "ces", m->forms[k]->what,
                         n[k] == 1 ? "is" : "are", quant_format(type)->name);
    return rc;
}
