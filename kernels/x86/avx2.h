/* kernels/x86/avx2.h - the groups of the AVX2 row, and what it lends to the AVX-512 rows. Contracts: kernels.h. */
#ifndef AVX2_H
#define AVX2_H

#include "kernels/kernels.h"
#include "kernels/panel.h"

enum { AVX2_LANES = 8 };

extern const MatmulKernels avx2_matmul;
extern const AttentionKernels avx2_attention;
extern const VectorKernels avx2_vector;

void avx2_quantize(int8_t *q, float *scale, const float *x, size_t d, int group);
/* A token's x [d], group a multiple of 32, to blocks `stride` apart. */
void avx2_pack_blocks(ActBlock *out, size_t stride, const float *x, size_t d, int group);
void avx2_narrow(uint16_t *out, const float *x, size_t n);
void avx2_state_step(double *out, double *S, size_t rows, const double *b, const float *v, const double *a, size_t n, size_t lda);

#endif
