/* kernels/encode.c - encoding: 16 bits, blocks of 32, and the table of all formats.
 *
 * These formats have fixed rules, so that the bytes are ggml's: a block of 32 takes its scale from its largest value,
 * and rounds. The K formats and IQ4, which search, are in encode_k.c. */
#include "encode.h"
#include "encode_parts.h"

#include "base/base.h"

#include <math.h>
#include <string.h>

/* No half-precision scale reaches this value (the largest is 65504 x 127 x 32, in Q6_K). Below it no sum overflows. */
static const float out_of_reach = 1e9f;

static uint32_t bits_of(float f) {
    uint32_t bits;
    memcpy(&bits, &f, sizeof bits);
    return bits;
}

/* ---- 16 bits ---- */

static void store_u16(uint8_t *p, unsigned v) {
    p[0] = (uint8_t)v;
    p[1] = (uint8_t)(v >> 8);
}

static unsigned bf16_of(float f) {
    uint32_t bits = bits_of(f);
    if ((bits & 0x7fffffff) > 0x7f800000) return bits >> 16 | 0x40; /* a NaN stays one */
    return (bits + 0x7fff + (bits >> 16 & 1)) >> 16;
}

int encode_scale(uint8_t *p, float d) {
    unsigned h = f32_to_f16(d);
    store_u16(p, h);
    return (h & 0x7fff) < 0x7c00;
}

static size_t encode_f32(uint8_t *out, const float *x, size_t n) {
    for (size_t i = 0; i < n; i++)
        for (int k = 0; k < 4; k++) out[4 * i + (size_t)k] = (uint8_t)(bits_of(x[i]) >> 8 * k);
    return 0;
}

static size_t encode_f16(uint8_t *out, const float *x, size_t n) {
    size_t lost = 0;
    for (size_t i = 0; i < n; i++) {
        unsigned h = f32_to_f16(x[i]);
        lost += (h & 0x7fff) == 0x7c00 && !isinf(x[i]);
        store_u16(out + 2 * i, h);
    }
    return lost;
}

static size_t encode_bf16(uint8_t *out, const float *x, size_t n) {
    size_t lost = 0;
    for (size_t i = 0; i < n; i++) {
        unsigned h = bf16_of(x[i]);
        lost += (h & 0x7fff) == 0x7f80 && !isinf(x[i]);
        store_u16(out + 2 * i, h);
    }
    return lost;
}

/* ---- blocks of 32: scale by the largest value ---- */

float encode_extreme(const float *x, int n) {
    float best = 0;
    for (int i = 0; i < n; i++)
        if (fabsf(x[i]) > fabsf(best)) best = x[i];
    return best;
}

float encode_inverse(float d) {
    float inv = d != 0 ? 1 / d : 0;
    return isinf(inv) ? 0 : inv;
}

static int encode_q8_0(uint8_t *out, const float *x) {
    float d = fabsf(encode_extreme(x, Q_BLOCK)) / 127, inv = encode_inverse(d);
    for (int i = 0; i < Q_BLOCK; i++) out[2 + i] = (uint8_t)(int8_t)roundf(x[i] * inv);
    return encode_scale(out, d);
}

/* Five bits a value: sixteen bytes of nibbles behind 32 bits, the fifth ones. */
static void pack_q5(uint8_t *high, const uint8_t code[Q_BLOCK]) {
    memset(high, 0, 4);
    for (int i = 0; i < Q_BLOCK; i++) high[i / 8] |= (uint8_t)((code[i] >> 4) << i % 8);
    for (int i = 0; i < Q_BLOCK / 2; i++) high[4 + i] = (uint8_t)((code[i] & 15) | (code[i + 16] & 15) << 4);
}

static void pack_q4(uint8_t *out, const uint8_t code[Q_BLOCK]) {
    for (int i = 0; i < Q_BLOCK / 2; i++) out[i] = (uint8_t)(code[i] | code[i + 16] << 4);
}

/* Q4_0 and Q5_0: codes 0 .. 2 zero - 1, value d (code - zero). The extreme value gets code 0, so its sign is used to
 * the full. + 0.5 and cutting off is ggml's rounding. */
static int encode_symmetric(uint8_t *out, const float *x, int zero) {
    uint8_t code[Q_BLOCK];
    float d = encode_extreme(x, Q_BLOCK) / (float)-zero, inv = encode_inverse(d);
    for (int i = 0; i < Q_BLOCK; i++) {
        int c = (int)(x[i] * inv + ((float)zero + 0.5f));
        code[i] = (uint8_t)(c < 2 * zero ? c : 2 * zero - 1);
    }
    if (zero == 8) pack_q4(out + 2, code);
    else pack_q5(out + 2, code);
    return encode_scale(out, d);
}

/* Q4_1 and Q5_1: codes 0 .. top from the smallest value to the largest, value d code + low. */
static int encode_offset(uint8_t *out, const float *x, int top) {
    uint8_t code[Q_BLOCK];
    float low = x[0], high = x[0];
    for (int i = 1; i < Q_BLOCK; i++) {
        if (x[i] < low) low = x[i];
        if (x[i] > high) high = x[i];
    }
    float d = (high - low) / (float)top, inv = encode_inverse(d);
    for (int i = 0; i < Q_BLOCK; i++) {
        int c = (int)((x[i] - low) * inv + 0.5f);
        code[i] = (uint8_t)(c < top ? c : top);
    }
    if (top == 15) pack_q4(out + 4, code);
    else pack_q5(out + 4, code);
    int fits = encode_scale(out, d);
    return encode_scale(out + 2, low) && fits;
}

static int encode_q4_0(uint8_t *out, const float *x) { return encode_symmetric(out, x, 8); }
static int encode_q5_0(uint8_t *out, const float *x) { return encode_symmetric(out, x, 16); }
static int encode_q4_1(uint8_t *out, const float *x) { return encode_offset(out, x, 15); }
static int encode_q5_1(uint8_t *out, const float *x) { return encode_offset(out, x, 31); }

/* ---- the table ---- */

static const struct {
    int type;
    size_t (*values)(uint8_t *out, const float *x, size_t n); /* F32, F16, BF16 */
    EncodeBlock *block;                                       /* the others */
} rows[] = {
    {TENSOR_F32, encode_f32, NULL}, {TENSOR_F16, encode_f16, NULL}, {TENSOR_BF16, encode_bf16, NULL},
    {TENSOR_Q8_0, NULL, encode_q8_0}, {TENSOR_Q4_0, NULL, encode_q4_0}, {TENSOR_Q4_1, NULL, encode_q4_1},
    {TENSOR_Q5_0, NULL, encode_q5_0}, {TENSOR_Q5_1, NULL, encode_q5_1}, {TENSOR_Q2_K, NULL, encode_q2_k},
    {TENSOR_Q3_K, NULL, encode_q3_k}, {TENSOR_Q4_K, NULL, encode_q4_k}, {TENSOR_Q5_K, NULL, encode_q5_k},
    {TENSOR_Q6_K, NULL, encode_q6_k}, {TENSOR_IQ4_NL, NULL, encode_iq4_nl}, {TENSOR_IQ4_XS, NULL, encode_iq4_xs},
};

enum { N_ROWS = sizeof rows / sizeof *rows };

static int row_of(int type) {
    for (int i = 0; i < N_ROWS; i++)
        if (rows[i].type == type) return i;
    return -1;
}

int quant_encodes(int type) { return row_of(type) >= 0; }

static int within_reach(const float *x, size_t n) {
    int all = 1;
    for (size_t i = 0; i < n; i++) all &= fabsf(x[i]) < out_of_reach;
    return all;
}

size_t quant_encode(int type, void *out, const float *x, size_t n) {
    int row = row_of(type);
    const QuantFormat *f = quant_format(type);
    if (row < 0 || !f) return n;
    if (rows[row].values) return rows[row].values(out, x, n);
    size_t lost = 0, block = (size_t)f->block;
    uint8_t *p = out;
    for (size_t i = 0; i < n / block; i++, p += f->bytes, x += block) {
        if (within_reach(x, block) && rows[row].block(p, x)) continue;
        memset(p, 0, (size_t)f->bytes);
        lost++;
    }
    return lost;
}
