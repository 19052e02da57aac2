/* tests/test_kernels.c - every row against float64, and against ref, over awkward sizes, with NaN behind every buffer.
 *
 * A float sum of n products rounds to at most about n * 2^-24 of the sum of magnitudes; in 8 lanes n/8 + 3 roundings
 * stand behind each. TOL = 1e-6 of the sum of magnitudes holds for the n <= 700 here with room to spare, and any wrong
 * product shows at 1/700 = 1.4e-3. */
#include "kernels/codes.h"
#include "kernels/attention_kernels.h"
#include "kernels/encoder_kernels.h"
#include "emulated/rows.h"
#include "kernels/panel.h"
#include "test.h"

#include <stdlib.h>
#include <string.h>

enum { PAD = 16 };
static const double TOL = 1e-6;

static uint64_t rng = 88172645463325252ull;
static uint32_t random_u32(void) {
    rng ^= rng << 13;
    rng ^= rng >> 7;
    rng ^= rng << 17;
    return (uint32_t)(rng >> 16);
}
static float random_float(void) { return (float)(random_u32() % 2001) / 1000.0f - 1.0f; }

/* n floats with NaN before and behind; freed by poisoned_free. */
static float *poisoned(size_t n) {
    float *p = malloc((n + 2 * PAD) * sizeof *p);
    for (size_t i = 0; i < n + 2 * PAD; i++) p[i] = NAN;
    for (size_t i = 0; i < n; i++) p[PAD + i] = random_float();
    return p + PAD;
}
static void check_margins(const float *p, size_t n) {
    for (int i = 1; i <= PAD; i++) CHECK(isnan(p[-i]));
    for (int i = 0; i < PAD; i++) CHECK(isnan(p[n + (size_t)i]));
}
static void poisoned_free(float *p) { free(p - PAD); }

/* Where all bytes of a matrix are to be this one; -1: random ones. A minimum may take nearly all of a sum off, so what
 * is rounded is not in proportion to it; a 16-bit sum that ran over is off by 2^16 * 2^-11 (the least scale) / 127. */
static int byte_of_all = -1;
#define EXTREME_TOL 1e-2

/* A random matrix's bytes at an odd address, in a buffer of exactly their size: ASan sees a byte read too many. */
typedef struct {
    Matrix m;
    uint8_t *raw, *raw_scales;
} Random;

static uint16_t f16_of(float x) { /* of a few exact values: a power of two */
    int e;
    frexpf(x, &e);
    return (uint16_t)((e - 1 + 15) << 10);
}

/* Where a block keeps its half-precision numbers: random bytes there would be infinities. */
static const struct {
    TensorType type;
    int d, dmin;
} halves[] = {
    {TENSOR_Q4_0, 0, -1}, {TENSOR_Q4_1, 0, 2},    {TENSOR_Q5_0, 0, -1},   {TENSOR_Q5_1, 0, 2},
    {TENSOR_Q8_0, 0, -1}, {TENSOR_Q2_K, 80, 82},  {TENSOR_Q3_K, 108, -1}, {TENSOR_Q4_K, 0, 2},
    {TENSOR_Q5_K, 0, 2},  {TENSOR_Q6_K, 208, -1}, {TENSOR_IQ4_NL, 0, -1}, {TENSOR_IQ4_XS, 0, -1},
    {TENSOR_IQ1_S, 0, -1}, {TENSOR_IQ2_XXS, 0, -1}, {TENSOR_IQ2_XS, 0, -1}, {TENSOR_IQ2_S, 0, -1},
    {TENSOR_IQ3_XXS, 0, -1}, {TENSOR_IQ3_S, 0, -1}, {TENSOR_TQ1_0, 52, -1}, {TENSOR_TQ2_0, 64, -1},
    {TENSOR_Q1_0, 0, -1}, {TENSOR_Q2_0, 0, -1},
};

static void random_halves(TensorType type, uint8_t *p, size_t n) {
    const QuantFormat *f = quant_format(type);
    for (size_t b = 0; type == TENSOR_MXFP4 && b < n / (size_t)f->block; b++) /* an exponent of 128 less */
        p[b * (size_t)f->bytes] = (uint8_t)(118 + random_u32() % 8);
    for (size_t b = 0; type == TENSOR_NVFP4 && b < n / 16; b++) /* its exponent is 7 more, 0 for subnormal ones */
        p[b / 4 * 36 + b % 4] = (uint8_t)(random_u32() % 40);
    for (size_t b = 0; type == TENSOR_IQ1_M && b < n / (size_t)f->block; b++) { /* d in the upper nibbles of four */
        uint16_t d = f16_of(ldexpf(1, -(int)(random_u32() % 8) - 4));
        for (int i = 0; i < 4; i++) {
            uint8_t *at = p + b * (size_t)f->bytes + 49 + 2 * i;
            *at = (uint8_t)((*at & 15) | (d >> 4 * i & 15) << 4);
        }
    }
    for (size_t i = 0; i < sizeof halves / sizeof *halves; i++)
        for (size_t b = 0; halves[i].type == type && b < n / (size_t)f->block; b++)
            for (int minimum = 0; minimum <= (halves[i].dmin >= 0); minimum++) {
                uint16_t d = f16_of(ldexpf(1, -(int)(random_u32() % 8) - 4));
                memcpy(p + b * (size_t)f->bytes + (minimum ? halves[i].dmin : halves[i].d), &d, 2);
            }
}

static void random_scales(Random *r, size_t n, float most) {
    r->raw_scales = malloc(4 * n + 1);
    for (size_t i = 0; i < n; i++) memcpy(r->raw_scales + 1 + 4 * i, &(float){random_float() * most}, 4);
    r->m.scales = r->raw_scales + 1;
}

static Random random_matrix(TensorType type, int group, size_t rows, size_t cols) {
    Random r = {.m = {.type = type, .group = group, .rows = rows, .cols = cols}};
    size_t n = rows * cols, bytes = matrix_bytes(&r.m);
    uint8_t *p = (r.raw = malloc(bytes + 1)) + 1;
    for (size_t i = 0; i < bytes; i++) p[i] = (uint8_t)(byte_of_all < 0 ? (int)random_u32() : byte_of_all);
    if (type == TENSOR_F32)
        for (size_t i = 0; i < n; i++) memcpy(p + 4 * i, &(float){random_float()}, 4);
    if (type == TENSOR_F16) /* exponent within +-4: no infinities */
        for (size_t i = 0; i < n; i++) p[2 * i + 1] = (uint8_t)((p[2 * i + 1] & 0x83) | (11 + random_u32() % 8) << 2);
    if (type == TENSOR_BF16)
        for (size_t i = 0; i < n; i++) {
            float f = random_float();
            memcpy(p + 2 * i, (uint8_t *)&f + 2, 2);
        }
    random_halves(type, p, n);
    r.m.data = p;
    if (type == TENSOR_I8_GROUPS) random_scales(&r, n / (size_t)group, 1.0f / 64);
    if (type == TENSOR_NVFP4 && rows > 4) r.m.group = 3, random_scales(&r, (rows + 2) / 3, 1);
    return r;
}

/* At a multiple of 64, as matmul wants it, and with bytes behind it that make NaN where they are read as numbers. */
static uint8_t *aligned(size_t bytes, void **block) {
    *block = malloc(bytes + 128);
    memset(*block, 0xff, bytes + 128);
    return (uint8_t *)(((uintptr_t)*block + 63) & ~(uintptr_t)63);
}

static uint8_t *panels_of(const Kernels *k, const Matrix *w, void **block) {
    *block = NULL;
    if (!k->lanes || !panel_fits(w)) return NULL;
    PanelShape s = panel_shape(w, k->lanes);
    uint8_t *p = aligned(s.n * s.size, block);
    for (size_t i = 0; i < s.n; i++) panel_fill(p + i * s.size, w, &s, i);
    return p;
}

/* What a token's activations are worth once quantized. */
static void as_quantized(const Kernels *k, float *x, size_t d, int group) {
    int8_t *q = malloc(d);
    float *scale = malloc(d / (size_t)group * sizeof *scale);
    k->mat->quantize(q, scale, x, d, group);
    for (size_t i = 0; i < d; i++) x[i] = (float)q[i] * scale[i / (size_t)group];
    free(q), free(scale);
}

static void multiply(const Kernels *k, float *y, const float *x, const Matrix *w, size_t n, size_t cut) {
    int g = matrix_group(w);
    void *block;
    uint8_t *packed = aligned(k->mat->packed_bytes(n, w->cols, g), &block);
    for (size_t t = n; t-- > 0;) k->mat->pack(packed, x + t * w->cols, n, w->cols, g, t);
    Activations a = {.n = n, .d = w->cols, .group = g, .data = packed};
    k->mat->matmul(y, w->rows, &a, w, 0, cut);
    k->mat->matmul(y, w->rows, &a, w, cut, w->rows);
    free(block);
}

static void check_matmul(const Kernels *k, TensorType type, int group, size_t rows, size_t cols, size_t n) {
    Random w = random_matrix(type, group, rows, cols);
    float *x = poisoned(n * cols), *y = poisoned(n * rows), *one = poisoned(rows), *row = poisoned(cols);
    void *panels;
    for (size_t i = 0; byte_of_all >= 0 && i < n * cols; i++) x[i] = i / cols % 2 ? 1 : -1;
    w.m.panels = panels_of(k, &w.m, &panels);
    multiply(k, y, x, &w.m, n, rows);
    /* the same bits for one token alone and for rows in pieces */
    for (size_t t = 0; t < n; t++) {
        multiply(k, one, x + t * cols, &w.m, 1, rows / 3 / 16 * 16);
        CHECK(memcmp(one, y + t * rows, rows * sizeof *one) == 0);
    }
    for (size_t t = 0; matrix_group(&w.m) && t < n; t++) as_quantized(k, x + t * cols, cols, matrix_group(&w.m));
    for (size_t r = 0; r < rows; r++) {
        matrix_row(row, &w.m, r);
        for (size_t t = 0; t < n; t++) {
            double sum = 0, magnitude = 0;
            for (size_t j = 0; j < cols; j++) {
                sum += (double)row[j] * (double)x[t * cols + j];
                magnitude += fabs((double)row[j] * (double)x[t * cols + j]);
            }
            NEAR(y[t * rows + r], sum, byte_of_all < 0 ? TOL * magnitude : EXTREME_TOL, 0);
        }
    }
    check_margins(y, n * rows);
    check_margins(row, cols);
    poisoned_free(x), poisoned_free(y), poisoned_free(one), poisoned_free(row);
    free(panels), free(w.raw), free(w.raw_scales);
}

static void matmul_of(TensorType type, int group) {
    static const size_t float_cols[] = {1, 7, 8, 31, 33, 64, 257, 700, 2061};
    static const size_t block_cols[] = {32, 64, 96, 352, 640, 32, 32, 64};
    static const size_t rows[] = {1, 3, 4, 5, 18, 53}, tokens[] = {1, 2, 3, 4, 6, 7, 11, 31, 65, 50, 51, 59};
    size_t n_tokens = group || block_format(type) ? 9 : 12; /* the last three: floats, narrow tiles behind wide ones */
    int block = group ? group : quant_format(type)->block;
    const Kernels *k;
    for (int i = 0; (k = row_to_test(i)); i++)
        for (size_t c = 0; c < (block == 256 ? 3 : block > 1 ? 5 : 9); c++)
            for (size_t r = 0; r < 6; r++)
                for (size_t t = 0; t < n_tokens; t++) {
                    int wide = !group && block > 32;
                    size_t cols = wide ? (size_t)block * (c + 1) : block > 1 ? block_cols[c] : float_cols[c];
                    if (group && cols % (size_t)group) cols = (size_t)group * (c + 1);
                    check_matmul(k, type, group, rows[r], cols, tokens[t]);
                }
}

static void matmul_f32(void) { matmul_of(TENSOR_F32, 0); }
static void matmul_f16(void) { matmul_of(TENSOR_F16, 0); }
static void matmul_bf16(void) { matmul_of(TENSOR_BF16, 0); }
static void matmul_blocks(void) {
    for (int id = 0; id < TENSOR_I8_GROUPS; id++)
        if (block_format(id)) matmul_of((TensorType)id, 0);
}

static void check_same_bits(const Kernels *const two[2], TensorType type, int group, size_t n) {
    enum { ROWS = 37, COLS = 768 };
    Random w = random_matrix(type, group, ROWS, COLS);
    float *x = poisoned(n * COLS), *y[] = {poisoned(n * ROWS), poisoned(n * ROWS)};
    for (int k = 0; k < 2; k++) {
        void *panels;
        w.m.panels = panels_of(two[k], &w.m, &panels);
        multiply(two[k], y[k], x, &w.m, n, ROWS);
        free(panels);
    }
    CHECK(memcmp(y[0], y[1], n * ROWS * sizeof **y) == 0);
    poisoned_free(x), poisoned_free(y[0]), poisoned_free(y[1]);
    free(w.raw), free(w.raw_scales);
}

/* Rows that differ in how they multiply bytes have the same bits over blocks: sums of integers are exact. */
static void matmul_same_bits(void) {
    static const char *const rows[][2] = {{"avx2", "avxvnni"}, {"neon", "neondot"}, {"avx512vnni", "amx"}};
    static const size_t tokens[] = {1, 2, 3, 4, 8, 21};
    int pairs = 0;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const Kernels *two[] = {row_named(rows[i][0]), row_named(rows[i][1])};
        if (!two[0] || !two[1]) continue;
        pairs++;
        for (size_t t = 0; t < sizeof tokens / sizeof *tokens; t++) {
            for (int id = 0; id < TENSOR_I8_GROUPS; id++)
                if (block_format(id)) check_same_bits(two, (TensorType)id, 0, tokens[t]);
            check_same_bits(two, TENSOR_I8_GROUPS, 64, tokens[t]);
        }
    }
    if (!pairs) test_skip("no two rows here have the same bits");
}

/* The largest sums: codes that are all the same, the extreme ones of every format among them, by bytes that are all 127
 * or all -127. What is summed in 16 bits must hold them. */
static void matmul_extremes(void) {
    static const int bytes[] = {0x00, 0x11, 0x77, 0x7f, 0x80, 0x88, 0xee, 0xff};
    const Kernels *k;
    for (int i = 0; (k = row_to_test(i)); i++)
        for (int id = 0; id < TENSOR_I8_GROUPS; id++)
            for (size_t b = 0; block_format(id) && b < sizeof bytes / sizeof *bytes; b++) {
                byte_of_all = bytes[b];
                for (size_t n = 1; n <= 20; n += n < 4 ? 1 : 16) check_matmul(k, (TensorType)id, 0, 17, 512, n);
            }
    byte_of_all = -1;
}

static void matmul_groups(void) {
    static const int groups[] = {1, 4, 32, 43, 64, 128};
    for (int i = 0; i < 6; i++) matmul_of(TENSOR_I8_GROUPS, groups[i]);
}

/* The rule of kernels.h, exactly, in every row: all give the same bytes as the rule spelled out in double. */
static void quantize(void) {
    const Kernels *k;
    for (int i = 0; (k = kernels_row(i)); i++)
        for (int group = 4; group <= 96; group += 4) {
            enum { GROUPS = 5 };
            size_t d = (size_t)group * GROUPS;
            float *x = poisoned(d), *scale = poisoned(GROUPS);
            int8_t *q = malloc(d);
            for (int j = 0; j < group; j++) x[j] = 0;                      /* a group of zeros */
            for (int j = 0; j < group; j++) x[group + j] *= 1e-35f;        /* too small for 127 / amax */
            x[2 * group + 1] = 2;                                          /* per = 63.5: halves happen */
            for (int j = 2; j < group; j++) x[2 * group + j] = (float)(j % 5 - 2) / 127.0f;
            x[3 * group + 2] = i % 2 ? INFINITY : NAN;
            k->mat->quantize(q, scale, x, d, group);
            for (int g = 0; g < GROUPS; g++) {
                float amax = 0;
                for (int j = 0; j < group; j++) amax = fabsf(x[g * group + j]) > amax ? fabsf(x[g * group + j]) : amax;
                if (g < 2) CHECK(scale[g] == 0);
                else if (g == 3) CHECK(isnan(scale[g]));
                else CHECK(scale[g] == amax / 127);
                for (int j = 0; j < group; j++)
                    CHECK(q[g * group + j] ==
                          (g < 2 || g == 3 ? 0 : (int)nearbyint((double)(x[g * group + j] * (127 / amax)))));
            }
            check_margins(scale, GROUPS);
            poisoned_free(x), poisoned_free(scale), free(q);
        }
}

static const size_t sizes[] = {1, 2, 7, 8, 9, 16, 31, 32, 33, 64, 100, 257, 700};
enum { N_SIZES = sizeof sizes / sizeof *sizes };

static void rmsnorm(void) {
    const Kernels *k;
    for (int i = 0; (k = kernels_row(i)); i++)
        for (int z = 0; z < N_SIZES; z++) {
            size_t n = sizes[z];
            float *x = poisoned(n), *w = poisoned(n), *y = poisoned(n);
            double squares = 0;
            for (size_t j = 0; j < n; j++) squares += (double)x[j] * x[j];
            k->vec->rmsnorm(y, x, w, n, 1e-5f);
            for (size_t j = 0; j < n; j++) /* 1e-6: a sum, a root, two products */
                NEAR(y[j], x[j] / sqrt(squares / (double)n + 1e-5) * w[j], 1e-12, 1e-6);
            check_margins(y, n);
            k->vec->rmsnorm(x, x, w, n, 1e-5f); /* in place, the same */
            CHECK(memcmp(x, y, n * sizeof *x) == 0);
            poisoned_free(x), poisoned_free(w), poisoned_free(y);
        }
}

static void layernorm(void) {
    const Kernels *k;
    for (int i = 0; (k = kernels_row(i)); i++)
        for (int z = 0; z < N_SIZES; z++) {
            size_t n = sizes[z];
            float *x = poisoned(n), *w = poisoned(n), *b = poisoned(n), *y = poisoned(n);
            double mean = 0, squares = 0;
            for (size_t j = 0; j < n; j++) mean += (double)(x[j] += 3) / (double)n; /* a mean to be taken away */
            for (size_t j = 0; j < n; j++) squares += (x[j] - mean) * (x[j] - mean);
            double r = 1 / sqrt(squares / (double)n + 1e-5);
            k->enc->layernorm(y, x, w, b, n, 1e-5f);
            /* x - mean, both about 3, is off by 2^-23 of 3; r makes that larger, w and b (below 1) do not */
            for (size_t j = 0; j < n; j++) NEAR(y[j], (x[j] - mean) * r * w[j] + b[j], 5e-7 * r + 5e-7, 0);
            check_margins(y, n);
            k->enc->layernorm(x, x, w, b, n, 1e-5f); /* in place, the same */
            CHECK(memcmp(x, y, n * sizeof *x) == 0);
            poisoned_free(x), poisoned_free(w), poisoned_free(b), poisoned_free(y);
        }
}

static void silu_mul(void) {
    const Kernels *k;
    for (int i = 0; (k = kernels_row(i)); i++)
        for (int z = 0; z < N_SIZES; z++) {
            size_t n = sizes[z];
            float *g = poisoned(n), *u = poisoned(n);
            double *want = malloc(n * sizeof *want);
            for (size_t j = 0; j < n; j++) {
                g[j] *= j % 3 == 0 ? 1 : j % 3 == 1 ? 20 : 300; /* exp(300) overflows a float: silu(-300) must be 0 */
                want[j] = g[j] / (1 + exp(-(double)g[j])) * u[j];
            }
            k->vec->silu_mul(g, u, n);
            for (size_t j = 0; j < n; j++) NEAR(g[j], want[j], 1e-30, 1e-6);
            check_margins(g, n);
            poisoned_free(g), poisoned_free(u), free(want);
        }
}

static double activation(double x, Activation a) {
    switch (a) {
    case ACTIVATION_GELU: return 0.5 * x * erfc(-x / sqrt(2));
    case ACTIVATION_GELU_TANH: return x / (1 + exp(-2 * sqrt(2 / acos(-1.0)) * (x + 0.044715 * x * x * x)));
    case ACTIVATION_RELU: return x > 0 ? x : 0;
    default: return x / (1 + exp(-x));
    }
}

/* Relative to the value, on the left side too: the exponent (12.5 at x = -5) comes of a few roundings, each 2^-24 of
 * itself. Far out, where the value is below 1e-30, it may be 0. facts/roformer.md 1.4 has the six. */
static void activate(void) {
    static const double table[][3] = {{-3, -0.004049694095, -0.003637392082}, {-1, -0.158655253931, -0.158808009392},
                                      {-0.5, -0.154268769363, -0.154285990175}, {0.5, 0.345731230637, 0.345714009825},
                                      {1, 0.841344746069, 0.841191990608}, {3, 2.995950305905, 2.996362607918}};
    const Kernels *k;
    for (int a = ACTIVATION_GELU; a <= ACTIVATION_SILU; a++)
        for (int i = 0; (k = kernels_row(i)); i++) {
            for (int z = 0; z < N_SIZES; z++) {
                size_t n = sizes[z];
                float *x = poisoned(n), *was = poisoned(n);
                for (size_t j = 0; j < n; j++) was[j] = x[j] *= j % 3 == 0 ? 1 : j % 3 == 1 ? 12 : 300;
                k->enc->activate(x, n, (Activation)a);
                for (size_t j = 0; j < n; j++) {
                    double u = was[j], exponent = a == ACTIVATION_GELU_TANH ? fabs(u * u * u) / 10 : u * u / 2;
                    NEAR(x[j], activation(u, (Activation)a), 1e-30, 1e-6 + 2.5e-7 * exponent);
                }
                check_margins(x, n);
                poisoned_free(x), poisoned_free(was);
            }
            float special[8] = {INFINITY, -INFINITY, NAN, 0, -0.0f, 100, -100, -13};
            k->enc->activate(special, 8, (Activation)a);
            CHECK(special[0] == INFINITY && isnan(special[2]) && special[3] == 0 && special[4] == 0 &&
                  special[5] == 100);
            CHECK(fabsf(special[6]) < 1e-30f && fabsf(special[7]) < 1e-4f);
            for (int j = 0; j < 6 && a <= ACTIVATION_GELU_TANH; j++) {
                float x = (float)table[j][0];
                k->enc->activate(&x, 1, (Activation)a);
                NEAR(x, table[j][1 + (a == ACTIVATION_GELU_TANH)], 0, 1e-6);
            }
        }
}

/* The rare ones, by the numbers of transformers' ACT2FN in float64 at these points (6 ulp of float32). */
static void rare_activations(void) {
    static const float at[8] = {-3, -1, -0.5f, 0.5f, 1, 3, 7, 12};
    static const struct { Activation a; double y[8]; } rows[] = {
        {ACTIVATION_QUICK_GELU, {-0.0180713097078, -0.154204234067, -0.149611563394, 0.350388436606, 0.845795765933,
                                 2.98192869029, 6.9999531283, 11.9999999838}},
        {ACTIVATION_GELU_10, {-0.00404969409489, -0.158655253931, -0.154268769363, 0.345731230637, 0.841344746069,
                              2.99595030591, 6.99999999999, 10}},
        {ACTIVATION_RELU2, {0, 0, 0, 0.25, 1, 9, 49, 144}},
        {ACTIVATION_RELU6, {0, 0, 0, 0.5, 1, 3, 6, 6}},
        {ACTIVATION_LEAKY_RELU, {-0.03, -0.01, -0.005, 0.5, 1, 3, 7, 12}},
        {ACTIVATION_TANH, {-0.995054753687, -0.761594155956, -0.46211715726, 0.46211715726, 0.761594155956,
                           0.995054753687, 0.999998336944, 0.999999999924}},
        {ACTIVATION_SIGMOID, {0.0474258731776, 0.26894142137, 0.377540668798, 0.622459331202, 0.73105857863,
                              0.952574126822, 0.999088948806, 0.999993855825}},
        {ACTIVATION_LINEAR, {-3, -1, -0.5, 0.5, 1, 3, 7, 12}},
        {ACTIVATION_MISH, {-0.145647461276, -0.303401461374, -0.220743774652, 0.375245211305, 0.865098388267,
                           2.98653500497, 6.99998837981, 11.9999999991}},
        {ACTIVATION_HARDSWISH, {0, -0.333333333333, -0.208333333333, 0.291666666667, 0.666666666667, 3, 7, 12}},
        {ACTIVATION_LAPLACE, {0, 7.17372605763e-10, 9.38338116768e-06, 0.231421148411, 0.850429649285, 1, 1, 1}}};
    const Kernels *k;
    for (size_t r = 0; r < sizeof rows / sizeof *rows; r++)
        for (int i = 0; (k = kernels_row(i)); i++)
            for (size_t n = 1; n <= 8; n += 7) {
                float x[9] = {0};
                memcpy(x, at, sizeof at);
                k->enc->activate(x, n, rows[r].a);
                for (size_t j = 0; j < n; j++) NEAR(x[j], rows[r].y[j], 1e-15, 4e-6);
                CHECK(n == 8 || x[1] == at[1]);
            }
}

/* rotate is rope_rotate to the bit in every row: products and sums of two are rounded the same. */
static void rotate(void) {
    static const int dims[] = {2, 4, 6, 8, 10, 16, 24, 32, 34, 64, 128};
    const Kernels *k;
    for (int i = 1; (k = kernels_row(i)); i++)
        for (int z = 0; z < 11; z++)
            for (int pairing = 0; pairing < 2; pairing++) {
                size_t n = (size_t)dims[z], half = n / 2;
                float *a = poisoned(n), *b = poisoned(n), *c = poisoned(half), *s = poisoned(half);
                memcpy(b, a, n * sizeof *a);
                k->vec->rotate(a, c, s, dims[z], (RopePairing)pairing);
                rope_rotate(b, c, s, dims[z], (RopePairing)pairing);
                CHECK(memcmp(a, b, n * sizeof *a) == 0);
                check_margins(a, n);
                poisoned_free(a), poisoned_free(b), poisoned_free(c), poisoned_free(s);
            }
}

static void choice(void) {
    char err[200] = "";
    CHECK(kernels_row(0) == &kernels_ref && kernels_find("ref", err, sizeof err) == &kernels_ref);
    CHECK(kernels_find(kernels_best()->name, err, sizeof err) == kernels_best() && *err == 0);
    CHECK(kernels_find("avx3", err, sizeof err) == NULL && strstr(err, "no row \"avx3\" that this processor can run"));
    const char *at = strstr(err, "it has ref");
    for (int i = 0; kernels_row(i); i++) CHECK(at && (at = strstr(at, kernels_row(i)->name)));
    if (!kernels_row(1)) test_skip("this CPU has neither AVX2 nor NEON: only ref was tested");
}

/* Linear attention's step against long double; NaN stands around S, out and the inputs. Sums of up to 300 products in
 * double round to 300 * 1.1e-16 of their magnitude at most: 1e-13 of the sum of magnitudes. */
static double *poisoned64(size_t n) {
    double *p = malloc((n + 2 * PAD) * sizeof *p);
    for (size_t i = 0; i < n + 2 * PAD; i++) p[i] = NAN;
    for (size_t i = 0; i < n; i++) p[PAD + i] = (double)random_float();
    return p + PAD;
}
static void poisoned64_free(double *p, size_t n) {
    for (int i = 1; i <= PAD; i++) CHECK(isnan(p[-i]) && isnan(p[n + (size_t)i - 1]));
    free(p - PAD);
}

static void check_state_step(const Kernels *k, size_t rows, size_t n, int take) {
    size_t lda = rows + 3, N = rows * STATE_COLUMNS;
    double *S = poisoned64(N), *before = malloc(N * sizeof *S), *b = poisoned64(rows);
    double *a = poisoned64(n * lda), *out = poisoned64(n * STATE_COLUMNS);
    float *v = poisoned(STATE_COLUMNS);
    memcpy(before, S, N * sizeof *S);
    for (size_t g = 0; g < n; g++)
        for (size_t i = rows; i < lda; i++) a[g * lda + i] = NAN; /* between one query and the next */
    k->att->state_step(n ? out : NULL, S, rows, take ? b : NULL, take ? v : NULL, n ? a : NULL, n, lda);
    for (size_t i = 0; i < N; i++)
        NEAR(S[i], before[i] + (take ? b[i / STATE_COLUMNS] * (double)v[i % STATE_COLUMNS] : 0), 1e-15, 0);
    for (size_t g = 0; g < n; g++)
        for (size_t j = 0; j < STATE_COLUMNS; j++) {
            long double sum = 0, size = 0;
            for (size_t i = 0; i < rows; i++) {
                long double product = (long double)a[g * lda + i] * S[i * STATE_COLUMNS + j];
                sum += product, size += fabsl(product);
            }
            NEAR(out[g * STATE_COLUMNS + j], (double)sum, 1e-13 * (double)size, 0);
        }
    poisoned64_free(S, N), poisoned64_free(b, rows);
    poisoned64_free(a, n * lda), poisoned64_free(out, n * STATE_COLUMNS);
    poisoned_free(v);
    free(before);
}

static void state_step(void) {
    static const size_t rows[] = {1, 2, 3, 16, 17, 64, 129, 300};
    const Kernels *k;
    for (int row = 0; (k = kernels_row(row)); row++)
        for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
            for (size_t n = 0; n <= 5; n++)
                for (int take = 0; take < 2; take++) check_state_step(k, rows[i], n, take);
}

/* One query or five, with the key or after it: the same bits. */
static void state_step_batch(void) {
    enum { ROWS = 37 };
    const Kernels *k;
    for (int row = 0; (k = kernels_row(row)); row++) {
        double *S = poisoned64(ROWS * STATE_COLUMNS), *T = poisoned64(ROWS * STATE_COLUMNS);
        double *a = poisoned64(5 * ROWS), *b = poisoned64(ROWS);
        double many[5 * STATE_COLUMNS], one[STATE_COLUMNS];
        float *v = poisoned(STATE_COLUMNS);
        memcpy(T, S, ROWS * STATE_COLUMNS * sizeof *S);
        k->att->state_step(many, S, ROWS, b, v, a, 5, ROWS);
        k->att->state_step(NULL, T, ROWS, b, v, NULL, 0, 0);
        CHECK(memcmp(S, T, ROWS * STATE_COLUMNS * sizeof *S) == 0);
        for (int g = 0; g < 5; g++) {
            k->att->state_step(one, T, ROWS, NULL, NULL, a + g * ROWS, 1, 0);
            CHECK(memcmp(one, many + g * STATE_COLUMNS, sizeof one) == 0);
        }
        poisoned64_free(S, ROWS * STATE_COLUMNS), poisoned64_free(T, ROWS * STATE_COLUMNS);
        poisoned64_free(a, 5 * ROWS), poisoned64_free(b, ROWS);
        poisoned_free(v);
    }
}

static void exp64(void) {
    const Kernels *k;
    for (int row = 0; (k = kernels_row(row)); row++) {
        for (size_t n = 1; n <= 9; n++) {
            double *x = poisoned64(n), want[9];
            for (size_t i = 0; i < n; i++) want[i] = exp(x[i]);
            k->vec->exp64(x, n);
            for (size_t i = 0; i < n; i++) NEAR(x[i], want[i], 0, 5e-16); /* 2 ulp */
            poisoned64_free(x, n);
        }
        for (double x = -700; x < 700; x += 0.0137) {
            double y = x;
            k->vec->exp64(&y, 1);
            NEAR(y, (double)expl((long double)x), 0, 5e-16);
        }
        double edge[] = {-1000, -709, NAN, 0, 700, -INFINITY};
        k->vec->exp64(edge, 6);
        CHECK(edge[0] == 0 && edge[1] == 0 && isnan(edge[2]) && edge[3] == 1 && edge[4] > 1e304 && edge[5] == 0);
    }
}

extern const Test tests_kernels[];
const Test tests_kernels[] = {
    {"kernels/choice of a row", choice},
    {"kernels/matmul F32", matmul_f32},
    {"kernels/matmul F16", matmul_f16},
    {"kernels/matmul BF16", matmul_bf16},
    {"kernels/matmul blocks", matmul_blocks},
    {"kernels/matmul int8 groups", matmul_groups},
    {"kernels/matmul of extremes", matmul_extremes},
    {"kernels/matmul by other instructions", matmul_same_bits},
    {"kernels/quantize activations", quantize},
    {"kernels/rmsnorm", rmsnorm},
    {"kernels/layernorm", layernorm},
    {"kernels/silu_mul", silu_mul},
    {"kernels/activate", activate},
    {"kernels/rare activations", rare_activations},
    {"kernels/rotate", rotate},
    {"kernels/state_step", state_step},
    {"kernels/state_step: one query or many", state_step_batch},
    {"kernels/exp64", exp64},
    {0},
};
