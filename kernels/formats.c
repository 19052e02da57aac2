/* kernels/formats.c - the table of all formats: those that are computed with, and those that are known by name and size
 * only.
 *
 * Source: GGML_QUANT_SIZES of the gguf package 0.19.0, and ggml-common.h for Q2_0; the ids that ggml.h gives out today:
 * those it has retired (4, 5, 31 .. 33, 36 .. 38) are left out and so are refused. */
#include "codes.h"

static const QuantFormat by_name[] = {
    {.id = 9, .name = "Q8_1", .block = 32, .bytes = 40},
    {.id = 15, .name = "Q8_K", .block = 256, .bytes = 292},
    {.id = 24, .name = "I8", .block = 1, .bytes = 1},
    {.id = 25, .name = "I16", .block = 1, .bytes = 2},
    {.id = 26, .name = "I32", .block = 1, .bytes = 4},
    {.id = 27, .name = "I64", .block = 1, .bytes = 8},
    {.id = 28, .name = "F64", .block = 1, .bytes = 8},
    {0},
};

const QuantFormat *const quant_formats[] = {formats_plain, formats_groups, formats_32, formats_k, formats_iq,
                                            by_name, NULL};

size_t matrix_bytes(const Matrix *m) {
    const QuantFormat *f = quant_format(m->type);
    return m->rows * (m->cols / (size_t)f->block) * (size_t)f->bytes;
}
