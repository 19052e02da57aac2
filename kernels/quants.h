/* kernels/quants.h - how numbers are laid out in files: plain floats and blocks of small integers with a scale. The ids
 * are GGML's, as GGUF files hold them; TENSOR_I8_GROUPS is llama2.c's version 2. */
#ifndef QUANTS_H
#define QUANTS_H

#include <stddef.h>
#include <stdint.h>

typedef enum {
    TENSOR_F32 = 0, TENSOR_F16 = 1, TENSOR_BF16 = 30,
    TENSOR_Q4_0 = 2, TENSOR_Q4_1 = 3, TENSOR_Q5_0 = 6, TENSOR_Q5_1 = 7, TENSOR_Q8_0 = 8,  /* blocks of 32 */
    TENSOR_Q2_K = 10, TENSOR_Q3_K = 11, TENSOR_Q4_K = 12, TENSOR_Q5_K = 13, TENSOR_Q6_K = 14, /* of 256 */
    TENSOR_IQ4_NL = 20, TENSOR_IQ4_XS = 23, TENSOR_MXFP4 = 39, TENSOR_NVFP4 = 40, /* of 32, of 256, of 32, of 64 */
    TENSOR_IQ2_XXS = 16, TENSOR_IQ2_XS = 17, TENSOR_IQ3_XXS = 18, TENSOR_IQ1_S = 19, TENSOR_IQ3_S = 21, /* of 256 */
    TENSOR_IQ2_S = 22, TENSOR_IQ1_M = 29, TENSOR_TQ1_0 = 34, TENSOR_TQ2_0 = 35, TENSOR_Q1_0 = 41, TENSOR_Q2_0 = 42,
    TENSOR_I8_GROUPS = 1000, /* int8 values, then one f32 scale for each group of values, in an array of its own */
} TensorType;

enum { Q_BLOCK = 32 }; /* activations that share a scale where they meet a block format */

/* A matrix as the file holds it, row-major: rows x cols values, each row a whole number of blocks.
 * data may be unaligned (safetensors promises no alignment). */
typedef struct {
    TensorType type;
    int group;          /* TENSOR_I8_GROUPS: values a scale; TENSOR_NVFP4 with scales: rows a scale; otherwise 0 */
    size_t rows, cols;
    const void *data;
    const void *scales; /* TENSOR_I8_GROUPS: f32 [rows*cols/group]; TENSOR_NVFP4: f32 [rows/group]; or NULL */
    const void *panels; /* the same once more, repacked for a row of kernels (panel.h), or NULL */
} Matrix;

typedef struct {
    int id;           /* TensorType, or a GGML id that is known by name and size only: the functions are NULL */
    const char *name; /* "Q4_0" */
    int block, bytes; /* values in a block, of which a row is a whole number; its bytes */
    void (*row)(float *out, const Matrix *m, size_t r); /* matrix_row */
    /* Row r by q [cols], an activation's bytes, with a scale for each matrix_group(m) of them; NULL: floats. */
    float (*dot)(const Matrix *m, size_t r, const int8_t *q, const float *scale);
} QuantFormat;

/* The formats that this program has: tables that end at a row without a name, and NULL after the last (formats.c). */
extern const QuantFormat *const quant_formats[], formats_plain[]; /* F32, F16, BF16, Q4_0, Q8_0 */
const QuantFormat *quant_format(int id); /* of a GGML type id, or NULL where the id is unknown */

size_t matrix_bytes(const Matrix *m); /* of m->data */
/* Entries that share an activation's scale where they meet m: 32 for block formats, the file's group for int8 groups, 0
 * for float weights (nothing is quantized). */
int matrix_group(const Matrix *m);

/* Row r of m into out [cols], as float: embeddings, norms, tests. Source: GGML's block layouts. */
void matrix_row(float *out, const Matrix *m, size_t r);
/* n values from the first-th on, of a matrix of F32, F16 or BF16. */
void matrix_floats(float *out, const Matrix *m, size_t first, size_t n);

float f16_to_f32(uint16_t h);  /* exact, subnormals, infinities and NaN too */
uint16_t f32_to_f16(float x);  /* to nearest, ties to even; infinity from 65520 on; NaN stays NaN */
float bf16_to_f32(uint16_t h); /* exact */

/* What the keys and values of the past are kept as. */
typedef enum {
    CACHE_F32,  /* what was stored, to the bit */
    CACHE_F16,  /* rounded to the nearest half, ties to even; from 65520 on infinity, so that it stays visible */
    CACHE_Q8_0, /* 32 entries (a head's last: what is left) share a scale amax / 127, a half float; x / scale as int8 */
} CacheType;

/* From so many tokens on, float weights are transposed for a batch: two vectors of rows go together then. */
enum { FLOAT_MANY = 48 };

#endif
