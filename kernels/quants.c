/* kernels/quants.c - from stored numbers to floats: plain ones, Q4_0 and Q8_0; codes.c has the other blocks. */
#include "quants.h"
#include "base/base.h"

#include <math.h>
#include <string.h>

static float float_of_bits(uint32_t bits) {
    float f;
    memcpy(&f, &bits, sizeof f);
    return f;
}

/* One sign bit, five of exponent (bias 15), ten of fraction; binary32 has 1, 8 (bias 127), 23. */
float f16_to_f32(uint16_t h) {
    uint32_t sign = (uint32_t)(h & 0x8000) << 16, exponent = h >> 10 & 0x1f, fraction = h & 0x3ff;
    if (exponent == 31) return float_of_bits(sign | 0x7f800000u | fraction << 13); /* infinity, NaN */
    if (exponent != 0) return float_of_bits(sign | (exponent + 112) << 23 | fraction << 13);
    float subnormal = (float)fraction * 0x1p-24f; /* exact: ten bits and a power of two */
    return sign ? -subnormal : subnormal;
}

static uint32_t bits_of(float f) {
    uint32_t bits;
    memcpy(&bits, &f, sizeof bits);
    return bits;
}

/* Nearest, ties to even. Below 2^-14 the steps are 2^-24, which are those of a float in [0.5, 1): adding 0.5 rounds to
 * them. Above, 13 bits of the fraction go: what is added makes a carry where they are more than half, or half and the
 * rest odd. */
uint16_t f32_to_f16(float x) {
    uint32_t bits = bits_of(x), sign = bits >> 16 & 0x8000, a = bits & 0x7fffffff, h;
    if (a > 0x7f800000) h = 0x7e00;
    else if (a >= 0x477ff000) h = 0x7c00; /* 65520 is halfway to what would be the next */
    else if (a < 0x38800000) h = bits_of(fabsf(x) + 0.5f) - 0x3f000000;
    else h = (a + 0xfff + (a >> 13 & 1) - 0x38000000) >> 13;
    return (uint16_t)(sign | h);
}

/* The upper half of a binary32. */
float bf16_to_f32(uint16_t h) { return float_of_bits((uint32_t)h << 16); }

void matrix_floats(float *out, const Matrix *m, size_t first, size_t n) {
    const uint8_t *at = (const uint8_t *)m->data + first * (m->type == TENSOR_F32 ? 4 : 2);
    for (size_t i = 0; i < n; i++)
        out[i] = m->type == TENSOR_F32   ? load_f32(at + 4 * i)
                 : m->type == TENSOR_F16 ? f16_to_f32(load_u16(at + 2 * i))
                                         : bf16_to_f32(load_u16(at + 2 * i));
}

const QuantFormat *quant_format(int id) {
    for (const QuantFormat *const *table = quant_formats; *table; table++)
        for (const QuantFormat *f = *table; f->name; f++)
            if (f->id == id) return f;
    return NULL;
}

int matrix_group(const Matrix *m) {
    const QuantFormat *f = quant_format(m->type);
    return !f || !f->dot ? 0 : f->block == 1 ? m->group : Q_BLOCK;
}

void matrix_row(float *out, const Matrix *m, size_t r) {
    const QuantFormat *f = quant_format(m->type);
    if (f && f->row) f->row(out, m, r);
}

/* ---- floats, and the two plainest blocks ---- */

static void floats_row(float *out, const Matrix *m, size_t r) { matrix_floats(out, m, r * m->cols, m->cols); }

/* Block b of row r: its scale, a half float, and behind it 32 whole numbers, into q: of 8 bits; or of 4, less 8, the
 * first 16 in the low halves of bytes and the others in the high ones. */
static float take_block(int8_t *q, const Matrix *m, size_t r, size_t b) {
    int nibbles = m->type == TENSOR_Q4_0;
    size_t bytes = nibbles ? 18 : 34, nth = r * (m->cols / Q_BLOCK) + b;
    const uint8_t *block = (const uint8_t *)m->data + nth * bytes, *at = block + 2;
    if (!nibbles) memcpy(q, at, Q_BLOCK);
    for (int i = 0; nibbles && i < Q_BLOCK / 2; i++) {
        q[i] = (int8_t)((at[i] & 15) - 8);
        q[i + Q_BLOCK / 2] = (int8_t)((at[i] >> 4) - 8);
    }
    return f16_to_f32(load_u16(block));
}

static void blocks_row(float *out, const Matrix *m, size_t r) {
    int8_t q[Q_BLOCK];
    for (size_t b = 0; b < m->cols / Q_BLOCK; b++, out += Q_BLOCK) {
        float scale = take_block(q, m, r, b);
        for (int i = 0; i < Q_BLOCK; i++) out[i] = scale * (float)q[i];
    }
}

/* Of each block  scale * scale_x * (sum of q x, exact). */
static float blocks_dot(const Matrix *m, size_t r, const int8_t *x, const float *scale) {
    int8_t q[Q_BLOCK];
    float sum = 0;
    for (size_t b = 0; b < m->cols / Q_BLOCK; b++, x += Q_BLOCK) {
        float d = take_block(q, m, r, b);
        int isum = 0;
        for (int i = 0; i < Q_BLOCK; i++) isum += q[i] * x[i];
        sum += d * scale[b] * (float)isum;
    }
    return sum;
}

const QuantFormat formats_plain[] = {
    {TENSOR_F32, "F32", 1, 4, floats_row, NULL},
    {TENSOR_F16, "F16", 1, 2, floats_row, NULL},
    {TENSOR_BF16, "BF16", 1, 2, floats_row, NULL},
    {TENSOR_Q4_0, "Q4_0", Q_BLOCK, 18, blocks_row, blocks_dot},
    {TENSOR_Q8_0, "Q8_0", Q_BLOCK, 34, blocks_row, blocks_dot},
    {0},
};
