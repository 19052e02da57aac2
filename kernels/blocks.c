/* kernels/blocks.c - the plain formats, Q4_0 and Q8_0, taken apart; blocks_32.c and blocks_k.c have the others.
 *
 * A block is a short run of values that share scales. Every format is one thing packed in different ways: a small whole
 * number (the code) a value, and for each 16 or 32 of them a scale and, in some, a minimum, here in half precision:
 *
 *     value = scale * (code - zero) - minimum */
#include "blocks.h"

#include "base/base.h"

void block_scale(Codes *c, const uint8_t *d) {
    c->d = load_u16(d);
    c->sc[0] = 1;
}

/* d, then q[32] (int8); as codes from 0 to 255. */
static void codes_q8_0(Codes *c, const uint8_t *block) {
    block_scale(c, block);
    for (int i = 0; i < 32; i++) c->q[i] = block[2 + i] ^ 0x80;
}

void block_nibbles(uint8_t *q, const uint8_t *bytes) {
    for (int i = 0; i < 16; i++) {
        q[i] = bytes[i] & 15;
        q[i + 16] = bytes[i] >> 4;
    }
}

void block_codes_q4_0(Codes *c, const uint8_t *block) {
    block_scale(c, block);
    block_nibbles(c->q, block + 2);
}

const QuantFormat formats_plain[] = {
    {.id = TENSOR_F32, .name = "F32", .block = 1, .bytes = 4, .computes = 1},
    {.id = TENSOR_F16, .name = "F16", .block = 1, .bytes = 2, .computes = 1},
    {.id = TENSOR_BF16, .name = "BF16", .block = 1, .bytes = 2, .computes = 1},
    {TENSOR_Q4_0, "Q4_0", 32, 18, 1, .sub = 32, .bits = 4, .zero = 8, .codes = block_codes_q4_0},
    {TENSOR_Q8_0, "Q8_0", 32, 34, 1, .sub = 32, .bits = 8, .zero = 128, .codes = codes_q8_0},
    {0},
};
