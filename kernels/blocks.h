/* kernels/blocks.h - the tables of formats that are taken apart, and what one of their files takes from the other. */
#ifndef BLOCKS_H
#define BLOCKS_H

#include "quants.h"

/* Plain numbers, Q4_0, Q8_0 (blocks.c); the others of blocks of 32 (blocks_32.c); the K and IQ4 formats (blocks_k.c);
 * int8 groups (groups.c). Each ends at a row without a name. */
extern const QuantFormat formats_plain[], formats_32[], formats_k[], formats_groups[];

void block_scale(Codes *c, const uint8_t *d); /* the one scale of a block */
/* Sixteen bytes: values 0..15 in the low halves, 16..31 in the high ones. */
void block_nibbles(uint8_t *q, const uint8_t *bytes);
void block_codes_q4_0(Codes *c, const uint8_t *block);

#endif
