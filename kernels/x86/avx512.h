/* kernels/x86/avx512.h - what the rows with vectors of 512 bits share. Contracts: kernels.h. */
#ifndef AVX512_H
#define AVX512_H

#include "kernels/kernels.h"

enum { AVX512_BLOCKS = 12, AVX512_FLOATS = 12 }; /* tokens of the widest tile (panel.h), block formats and floats */

extern const AttentionKernels avx512_attention;

size_t avx512_packed_bytes(size_t n, size_t d, int group);
void avx512_pack(void *out, const float *x, size_t n, size_t d, int group, size_t t);
/* The same with tiles of so many tokens for block formats, and the matmul that reads tiles of 12, or of 4 where widest is not 12. */
void avx512_pack_tiles(size_t widest, void *out, const float *x, size_t n, size_t d, int group, size_t t);
void avx512vnni_matmul_tiles(size_t widest, float *y, size_t ldy, const Activations *a, const Matrix *w, size_t r0, size_t r1);
void avx512_state_step(double *out, double *S, size_t rows, const double *b, const float *v, const double *a, size_t n, size_t lda);

#endif
