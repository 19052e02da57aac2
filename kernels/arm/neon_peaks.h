/* kernels/arm/neon_peaks.h - what neondot_peaks.c takes from neon_peaks.c. */
#ifndef NEON_PEAKS_H
#define NEON_PEAKS_H

#include "kernels/peaks.h"

enum { PEAKS_NEON_FMA_OPS = 16 * 8 };

float peaks_neon_fma(size_t rounds);
uint64_t peaks_neon_read(const void *p, size_t bytes, int streams);

#endif
