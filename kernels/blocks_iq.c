/* kernels/blocks_iq.c - formats of less than four bits whose values are no straight line, taken apart.
 *
 * IQ1 to IQ3: 8 or 4 values together are one row of a list (iq_grids.h), by its number; in IQ2 and IQ3 a row gives
 * magnitudes, and signs stand beside it, in some formats seven for eight values, whose product is 1. IQ1's values are
 * -1, 0 and 1, an eighth more or less; so eight times that is a whole number, and d is divided by eight (halvings), as
 * it is where a scale has a half or a quarter. TQ: -1, 0 and 1, five to a byte or four. Panels (panel.h) have the code
 * of each value by itself, 2 to 4 bits, and take more memory than the file. Q1_0: -1 and 1. Q2_0: -1 to 2. Source:
 * ggml; gguf package, quants.py. */
#include "codes.h"
#include "iq_grids.h"

#include "base/base.h"

#include <string.h>

const int8_t iq1_values[16] = {-7, 1, 9, -9, -1, 7};
const int8_t iq2_values[16] = {8, 25, 43, -8, -25, -43};
const int8_t iq3_xxs_values[16] = {4, 12, 20, 28, 36, 44, 52, 62, -4, -12, -20, -28, -36, -44, -52, -62};
const int8_t iq3_s_values[16] = {1, 3, 5, 7, 9, 11, 13, 15, -1, -3, -5, -7, -9, -11, -13, -15};
const int8_t tq_values[16] = {-1, 0, 1, 2};
const int8_t q1_values[16] = {-1, 1};

#define EVERY_BYTE 0x0101010101010101u

/* Bit i of eight becomes byte i. */
static uint64_t bits_to_bytes(unsigned bits) {
    uint64_t each = bits * EVERY_BYTE & 0x8040201008040201u; /* in byte i, bit i */
    return (each + 0x7f * EVERY_BYTE) >> 7 & EVERY_BYTE;
}

/* A row of eight values of three kinds; where a bit of signs is set, of the other three. */
static void eight(uint8_t *q, uint64_t row, unsigned signs) {
    row = (row | row << 24) & 0x000000ff000000ffu;
    row = (row | row << 12) & 0x000f000f000f000fu;
    row = (row | row << 6) & 0x0303030303030303u;
    row += 3 * bits_to_bytes(signs);
    memcpy(q, &row, sizeof row); /* little-endian: the first value lowest */
}

/* Four codes of three bits to four bytes. */
static uint64_t spread_four(uint64_t row) {
    return (row & 7) | (row & 7 << 3) << 5 | (row & 7 << 6) << 10 | (row & 7 << 9) << 15;
}

/* Two rows of four values of eight kinds; where a bit of signs is set, of the other eight. */
static void fours(uint8_t *q, unsigned first, unsigned second, unsigned signs) {
    uint64_t codes = (spread_four(first) | spread_four(second) << 32) + 8 * bits_to_bytes(signs);
    memcpy(q, &codes, sizeof codes);
}

/* Seven signs; the eighth makes their number even. */
static unsigned eight_signs(unsigned seven) {
    unsigned odd = seven ^ seven >> 4;
    odd ^= odd >> 2;
    odd ^= odd >> 1;
    return seven | (odd & 1) << 7;
}

/* Each of n nibbles s stands for 2 s + 1. */
static void odd_scales(Codes *c, const uint8_t *nibbles, int n) {
    for (int s = 0; s < n; s++) c->sc[s] = (int8_t)(2 * (nibbles[s / 2] >> s % 2 * 4 & 15) + 1);
}

/* d; for 32 values the numbers of four rows in bytes, then four times seven signs, and the scale in the upper four. */
static void codes_iq2_xxs(Codes *c, const uint8_t *block) {
    c->d = load_u16(block);
    for (int s = 0; s < 8; s++) {
        const uint8_t *rows = block + 2 + 8 * s;
        uint32_t more = load_u32(rows + 4);
        for (int i = 0; i < 4; i++)
            eight(c->q + 32 * s + 8 * i, iq2_xxs_grid[rows[i]], eight_signs(more >> 7 * i & 127));
        c->sc[s] = (int8_t)(2 * (more >> 28) + 1);
    }
}

/* d; a row's number in nine bits, and seven signs; scales in nibbles. */
static void codes_iq2_xs(Codes *c, const uint8_t *block) {
    c->d = load_u16(block);
    for (int i = 0; i < 32; i++) {
        unsigned row = load_u16(block + 2 + 2 * i);
        eight(c->q + 8 * i, iq2_xs_grid[row & 511], eight_signs(row >> 9));
    }
    odd_scales(c, block + 66, 16);
}

/* d; the low bytes of rows' numbers, eight signs each, the upper two bits; scales in nibbles. */
static void codes_iq2_s(Codes *c, const uint8_t *block) {
    c->d = load_u16(block);
    for (int i = 0; i < 32; i++) {
        unsigned high = block[66 + i / 4] >> i % 4 * 2 & 3;
        eight(c->q + 8 * i, iq2_s_grid[block[2 + i] | high << 8], block[34 + i]);
    }
    odd_scales(c, block + 74, 16);
}

/* d; numbers of rows in bytes; for 32 values four times seven signs, and the scale in the upper four. */
static void codes_iq3_xxs(Codes *c, const uint8_t *block) {
    c->d = load_u16(block);
    for (int s = 0; s < 8; s++) {
        const uint8_t *rows = block + 2 + 8 * s;
        uint32_t more = load_u32(block + 66 + 4 * s);
        for (int i = 0; i < 4; i++)
            fours(c->q + 32 * s + 8 * i, iq3_xxs_grid[rows[2 * i]], iq3_xxs_grid[rows[2 * i + 1]],
                  eight_signs(more >> 7 * i & 127));
        c->sc[s] = (int8_t)(2 * (more >> 28) + 1);
    }
}

/* d; the low bytes of rows' numbers, their ninth bits, signs; scales in nibbles. */
static void codes_iq3_s(Codes *c, const uint8_t *block) {
    c->d = load_u16(block);
    for (int i = 0; i < 32; i++) {
        const uint8_t *rows = block + 2 + 2 * i;
        unsigned high = block[66 + i / 4] >> i % 4 * 2;
        fours(c->q + 8 * i, iq3_s_grid[rows[0] | (high & 1) << 8], iq3_s_grid[rows[1] | (high & 2) << 7],
              block[74 + i]);
    }
    odd_scales(c, block + 106, 8);
}

/* d; the low bytes of rows' numbers; for 32 values 16 bits: three more of each number, the scale, and whether the
 * eighth is taken away. */
static void codes_iq1_s(Codes *c, const uint8_t *block) {
    c->d = load_u16(block);
    for (int s = 0; s < 8; s++) {
        unsigned more = load_u16(block + 34 + 2 * s);
        for (int i = 0; i < 4; i++)
            eight(c->q + 32 * s + 8 * i, iq1_grid[block[2 + 4 * s + i] | (more >> 3 * i & 7) << 8],
                  more >> 15 ? 255 : 0);
        c->sc[s] = (int8_t)(2 * (more >> 12 & 7) + 1);
    }
}

/* The low bytes of rows' numbers; a nibble a row: three more bits, and whether the eighth is taken away; four times 16
 * bits: four scales of three bits, and a quarter of d. */
static void codes_iq1_m(Codes *c, const uint8_t *block) {
    c->d = 0;
    for (int i = 0; i < 32; i++) {
        unsigned more = block[32 + i / 2] >> i % 2 * 4;
        eight(c->q + 8 * i, iq1_grid[block[i] | (more & 7) << 8], more & 8 ? 255 : 0);
    }
    for (int s = 0; s < 16; s++) {
        unsigned four = load_u16(block + 48 + s / 4 * 2);
        c->sc[s] = (int8_t)(2 * (four >> s % 4 * 3 & 7) + 1);
        if (s % 4 == 0) c->d = (uint16_t)(c->d | four >> 12 << s);
    }
}

/* n bytes, each of which has the digits of `times` values, n apart, to base 3: they are a fraction of 256. */
static uint8_t *digits(uint8_t *q, const uint8_t *bytes, int n, int times) {
    for (int t = 0, power = 1; t < times; t++, power *= 3)
        for (int i = 0; i < n; i++) *q++ = (uint8_t)((uint8_t)(bytes[i] * power) * 3 >> 8);
    return q;
}

static void one_scale(Codes *c, const uint8_t *d) {
    c->d = load_u16(d);
    memset(c->sc, 1, 8);
}

static void codes_tq1_0(Codes *c, const uint8_t *block) {
    uint8_t *q = digits(c->q, block, 32, 5);
    q = digits(q, block + 32, 16, 5);
    digits(q, block + 48, 4, 4);
    one_scale(c, block + 52);
}

/* 64 bytes of four values 32 apart; d. */
static void codes_tq2_0(Codes *c, const uint8_t *block) {
    for (int i = 0; i < 256; i++) c->q[i] = block[i / 128 * 32 + i % 32] >> i / 32 % 4 * 2 & 3;
    one_scale(c, block + 64);
}

/* d; a bit a value. */
static void codes_q1_0(Codes *c, const uint8_t *block) {
    one_scale(c, block);
    for (int i = 0; i < 128; i++) c->q[i] = block[2 + i / 8] >> i % 8 & 1;
}

/* d; two bits a value. */
static void codes_q2_0(Codes *c, const uint8_t *block) {
    one_scale(c, block);
    for (int i = 0; i < 64; i++) c->q[i] = block[2 + i / 4] >> i % 4 * 2 & 3;
}

const BlockFormat blocks_iq[] = {
    {TENSOR_IQ1_S, .sub = 32, .bits = 3, .values = iq1_values, .halvings = 3, .codes = codes_iq1_s},
    {TENSOR_IQ1_M, .sub = 16, .bits = 3, .values = iq1_values, .halvings = 3, .codes = codes_iq1_m},
    {TENSOR_IQ2_XXS, .sub = 32, .bits = 3, .values = iq2_values, .halvings = 3, .codes = codes_iq2_xxs},
    {TENSOR_IQ2_XS, .sub = 16, .bits = 3, .values = iq2_values, .halvings = 3, .codes = codes_iq2_xs},
    {TENSOR_IQ2_S, .sub = 16, .bits = 3, .values = iq2_values, .halvings = 3, .codes = codes_iq2_s},
    {TENSOR_IQ3_XXS, .sub = 32, .bits = 4, .values = iq3_xxs_values, .halvings = 2, .codes = codes_iq3_xxs},
    {TENSOR_IQ3_S, .sub = 32, .bits = 4, .values = iq3_s_values, .codes = codes_iq3_s},
    {TENSOR_TQ1_0, .sub = 32, .bits = 2, .values = tq_values, .codes = codes_tq1_0},
    {TENSOR_TQ2_0, .sub = 32, .bits = 2, .values = tq_values, .codes = codes_tq2_0},
    {TENSOR_Q1_0, .sub = 32, .bits = 1, .values = q1_values, .codes = codes_q1_0},
    {TENSOR_Q2_0, .sub = 32, .bits = 2, .values = tq_values, .codes = codes_q2_0},
    {0},
};

const QuantFormat formats_iq[] = {
    {TENSOR_IQ1_S, "IQ1_S", 256, 50, codes_row, codes_dot},
    {TENSOR_IQ1_M, "IQ1_M", 256, 56, codes_row, codes_dot},
    {TENSOR_IQ2_XXS, "IQ2_XXS", 256, 66, codes_row, codes_dot},
    {TENSOR_IQ2_XS, "IQ2_XS", 256, 74, codes_row, codes_dot},
    {TENSOR_IQ2_S, "IQ2_S", 256, 82, codes_row, codes_dot},
    {TENSOR_IQ3_XXS, "IQ3_XXS", 256, 98, codes_row, codes_dot},
    {TENSOR_IQ3_S, "IQ3_S", 256, 110, codes_row, codes_dot},
    {TENSOR_TQ1_0, "TQ1_0", 256, 54, codes_row, codes_dot},
    {TENSOR_TQ2_0, "TQ2_0", 256, 66, codes_row, codes_dot},
    {TENSOR_Q1_0, "Q1_0", 128, 18, codes_row, codes_dot},
    {TENSOR_Q2_0, "Q2_0", 64, 18, codes_row, codes_dot},
    {0},
};
