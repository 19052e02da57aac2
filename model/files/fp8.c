/* model/files/fp8.c - F8_E4M3 with scales to BF16: `name_scale_inv` or `name_scale` beside each matrix.
 *
 *     bits  s eeee mmm     (-1)^s 2^(e - 7) (1 + m / 8);  e = 0: (-1)^s 2^-6 m / 8;  s 1111 111: NaN, and no infinity
 *     W[r][c] = bf16(value(F[r][c]) * S[r / block_rows][c / block_cols])
 *
 * A large block's 256 possible products are rounded once, and its values looked up.
 * Source: transformers' integrations/finegrained_fp8.py (Fp8Dequantize); the compressed-tensors package. */
#include "quantized_forms.h"

#include "kernels/encode.h"

#include <errno.h>
#include <math.h>

enum { CODES = 256 };

float f8_e4m3(int code) {
    int e = code >> 3 & 15, m = code & 7;
    float v = e == 15 && m == 7 ? NAN : e ? ldexpf((float)(8 + m), e - 10) : ldexpf((float)m, -9);
    return code & 128 ? -v : v;
}

/* A block [rows, n] of a matrix of cols columns; values [CODES]. */
static void expand_block(uint16_t *to, const uint8_t *codes, size_t rows, size_t n, size_t cols, const float *values,
                         float scale) {
    int large = rows * n >= CODES; /* its products are fewer than its values */
    float products[CODES];
    uint16_t table[CODES];
    for (int i = 0; large && i < CODES; i++) products[i] = values[i] * scale;
    if (large) quant_encode(TENSOR_BF16, table, products, CODES);
    for (size_t r = 0; r < rows; r++, codes += cols, to += cols) {
        for (size_t c = 0; large && c < n; c++) to[c] = table[codes[c]];
        for (size_t c = 0; !large && c < n; c++) products[c] = values[codes[c]] * scale;
        if (!large) quant_encode(TENSOR_BF16, to, products, n);
    }
}

/* codes [rows, cols] as BF16. */
static void expand(uint16_t *out, const uint8_t *codes, size_t rows, size_t cols, const Grid *g) {
    float values[CODES];
    for (int i = 0; i < CODES; i++) values[i] = f8_e4m3(i);
    for (size_t r = 0, b = 0; r < rows; r += g->rows)
        for (size_t c = 0; c < cols; c += g->cols, b++) {
            size_t at = r * cols + c, left = rows - r, more = cols - c;
            expand_block(out + at, codes + at, left < g->rows ? left : g->rows, more < g->cols ? more : g->cols, cols,
                         values, grid_float(g, b));
        }
}

int fp8_expand(Expansion *x, Tensor *t) {
    const Tensor *s = expand_part(x, t, "", "_scale_inv"), *zero = expand_part(x, t, "", "_zero_point");
    Grid g;
    size_t bytes;
    if (!s) s = expand_part(x, t, "", "_scale");
    if (zero) return expand_refuse(x, zero, "a zero point of FP8 (asymmetric weights), which is not read here");
    if (!s) return expand_refuse(x, t, "F8_E4M3, and no scales beside it");
    if (t->n_dims != 2 || t->size == 0) return expand_refuse(x, t, "F8_E4M3, and no matrix");
    if (!expand_is_float(s)) return expand_refuse(x, s, "only scales of F32, F16 and BF16 are read here");
    size_t rows = (size_t)t->shape[0], cols = (size_t)t->shape[1];
    if (!grid_fits(&g, s, rows, cols, x->said)) return expand_refuse(x, s, "no scales that fit its matrix");
    void *out = expand_new(x, rows, cols, &bytes);
    if (!out) return -ENOMEM;
    expand(out, t->data, rows, cols, &g);
    expand_become(t, TENSOR_BF16, out, rows, cols);
    return 0;
}
