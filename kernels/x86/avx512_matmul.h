/* kernels/x86/avx512_matmul.h - matmul over panels with vectors of 512 bits (panel_tiles.h), for the two rows that have
 * them: avx512.c (F, BW, VL, DQ) and avx512vnni.c. A row that includes this has avx512.h and avx512_panels.h and
 * defines
 *     INLINE __m512i dot4(__m512i acc, __m512i u, __m512i s, int bytes);
 * in each of 16 lanes, acc + the four products of u8 codes and s8 activations, exact. `bytes`: codes are
 * q + 128. And zero_of and add_blocks (panel_tiles.h). */
#ifndef AVX512_MATMUL_H
#define AVX512_MATMUL_H

enum { TILE_TOKENS = AVX512_BLOCKS };

#include "kernels/panel_tiles.h"

INLINE int tokens_at_once(Form f) { return (void)f, TILE_TOKENS; }

/* The tokens' chains of sums hide each other's latency. */
INLINE void dot_lines(Form f, int T, Ints *sum, const uint8_t *lines, const ActBlock *x, int j0, int j1) {
    UNROLL
    for (int j = j0; j < j1; j++) {
        __m512i w = codes_at(f, lines, j);
        UNROLL
        for (int t = 0; t < T; t++) sum[t] = pin(dot4(sum[t], w, broadcast4(x[t].q + 4 * j), f.bits == 8 || f.values));
    }
}

#endif
