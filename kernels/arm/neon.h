/* kernels/arm/neon.h - what the two NEON rows share. Contracts: kernels.h. */
#ifndef NEON_H
#define NEON_H

#include "kernels/kernels.h"
#include "kernels/panel.h"

/* Rows of a panel; tokens of the widest tile, block formats and floats. */
enum { NEON_LANES = 8, NEON_BLOCKS = 4, NEON_FLOATS = 6 };

extern const AttentionKernels neon_attention;
extern const VectorKernels neon_vector;

/* matmul for float weights (neon_floats.c); 0: these are none, and nothing was done. */
int neon_matmul_floats(float *y, size_t ldy, const Activations *a, const Matrix *w, size_t r0, size_t r1);
size_t neon_packed_bytes(size_t n, size_t d, int group);
void neon_pack(void *out, const float *x, size_t n, size_t d, int group, size_t t);
void neon_quantize(int8_t *q, float *scale, const float *x, size_t d, int group);
void neon_state_step(double *out, double *S, size_t rows, const double *b, const float *v, const double *a, size_t n, size_t lda);

#endif
