/* model/files/qweight.c - AWQ's and GPTQ's matrices, whose numbers stand the other way round: a column of words is a
 * row of the matrix.
 *
 *     AWQ (gemm)   qweight i32 [in, out / 8], eight outputs a word in the order 0 2 4 6 1 3 5 7, lowest bits first;
 *                  qzeros i32 [groups, out / 8] likewise; scales [groups, out]
 *     GPTQ         qweight i32 [in * bits / 32, out], inputs one behind the other; qzeros i32 [groups, out * bits /
 *                  32], outputs one behind the other, in files that are not gptq_v2 one less than they are; scales
 *                  [groups, out]; g_idx i32 [in]: each input's group
 *     W[out][in] = (q - z) * scale
 *
 * Source: AutoAWQ's modules/linear/gemm.py, GPT-QModel's nn_modules/qlinear and utils/model.py. */
#include "quantized_forms.h"

#include "base/base.h"
#include "base/json.h"

#include <string.h>

/* Scales [groups, out] and zeros of output r. */
static void column_scale(const Coded *m, size_t r, size_t place, float *scale, float *zero) {
    for (size_t g = 0; g < m->groups; g++) {
        scale[g] = grid_float(&m->scales, g * m->rows + r);
        zero[g] = (float)stream_code(&m->zeros, g, place);
    }
}

/* qweight's scales and zeros, words of out * bits. */
static int find_parts(const Expansion *x, Coded *m, const Tensor *t, uint64_t words) {
    const Tensor *s = expand_part(x, t, ".qweight", ".scales"), *z = expand_part(x, t, ".qweight", ".qzeros");
    if (!s) return expand_refuse(x, t, "quantized, and no scales beside it");
    if (!z) return expand_refuse(x, t, "quantized, and no qzeros beside it");
    if (!expand_is_float(s)) return expand_refuse(x, s, "only scales of F32, F16 and BF16 are read here");
    if (s->n_dims != 2 || s->shape[0] < 1 || s->shape[0] > m->cols || s->shape[1] != m->rows)
        return expand_refuse(x, s, "no scales that fit its matrix");
    m->scales.scales = s, m->groups = (size_t)s->shape[0];
    if (!expand_is(z, "I32", s->shape[0], words)) return expand_refuse(x, z, "no zero points that fit its matrix");
    m->zeros.words = z->data;
    return 0;
}

/* Columns of a group, where they stand in order: group_size of them, or (absent, -1) as many for each. */
static int find_groups(const Expansion *x, Coded *m) {
    size_t said = (size_t)expand_number(x->config, "group_size", 0);
    m->each = said ? said : m->cols / m->groups;
    if (m->cols / m->each + (m->cols % m->each != 0) == m->groups) return 0;
    return expand_refuse(x, m->scales.scales, "groups that do not share out its matrix's columns");
}

/* ---- AWQ ---- */

static size_t awq_place(size_t r) { return r / 8 * 8 + r % 2 * 4 + r % 8 / 2; } /* where output r is */

static void awq_row(const Coded *m, size_t r, uint8_t *codes) {
    for (size_t c = 0; c < m->cols; c++) codes[c] = (uint8_t)stream_code(&m->codes, c, awq_place(r));
}

static void awq_scale(const Coded *m, size_t r, float *scale, float *zero) {
    column_scale(m, r, awq_place(r), scale, zero);
}

int awq_expand(Expansion *x, Tensor *t) {
    if (t->n_dims != 2 || t->size == 0) return expand_refuse(x, t, "quantized, and no matrix");
    size_t words = (size_t)t->shape[1];
    Coded m = {.rows = 8 * words, .cols = (size_t)t->shape[0], .row = awq_row, .scale = awq_scale,
               .codes = {t->data, words, 1, 4, 0, 0}, .zeros = {NULL, words, 1, 4, 0, 0}};
    int rc = find_parts(x, &m, t, words);
    if (rc == 0) rc = find_groups(x, &m);
    return rc ? rc : coded_expand(x, t, &m, expand_type(m.scales.scales));
}

/* ---- GPTQ ---- */

static void gptq_scale(const Coded *m, size_t r, float *scale, float *zero) { column_scale(m, r, r, scale, zero); }

/* A file that is not gptq_v2 has had 1 taken off each zero: of 2, 4 and 8 bits of whole words, so that a number may
 * have borrowed from the next. */
static Stream zeros_of(const Expansion *x, size_t words, int bits) {
    const JsonValue *said = json_get(x->config, "checkpoint_format");
    int v2 = json_is(json_absent(said) ? json_get(x->config, "format") : said, "gptq_v2");
    uint32_t ones = bits == 2 ? 0x55555555u : bits == 4 ? 0x11111111u : bits == 8 ? 0x01010101u : 0;
    return (Stream){NULL, words, 1, bits, v2 ? 0 : ones, !v2 && !ones};
}

int gptq_expand(Expansion *x, Tensor *t) {
    const Tensor *order = expand_part(x, t, ".qweight", ".g_idx");
    int bits = expand_number(x->config, "bits", 0);
    if (t->n_dims != 2 || t->size == 0) return expand_refuse(x, t, "quantized, and no matrix");
    uint64_t rows = t->shape[1], cols = t->shape[0] * 32 / (uint64_t)bits, zeros = packed_words(rows, bits);
    if (order && order->n_dims == 1) cols = order->shape[0];
    Coded m = {.rows = (size_t)rows, .cols = (size_t)cols, .row = coded_row, .scale = gptq_scale,
               .codes = {t->data, 1, (size_t)rows, bits, 0, 0}, .zeros = zeros_of(x, (size_t)zeros, bits)};
    if (cols == 0 || packed_words(cols, bits) != t->shape[0])
        return expand_refuse(x, t, "not as many codes as its matrix has columns");
    int rc = find_parts(x, &m, t, zeros);
    if (rc == 0) rc = coded_order(x, &m, order);
    if (rc == 0 && !m.order) rc = find_groups(x, &m);
    return rc ? rc : coded_expand(x, t, &m, expand_type(m.scales.scales));
}
