/* kernels/blocks_32.c - the formats of blocks of 32 values, taken apart: with a minimum, with a fifth bit. */
#include "codes.h"

#include "base/base.h"

/* d, then q[32] (int8); as codes from 0 to 255. */
static void codes_q8_0(Codes *c, const uint8_t *block) {
    block_scale(c, block);
    for (int i = 0; i < 32; i++) c->q[i] = block[2 + i] ^ 0x80;
}

/* d, m: value = d * code + m, so that the minimum is -m. */
static void scale_and_minimum(Codes *c, const uint8_t *block) {
    block_scale(c, block);
    c->dmin = load_u16(block + 2) ^ 0x8000;
    c->mn[0] = 1;
}

/* Bit i of 32 is the fifth of value i. */
static void fifth_bits(uint8_t *q, const uint8_t *bytes) {
    for (int i = 0; i < 32; i++) q[i] |= (bytes[i / 8] >> i % 8 & 1) << 4;
}

static void codes_q4_1(Codes *c, const uint8_t *block) {
    scale_and_minimum(c, block);
    block_nibbles(c->q, block + 4);
}

static void codes_q5_0(Codes *c, const uint8_t *block) {
    block_scale(c, block);
    block_nibbles(c->q, block + 6);
    fifth_bits(c->q, block + 2);
}

static void codes_q5_1(Codes *c, const uint8_t *block) {
    scale_and_minimum(c, block);
    block_nibbles(c->q, block + 8);
    fifth_bits(c->q, block + 4);
}

const BlockFormat blocks_32[] = {
    {TENSOR_Q4_0, .sub = 32, .bits = 4, .zero = 8, .plain = 2, .codes = block_codes_q4_0},
    {TENSOR_Q4_1, .sub = 32, .bits = 4, .minima = 1, .codes = codes_q4_1},
    {TENSOR_Q5_0, .sub = 32, .bits = 5, .zero = 16, .codes = codes_q5_0},
    {TENSOR_Q5_1, .sub = 32, .bits = 5, .minima = 1, .codes = codes_q5_1},
    {TENSOR_Q8_0, .sub = 32, .bits = 8, .zero = 128, .plain = 2, .codes = codes_q8_0},
    {0},
};

const QuantFormat formats_32[] = {
    {TENSOR_Q4_1, "Q4_1", 32, 20, codes_row, codes_dot},
    {TENSOR_Q5_0, "Q5_0", 32, 22, codes_row, codes_dot},
    {TENSOR_Q5_1, "Q5_1", 32, 24, codes_row, codes_dot},
    {0},
};
