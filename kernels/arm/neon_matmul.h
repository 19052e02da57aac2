/* kernels/arm/neon_matmul.h - matmul over panels of 8 rows (panel_tiles.h) for both NEON rows. The file that includes
 * it has neon_panels.h and defines dot_lines; a panel's rows 0-3 and 4-7 are the halves of its sums.
 *
 * Codes below 8 bits go in as they are, unsigned, and the sum of a block begins at -zero * (sum of x), which pack has
 * ready. Integers are exact and the floats round in avx2's order: over blocks all three rows have the same bits. */
#ifndef NEON_MATMUL_H
#define NEON_MATMUL_H

#include "neon.h"

enum { TILE_TOKENS = NEON_BLOCKS };

#include "kernels/panel_super.h"

INLINE int tokens_at_once(Form f) { return (void)f, TILE_TOKENS; }
INLINE int zero_of(Form f) { return f.bits == 8 || f.values ? 0 : f.shift; }

INLINE int whole_scales(Form f) { return f.super; }
INLINE int negates(Form f) { return (void)f, 0; }

INLINE void dot_scaled(Form f, int T, Ints *sum, const uint8_t *lines, const ActBlock *x, const uint8_t *sc) {
    dot_and_scale(f, T, sum, lines, x, sc);
}

static void matmul_panels(float *y, size_t ldy, const Activations *a, const Matrix *w, size_t r0, size_t r1) {
    const PanelJob p = {TILE_TOKENS, y, ldy, a, w, r0, r1};
    if (!neon_matmul_floats(y, ldy, a, w, r0, r1)) matmul_blocks(&p);
}

#endif
