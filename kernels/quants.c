/* kernels/quants.c - the block formats: a table of all, and the decoding of those we compute with.
 *
 * A block is a short run of values that share a scale: value = scale * small integer. Q8_0 holds a half-precision scale d
 * and 32 signed bytes; Q4_0 a scale and 32 nibbles, each read as 0..15 and moved down by 8, the first sixteen in the low
 * halves of the bytes and the next sixteen in the high halves. */
#include "quants.h"
#include "../base/base.h"

#include <string.h>

/* Source: GGML_QUANT_SIZES of the gguf package 0.19.0, the ids that ggml.h gives out today; ids it has retired
 * (4, 5, 31 .. 33, 36 .. 38) are left out and so are refused. */
static const QuantFormat formats[] = {
    {TENSOR_F32, "F32", 1, 4, 1},
    {TENSOR_F16, "F16", 1, 2, 1},
    {TENSOR_Q4_0, "Q4_0", 32, 18, 1},
    {3, "Q4_1", 32, 20, 0},
    {6, "Q5_0", 32, 22, 0},
    {7, "Q5_1", 32, 24, 0},
    {TENSOR_Q8_0, "Q8_0", 32, 34, 1},
    {9, "Q8_1", 32, 40, 0},
    {10, "Q2_K", 256, 84, 0},
    {11, "Q3_K", 256, 110, 0},
    {12, "Q4_K", 256, 144, 0},
    {13, "Q5_K", 256, 176, 0},
    {14, "Q6_K", 256, 210, 0},
    {15, "Q8_K", 256, 292, 0},
    {16, "IQ2_XXS", 256, 66, 0},
    {17, "IQ2_XS", 256, 74, 0},
    {18, "IQ3_XXS", 256, 98, 0},
    {19, "IQ1_S", 256, 50, 0},
    {20, "IQ4_NL", 32, 18, 0},
    {21, "IQ3_S", 256, 110, 0},
    {22, "IQ2_S", 256, 82, 0},
    {23, "IQ4_XS", 256, 136, 0},
    {24, "I8", 1, 1, 0},
    {25, "I16", 1, 2, 0},
    {26, "I32", 1, 4, 0},
    {27, "I64", 1, 8, 0},
    {28, "F64", 1, 8, 0},
    {29, "IQ1_M", 256, 56, 0},
    {TENSOR_BF16, "BF16", 1, 2, 1},
    {34, "TQ1_0", 256, 54, 0},
    {35, "TQ2_0", 256, 66, 0},
    {39, "MXFP4", 32, 17, 0},
    {40, "NVFP4", 64, 36, 0},
    {41, "Q1_0", 128, 18, 0},
    {TENSOR_I8_GROUPS, "I8_GROUPS", 1, 1, 1}, /* the values; the scales stand in an array of their own */
};

const QuantFormat *quant_format(int id) {
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++)
        if (formats[i].id == id) return &formats[i];
    return NULL;
}

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

/* The upper half of a binary32. */
float bf16_to_f32(uint16_t h) { return float_of_bits((uint32_t)h << 16); }

static void decode_f32(float *out, const uint8_t *row, size_t n) {
    for (size_t i = 0; i < n; i++) out[i] = load_f32(row + 4 * i);
}

static void decode_f16(float *out, const uint8_t *row, size_t n) {
    for (size_t i = 0; i < n; i++) out[i] = f16_to_f32(load_u16(row + 2 * i));
}

static void decode_bf16(float *out, const uint8_t *row, size_t n) {
    for (size_t i = 0; i < n; i++) out[i] = bf16_to_f32(load_u16(row + 2 * i));
}

/* A block: d (f16), then q[32] (int8). */
static void decode_q8_0(float *out, const uint8_t *row, size_t n) {
    for (size_t b = 0; b < n / Q_BLOCK; b++, row += 34, out += Q_BLOCK) {
        float d = f16_to_f32(load_u16(row));
        for (int i = 0; i < Q_BLOCK; i++) out[i] = d * (float)(int8_t)row[2 + i];
    }
}

/* A block: d (f16), then 16 bytes of two nibbles. */
static void decode_q4_0(float *out, const uint8_t *row, size_t n) {
    for (size_t b = 0; b < n / Q_BLOCK; b++, row += 18, out += Q_BLOCK) {
        float d = f16_to_f32(load_u16(row));
        for (int i = 0; i < Q_BLOCK / 2; i++) {
            out[i] = d * (float)((row[2 + i] & 15) - 8);
            out[i + Q_BLOCK / 2] = d * (float)((row[2 + i] >> 4) - 8);
        }
    }
}

/* llama2.c version 2: the scales of all rows stand behind the values of all rows. */
static void decode_i8_groups(float *out, const Matrix *m, size_t r) {
    const uint8_t *row = (const uint8_t *)m->data + r * m->cols;
    size_t group = (size_t)m->group;
    const uint8_t *scales = (const uint8_t *)m->scales + r * (m->cols / group) * 4;
    for (size_t i = 0; i < m->cols; i++) out[i] = load_f32(scales + i / group * 4) * (float)(int8_t)row[i];
}

void matrix_row(float *out, const Matrix *m, size_t r) {
    const QuantFormat *f = quant_format(m->type);
    if (!f) return;
    const uint8_t *row = (const uint8_t *)m->data + r * (m->cols / (size_t)f->block) * (size_t)f->bytes;
    switch (m->type) {
    case TENSOR_F32: decode_f32(out, row, m->cols); break;
    case TENSOR_F16: decode_f16(out, row, m->cols); break;
    case TENSOR_BF16: decode_bf16(out, row, m->cols); break;
    case TENSOR_Q8_0: decode_q8_0(out, row, m->cols); break;
    case TENSOR_Q4_0: decode_q4_0(out, row, m->cols); break;
    case TENSOR_I8_GROUPS: decode_i8_groups(out, m, r); break;
    }
}
