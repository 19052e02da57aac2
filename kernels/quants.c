/* kernels/quants.c - from stored numbers to floats: plain ones here, blocks by way of their format (blocks.c). */
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

int code_value(const QuantFormat *f, int code) { return f->values ? f->values[code] : code - f->zero; }

static void decode_blocks(float *out, const QuantFormat *f, const uint8_t *row, size_t n) {
    Codes c;
    for (size_t b = 0; b < n / (size_t)f->block; b++, row += f->bytes, out += f->block) {
        f->codes(&c, row);
        float d = f16_to_f32(c.d), dmin = f->minima ? f16_to_f32(c.dmin) : 0;
        for (int s = 0; s < f->block / f->sub; s++) {
            float scale = d * (float)c.sc[s], minimum = f->minima ? dmin * (float)c.mn[s] : 0;
            for (int i = s * f->sub; i < (s + 1) * f->sub; i++) out[i] = scale * (float)code_value(f, c.q[i]) - minimum;
        }
    }
}

size_t matrix_bytes(const Matrix *m) {
    const QuantFormat *f = quant_format(m->type);
    return m->rows * (m->cols / (size_t)f->block) * (size_t)f->bytes;
}

int matrix_group(const Matrix *m) {
    const QuantFormat *f = quant_format(m->type);
    return !f ? 0 : f->codes ? Q_BLOCK : f->row ? m->group : 0;
}

void matrix_row(float *out, const Matrix *m, size_t r) {
    const QuantFormat *f = quant_format(m->type);
    if (!f || !f->computes) return;
    const uint8_t *row = (const uint8_t *)m->data + r * (m->cols / (size_t)f->block) * (size_t)f->bytes;
    if (f->row) f->row(out, m, r);
    else if (f->codes) decode_blocks(out, f, row, m->cols);
    else matrix_floats(out, m, r * m->cols, m->cols);
}
