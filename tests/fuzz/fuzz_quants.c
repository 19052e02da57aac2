/* tests/fuzz/fuzz_quants.c - any bytes as blocks of the format that the first byte chooses: read as floats; what can be
 * written is written, and what that says is written again with not a bit changed (formats of one scale a block; those
 * that search for scales come out finite). A dot product is the sum of its row's floats. */
#include "kernels/encode.h"
#include "kernels/quants.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { COLS = 1024, BYTES = 4 * COLS };

static size_t row_bytes(const QuantFormat *f, size_t n) { return n / (size_t)f->block * (size_t)f->bytes; }

/* What blocks of n values say. */
static void values(float *out, const QuantFormat *f, const uint8_t *blocks, size_t n) {
    const size_t bytes = row_bytes(f, n);
    uint8_t *exact = malloc(bytes ? bytes : 1); /* so that one byte too far is seen */
    if (!exact) abort();
    memcpy(exact, blocks, bytes);
    matrix_row(out, &(Matrix){.type = (TensorType)f->id, .rows = 1, .cols = n, .data = exact}, 0);
    free(exact);
}

static void write_again(const QuantFormat *f, const float *x, size_t n) {
    static uint8_t blocks[BYTES], again[BYTES];
    static float y[COLS], z[COLS];
    int searches = f->block == 256;
    if (quant_encode(f->id, blocks, x, n)) return; /* too large for it */
    values(y, f, blocks, n);
    for (size_t i = 0; i < n; i++)
        if (!isfinite(y[i])) abort();
    if (f->block == 1 && memcmp(x, y, n * sizeof *x) != 0) abort(); /* it was one of its numbers */
    if (searches) return;
    if (quant_encode(f->id, again, y, n)) abort();
    values(z, f, again, n);
    for (size_t i = 0; i < n; i++)
        if (y[i] != z[i]) abort();
}

static void dot(const QuantFormat *f, const uint8_t *blocks, const float *x, size_t n) {
    static int8_t q[COLS];
    static float scale[COLS / Q_BLOCK];
    const Matrix m = {.type = (TensorType)f->id, .rows = 1, .cols = n, .data = blocks};
    double sum = 0, size = 0;
    for (size_t i = 0; i < n; i++) q[i] = (int8_t)(i * 37 % 255 - 127), scale[i / Q_BLOCK] = 1 / (1 + (float)(i / 32));
    for (size_t i = 0; i < n; i++) {
        double term = (double)x[i] * q[i] * (double)scale[i / Q_BLOCK];
        sum += term, size += fabs(term);
    }
    float got = f->dot(&m, 0, q, scale);
    if (size < 1e30 && !(fabs((double)got - sum) <= 1e-5 * size + 1e-30)) abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static float x[COLS];
    const QuantFormat *f = size ? quant_format(data[0] % 42) : NULL;
    size_t n = f ? (size - 1) / (size_t)f->bytes * (size_t)f->block : 0;
    int finite = 1;
    if (!f || !f->row) return 0;
    if (n > COLS) n = COLS / (size_t)f->block * (size_t)f->block;
    if (n == 0) return 0;
    values(x, f, data + 1, n);
    for (size_t i = 0; i < n; i++) finite &= isfinite(x[i]) != 0;
    if (finite && quant_encodes(f->id)) write_again(f, x, n);
    if (finite && f->dot) dot(f, data + 1, x, n);
    return 0;
}
