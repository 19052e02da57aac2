/* model/files/fp8.c - F8_E4M3 with scales to BF16.
 *
 *     bits  s eeee mmm     (-1)^s 2^(e - 7) (1 + m / 8);  e = 0: (-1)^s 2^-6 m / 8;  s 1111 111: NaN, and no infinity
 *     W[r][c] = bf16(value(F[r][c]) * S[r / block_rows][c / block_cols])
 *
 * A large block's 256 possible products are rounded once, and its values looked up. */
#include "fp8.h"

#include "base/base.h"
#include "base/json.h"
#include "base/paths.h"
#include "kernels/encode.h"
#include "model/notes.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CODES = 256, BLOCK_MOST = 1 << 20 };

static int is_listed(const JsonValue *v, const char *const *words) {
    while (*words && !json_is(v, *words)) words++;
    return *words != NULL;
}

const JsonValue *fp8_config(const Weights *w) {
    const JsonValue *q = json_get(w->config, "quantization_config");
    return json_absent(q) ? json_get(w->outer, "quantization_config") : q;
}

int fp8_is(const JsonValue *q) {
    static const char *const plain[] = {"fp8", "fbgemm_fp8", NULL},
                             *const packed[] = {"float-quantized", "naive-quantized", NULL};
    const JsonValue *method = json_get(q, "quant_method"), *transform = json_get(q, "transform_config");
    if (json_is(method, "compressed-tensors"))
        return is_listed(json_get(q, "format"), packed) && (!transform || !transform->child);
    return is_listed(method, plain) || (json_is(method, "modelopt") && json_is(json_get(q, "quant_algo"), "FP8"));
}

/* Rows and columns of a block where the configuration says them: [2], else 0. */
static void said_blocks(const JsonValue *q, size_t block[2]) {
    const JsonValue *groups = json_typed(q, "config_groups", JSON_OBJECT), *first = groups ? groups->child : NULL;
    const JsonValue *said = json_typed(q, "weight_block_size", JSON_ARRAY);
    if (!said) said = json_typed(json_get(first, "weights"), "block_structure", JSON_ARRAY);
    const JsonValue *e = said && said->len == 2 ? said->child : NULL;
    for (int d = 0; d < 2; d++, e = e ? e->next : NULL)
        block[d] = e && e->type == JSON_NUMBER && e->number >= 1 && e->number <= BLOCK_MOST ? (size_t)e->number : 0;
}

/* The size of a block of which `scales` cover n; 0: they do not. */
static size_t block_of(size_t n, uint64_t scales, size_t said) {
    if (said && n / said + (n % said != 0) == scales) return said < n ? said : n;
    return scales && n % scales == 0 ? (size_t)(n / scales) : 0;
}

static float value_of(int code) {
    int e = code >> 3 & 15, m = code & 7;
    float v = e == 15 && m == 7 ? NAN : e ? ldexpf((float)(8 + m), e - 10) : ldexpf((float)m, -9);
    return code & 128 ? -v : v;
}

typedef struct {
    Weights *w;
    size_t said[2];
    size_t n; /* matrices that are BF16 now */
    char *err;
    size_t errlen;
} Fp8;

static int bad(const Fp8 *x, const Tensor *t, const char *why) {
    return base_error(x->err, x->errlen, -EINVAL, "%s: tensor %.100s: %s", x->w->path, t->name, why);
}

/* That of t, by either of its names. */
static const Tensor *scales_of(const Fp8 *x, const Tensor *t) {
    static const char *const ends[] = {"_scale_inv", "_scale"};
    char name[TENSOR_NAME + 16];
    const Tensor *s = NULL;
    for (int i = 0; i < 2 && !s; i++) {
        int n = snprintf(name, sizeof name, "%s%s", t->name, ends[i]);
        if (n > 0 && (size_t)n < sizeof name) s = weights_find(x->w, name);
    }
    return s;
}

/* A block [rows, n] of a matrix of cols columns; values [CODES]. */
static void expand_block(uint16_t *to, const uint8_t *codes, size_t rows, size_t n, size_t cols, const float *values,
                         float scale) {
    int large = rows * n >= CODES; /* its products are fewer than its values */
    float products[CODES];
    uint16_t table[CODES];
    for (int i = 0; large && i < CODES; i++) products[i] = values[i] * scale;
    if (large) quant_encode(TENSOR_BF16, table, products, CODES);
    for (size_t r = 0; r < rows; r++, codes += cols, to += cols) {
        for (size_t c = 0; large && c < n; c++) to[c] = table[codes[c]];
        for (size_t c = 0; !large && c < n; c++) products[c] = values[codes[c]] * scale;
        if (!large) quant_encode(TENSOR_BF16, to, products, n);
    }
}

/* t [rows, cols] as BF16; s: a scale for each block[0] rows and block[1] columns. */
static void expand(uint16_t *out, const Tensor *t, const Matrix *s, const size_t block[2]) {
    size_t rows = (size_t)t->shape[0], cols = (size_t)t->shape[1];
    float values[CODES], scale;
    for (int i = 0; i < CODES; i++) values[i] = value_of(i);
    for (size_t r = 0, b = 0; r < rows; r += block[0])
        for (size_t c = 0; c < cols; c += block[1], b++) {
            size_t at = r * cols + c, left = rows - r, more = cols - c;
            matrix_floats(&scale, s, b, 1);
            expand_block(out + at, t->data + at, left < block[0] ? left : block[0], more < block[1] ? more : block[1],
                         cols, values, scale);
        }
}

/* How many scales s has for rows and for columns of t. */
static int grid_of(const Tensor *t, const Tensor *s, uint64_t grid[2]) {
    grid[0] = s->n_dims ? s->shape[0] : 1;
    grid[1] = s->n_dims == 2 ? s->shape[1] : 1;
    return s->n_dims != 1 ? s->n_dims <= 2 : grid[0] == 1 || grid[0] == t->shape[0];
}

/* NAME.weight_zero_point: values are (F - zero) S, by a quantizer whose weights are not symmetric. */
static int check_symmetric(const Fp8 *x) {
    for (size_t i = 0; i < x->w->n_tensors; i++)
        if (text_ends_with(x->w->tensors[i].name, ".weight_zero_point"))
            return bad(x, &x->w->tensors[i], "a zero point of FP8 (asymmetric weights), which is not read here");
    return 0;
}

static int expand_tensor(Fp8 *x, Tensor *t) {
    const Tensor *s = scales_of(x, t);
    uint64_t grid[2];
    size_t block[2], bytes;
    if (!s) return bad(x, t, "F8_E4M3, and no scales beside it");
    if (t->n_dims != 2 || t->size == 0) return bad(x, t, "F8_E4M3, and no matrix");
    if (s->type != TENSOR_F32 && s->type != TENSOR_F16 && s->type != TENSOR_BF16)
        return bad(x, s, "only scales of F32, F16 and BF16 are read here");
    int fits = grid_of(t, s, grid);
    for (int d = 0; d < 2; d++) block[d] = fits ? block_of((size_t)t->shape[d], grid[d], x->said[d]) : 0;
    if (!block[0] || !block[1]) return bad(x, s, "no scales that fit its matrix");
    void *out = size_mul(t->size, 2, &bytes) ? weights_own(x->w, malloc(bytes), free) : NULL;
    if (!out) return weights_no_memory(x->w->path, x->err, x->errlen);
    expand(out, t, &(Matrix){.type = (uint32_t)s->type, .rows = 1, .cols = (size_t)(grid[0] * grid[1]),
                             .data = s->data}, block);
    t->type = TENSOR_BF16, t->type_name = "BF16";
    t->data = out, t->size = bytes;
    x->n++;
    return 0;
}

/* Of a matrix, or of activations and keys and values, which stay as exact as they are here. */
static int is_scale(const Tensor *t) {
    static const char *const ends[] = {".weight_scale_inv", ".weight_scale", ".activation_scale", ".input_scale",
                                       ".input_scale_ub", ".output_scale", ".q_scale", ".k_scale", ".v_scale",
                                       ".kv_scale"};
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++)
        if (text_ends_with(t->name, ends[i])) return 1;
    return 0;
}

int fp8_expand(Weights *w, char *err, size_t errlen) {
    Fp8 x = {.w = w, .err = err, .errlen = errlen};
    const JsonValue *q = fp8_config(w);
    size_t kept = 0;
    if (!fp8_is(q)) return 0;
    int rc = check_symmetric(&x);
    said_blocks(q, x.said);
    for (size_t i = 0; i < w->n_tensors && rc == 0; i++) {
        Tensor *t = &w->tensors[i];
        if (strcmp(t->type_name, "F8_E4M3") == 0) rc = expand_tensor(&x, t);
        else if (scales_of(&x, t)) rc = bad(&x, t, "has scales beside it, and is not F8_E4M3");
    }
    if (rc) return rc;
    for (size_t i = 0; i < w->n_tensors; i++)
        if (!is_scale(&w->tensors[i])) w->tensors[kept++] = w->tensors[i];
    w->n_tensors = kept;
    if (x.n)
        weights_note(w, "%zu matri%s of 8 bits (F8_E4M3) %s BF16 in memory", x.n, x.n == 1 ? "x" : "ces",
                     x.n == 1 ? "is" : "are");
    return 0;
}
