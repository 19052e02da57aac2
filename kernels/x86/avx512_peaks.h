/* kernels/x86/avx512_peaks.h - what avx512vnni_peaks.c takes from avx512_peaks.c. */
#ifndef AVX512_PEAKS_H
#define AVX512_PEAKS_H

#include "kernels/peaks.h"

enum { PEAKS_AVX512_FMA_OPS = 12 * 32 };

float peaks_avx512_fma(size_t rounds);
uint64_t peaks_avx512_read(const void *p, size_t bytes, int streams);

#endif
