/* attention/chunked.h - linear attention's third step in chunks of C tokens: S is read and written once a chunk, and
 * inside a chunk every query meets every key. The same sums in another order, so last bits differ. Causal only. */
#ifndef CHUNKED_H
#define CHUNKED_H

#include "linear.h"

/* Step 3 for the b->n tokens of b; scratch: so many doubles. */
size_t linear_chunk_scratch(size_t C, size_t rows, int n_heads, int n_kv_heads);
void linear_numerators_chunked(float *out, const float *v, LinearState *s, const LinearBatch *b, int l, int h, size_t i,
                               size_t C, double *scratch, const Kernels *kernels);

#endif
