/* kernels/panel.h - block-quantized matrices, and activations of all kinds, laid out for vectors; for the fast rows.
 *
 * A panel is `lanes` rows of the matrix side by side: lane r of a vector belongs to row r, so a dot product needs no
 * sum across lanes, and one broadcast of activations serves all rows. Every block format becomes the same thing here:
 *
 *     lines   of each 32 columns: codes, 4 columns x lanes rows in a line of 4 * lanes bytes; line j: columns 4j ..
 *             8 bits: q where there are 8 lanes, q + 128 where there are 16 (VNNI multiplies unsigned by signed).
 *             Codes of fewer bits are cut into planes of 4, 2 and 1 bits, each as few lines as it needs:
 *             4-bit plane, 4 lines: line j in the low halves of the bytes, line j + 4 in the high ones
 *             2-bit plane, 2 lines: lines 0 .. 3 in the first, 4 .. 7 in the second, lowest bits first
 *             1-bit plane, 1 line: line j in bit j
 *             5 bits: planes 4, 1; 6 bits: 4, 2; 3 bits: 2, 1. The lowest bits of a code are in the first plane.
 *     d       scales, half precision (int8 groups, NVFP4: f32), lanes side by side; one for 32 columns, or as many as
 *             share it: K formats 256, Q1_0 128, Q2_0 64, NVFP4 all
 *     dmin    formats with minima: the same
 *     sc, mn  K formats: whole numbers a sub-block, int8, lanes side by side: [blocks of 32][32/sub][lanes]; NVFP4:
 *             floats of 8 bits
 *
 * A panel takes as many bytes as its rows in the file (NVFP4: four more each), but for the six-bit scales of Q3_K, Q4_K
 * and Q5_K (4 and 2 % more), and but for IQ1 to IQ3 and TQ, whose values lie here one by one, in 2 to 4 bits. */
#ifndef PANEL_H
#define PANEL_H

#include "quants.h"

#include <math.h>

typedef struct {
    int lanes;
    size_t blocks;              /* of 32 columns */
    size_t line_bytes;          /* of all lines of 32 columns */
    size_t d, dmin, sc, mn, lines; /* offsets of the parts from the panel's start; lines begin at a multiple of 64 */
    size_t size;                /* bytes of a panel; a multiple of 64 */
    size_t n;                   /* panels: rows / lanes, rounded up; rows behind the matrix's last are 0 */
} PanelShape;

/* Whether w's type is laid out so: block formats that compute, and int8 groups of a multiple of 32. */
int panel_fits(const Matrix *w);
PanelShape panel_shape(const Matrix *w, int lanes);
/* Panel i into out [size], at a multiple of 64. */
void panel_fill(uint8_t *out, const Matrix *w, const PanelShape *s, size_t i);
/* Where w has the panel whose first row is `row`. */
static inline const uint8_t *panel_of(const Matrix *w, const PanelShape *s, size_t row) {
    return (const uint8_t *)w->panels + row / (size_t)s->lanes * s->size;
}

/* Where sums of codes begin, times the format's zero: minus the sum of q. Rows that sum in 16 bits have two, of columns
 * 0 and 1 of every four, and of 2 and 3. */
typedef union {
    int32_t whole;
    int16_t pair[2];
} MinusSum;

/* 32 activations of a token, in a cache line. Sums are of q, exact; of its halves: of the first and the last 16. */
typedef struct {
    float scale;
    float scaled_sum, scaled_half[2];    /* scale * sum ..: what a minimum is multiplied by */
    MinusSum minus_8_sum;                /* times 8, the least zero that blocks of 32 have */
    MinusSum minus_half[2];
    int32_t unused;
    int8_t q[Q_BLOCK];
} ActBlock;
_Static_assert(sizeof(ActBlock) == 64, "a cache line");

/* Between these a largest magnitude has a scale: below all q are 0, above are only infinity and NaN. */
#define AMAX_LEAST 1e-30f
#define AMAX_MOST 3.4028234e38f

/* By MatmulKernels.quantize's rule, of numbers whose largest magnitude is amax: *scale; what they are multiplied by, 0
 * where all q are 0. */
static inline float bytes_scale(float *scale, float amax) {
    float per = amax >= AMAX_LEAST && amax <= AMAX_MOST ? 127 / amax : 0;
    *scale = amax < AMAX_LEAST ? 0 : per > 0 ? amax / 127 : NAN;
    return per;
}

/* Tokens stand in tiles: inside a tile of T tokens, block b of token t is at [b * T + t]. A batch is cut into as many
 * tiles of `widest` tokens as it has, then one of 8 where `widest` is more and so many are left, then of 4; the last
 * has what is left, 1 to 3. */
typedef struct {
    size_t first, n; /* tokens of the tile */
} TokenTile;

/* 8 where a tile of 8 comes after the widest ones, 0 where none does. */
static inline size_t tile_of_eight(size_t n, size_t widest) { return widest > 8 && n % widest >= 8 ? 8 : 0; }
/* Tiles behind the widest ones. */
static inline size_t narrow_tiles(size_t n, size_t widest) {
    return (n % widest + 3) / 4 - tile_of_eight(n, widest) / 8; /* that one is not two of 4 */
}

/* The tile that token t of n falls into. */
TokenTile token_tile(size_t t, size_t n, size_t widest);

/* Activations for float weights, which are multiplied FLOAT_COLUMNS columns at a time (float_blocks.h). Columns are
 * padded with zeros to a multiple of `lanes`. Fewer than FLOAT_MANY (quants.h) tokens are cut into tiles of
 * few_tokens, the last of what is left, and column i * lanes + lane of a tile's token t is at [i][t][lane]. Of
 * more, in a tile of T, column i * lanes + lane of a block is at [lane][i][T], all blocks of the tile one behind the
 * other. */
enum { FLOAT_COLUMNS = 2048 };
#define FEW_OF(floats) ((floats) / 2)
/* Tokens of such a tile, of n, where FEW_OF(floats) are `most`: eight are two of four, not six and two. */
static inline size_t few_tokens(size_t n, size_t most) {
    size_t tiles = (n + most - 1) / most;
    return (n + tiles - 1) / tiles;
}
size_t float_columns(size_t d, size_t lanes);
/* Where float weights are transposed: (FLOAT_COLUMNS + 16) * 32 floats at a multiple of 64, the calling thread's. */
float *float_scratch(void);

/* How a row packs activations (MatmulKernels.packed_bytes and pack): floats of a vector; tokens of the widest tile for
 * block formats and for float weights; and its function that makes blocks of a token's x [d], `stride` apart, group a
 * multiple of 32. */
typedef void PackBlocks(ActBlock *out, size_t stride, const float *x, size_t d, int group);
typedef struct {
    size_t lanes, blocks, floats;
    PackBlocks *pack_blocks;
} Packing;
size_t packing_bytes(const Packing *p, size_t n, size_t d, int group);
void packing_pack(const Packing *p, void *out, const float *x, size_t n, size_t d, int group, size_t t);

#endif
