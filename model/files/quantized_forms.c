/* model/files/quantized_forms.c - see quantized_forms.h. */
#include "quantized_forms.h"

#include "base/base.h"
#include "base/json.h"
#include "kernels/encode.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- parts ---- */

int expand_refuse(const Expansion *x, const Tensor *t, const char *why) {
    return base_error(x->err, x->errlen, -EINVAL, "%s: tensor %.100s: %s", x->w->path, t->name, why);
}

const Tensor *expand_part(const Expansion *x, const Tensor *t, const char *own, const char *tail) {
    char name[TENSOR_NAME + 32];
    int stem = (int)(strlen(t->name) - strlen(own)), n = snprintf(name, sizeof name, "%.*s%s", stem, t->name, tail);
    return n > 0 && (size_t)n < sizeof name ? weights_find(x->w, name) : NULL;
}

int expand_is(const Tensor *t, const char *type, uint64_t rows, uint64_t cols) {
    return strcmp(t->type_name, type) == 0 && t->n_dims == 2 && t->shape[0] == rows && t->shape[1] == cols;
}

int expand_is_float(const Tensor *t) {
    return t->type == TENSOR_F32 || t->type == TENSOR_F16 || t->type == TENSOR_BF16;
}

TensorType expand_type(const Tensor *scales) { return scales->type == TENSOR_F16 ? TENSOR_F16 : TENSOR_BF16; }

int expand_number(const JsonValue *v, const char *key, int otherwise) {
    const JsonValue *n = json_typed(v, key, JSON_NUMBER);
    return n && n->number >= 0 && n->number <= 1 << 20 ? (int)n->number : otherwise;
}

void *expand_new(const Expansion *x, size_t rows, size_t cols, size_t *bytes) {
    int fits = size_mul(rows, cols, bytes) && size_mul(*bytes, 2, bytes);
    void *out = fits ? weights_own(x->w, malloc(*bytes), free) : NULL;
    if (!out) weights_no_memory(x->w->path, x->err, x->errlen);
    return out;
}

void expand_become(Tensor *t, TensorType type, void *data, size_t rows, size_t cols) {
    t->type = (int)type, t->type_name = quant_format(t->type)->name;
    t->n_dims = 2, t->shape[0] = rows, t->shape[1] = cols;
    t->data = data, t->size = rows * cols * 2;
}

/* The size of a block of which `scales` cover n; 0: they do not. */
static size_t block_of(size_t n, uint64_t scales, size_t said) {
    if (said && n / said + (n % said != 0) == scales) return said < n ? said : n;
    return scales && n % scales == 0 ? (size_t)(n / scales) : 0;
}

int grid_fits(Grid *g, const Tensor *s, size_t rows, size_t cols, const size_t said[2]) {
    uint64_t down = s->n_dims ? s->shape[0] : 1, along = s->n_dims == 2 ? s->shape[1] : 1;
    if (s->n_dims > 2 || (s->n_dims == 1 && down != 1 && down != rows)) return 0;
    *g = (Grid){s, block_of(rows, down, said[0]), block_of(cols, along, said[1]), (size_t)along};
    return g->rows && g->cols;
}

float grid_float(const Grid *g, size_t i) {
    float v;
    matrix_floats(&v, &(Matrix){.type = (TensorType)g->scales->type, .data = g->scales->data}, i, 1);
    return v;
}

/* ---- codes ---- */

uint64_t packed_words(uint64_t n, int bits) { return n / 32 * (uint64_t)bits + (n % 32 * (uint64_t)bits + 31) / 32; }

void coded_row(const Coded *m, size_t r, uint8_t *codes) {
    for (size_t c = 0; c < m->cols; c++) codes[c] = (uint8_t)stream_code(&m->codes, r, c);
}

int coded_order(const Expansion *x, Coded *m, const Tensor *order) {
    int unset = 0, beyond = 0;
    if (!order) return 0;
    if (strcmp(order->type_name, "I32") != 0 || order->n_dims != 1 || order->shape[0] != m->cols)
        return expand_refuse(x, order, "not a group for each column of its matrix");
    for (size_t c = 0; c < m->cols; c++) {
        uint32_t g = load_u32(order->data + 4 * c);
        unset |= g == UINT32_MAX, beyond |= g >= m->groups;
    }
    if (unset) return 0; /* -1: columns stand in order */
    m->order = order->data;
    return beyond ? expand_refuse(x, order, "a group that its matrix does not have") : 0;
}

/* What a row is made of. */
typedef struct {
    float values[256];              /* of codes */
    float *scale, *zero, *products; /* [groups] x 2; [cols] */
    size_t *group;                  /* [cols] */
    uint8_t *codes;                 /* [cols] */
    uint16_t *table;                /* of each group's each code, where a row has more columns than these; else NULL */
} RowOf;

static void row_free(RowOf *w) { free(w->scale), free(w->group), free(w->codes), free(w->table); }

static int row_init(RowOf *w, const Coded *m) {
    size_t cols = m->cols, codes = (size_t)1 << m->codes.bits;
    for (unsigned i = 0; i < codes; i++) w->values[i] = m->value ? m->value(i) : (float)i;
    w->scale = calloc(cols + 2 * m->groups, sizeof *w->scale);
    w->group = calloc(cols, sizeof *w->group);
    w->codes = calloc(cols, 1);
    if (m->groups <= cols / codes) w->table = calloc(m->groups * codes, sizeof *w->table);
    if (!w->scale || !w->group || !w->codes || (m->groups <= cols / codes && !w->table)) return 0;
    w->zero = w->scale + m->groups, w->products = w->zero + m->groups;
    for (size_t c = 0; c < cols; c++) w->group[c] = m->order ? load_u32(m->order + 4 * c) : c / m->each;
    return 1;
}

static float product(const RowOf *w, size_t group, size_t code) {
    return (w->values[code] - w->zero[group]) * w->scale[group];
}

static void expand_row(RowOf *w, const Coded *m, size_t r, TensorType type, uint16_t *out) {
    int bits = m->codes.bits;
    size_t n = m->groups << bits, mask = ((size_t)1 << bits) - 1;
    m->row(m, r, w->codes);
    m->scale(m, r, w->scale, w->zero);
    if (!w->table) {
        for (size_t c = 0; c < m->cols; c++) w->products[c] = product(w, w->group[c], w->codes[c]);
        quant_encode((int)type, out, w->products, m->cols);
        return;
    }
    for (size_t i = 0; i < n; i++) w->products[i] = product(w, i >> bits, i & mask);
    quant_encode((int)type, w->table, w->products, n);
    for (size_t c = 0; c < m->cols; c++) out[c] = w->table[w->group[c] << bits | w->codes[c]];
}

int coded_expand(Expansion *x, Tensor *t, const Coded *m, TensorType type) {
    size_t bytes;
    RowOf w = {.scale = NULL};
    uint16_t *out = expand_new(x, m->rows, m->cols, &bytes);
    if (!out) return -ENOMEM;
    int ready = row_init(&w, m);
    for (size_t r = 0; ready && r < m->rows; r++) expand_row(&w, m, r, type, out + r * m->cols);
    row_free(&w);
    if (!ready) return weights_no_memory(x->w->path, x->err, x->errlen);
    expand_become(t, type, out, m->rows, m->cols);
    return 0;
}
