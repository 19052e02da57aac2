/* kernels/codes.h - blocks of any format taken apart: what panels (panel.h) are made from, and how the formats that
 * quants.c does not know are read.
 *
 * A block is a short run of values that share scales. Every format is one thing packed in different ways: a small whole
 * number (the code) a value, and for each 16 or 32 of them a scale and, in some, a minimum, here in half precision, or
 * the scale as the upper half of a float, where half precision does not reach, or as 8 bits of a float (NVFP4):
 *
 *     value = scale * (code - zero) - minimum */
#ifndef CODES_H
#define CODES_H

#include "quants.h"

enum { CODES_MAX = 256 };

/* A block taken apart. Value i of sub-block s = i / sub, code_value being code - zero for most:
 *     block_d(d) * sc[s] * code_value(q[i])  -  f16(dmin) * mn[s]     (NVFP4: matrix_scale * minifloat(sc[s]) * ..) */
typedef struct {
    uint8_t q[CODES_MAX];  /* codes, below 2^bits */
    int8_t sc[16], mn[16]; /* mn: formats with minima only */
    uint16_t d, dmin;      /* half precision; d may be bfloat16 */
} Codes;

typedef struct {
    int id;           /* TensorType; 0: behind the last of a table */
    int sub;          /* values in a sub-block, 32 or 16 */
    int bits, zero;   /* of a code */
    int minima;       /* 1: it has minima */
    const int8_t *values; /* [16]: what codes stand for; NULL: for code - zero */
    int wide;         /* 1: d is bfloat16 */
    int mini;         /* 1: sc are floats of 8 bits, and d is the matrix's own (Matrix.scales) */
    int halvings;     /* a block's scale is d / 2^halvings */
    int plain;        /* where in a block codes lie that are a panel's words already (panel.h), behind d; 0: nowhere */
    void (*codes)(Codes *out, const uint8_t *block);
} BlockFormat;

/* Of blocks of 32 (blocks_32.c); the K, IQ4 and FP4 formats (blocks_k.c); those of fewer bits (blocks_iq.c). */
extern const BlockFormat blocks_32[], blocks_k[], blocks_iq[];
extern const int8_t iq4_values[16], mxfp4_values[16], iq1_values[16], iq2_values[16], iq3_xxs_values[16],
    iq3_s_values[16], tq_values[16], q1_values[16];
/* How that type's blocks are taken apart; NULL: it has none. */
const BlockFormat *block_format(int type);
float block_d(const BlockFormat *f, uint16_t d); /* a block's scale */
/* NVFP4: what the blocks of row r are multiplied by, 1 where the file has nothing. Their own scales: E4M3 without a
 * sign, halved because values are doubled; as half precision MINI_SCALE times less, its bits 7 to 13. */
float matrix_scale(const Matrix *m, size_t r);
#define MINI_SCALE 128.0f
static inline float minifloat(int8_t sc) { return MINI_SCALE * f16_to_f32((uint16_t)(sc << 7)); }
/* What a code stands for: a whole number from -128 to 127. */
int code_value(const BlockFormat *f, int code);

/* QuantFormat's row and dot. */
void codes_row(float *out, const Matrix *m, size_t r);
float codes_dot(const Matrix *m, size_t r, const int8_t *q, const float *scale);

/* Beside formats_plain: the others of blocks of 32; those of blocks_k and blocks_iq; int8 groups (groups.c). */
extern const QuantFormat formats_32[], formats_k[], formats_iq[], formats_groups[];

static inline void block_scale(Codes *c, const uint8_t *d) { /* the one scale of a block */
    c->d = (uint16_t)(d[0] | d[1] << 8);
    c->sc[0] = 1;
}
/* Sixteen bytes: values 0..15 in the low halves, 16..31 in the high ones. */
void block_nibbles(uint8_t *q, const uint8_t *bytes);
void block_codes_q4_0(Codes *c, const uint8_t *block);

#endif
