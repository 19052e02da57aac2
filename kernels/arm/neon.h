/* kernels/arm/neon.h - what the two NEON rows share. Contracts: kernels.h. */
#ifndef NEON_H
#define NEON_H

#include "kernels/cache_kernels.h"
#include "kernels/encoder_kernels.h"
#include "kernels/kernels.h"
#include "kernels/train_kernels.h"

enum { NEON_BLOCKS = 4, NEON_FLOATS = 6 }; /* tokens of the widest tile (panel.h), block formats and floats */

extern const AttentionKernels neon_attention;
extern const VectorKernels neon_vector;
extern const EncoderKernels neon_encoder;
extern const TrainKernels neon_train;
extern const CacheKernels neon_cache, neondot_cache;

/* matmul for float weights (neon_floats.c); 0: these are none, and nothing was done. */
int neon_matmul_floats(float *y, size_t ldy, const Activations *a, const Matrix *w, size_t r0, size_t r1);
size_t neon_packed_bytes(size_t n, size_t d, int group);
void neon_pack(void *out, const float *x, size_t n, size_t d, int group, size_t t);
void neon_quantize(int8_t *q, float *scale, const float *x, size_t d, int group);

#endif
