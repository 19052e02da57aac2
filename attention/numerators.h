/* attention/numerators.h - linear attention's third step, for a strip of STATE_COLUMNS columns of one head's S. */
#ifndef NUMERATORS_H
#define NUMERATORS_H

#include "linear.h"

typedef struct {
    double *S;           /* [rows, COLUMNS] */
    size_t rows, stride; /* from one query head's features to the next one's, of the same token */
    size_t first, width; /* columns first .. first+width-1 of a head */
    size_t h, group;     /* its key/value head, and how many query heads share it */
    const LinearBatch *b;
    const Kernels *kernels;
} Strip;

Strip strip_of(LinearState *s, const LinearBatch *b, int l, int h, size_t i, const Kernels *kernels);
/* Token t's values in the strip's columns; part [STATE_COLUMNS] is room for those of a last strip that is not full. */
const float *strip_values(const Strip *p, const float *v, size_t t, size_t head_dim, float *part);
/* o = numerator / denominator, query head g of the group. */
void strip_write(const Strip *p, float *out, size_t t, size_t g, size_t head_dim, const double *num);
/* S = keep S + k v^T where take is not 0, and S is read by the queries of token t where out is not NULL. */
void strip_step(const Strip *p, float *out, const float *v, size_t t, size_t head_dim, int take);

#endif
