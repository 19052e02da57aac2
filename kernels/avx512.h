/* kernels/avx512.h - what the two rows with vectors of 512 bits share; defined in avx512.c. */
#ifndef AVX512_H
#define AVX512_H

#include "kernels.h"

enum { AVX512_BLOCKS = 12, AVX512_FLOATS = 6 }; /* tokens of the widest tile (panel.h), block formats and floats */

size_t avx512_packed_bytes(size_t n, size_t d, int group);
void avx512_pack(void *out, const float *x, size_t n, size_t d, int group, size_t t);

#endif
