/* kernels/float_blocks.h - matmul for float weights, whatever the width of vectors: which rows, columns and tokens are together. One token
 * meets rows as the file has them; for more, blocks of 8 rows x 512 columns are copied. Before a row includes this it has
 *     enum { FLOAT_LANES, FLOAT_TOKENS };   columns of a step, which are also the partial sums; tokens of the widest tile
 * and it defines the functions declared first. */
#ifndef FLOAT_BLOCKS_H
#define FLOAT_BLOCKS_H

#include "inline.h"
#include "kernels.h"

#include <string.h>

/* Columns are summed 512 at a time, in FLOAT_LANES lanes that are folded at the end of each. */
enum { BLOCK_ROWS = 8, BLOCK_COLS = 512, BLOCK_TOKENS = 192 };

/* One token against the rows r .. r+3, of which `rows` exist. */
INLINE void token_floats(TensorType type, float *y, const float *x, const Matrix *m, size_t r, size_t rows);
/* Columns k .. k+FLOAT_LANES-1 of a row, of which those below k1 exist, to floats; row NULL: zeros. */
INLINE void copy_lanes(TensorType type, float *to, const uint8_t *row, size_t k, size_t k1);
/* 4 rows of a block (w) by T tokens, n steps of columns; x: [columns/FLOAT_LANES][T][FLOAT_LANES]; sums [T][8] grow. */
INLINE void tile_floats(int T, float *sums, const float *x, const float *w, size_t n);

/* Rows as they are, 8 KB apart, would fall into the same few sets of the cache; side by side a block stays in its first level
 * while up to 192 tokens pass. out [columns/FLOAT_LANES][8][FLOAT_LANES]; rows behind the last are zero. */
INLINE void copy_block(TensorType type, float *out, const Matrix *m, size_t r0, size_t r1, size_t k0, size_t k1) {
    size_t each = type == TENSOR_F32 ? 4 : 2;
    for (size_t r = r0; r < r0 + BLOCK_ROWS; r++) {
        const uint8_t *row = r < r1 ? (const uint8_t *)m->data + r * m->cols * each : NULL;
        float *to = out + (r - r0) * FLOAT_LANES;
        for (size_t k = k0; k < k1; k += FLOAT_LANES, to += FLOAT_LANES * BLOCK_ROWS) copy_lanes(type, to, row, k, k1);
    }
}

/* Part i of n of the same columns of the next 8 rows: a few lines at a time, for many at once would be waited for. */
INLINE void fetch_rows(TensorType type, const Matrix *m, size_t r, size_t k0, size_t k1, size_t i, size_t n) {
    size_t each = type == TENSOR_F32 ? 4 : 2, lines = ((k1 - k0) * each + 63) / 64;
    const uint8_t *next = (const uint8_t *)m->data + ((r + BLOCK_ROWS) * m->cols + k0) * each;
    for (size_t at = i * BLOCK_ROWS * lines / n; at < (i + 1) * BLOCK_ROWS * lines / n; at++)
        __builtin_prefetch(next + at / lines * m->cols * each + at % lines * 64, 0, 2);
}

INLINE void tokens_floats(int T, float *sums, const float *x, const float *w, size_t n) {
    for (int r = 0; r < BLOCK_ROWS; r += 4) tile_floats(T, sums + r, x, w + FLOAT_LANES * r, n);
}

INLINE size_t padded_columns(size_t d) { return (d + FLOAT_LANES - 1) & ~(size_t)(FLOAT_LANES - 1); }

/* sums [n][8]: up to 192 tokens by the rows r0 .. r1-1, at most 8. */
INLINE void block_floats(TensorType type, float *sums, const float *x, size_t n, const Matrix *m, size_t r0, size_t r1) {
    _Alignas(64) float block[BLOCK_ROWS * BLOCK_COLS];
    size_t d = m->cols, padded = padded_columns(d);
    for (size_t k0 = 0; k0 < d; k0 += BLOCK_COLS) {
        size_t k1 = k0 + BLOCK_COLS < d ? k0 + BLOCK_COLS : d, steps = (k1 - k0 + FLOAT_LANES - 1) / FLOAT_LANES, t = 0;
        copy_block(type, block, m, r0, r1, k0, k1);
        for (; t + FLOAT_TOKENS <= n; t += FLOAT_TOKENS) {
            fetch_rows(type, m, r0, k0, k1, t / FLOAT_TOKENS, n / FLOAT_TOKENS);
            tokens_floats(FLOAT_TOKENS, sums + t * BLOCK_ROWS, x + t * padded + k0 * FLOAT_TOKENS, block, steps);
        }
        for (; FLOAT_TOKENS > 4 && t + 4 <= n; t += 4) tokens_floats(4, sums + t * BLOCK_ROWS, x + t * padded + k0 * 4, block, steps);
        for (; t < n; t++) tokens_floats(1, sums + t * BLOCK_ROWS, x + t * padded + k0, block, steps);
    }
}

INLINE void matmul_floats(TensorType type, float *y, size_t ldy, const Activations *a, const Matrix *m, size_t r0, size_t r1) {
    size_t padded = padded_columns(a->d);
    const float *x = a->data;
    for (size_t r = r0; a->n == 1 && r < r1; r += 4) token_floats(type, y, x, m, r, r1 - r);
    for (size_t t0 = 0; a->n > 1 && t0 < a->n; t0 += BLOCK_TOKENS)
        for (size_t r = r0; r < r1; r += BLOCK_ROWS) {
            float sums[BLOCK_TOKENS * BLOCK_ROWS] = {0};
            size_t n = a->n - t0 < BLOCK_TOKENS ? a->n - t0 : BLOCK_TOKENS, rows = r1 - r < BLOCK_ROWS ? r1 - r : BLOCK_ROWS;
            block_floats(type, sums, x + t0 * padded, n, m, r, r + rows);
            for (size_t t = 0; t < n; t++) memcpy(y + (t0 + t) * ldy + r, sums + t * BLOCK_ROWS, rows * sizeof *y);
        }
}

/* 1 where w's type is one of floats, and the product is done; 0: it is not. */
INLINE int matmul_any_floats(float *y, size_t ldy, const Activations *a, const Matrix *w, size_t r0, size_t r1) {
    if (w->type == TENSOR_F32) matmul_floats(TENSOR_F32, y, ldy, a, w, r0, r1);
    else if (w->type == TENSOR_F16) matmul_floats(TENSOR_F16, y, ldy, a, w, r0, r1);
    else if (w->type == TENSOR_BF16) matmul_floats(TENSOR_BF16, y, ldy, a, w, r0, r1);
    else return 0;
    return 1;
}

#endif
