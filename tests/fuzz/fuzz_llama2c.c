/* tests/fuzz/fuzz_llama2c.c - any bytes as a llama2.c .bin file: opened and read to the last promised byte, or refused
 * with a line. */
#include "model/files/llama2c.h"
#include "model/files/llama2c_export.h"
#include "model/files/weights.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static volatile uint8_t sink;

static void touch(const uint8_t *p, size_t n) {
    for (size_t i = 0; i < n; i++) sink = p[i];
}

/* The first row and the last, through the decoder. */
static void touch_rows(const Tensor *t) {
    size_t cols = (size_t)t->shape[t->n_dims - 1], rows = t->n_dims == 2 ? (size_t)t->shape[0] : 1;
    Matrix m = {.type = (TensorType)t->type, .group = t->group, .rows = rows, .cols = cols, .data = t->data,
                .scales = t->scales};
    float *row = malloc(cols * sizeof *row);
    if (!row) return;
    matrix_row(row, &m, 0);
    matrix_row(row, &m, rows - 1);
    free(row);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    Weights w;
    char err[256] = "";
    if (!llama2c_is(data, size) && !llama2c_export_is(data, size)) return 0;
    if (weights_open_memory(&w, data, size, "fuzz", err, sizeof err)) {
        if (!err[0]) abort();
        return 0;
    }
    for (size_t i = 0; i < w.n_tensors; i++) {
        touch(w.tensors[i].data, w.tensors[i].size);
        touch_rows(&w.tensors[i]);
    }
    weights_close(&w);
    return 0;
}
