/* tests/test_encode.c - the encoders against ggml's own quantizer (golden/encode.txt, made by oracle/encode.py). */
#include "base/base.h"
#include "base/hash.h"
#include "kernels/encode.h"
#include "lines.h"
#include "test.h"

#include <stdlib.h>
#include <string.h>

enum { ENCODE_N = 65536, ENCODE_KINDS = 9 }; /* values of each kind of input: those of oracle/encode.py */
enum { GUARD = 0xa5 };

/* What ggml makes of them: the hash of its bytes, or the root of its mean square error, by kind. */
typedef struct {
    int type;
    uint64_t hash[ENCODE_KINDS];
    double rmse[ENCODE_KINDS];
} Ggml;

enum { MAX_GGML = 8 };

/* The lines that begin with `what`; how many. */
static int read_ggml(Ggml out[MAX_GGML], const char *what) {
    Lines l;
    int n = 0;
    if (!lines_open(&l, "tests/golden/encode.txt")) return 0;
    while (lines_next(&l) && n < MAX_GGML) {
        if (!lines_is(&l, what)) continue;
        Ggml *g = &out[n++];
        g->type = (int)lines_whole(&l);
        lines_word(&l); /* its name */
        if (what[0] == 'r') CHECK(lines_numbers(&l, g->rmse, ENCODE_KINDS) == ENCODE_KINDS);
        for (int k = 0; k < ENCODE_KINDS && what[0] == 'h'; k++) g->hash[k] = lines_hex(&l);
    }
    lines_close(&l);
    return n;
}

static const int all_types[] = {TENSOR_F32, TENSOR_F16, TENSOR_BF16, TENSOR_Q8_0, TENSOR_Q4_0,
                                TENSOR_Q4_1, TENSOR_Q5_0, TENSOR_Q5_1, TENSOR_Q4_K, TENSOR_Q5_K, TENSOR_Q6_K,
                                TENSOR_Q2_K, TENSOR_Q3_K, TENSOR_IQ4_NL, TENSOR_IQ4_XS};
enum { N_TYPES = sizeof all_types / sizeof *all_types };

static int is_plain(int type) { return type == TENSOR_F32 || type == TENSOR_F16 || type == TENSOR_BF16; }

/* The numbers of oracle/encode.py: whole numbers of a generator, and a few operations that are exact. */
static void make_values(float *x, int kind) {
    uint32_t state = 12345u + (uint32_t)kind;
    for (size_t i = 0; i < ENCODE_N; i++) {
        double u[9], bell = -4 * 65536.0;
        for (int k = 0; k < 9; k++) {
            state = 1664525u * state + 1013904223u;
            u[k] = state >> 16;
            if (k < 8) bell += u[k];
        }
        double v = bell / 0x1p20;
        switch (kind) {
        case 1: v = (u[0] - 32768) / 65536; break;
        case 2: v = u[0] / 65536; break;
        case 3: v = bell * fabs(bell) / 0x1p40; break;
        case 4: v = u[8] < 6554 ? v : 0; break;
        case 5: v = ldexp(v, (int)(i / 256 % 16) - 8); break;
        case 6: v = bell / 0x1p23 + 0.5; break;
        case 7: v = bell / 0x1p36; break;
        case 8: v = bell / 0x1p23 - 0.5; break; /* blocks that are all below zero, and far */
        default: break;
        }
        x[i] = (float)v;
    }
}

static size_t bytes_of(int type, size_t n) {
    return n / (size_t)quant_format(type)->block * (size_t)quant_format(type)->bytes;
}

static void test_known(void) {
    for (int i = 0; i < N_TYPES; i++) CHECK(quant_encodes(all_types[i]));
    CHECK(!quant_encodes(TENSOR_IQ2_XXS) && !quant_encodes(-1) && !quant_encodes(TENSOR_I8_GROUPS));
}

/* The plain formats have fixed rules: every byte is ggml's. An odd address and a guard show what is written. */
static void test_bytes(void) {
    Ggml ggml[MAX_GGML];
    int n = read_ggml(ggml, "hash");
    CHECK(n == 7);
    float *x = malloc(ENCODE_N * sizeof *x);
    uint8_t *out = malloc(ENCODE_N * 2 + 2);
    for (int kind = 0; x && out && kind < ENCODE_KINDS; kind++) {
        make_values(x, kind);
        for (int t = 0; t < n; t++) {
            int type = ggml[t].type;
            size_t bytes = bytes_of(type, ENCODE_N);
            memset(out, GUARD, ENCODE_N * 2 + 2);
            CHECK(quant_encode(type, out + 1, x, ENCODE_N) == 0);
            CHECK(hash_bytes(HASH_START, out + 1, bytes) == ggml[t].hash[kind]);
            CHECK(out[0] == GUARD && out[bytes + 1] == GUARD);
        }
    }
    free(x);
    free(out);
}

static double error_of(int type, const float *x, uint8_t *bytes, float *back) {
    double sum = 0;
    CHECK(quant_encode(type, bytes, x, ENCODE_N) == 0);
    matrix_row(back, &(Matrix){.type = (TensorType)type, .rows = 1, .cols = ENCODE_N, .data = bytes}, 0);
    for (size_t i = 0; i < ENCODE_N; i++) sum += ((double)back[i] - (double)x[i]) * ((double)back[i] - (double)x[i]);
    return sqrt(sum / ENCODE_N);
}

/* The K formats search, so another search gives other bytes; its error may be at most 2 % above ggml's (the project's
 * bar). A third of ggml's would be too good to be true: then the decoder would be wrong, too. (Q2_K of values that are
 * mostly 0, or far from it, comes to 0.34 and 0.40: ggml looks for no minimum that four bits hold well.) */
static void test_errors(void) {
    Ggml ggml[MAX_GGML];
    int n = read_ggml(ggml, "rmse");
    CHECK(n == 7);
    float *x = malloc(ENCODE_N * sizeof *x), *back = malloc(ENCODE_N * sizeof *back);
    uint8_t *bytes = malloc(ENCODE_N);
    for (int kind = 0; x && back && bytes && kind < ENCODE_KINDS; kind++) {
        make_values(x, kind);
        for (int t = 0; t < n; t++) {
            if (!quant_format(ggml[t].type)->row) {
                test_skip("K formats are not decoded in this build");
                continue;
            }
            double ratio = error_of(ggml[t].type, x, bytes, back) / ggml[t].rmse[kind];
            CHECK(ratio <= 1.02 && ratio >= 0.3);
            if (getenv("ENCODE_PRINT"))
                printf("    %s, kind %d: %.3f of ggml's error\n", quant_format(ggml[t].type)->name, kind, ratio);
        }
    }
    free(x);
    free(back);
    free(bytes);
}

/* Blocks at the edges: zeros, one value, the smallest and largest numbers. Nothing is lost, and what is decoded is
 * finite and within a step of the largest value. */
static void test_edges(void) {
    static const float edges[] = {0, -0.0f, 1, -1, 1e-45f, -1e-40f, 1e-30f, 6e-8f, 3e4f, -6e4f};
    float x[256], back[256];
    uint8_t bytes[1024];
    for (int t = 0; t < N_TYPES; t++)
        for (size_t e = 0; e < sizeof edges / sizeof *edges; e++)
            for (int fill = 0; fill < 2; fill++) {
                for (int i = 0; i < 256; i++) x[i] = fill || i == 77 ? edges[e] : 0;
                CHECK(quant_encode(all_types[t], bytes, x, 256) == 0);
                if (!quant_format(all_types[t])->row) continue;
                matrix_row(back, &(Matrix){.type = (TensorType)all_types[t], .rows = 1, .cols = 256, .data = bytes}, 0);
                for (int i = 0; i < 256; i++) NEAR(back[i], x[i], 1e-5 + fabs((double)edges[e]) / 7, 0);
            }
}

/* Value i of a super-block in which there are few different ones, of about the size s. */
static float few_values(int kind, int i, float s, uint64_t *rng) {
    float u = (float)(hash_mix(++*rng) >> 40) * 0x1p-24f;
    switch (kind) {
    case 0: return s;
    case 1: return s * (1 + (float)(i / 32) * 0.37f); /* another one in each small block */
    case 2: return s * (1 + 1e-6f * u);
    case 3: return s * (1 + 1e-3f * u);
    case 4: return u < 0.5f ? s : -s;
    case 5: return u < 0.5f ? 5 * s : -15 * s;
    default: return u < 0.33f ? s : u < 0.67f ? 0 : -s;
    }
}

/* Where all values are alike, so are their codes, and two equations have one unknown too many: taken for two, they
 * gave a fifth of the value as error. ggml's own errors of these kinds, the root of the mean square over that of
 * the values, are 0.0005, 0.007, 0.003, 0.003, 0.0008, 0.0003 and 0.004 at most in Q4_K and Q5_K; Q6_K's, whose
 * scales have a sign and 8 bits, 0.01; those of 2 and 3 bits and IQ4, whose codes have no zero in the middle, up to
 * 0.23. A bound is two to four times ours. */
static void test_few_values(void) {
    static const struct { int type; double bound[7];
    } rows[] = {{TENSOR_Q4_K, {0.0015, 0.01, 0.0015, 0.003, 0.0015, 0.0015, 0.0015}},
                {TENSOR_Q5_K, {0.0025, 0.01, 0.0025, 0.003, 0.0015, 0.0015, 0.008}},
                {TENSOR_Q6_K, {0.006, 0.01, 0.006, 0.006, 0.012, 0.02, 0.012}},
                {TENSOR_Q2_K, {0.0005, 0.05, 0.0005, 0.0008, 0.0005, 0.0008, 0.0025}},
                {TENSOR_Q3_K, {0.0005, 0.025, 0.0005, 0.0008, 0.043, 0.0005, 0.043}},
                {TENSOR_IQ4_NL, {0.0005, 0.0005, 0.0005, 0.0008, 0.08, 0.043, 0.08}},
                {TENSOR_IQ4_XS, {0.005, 0.025, 0.005, 0.005, 0.09, 0.043, 0.09}}};
    float x[256], back[256];
    uint8_t bytes[1024];
    uint64_t rng = 1;
    for (size_t t = 0; t < sizeof rows / sizeof *rows; t++)
        for (int kind = 0; kind < 7; kind++) {
            double far = 0, all = 0;
            for (int k = 0; k < 200; k++) {
                for (int i = 0; i < 256; i++) x[i] = few_values(kind, i, 0.02f + (float)k / 9973, &rng);
                CHECK(quant_encode(rows[t].type, bytes, x, 256) == 0);
                matrix_row(back, &(Matrix){.type = (TensorType)rows[t].type, .rows = 1, .cols = 256, .data = bytes}, 0);
                for (int i = 0; i < 256; i++)
                    far += pow((double)back[i] - (double)x[i], 2), all += (double)x[i] * (double)x[i];
            }
            double off = sqrt(far / all);
            if (!(off <= rows[t].bound[kind])) printf("    type %zu, kind %d: %.2e\n", t, kind, off);
            CHECK(off <= rows[t].bound[kind]);
            if (getenv("ENCODE_PRINT")) printf("    type %zu, kind %d: %.2e\n", t, kind, off);
        }
}

/* A number that is not finite, or too large for any scale of half precision, is told, and the block becomes zeros; its
 * neighbour is encoded as ever. */
static void test_lost(void) {
    static const float bad[] = {INFINITY, -INFINITY, NAN, 3e38f, -2e9f, 8e8f};
    float x[512];
    uint8_t bytes[2048], alone[1024];
    for (int t = 0; t < N_TYPES; t++)
        for (size_t b = 0; b < sizeof bad / sizeof *bad; b++) {
            int type = all_types[t];
            size_t half = bytes_of(type, 256);
            for (int i = 0; i < 512; i++) x[i] = (float)(i % 17) - 8;
            CHECK(quant_encode(type, alone, x + 256, 256) == 0);
            x[40] = bad[b];
            size_t lost = quant_encode(type, bytes, x, 512);
            int keeps = type == TENSOR_F32 || (is_plain(type) && !isfinite(bad[b])) ||
                        (type == TENSOR_BF16 && isfinite(bad[b]));
            CHECK(lost == (keeps ? 0 : 1));
            CHECK(memcmp(bytes + half, alone, half) == 0);
            size_t block = (size_t)quant_format(type)->block, size = (size_t)quant_format(type)->bytes;
            for (size_t i = 0; i < size && block > 1; i++) CHECK(bytes[40 / block * size + i] == 0);
        }
    x[40] = 3.4e38f; /* rounds up to infinity in BF16: its largest is 3.39e38 */
    CHECK(quant_encode(TENSOR_BF16, bytes, x, 512) == 1);
}

/* Every half and bfloat, back from the float it stands for; and what lies between two of them goes to the nearer, ties
 * to the even one. */
static void test_sixteen_bits(void) {
    for (unsigned h = 0; h < 65536; h++) {
        uint8_t b[2];
        float half = f16_to_f32((uint16_t)h), bf = bf16_to_f32((uint16_t)h), up;
        if (!isnan(half)) CHECK(quant_encode(TENSOR_F16, b, &half, 1) == 0 && load_u16(b) == h);
        if (!isnan(bf)) CHECK(quant_encode(TENSOR_BF16, b, &bf, 1) == 0 && load_u16(b) == h);
        if ((h & 0x7fff) >= 0x7bff) continue;
        up = f16_to_f32((uint16_t)(h + 1));
        float middle = half + (up - half) / 2, toward = nextafterf(middle, up), before = nextafterf(middle, half);
        quant_encode(TENSOR_F16, b, &middle, 1);
        CHECK(load_u16(b) == (h & 1 ? h + 1 : h));
        quant_encode(TENSOR_F16, b, &toward, 1);
        CHECK(load_u16(b) == h + 1);
        quant_encode(TENSOR_F16, b, &before, 1);
        CHECK(load_u16(b) == h);
    }
    float nan = NAN;
    uint8_t b[2];
    quant_encode(TENSOR_F16, b, &nan, 1);
    CHECK(isnan(f16_to_f32(load_u16(b))));
    quant_encode(TENSOR_BF16, b, &nan, 1);
    CHECK(isnan(bf16_to_f32(load_u16(b))));
}

const Test tests_encode[] = {
    {"encode/known", test_known},
    {"encode/bytes", test_bytes},
    {"encode/errors", test_errors},
    {"encode/edges", test_edges},
    {"encode/few values", test_few_values},
    {"encode/lost", test_lost},
    {"encode/sixteen_bits", test_sixteen_bits},
    {0},
};
