/* kernels/arm/neon_matmul.h - matmul over panels for both NEON rows. The file that includes it has defined
 *     INLINE void dot_lines(Form f, int T, int32x4_t (*sum)[2], const uint8_t *lines, const ActBlock *x, int j0, int j1)
 * sum[t] += lines j0 .. j1-1 (four or eight of them) against each of T tokens; the panel's rows 0-3 and 4-7.
 *
 * A panel of 8 rows (panel.h) meets a tile of up to 4 tokens. Codes below 8 bits go in as they are, unsigned, and the sum of a
 * block begins at -zero * (sum of x), which pack has ready. Integers are exact and the floats round in avx2_matmul.c's order:
 * over blocks all three rows have the same bits. */
#ifndef NEON_MATMUL_H
#define NEON_MATMUL_H

enum { LANES = NEON_LANES, TILE_TOKENS = NEON_BLOCKS };
typedef Vec8 Sums;

#include "kernels/panel_tiles.h"

INLINE int tokens_at_once(Form f) { return (void)f, TILE_TOKENS; }
INLINE Sums no_sums(void) { return all8(0); }
INLINE void store_sums(float *y, Sums v, size_t rows) { store8(y, v, rows); }

INLINE void add_block(Form f, int T, Sums *acc, const ActBlock *x, const uint8_t *panel, const PanelShape *s, size_t b) {
    int exact = f.shift < 0 || f.bits == 8 || f.values; /* codes are values: nothing to take off */
    UNROLL
    for (int h = 0; h < 32 / f.sub; h++) {
        int whole = f.sub == 32;
        int32x4_t sum[NEON_BLOCKS][2];
        UNROLL
        for (int t = 0; t < T; t++)
            sum[t][0] = sum[t][1] = vdupq_n_s32(exact ? 0 : (whole ? x[t].minus_sum : x[t].minus_half[h]) * (1 << f.shift));
        dot_lines(f, T, sum, panel + s->lines + b * s->line_bytes, x, 4 * h, whole ? 8 : 4 * h + 4);
        Vec8 scale = scales_at(f, panel, s->d, s->sc, b, h);
        UNROLL
        for (int t = 0; t < T; t++) {
            acc[t].lo = vfmaq_f32(acc[t].lo, vcvtq_f32_s32(sum[t][0]), vmulq_n_f32(scale.lo, x[t].scale));
            acc[t].hi = vfmaq_f32(acc[t].hi, vcvtq_f32_s32(sum[t][1]), vmulq_n_f32(scale.hi, x[t].scale));
        }
        if (!f.minima) continue;
        Vec8 minimum = scales_at(f, panel, s->dmin, s->mn, b, h);
        UNROLL
        for (int t = 0; t < T; t++) {
            float32x4_t of_x = vdupq_n_f32(whole ? x[t].scaled_sum : x[t].scaled_half[h]);
            acc[t] = (Vec8){vfmsq_f32(acc[t].lo, minimum.lo, of_x), vfmsq_f32(acc[t].hi, minimum.hi, of_x)};
        }
    }
}

static void matmul_panels(float *y, size_t ldy, const Activations *a, const Matrix *w, size_t r0, size_t r1) {
    if (!neon_matmul_floats(y, ldy, a, w, r0, r1)) matmul_blocks(TILE_TOKENS, y, ldy, a, w, r0, r1);
}

#endif
