/* kernels/blocks.c - the plain formats and those of blocks of 32 values, taken apart; blocks_k.c has the others.
 *
 * A block is a short run of values that share scales. Every format is one thing packed in different ways: a small whole
 * number (the code) a value, and for each 16 or 32 of them a scale and, in some, a minimum, here in half precision:
 *
 *     value = scale * (code - zero) - minimum */
#include "blocks.h"

#include "base/base.h"

static void one_scale(Codes *c, const uint8_t *d) {
    c->d = load_u16(d);
    c->sc[0] = 1;
}

/* d, m: value = d * code + m, so that the minimum is -m. */
static void scale_and_minimum(Codes *c, const uint8_t *block) {
    one_scale(c, block);
    c->dmin = load_u16(block + 2) ^ 0x8000;
    c->mn[0] = 1;
}

/* d, then q[32] (int8); as codes from 0 to 255. */
static void codes_q8_0(Codes *c, const uint8_t *block) {
    one_scale(c, block);
    for (int i = 0; i < 32; i++) c->q[i] = block[2 + i] ^ 0x80;
}

void block_nibbles(uint8_t *q, const uint8_t *bytes) {
    for (int i = 0; i < 16; i++) {
        q[i] = bytes[i] & 15;
        q[i + 16] = bytes[i] >> 4;
    }
}

/* Bit i of 32 is the fifth of value i. */
static void fifth_bits(uint8_t *q, const uint8_t *bytes) {
    for (int i = 0; i < 32; i++) q[i] |= (bytes[i / 8] >> i % 8 & 1) << 4;
}

void block_codes_q4_0(Codes *c, const uint8_t *block) {
    one_scale(c, block);
    block_nibbles(c->q, block + 2);
}

static void codes_q4_1(Codes *c, const uint8_t *block) {
    scale_and_minimum(c, block);
    block_nibbles(c->q, block + 4);
}

static void codes_q5_0(Codes *c, const uint8_t *block) {
    one_scale(c, block);
    block_nibbles(c->q, block + 6);
    fifth_bits(c->q, block + 2);
}

static void codes_q5_1(Codes *c, const uint8_t *block) {
    scale_and_minimum(c, block);
    block_nibbles(c->q, block + 8);
    fifth_bits(c->q, block + 4);
}

const QuantFormat formats_32[] = {
    {.id = TENSOR_F32, .name = "F32", .block = 1, .bytes = 4, .computes = 1},
    {.id = TENSOR_F16, .name = "F16", .block = 1, .bytes = 2, .computes = 1},
    {.id = TENSOR_BF16, .name = "BF16", .block = 1, .bytes = 2, .computes = 1},
    {.id = TENSOR_I8_GROUPS, .name = "I8_GROUPS", .block = 1, .bytes = 1, .computes = 1}, /* scales stand elsewhere */
    {TENSOR_Q4_0, "Q4_0", 32, 18, 1, .sub = 32, .bits = 4, .zero = 8, .codes = block_codes_q4_0},
    {TENSOR_Q4_1, "Q4_1", 32, 20, 1, .sub = 32, .bits = 4, .minima = 1, .codes = codes_q4_1},
    {TENSOR_Q5_0, "Q5_0", 32, 22, 1, .sub = 32, .bits = 5, .zero = 16, .codes = codes_q5_0},
    {TENSOR_Q5_1, "Q5_1", 32, 24, 1, .sub = 32, .bits = 5, .minima = 1, .codes = codes_q5_1},
    {TENSOR_Q8_0, "Q8_0", 32, 34, 1, .sub = 32, .bits = 8, .zero = 128, .codes = codes_q8_0},
    {0},
};
