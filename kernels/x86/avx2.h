/* kernels/x86/avx2.h - the groups of the AVX2 row, and what it lends to the rows above it. Contracts: kernels.h. */
#ifndef AVX2_H
#define AVX2_H

#include "kernels/cache_kernels.h"
#include "kernels/encoder_kernels.h"
#include "kernels/kernels.h"
#include "kernels/train_kernels.h"
#include "kernels/panel.h"

enum { AVX2_BLOCKS = 8, AVX2_FLOATS = 6 }; /* tokens of the widest tile (panel.h), block formats and floats */

extern const MatmulKernels avx2_matmul;
extern const AttentionKernels avx2_attention;
extern const VectorKernels avx2_vector;
extern const EncoderKernels avx2_encoder;
extern const TrainKernels avx2_train;
extern const CacheKernels avx2_cache, avxvnni_cache;

/* matmul for float weights; 0: these are none, and nothing was done. */
int avx2_matmul_floats(float *y, size_t ldy, const Activations *a, const Matrix *w, size_t r0, size_t r1);
size_t avx2_packed_bytes(size_t n, size_t d, int group);
void avx2_quantize(int8_t *q, float *scale, const float *x, size_t d, int group);
void avx2_pack_blocks(ActBlock *out, size_t stride, const float *x, size_t d, int group); /* sums as pairs */
void avx2_pack_wide_blocks(ActBlock *out, size_t stride, const float *x, size_t d, int group); /* whole */

#endif
