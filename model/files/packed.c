/* model/files/packed.c - the compressed-tensors package's matrices of whole numbers, and FP4, its and modelopt's.
 *
 *     pack-quantized   weight_packed i32 [rows, words], codes along a row, 2^(bits - 1) too large; weight_shape i64
 *                      [2]; weight_scale [rows, groups] or one a row or one; weight_zero_point i32 [words of rows,
 *                      groups], packed down a column, as much too large; weight_g_idx i32 [cols]: each column's group
 *     int-quantized    weight i8; weight_scale; weight_zero_point i8, of the scales' shape
 *     FP4              two codes a byte, the lower half first: s ee m, 0, 0.5, 1, 1.5, 2, 3, 4, 6
 *                      NVFP4: weight_scale F8_E4M3 for 16 columns, over weight_global_scale (compressed-tensors) or
 *                      times weight_scale_2 (modelopt); MXFP4: powers of two, u8, for 32 columns, 127 more
 *
 * Products are rounded once; an NVFP4 scale that is divided or multiplied is a float first, as it is there.
 * Source: compressed_tensors/compressors, modelopt's nvfp4_tensor.py. */
#include "quantized_forms.h"

#include "base/base.h"
#include "base/json.h"
#include "base/paths.h"

#include <math.h>
#include <string.h>

static const char packed[] = ".weight_packed", plain[] = ".weight";

/* ---- whole numbers ---- */

static void packed_scale(const Coded *m, size_t r, float *scale, float *zero) {
    size_t first = r / m->scales.rows * m->scales.per_row;
    float middle = (float)(1 << (m->codes.bits - 1));
    for (size_t g = 0; g < m->groups; g++) {
        scale[g] = grid_float(&m->scales, first + g);
        zero[g] = m->zeros.words ? (float)stream_code(&m->zeros, g, r) : middle;
    }
}

/* How many bits make so many words of n codes: those that the configuration names, where they do; 0: none. */
static int bits_of(const Expansion *x, uint64_t n, uint64_t words) {
    const JsonValue *groups = json_typed(x->config, "config_groups", JSON_OBJECT);
    int bits = expand_number(json_get(groups ? groups->child : NULL, "weights"), "num_bits", 0);
    if (bits >= 2 && bits <= 8 && packed_words(n, bits) == words) return bits;
    for (bits = 8; bits >= 2 && packed_words(n, bits) != words; bits--) {}
    return bits >= 2 ? bits : 0;
}

/* The parts of whole numbers: scales and groups. */
static int find_scales(const Expansion *x, Coded *m, const Tensor *t, const Tensor *s) {
    if (!s) return expand_refuse(x, t, "quantized, and no scales beside it");
    if (!expand_is_float(s)) return expand_refuse(x, s, "only scales of F32, F16 and BF16 are read here");
    if (!m->rows || !m->cols) return expand_refuse(x, t, "quantized, and no matrix");
    if (!grid_fits(&m->scales, s, m->rows, m->cols, x->said))
        return expand_refuse(x, s, "no scales that fit its matrix");
    m->groups = m->scales.per_row, m->each = m->scales.cols;
    return 0;
}

int packed_expand(Expansion *x, Tensor *t) {
    const Tensor *s = expand_part(x, t, packed, ".weight_scale"), *shape = expand_part(x, t, packed, ".weight_shape"),
                 *zero = expand_part(x, t, packed, ".weight_zero_point");
    if (!shape || strcmp(shape->type_name, "I64") != 0 || shape->size != 16 || t->n_dims != 2)
        return expand_refuse(x, t, "packed, and no shape of two numbers (I64) beside it");
    uint64_t rows = load_u64(shape->data), cols = load_u64(shape->data + 8), words = t->shape[1];
    int bits = cols <= UINT64_MAX / 32 ? bits_of(x, cols, words) : 0;
    if (rows != t->shape[0] || !bits) return expand_refuse(x, shape, "not the shape of what is packed");
    Coded m = {.rows = (size_t)rows, .cols = (size_t)cols, .row = coded_row, .scale = packed_scale,
               .codes = {t->data, (size_t)words, 1, bits, 0, 0}};
    int rc = find_scales(x, &m, t, s);
    if (rc == 0) rc = coded_order(x, &m, expand_part(x, t, packed, ".weight_g_idx"));
    if (rc) return rc;
    if (zero && (m.scales.rows != 1 || !expand_is(zero, "I32", packed_words(rows, bits), m.groups)))
        return expand_refuse(x, zero, "no zero points that fit its matrix");
    if (zero) m.zeros = (Stream){zero->data, 1, m.groups, bits, 0, 0};
    return coded_expand(x, t, &m, expand_type(s));
}

static float byte_value(unsigned code) { return (float)(int8_t)code; }

static void byte_row(const Coded *m, size_t r, uint8_t *codes) {
    memcpy(codes, m->codes.words + r * m->cols, m->cols);
}

static void byte_scale(const Coded *m, size_t r, float *scale, float *zero) {
    size_t first = r / m->scales.rows * m->scales.per_row;
    for (size_t g = 0; g < m->groups; g++) {
        scale[g] = grid_float(&m->scales, first + g);
        zero[g] = m->zero ? (float)(int8_t)m->zero->data[first + g] : 0;
    }
}

int bytes_expand(Expansion *x, Tensor *t) {
    const Tensor *s = expand_part(x, t, "", "_scale"), *zero = expand_part(x, t, "", "_zero_point");
    if (t->n_dims != 2) return expand_refuse(x, t, "quantized, and no matrix");
    Coded m = {.rows = (size_t)t->shape[0], .cols = (size_t)t->shape[1], .row = byte_row, .scale = byte_scale,
               .value = byte_value, .codes = {.words = t->data, .bits = 8}, .zero = zero};
    int rc = find_scales(x, &m, t, s);
    if (rc) return rc;
    if (zero && (strcmp(zero->type_name, "I8") != 0 || zero->size != s->size / (s->type == TENSOR_F32 ? 4 : 2)))
        return expand_refuse(x, zero, "no zero points that fit its matrix");
    return coded_expand(x, t, &m, expand_type(s));
}

/* ---- FP4 ---- */

static float fp4_value(unsigned code) {
    static const float values[16] = {0, 0.5f, 1, 1.5f, 2, 3, 4, 6, -0.0f, -0.5f, -1, -1.5f, -2, -3, -4, -6};
    return values[code];
}

static void fp4_row(const Coded *m, size_t r, uint8_t *codes) {
    const uint8_t *pairs = m->codes.words + r * (m->cols / 2);
    for (size_t c = 0; c < m->cols; c++) codes[c] = pairs[c / 2] >> c % 2 * 4 & 15;
}

static void nvfp4_scale(const Coded *m, size_t r, float *scale, float *zero) {
    for (size_t g = 0; g < m->groups; g++) {
        float own = f8_e4m3(m->scales.scales->data[r * m->groups + g]);
        scale[g] = m->divides ? own / m->whole : own * m->whole;
        zero[g] = 0;
    }
}

static void mxfp4_scale(const Coded *m, size_t r, float *scale, float *zero) {
    for (size_t g = 0; g < m->groups; g++) {
        scale[g] = ldexpf(1, m->scales.scales->data[r * m->groups + g] - 127);
        zero[g] = 0;
    }
}

int fp4_expand(Expansion *x, Tensor *t) {
    const char *own = text_ends_with(t->name, packed) ? packed : plain;
    const Tensor *s = expand_part(x, t, own, ".weight_scale"), *zero = expand_part(x, t, own, ".weight_zero_point"),
                 *over = expand_part(x, t, own, ".weight_global_scale"),
                 *times = expand_part(x, t, own, ".weight_scale_2"), *whole = over ? over : times;
    if (zero) return expand_refuse(x, zero, "a zero point of FP4, which is not read here");
    if (!s) return expand_refuse(x, t, "quantized, and no scales beside it");
    if (t->n_dims != 2 || t->size == 0) return expand_refuse(x, t, "quantized, and no matrix");
    uint64_t rows = t->shape[0], cols = 2 * t->shape[1];
    int nv = strcmp(s->type_name, "F8_E4M3") == 0, each = nv ? 16 : 32;
    if (cols % (uint64_t)each || !expand_is(s, nv ? "F8_E4M3" : "U8", rows, cols / (uint64_t)each))
        return expand_refuse(x, s, "no scales of FP4 that fit its matrix");
    if (nv && (!whole || whole->type != TENSOR_F32 || whole->size != 4))
        return expand_refuse(x, t, "NVFP4, and no number for its scales beside it (F32)");
    Coded m = {.rows = (size_t)rows, .cols = (size_t)cols, .groups = (size_t)cols / (size_t)each,
               .each = (size_t)each, .codes = {.words = t->data, .bits = 4}, .scales = {.scales = s}, .row = fp4_row,
               .value = fp4_value, .whole = nv ? load_f32(whole->data) : 1, .divides = over != NULL,
               .scale = nv ? nvfp4_scale : mxfp4_scale};
    return coded_expand(x, t, &m, TENSOR_BF16);
}
