/* tests/test_quants.c - block formats: the table and the decoders against the gguf package's own (golden/quants.h). */
#include "tests/golden/quants.h"
#include "kernels/quants.h"
#include "test.h"

#include <stdlib.h>
#include <string.h>

enum { COUNT_F16 = sizeof golden_f16 / 2, COUNT_BF16 = sizeof golden_bf16 / 2 };

static uint32_t bits_of(float f) {
    uint32_t u;
    memcpy(&u, &f, 4);
    return u;
}

static void test_formats(void) {
    size_t n = sizeof golden_formats / sizeof *golden_formats, known = 0;
    for (size_t i = 0; i < n; i++) {
        const QuantFormat *f = quant_format(golden_formats[i].id);
        CHECK(f != NULL);
        if (!f) continue;
        CHECK(f->id == golden_formats[i].id && f->block == golden_formats[i].block && f->bytes == golden_formats[i].bytes);
        CHECK(strcmp(f->name, golden_formats[i].name) == 0);
    }
    for (int id = -5; id < 999; id++) known += quant_format(id) != NULL;
    CHECK(known == n);
    CHECK(quant_format(TENSOR_I8_GROUPS) && quant_format(TENSOR_I8_GROUPS)->computes);
    CHECK(quant_format(TENSOR_Q4_0)->computes && !quant_format(9)->computes);
}

/* Sign, exponent and fraction put together by ldexp, in double: no bits are moved. */
static double half_value(unsigned h) {
    int exponent = (int)(h / 1024 % 32);
    double fraction = (double)(h % 1024), sign = h / 32768 ? -1.0 : 1.0;
    return sign * (exponent == 0 ? ldexp(fraction, -24) : ldexp(1024.0 + fraction, exponent - 25));
}

static void test_f16(void) {
    for (unsigned h = 0; h < 65536; h++) {
        float f = f16_to_f32((uint16_t)h);
        CHECK(!signbit(f) == (h < 32768));
        if (h / 1024 % 32 < 31) CHECK((double)f == half_value(h));
        else if (h % 1024 == 0) CHECK(isinf(f));
        else CHECK(isnan(f));
    }
}

static void test_bf16(void) {
    for (unsigned h = 0; h < 65536; h++) CHECK(bits_of(bf16_to_f32((uint16_t)h)) == h * 65536u);
}

/* Decode from an address that is odd, into a buffer with a guard behind it. */
static void check_row(int type, const uint8_t *raw, size_t bytes, const uint32_t *expected, size_t n) {
    uint8_t *copy = malloc(bytes + 1);
    float *out = malloc((n + 1) * sizeof *out);
    if (!copy || !out) {
        CHECK(!"out of memory");
        free(copy);
        free(out);
        return;
    }
    memcpy(copy + 1, raw, bytes);
    out[n] = 12345.0f;
    Matrix m = {.type = (TensorType)type, .rows = 1, .cols = n, .data = copy + 1};
    matrix_row(out, &m, 0);
    for (size_t i = 0; i < n; i++) CHECK(bits_of(out[i]) == expected[i]);
    CHECK(out[n] == 12345.0f);
    free(copy);
    free(out);
}

static void test_golden(void) {
    check_row(TENSOR_F16, golden_f16, sizeof golden_f16, golden_f16_f32, COUNT_F16);
    check_row(TENSOR_BF16, golden_bf16, sizeof golden_bf16, golden_bf16_f32, COUNT_BF16);
    static const struct { TensorType type; const uint8_t *raw; size_t bytes; const uint32_t *values; size_t n; } blocks[] = {
        {TENSOR_Q8_0, golden_q8_0, sizeof golden_q8_0, golden_q8_0_f32, sizeof golden_q8_0_f32 / 4},
        {TENSOR_Q4_0, golden_q4_0, sizeof golden_q4_0, golden_q4_0_f32, sizeof golden_q4_0_f32 / 4},
        {TENSOR_Q4_1, golden_q4_1, sizeof golden_q4_1, golden_q4_1_f32, sizeof golden_q4_1_f32 / 4},
        {TENSOR_Q5_0, golden_q5_0, sizeof golden_q5_0, golden_q5_0_f32, sizeof golden_q5_0_f32 / 4},
        {TENSOR_Q5_1, golden_q5_1, sizeof golden_q5_1, golden_q5_1_f32, sizeof golden_q5_1_f32 / 4},
        {TENSOR_Q2_K, golden_q2_k, sizeof golden_q2_k, golden_q2_k_f32, sizeof golden_q2_k_f32 / 4},
        {TENSOR_Q3_K, golden_q3_k, sizeof golden_q3_k, golden_q3_k_f32, sizeof golden_q3_k_f32 / 4},
        {TENSOR_Q4_K, golden_q4_k, sizeof golden_q4_k, golden_q4_k_f32, sizeof golden_q4_k_f32 / 4},
        {TENSOR_Q5_K, golden_q5_k, sizeof golden_q5_k, golden_q5_k_f32, sizeof golden_q5_k_f32 / 4},
        {TENSOR_Q6_K, golden_q6_k, sizeof golden_q6_k, golden_q6_k_f32, sizeof golden_q6_k_f32 / 4},
        {TENSOR_IQ4_NL, golden_iq4_nl, sizeof golden_iq4_nl, golden_iq4_nl_f32, sizeof golden_iq4_nl_f32 / 4},
        {TENSOR_IQ4_XS, golden_iq4_xs, sizeof golden_iq4_xs, golden_iq4_xs_f32, sizeof golden_iq4_xs_f32 / 4},
    };
    for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++) check_row(blocks[i].type, blocks[i].raw, blocks[i].bytes, blocks[i].values, blocks[i].n);
    check_row(TENSOR_F32, (const uint8_t *)golden_q8_0_f32, sizeof golden_q8_0_f32, golden_q8_0_f32, 96); /* a little-endian machine */
}

/* Row r starts r times the bytes of a row further on. */
static void test_rows(void) {
    float out[32];
    Matrix m = {.type = TENSOR_Q8_0, .rows = 3, .cols = 32, .data = golden_q8_0};
    for (size_t r = 0; r < 3; r++) {
        matrix_row(out, &m, r);
        for (size_t i = 0; i < 32; i++) CHECK(bits_of(out[i]) == golden_q8_0_f32[32 * r + i]);
    }
}

static void test_i8_groups(void) {
    static const int8_t values[8] = {1, -2, 3, -4, 127, -128, 0, 5};
    static const float scales[4] = {0.5f, 2.0f, 0.25f, -1.0f}, expected[8] = {0.5f, -1, 6, -8, 31.75f, -32, 0, -5};
    float out[4];
    Matrix m = {.type = TENSOR_I8_GROUPS, .group = 2, .rows = 2, .cols = 4, .data = values, .scales = scales};
    for (size_t r = 0; r < 2; r++) {
        matrix_row(out, &m, r);
        for (size_t i = 0; i < 4; i++) CHECK(out[i] == expected[4 * r + i]);
    }
}

const Test tests_quants[] = {
    {"quants/formats", test_formats},
    {"quants/f16", test_f16},
    {"quants/bf16", test_bf16},
    {"quants/golden", test_golden},
    {"quants/rows", test_rows},
    {"quants/i8_groups", test_i8_groups},
    {0},
};
