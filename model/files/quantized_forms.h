/* model/files/quantized_forms.h - what quantized.c's forms are made of: a form is a function that finds the parts of a
 * matrix beside its codes, checks their shapes, and says how codes become floats. */
#ifndef QUANTIZED_FORMS_H
#define QUANTIZED_FORMS_H

#include "weights.h"

typedef struct {
    Weights *w;
    const struct JsonValue *config; /* quantization_config */
    size_t said[2];                 /* rows and columns of a block of FP8, where the configuration says them; else 0 */
    char *err;
    size_t errlen;
} Expansion;

/* t, the codes, becomes the matrix; its name stays. 0, or a negative errno and a line. */
typedef int ExpandMatrix(Expansion *x, Tensor *t);
ExpandMatrix fp8_expand;                              /* fp8.c */
ExpandMatrix packed_expand, bytes_expand, fp4_expand; /* packed.c */
ExpandMatrix awq_expand, gptq_expand;                 /* qweight.c */

/* ---- parts ---- */

int expand_refuse(const Expansion *x, const Tensor *t, const char *why); /* -EINVAL and its line */
/* What stands beside t: the tensor whose name ends with `tail` where t's ends with `own`; NULL: there is none. */
const Tensor *expand_part(const Expansion *x, const Tensor *t, const char *own, const char *tail);
int expand_is(const Tensor *t, const char *type, uint64_t rows, uint64_t cols); /* 1: of that type and shape */
int expand_is_float(const Tensor *t); /* F32, F16, BF16 */
TensorType expand_type(const Tensor *scales); /* of the matrix */
int expand_number(const struct JsonValue *v, const char *key, int otherwise); /* a whole number, 0 .. 2^20 */
/* An array of `bytes` for t's values, w's memory; NULL after a line. */
void *expand_new(const Expansion *x, size_t rows, size_t cols, size_t *bytes);
void expand_become(Tensor *t, TensorType type, void *data, size_t rows, size_t cols);

/* Scales over a matrix: one for `rows` rows and `cols` columns, per_row of them side by side. */
typedef struct {
    const Tensor *scales;
    size_t rows, cols, per_row;
} Grid;
/* s over a matrix [rows, cols], one for all, a row or a block; 0: it does not fit. said [2]: a block's, or 0. */
int grid_fits(Grid *g, const Tensor *s, size_t rows, size_t cols, const size_t said[2]);
float grid_float(const Grid *g, size_t i); /* the i-th of floats */

float f8_e4m3(int code); /* what a byte stands for */

/* ---- codes ---- */

/* Whole numbers of a few bits, one behind the other in words of 32, the lowest bits first: number i of a line begins in
 * word  line * across + i * bits / 32 * along. */
typedef struct {
    const uint8_t *words;
    size_t across, along;
    int bits;
    uint32_t more; /* is added to each word as it is read, */
    uint32_t one;  /* and this to each number, both modulo their sizes */
} Stream;
static inline unsigned stream_code(const Stream *s, size_t line, size_t i) {
    size_t bit = i * (size_t)s->bits;
    const uint8_t *word = s->words + 4 * (line * s->across + bit / 32 * s->along);
    unsigned from = (unsigned)(bit % 32), mask = (1u << s->bits) - 1;
    uint32_t code = (load_u32(word) + s->more) >> from;
    if (from + (unsigned)s->bits > 32) code |= (load_u32(word + 4 * s->along) + s->more) << (32 - from);
    return (code + s->one) & mask;
}
uint64_t packed_words(uint64_t n, int bits); /* of n numbers, n below 2^59 */

/* A matrix [rows, cols]. */
typedef struct Coded {
    size_t rows, cols, groups, each; /* groups of `each` columns have a scale and a zero .. */
    const uint8_t *order;            /* .. or column c is of group order[c], i32 [cols] */
    Stream codes, zeros;             /* codes.bits is always said */
    Grid scales;
    const Tensor *zero;
    float whole; /* FP4: what every scale is divided or multiplied by */
    int divides;
    void (*row)(const struct Coded *m, size_t r, uint8_t *codes);              /* [cols] */
    void (*scale)(const struct Coded *m, size_t r, float *scale, float *zero); /* of row r's groups [groups] */
    float (*value)(unsigned code);                                             /* NULL: the code itself */
} Coded;

void coded_row(const Coded *m, size_t r, uint8_t *codes); /* a row's codes that are a line of m->codes: Coded.row */
/* m's columns are of the groups that `order` names, a tensor of i32 [cols], or NULL. 0, or -EINVAL and a line. */
int coded_order(const Expansion *x, Coded *m, const Tensor *order);

/* W[r][c] = (value of its code - zero of its group) * scale, in float, rounded to `type`. */
int coded_expand(Expansion *x, Tensor *t, const Coded *m, TensorType type);

#endif
