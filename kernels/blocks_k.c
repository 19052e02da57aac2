/* kernels/blocks_k.c - the K, IQ4 and MX formats, taken apart.
 *
 * The K formats (256 values: a superblock of 8 or 16 sub-blocks) store one half-precision d and dmin, and a small whole
 * number a sub-block: scale = d * sc, minimum = dmin * mn. The IQ4 formats take the values for a code from a short
 * table instead of from a straight line; so does MXFP4, whose codes are floats of four bits. */
#include "codes.h"

#include "base/base.h"

#include <string.h>

/* 64 bytes of bit pairs: each 32 of them hold 128 values, 32 to a pair of bits. To bits `to` and to+1 of q. */
static void pairs(uint8_t *q, const uint8_t *bytes, int to) {
    for (int half = 0; half < 2; half++, bytes += 32)
        for (int j = 0; j < 4; j++, q += 32)
            for (int i = 0; i < 32; i++) q[i] |= (uint8_t)((bytes[i] >> 2 * j & 3) << to);
}

/* 32 bytes of single bits: 32 values to a bit. To bit `to` of q. */
static void ones(uint8_t *q, const uint8_t *bytes, int to) {
    for (int j = 0; j < 8; j++, q += 32)
        for (int i = 0; i < 32; i++) q[i] |= (uint8_t)((bytes[i] >> j & 1) << to);
}

/* sc and mn [16] in 4 bits each; 64 bytes of four values, 32 apart; d, dmin. */
static void codes_q2_k(Codes *c, const uint8_t *block) {
    for (int s = 0; s < 16; s++) {
        c->sc[s] = block[s] & 15;
        c->mn[s] = (int8_t)(block[s] >> 4);
    }
    memset(c->q, 0, sizeof c->q);
    pairs(c->q, block + 16, 0);
    c->d = load_u16(block + 80);
    c->dmin = load_u16(block + 82);
}

/* 256 third bits, in 32 bytes of eight values 32 apart; 64 bytes as in Q2_K; 16 sc of 6 bits, 32 too large; d. */
static void codes_q3_k(Codes *c, const uint8_t *block) {
    const uint8_t *scales = block + 96;
    memset(c->q, 0, sizeof c->q);
    pairs(c->q, block + 32, 0);
    ones(c->q, block, 2);
    for (int s = 0; s < 16; s++) {
        int four = scales[s % 8] >> s / 8 * 4 & 15, two = scales[8 + s % 4] >> s / 4 * 2 & 3;
        c->sc[s] = (int8_t)((four | two << 4) - 32);
    }
    c->d = load_u16(block + 108);
}

/* Eight sc and eight mn of 6 bits in 12 bytes: the first four of each stand in bytes 0..3 and 4..7, whose upper two
 * bits are those of the last four; the lower four bits of these are the halves of bytes 8..11. */
static void six_bit_scales(Codes *c, const uint8_t *bytes) {
    for (int s = 0; s < 4; s++) {
        c->sc[s] = bytes[s] & 63;
        c->mn[s] = bytes[4 + s] & 63;
        c->sc[4 + s] = (int8_t)((bytes[8 + s] & 15) | bytes[s] >> 6 << 4);
        c->mn[4 + s] = (int8_t)(bytes[8 + s] >> 4 | bytes[4 + s] >> 6 << 4);
    }
}

/* 128 bytes: each 32 of them hold 64 values, the first half in the low nibbles. */
static void nibbles_of_256(uint8_t *q, const uint8_t *bytes) {
    for (int part = 0; part < 4; part++, q += 64, bytes += 32)
        for (int i = 0; i < 32; i++) {
            q[i] = bytes[i] & 15;
            q[32 + i] = bytes[i] >> 4;
        }
}

/* d, dmin, the scales, nibbles. */
static void codes_q4_k(Codes *c, const uint8_t *block) {
    c->d = load_u16(block);
    c->dmin = load_u16(block + 2);
    six_bit_scales(c, block + 4);
    nibbles_of_256(c->q, block + 16);
}

/* The same with 256 fifth bits, in 32 bytes of eight values 32 apart, before the nibbles. */
static void codes_q5_k(Codes *c, const uint8_t *block) {
    c->d = load_u16(block);
    c->dmin = load_u16(block + 2);
    six_bit_scales(c, block + 4);
    nibbles_of_256(c->q, block + 48);
    ones(c->q, block + 16, 4);
}

/* 128 bytes of low nibbles: 64 bytes hold 128 values, the first half in the low halves; 64 bytes of upper bit pairs,
 * four values 32 apart in each; sc[16]; d. */
static void codes_q6_k(Codes *c, const uint8_t *block) {
    for (int half = 0; half < 2; half++)
        for (int i = 0; i < 64; i++) {
            c->q[128 * half + i] = block[64 * half + i] & 15;
            c->q[128 * half + 64 + i] = block[64 * half + i] >> 4;
        }
    pairs(c->q, block + 128, 4);
    memcpy(c->sc, block + 192, 16);
    c->d = load_u16(block + 208);
}

/* d, the upper bit pairs of eight sc in 16 bits, their lower nibbles in four bytes, 32 too large; nibbles as Q4_0 packs
 * them. */
static void codes_iq4_xs(Codes *c, const uint8_t *block) {
    unsigned high = load_u16(block + 2);
    c->d = load_u16(block);
    for (int s = 0; s < 8; s++) {
        c->sc[s] = (int8_t)((int)((block[4 + s / 2] >> s % 2 * 4 & 15) | (high >> 2 * s & 3) << 4) - 32);
        block_nibbles(c->q + 32 * s, block + 8 + 16 * s);
    }
}

/* A power of two, whose exponent is the first byte less 128 (a half of what MX says, for the values are doubled);
 * nibbles. Source: OCP Microscaling Formats v1.0, table 7; ggml. */
static void codes_mxfp4(Codes *c, const uint8_t *block) {
    c->d = (uint16_t)(block[0] < 2 ? 0x20 << block[0] : (block[0] - 1) << 7);
    c->sc[0] = 1;
    block_nibbles(c->q, block + 1);
}

/* Four scales, each for 16 values: E4M3, whose sign is not read, and which is 0 where it would be NaN; nibbles of each
 * sixteen: the first eight in the low halves. Source: ggml; NVIDIA's NVFP4. */
static void codes_nvfp4(Codes *c, const uint8_t *block) {
    for (int s = 0; s < 4; s++) {
        const uint8_t *pairs = block + 4 + 8 * s;
        c->sc[s] = (int8_t)(block[s] == 0x7f ? 0 : block[s] & 0x7f);
        for (int i = 0; i < 8; i++) {
            c->q[16 * s + i] = pairs[i] & 15;
            c->q[16 * s + 8 + i] = pairs[i] >> 4;
        }
    }
}

const int8_t mxfp4_values[16] = {0, 1, 2, 3, 4, 6, 8, 12, 0, -1, -2, -3, -4, -6, -8, -12}; /* twice E2M1 */
const int8_t iq4_values[16] = {-127, -104, -83, -65, -49, -35, -22, -10, 1, 13, 25, 38, 53, 69, 89, 113};

const BlockFormat blocks_k[] = {
    {TENSOR_Q2_K, .sub = 16, .bits = 2, .minima = 1, .codes = codes_q2_k},
    {TENSOR_Q3_K, .sub = 16, .bits = 3, .zero = 4, .codes = codes_q3_k},
    {TENSOR_Q4_K, .sub = 32, .bits = 4, .minima = 1, .codes = codes_q4_k},
    {TENSOR_Q5_K, .sub = 32, .bits = 5, .minima = 1, .codes = codes_q5_k},
    {TENSOR_Q6_K, .sub = 16, .bits = 6, .zero = 32, .codes = codes_q6_k},
    {TENSOR_IQ4_NL, .sub = 32, .bits = 4, .values = iq4_values, .codes = block_codes_q4_0},
    {TENSOR_IQ4_XS, .sub = 32, .bits = 4, .values = iq4_values, .codes = codes_iq4_xs},
    {TENSOR_MXFP4, .sub = 32, .bits = 4, .values = mxfp4_values, .wide = 1, .codes = codes_mxfp4},
    {TENSOR_NVFP4, .sub = 16, .bits = 4, .values = mxfp4_values, .mini = 1, .codes = codes_nvfp4},
    {0},
};

const QuantFormat formats_k[] = {
    {TENSOR_Q2_K, "Q2_K", 256, 84, codes_row, codes_dot},
    {TENSOR_Q3_K, "Q3_K", 256, 110, codes_row, codes_dot},
    {TENSOR_Q4_K, "Q4_K", 256, 144, codes_row, codes_dot},
    {TENSOR_Q5_K, "Q5_K", 256, 176, codes_row, codes_dot},
    {TENSOR_Q6_K, "Q6_K", 256, 210, codes_row, codes_dot},
    {TENSOR_IQ4_NL, "IQ4_NL", 32, 18, codes_row, codes_dot},
    {TENSOR_IQ4_XS, "IQ4_XS", 256, 136, codes_row, codes_dot},
    {TENSOR_MXFP4, "MXFP4", 32, 17, codes_row, codes_dot},
    {TENSOR_NVFP4, "NVFP4", 64, 36, codes_row, codes_dot},
    {0},
};
