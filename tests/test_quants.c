/* tests/test_quants.c - block formats: the table and the decoders against the gguf package's own
 * (golden/quants.txt). */
#include "kernels/quants.h"
#include "lines.h"
#include "test.h"

#include <stdlib.h>
#include <string.h>

#define GOLDEN "tests/golden/quants.txt"

/* Bytes of a format, and the floats, as their bits, that they decode to. */
typedef struct {
    int type;
    size_t n_bytes, n;
    uint8_t bytes[512];
    uint32_t values[512];
} Vector;

enum { MAX_VECTORS = 32 };
static Vector vectors[MAX_VECTORS];

static void read_bytes(Vector *v, const char *hex) {
    for (unsigned byte; sscanf(hex, "%2x", &byte) == 1 && v->n_bytes < sizeof v->bytes; hex += 2)
        v->bytes[v->n_bytes++] = (uint8_t)byte;
}

/* How many there are in golden/quants.txt, in its order. */
static int read_vectors(void) {
    Lines l;
    int n = 0;
    if (!lines_open(&l, GOLDEN)) return 0;
    memset(vectors, 0, sizeof vectors);
    while (lines_next(&l)) {
        Vector *v = n ? &vectors[n - 1] : NULL;
        if (lines_is(&l, "vector") && n < MAX_VECTORS) vectors[n++].type = (int)lines_whole(&l);
        else if (v && lines_is(&l, "bytes")) read_bytes(v, lines_word(&l));
        else if (v && lines_is(&l, "values"))
            while (l.at[0] && v->n < 512) v->values[v->n++] = (uint32_t)lines_hex(&l);
    }
    lines_close(&l);
    return n;
}

static const Vector *vector_of(int type) {
    int n = read_vectors();
    for (int i = 0; i < n; i++)
        if (vectors[i].type == type) return &vectors[i];
    CHECK(!"a vector of this type");
    return &vectors[0];
}

static uint32_t bits_of(float f) {
    uint32_t u;
    memcpy(&u, &f, 4);
    return u;
}

static void test_formats(void) {
    Lines l;
    size_t n = 0, known = 0;
    if (!lines_open(&l, GOLDEN)) return;
    while (lines_next(&l)) {
        if (!lines_is(&l, "format")) continue;
        int id = (int)lines_whole(&l);
        const char *name = lines_word(&l);
        const QuantFormat *f = quant_format(id);
        n++;
        CHECK(f && f->id == id && strcmp(f->name, name) == 0);
        if (f) CHECK(f->block == lines_whole(&l) && f->bytes == lines_whole(&l));
    }
    lines_close(&l);
    for (int id = -5; id < 999; id++) known += quant_format(id) != NULL;
    CHECK(known == n && n == 35);
    CHECK(quant_format(TENSOR_I8_GROUPS) && quant_format(TENSOR_I8_GROUPS)->row);
    CHECK(quant_format(TENSOR_Q4_0)->row && !quant_format(9)->row);
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
    for (unsigned h = 0; h < 65536; h++) {
        float f = bf16_to_f32((uint16_t)h); /* x86 with 32 bits returns it in a register that quiets NaN */
        CHECK(bits_of(f) == h * 65536u || (sizeof(void *) == 4 && isnan(f) && bits_of(f) == (h | 64) * 65536u));
    }
}

/* Decode from an address that is odd, into a buffer with a guard behind it. */
static void check_row(int type, const void *raw, size_t bytes, const uint32_t *expected, size_t n) {
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
    int n = read_vectors();
    CHECK(n == 27);
    for (int i = 0; i < n; i++) {
        const Vector *v = &vectors[i];
        CHECK(v->n_bytes == v->n / (size_t)quant_format(v->type)->block * (size_t)quant_format(v->type)->bytes);
        check_row(v->type, v->bytes, v->n_bytes, v->values, v->n);
    }
    const Vector *q8 = vector_of(TENSOR_Q8_0);
    check_row(TENSOR_F32, q8->values, q8->n * 4, q8->values, q8->n); /* a little-endian machine */
}

/* Row r starts r times the bytes of a row further on. */
static void test_rows(void) {
    float out[32];
    const Vector *q8 = vector_of(TENSOR_Q8_0);
    Matrix m = {.type = TENSOR_Q8_0, .rows = 3, .cols = 32, .data = q8->bytes};
    for (size_t r = 0; r < 3; r++) {
        matrix_row(out, &m, r);
        for (size_t i = 0; i < 32; i++) CHECK(bits_of(out[i]) == q8->values[32 * r + i]);
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

/* NVFP4: so many rows share a number that all of their blocks are multiplied by. */
static void test_matrix_scales(void) {
    static const float scales[2] = {0.75f, -3};
    uint8_t blocks[4 * 36] = {0};
    float out[64];
    Matrix m = {.type = TENSOR_NVFP4, .group = 2, .rows = 4, .cols = 64, .data = blocks, .scales = scales};
    for (int r = 0; r < 4; r++) {
        blocks[36 * r] = (uint8_t)((7 + r) << 3), blocks[36 * r + 4] = 0x72; /* 2^r; 1 and, eight behind it, 6 */
        matrix_row(out, &m, (size_t)r);
        CHECK(out[0] == scales[r / 2] * (float)(1 << r) && out[8] == 6 * out[0] && out[1] == 0 && out[16] == 0);
    }
}

const Test tests_quants[] = {
    {"quants/formats", test_formats},
    {"quants/f16", test_f16},
    {"quants/bf16", test_bf16},
    {"quants/golden", test_golden},
    {"quants/rows", test_rows},
    {"quants/i8_groups", test_i8_groups},
    {"quants/scales of a matrix", test_matrix_scales},
    {0},
};
