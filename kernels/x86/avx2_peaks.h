/* kernels/x86/avx2_peaks.h - what avxvnni_peaks.c takes from avx2_peaks.c. */
#ifndef AVX2_PEAKS_H
#define AVX2_PEAKS_H

#include "kernels/peaks.h"

enum { PEAKS_AVX2_FMA_OPS = 12 * 16 };

float peaks_avx2_fma(size_t rounds);
uint64_t peaks_avx2_read(const void *p, size_t bytes, int streams);

#endif
