/* kernels/quants.h - how numbers are laid out in files: plain floats and blocks of small integers with a scale.
 *
 * The ids are GGML's, as GGUF files hold them; TENSOR_I8_GROUPS is llama2.c's version 2. */
#ifndef QUANTS_H
#define QUANTS_H

#include <stddef.h>
#include <stdint.h>

typedef enum {
    TENSOR_F32 = 0,
    TENSOR_F16 = 1,
    TENSOR_Q4_0 = 2,
    TENSOR_Q8_0 = 8,
    TENSOR_BF16 = 30,
    TENSOR_I8_GROUPS = 1000, /* int8 values, then one f32 scale for each group of values, in an array of its own */
} TensorType;

typedef struct {
    int id;           /* TensorType, or a GGML id that is known by name only */
    const char *name; /* "Q4_0" */
    int block;        /* values in a block; a row is a whole number of blocks */
    int bytes;        /* bytes of a block */
    int computes;     /* 1: decode and matmul know it; 0: known by name and size only */
} QuantFormat;

/* The format of a GGML type id, or NULL where the id is unknown. */
const QuantFormat *quant_format(int id);

enum { Q_BLOCK = 32 }; /* values in a block of Q8_0 and Q4_0, and of activations that meet them */

/* A matrix as the file holds it, row-major: rows x cols values, each row a whole number of blocks.
 * data may be unaligned (safetensors promises no alignment). */
typedef struct {
    TensorType type;
    int group;          /* TENSOR_I8_GROUPS: values a scale; otherwise 0 */
    size_t rows, cols;
    const void *data;
    const void *scales; /* TENSOR_I8_GROUPS: f32 [rows*cols/group]; otherwise NULL */
} Matrix;

/* Row r of m into out [cols], as float: embeddings, norms, tests. Source: GGML's block layouts. */
void matrix_row(float *out, const Matrix *m, size_t r);

float f16_to_f32(uint16_t h);  /* exact, subnormals, infinities and NaN too */
float bf16_to_f32(uint16_t h); /* exact */

#endif
