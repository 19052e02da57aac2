/* kernels/x86/avx512.h - what the rows with vectors of 512 bits share. Contracts: kernels.h. */
#ifndef AVX512_H
#define AVX512_H

#include "kernels/cache_kernels.h"
#include "kernels/kernels.h"
#include "kernels/panel.h"
#include "kernels/train_kernels.h"

enum { AVX512_BLOCKS = 12, AVX512_FLOATS = 12 }; /* tokens of the widest tile (panel.h), block formats and floats */

extern const AttentionKernels avx512_attention;
extern const CacheKernels avx512_cache, avx512vnni_cache;
extern const TrainKernels avx512_train;

/* matmul for float weights (avx512_floats.c); 0: these are none, and nothing was done. */
int avx512_matmul_floats(float *y, size_t ldy, const Activations *a, const Matrix *w, size_t r0, size_t r1);
size_t avx512_packed_bytes(size_t n, size_t d, int group);
void avx512_pack(void *out, const float *x, size_t n, size_t d, int group, size_t t);
/* matmul over panels that reads tiles of 12, or of 8 at most where widest is not 12. */
void avx512vnni_matmul_blocks(size_t widest, float *y, size_t ldy, const Activations *a, const Matrix *w, size_t r0,
                              size_t r1);

#endif
