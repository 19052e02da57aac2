/* kernels/panel_super.h - panel_tiles.h for rows that multiply by K formats' own scales, whole numbers, before sums
 * become floats. A row that includes this defines the functions declared first, too. */
#ifndef PANEL_SUPER_H
#define PANEL_SUPER_H

#include "panel_tiles.h"

INLINE int whole_scales(Form f); /* of formats that go this way; the others are add_block's */
INLINE int negates(Form f);      /* of those: dot_scaled gives minus the sum */
/* sum[t] = of 32 columns by each of T tokens, sub-block by sub-block, sc * sum of (code - zero) * q_x, exact. */
INLINE void dot_scaled(Form f, int T, Ints *sum, const uint8_t *lines, const ActBlock *x, const uint8_t *sc);

/* dot_scaled in a way that every row can go: dot_lines' sums, multiplied. */
INLINE void dot_and_scale(Form f, int T, Ints *sum, const uint8_t *lines, const ActBlock *x, const uint8_t *sc) {
    const int columns = f.sub / 4;
    UNROLL
    for (int t = 0; t < T; t++) sum[t] = ints_all(0);
    UNROLL
    for (int j = 0; j < 8; j += columns, sc += VEC) {
        Ints part[TILE_TOKENS], scale = ints_load_bytes(sc);
        if (negates(f)) scale = ints_minus(scale);
        begin_sums(f, T, part, x, j / columns);
        dot_lines(f, T, part, lines, x, j, j + columns);
        UNROLL
        for (int t = 0; t < T; t++) sum[t] = ints_mul_add(sum[t], part[t], scale);
    }
}

/* least[t] += sum_h mn * (scale_x * sum of q_x), of a block. */
INLINE void add_minima(Form f, int T, Vec *least, const ActBlock *x, const uint8_t *mn) {
    const int subs = Q_BLOCK / f.sub;
    UNROLL
    for (int h = 0; h < subs; h++) {
        Vec m = vec_load_bytes(mn + h * VEC);
        UNROLL
        for (int t = 0; t < T; t++)
            least[t] = vec_fma(least[t], m, vec_all(subs == 1 ? x[t].scaled_sum : x[t].scaled_half[h]));
    }
}

/* acc[t] += the 8 blocks from b on that share d and dmin, x's blocks `apart`, and are counted:
 *     d * sum_b scale_x f32(sum_h sc * exact sum)  -  dmin * sum_b sum_h mn * (scale_x * sum of q_x)
 * the second one behind the first where there are not registers for both. */
INLINE size_t add_super(Form f, int T, Vec *acc, const ActBlock *x, size_t apart, const uint8_t *panel,
                        const PanelShape *s, size_t b, Ahead *ahead) {
    const size_t subs = (size_t)(Q_BLOCK / f.sub), scales = b / 8 * 2 * VEC, each = subs * VEC;
    const uint8_t *lines = panel + s->lines + b * s->line_bytes, *sc = panel + s->sc + b * each,
                  *mn = panel + s->mn + b * each;
    Vec part[TILE_TOKENS], least[TILE_TOKENS];
    UNROLL
    for (int t = 0; t < T; t++) part[t] = least[t] = vec_zero();
    for (int k = 0; k < 8; k++, x += apart, lines += s->line_bytes, sc += each, mn += each) {
        Ints sum[TILE_TOKENS];
        prefetch(ahead);
        dot_scaled(f, T, sum, lines, x, sc);
        UNROLL
        for (int t = 0; t < T; t++) part[t] = vec_fma(part[t], ints_to_floats(sum[t]), vec_all(x[t].scale));
        if (f.minima && T <= FEW) add_minima(f, T, least, x, mn);
    }
    Vec d = super_d(f, panel + s->d + scales);
    UNROLL
    for (int t = 0; t < T; t++) acc[t] = negates(f) ? vec_fnma(acc[t], d, part[t]) : vec_fma(acc[t], d, part[t]);
    if (!f.minima) return 8;
    x -= 8 * apart, mn -= 8 * each;
    for (int k = 0; T > FEW && k < 8; k++, x += apart, mn += each) add_minima(f, T, least, x, mn);
    Vec dmin = vec_load_half(panel + s->dmin + scales);
    UNROLL
    for (int t = 0; t < T; t++) acc[t] = vec_fnma(acc[t], dmin, least[t]);
    return 8;
}

INLINE size_t add_blocks(Form f, int T, Vec *acc, const ActBlock *x, size_t apart, const uint8_t *panel,
                         const PanelShape *s, size_t b, Ahead *ahead) {
    if (whole_scales(f)) return add_super(f, T, acc, x, apart, panel, s, b, ahead);
    return add_block(f, T, acc, x, panel, s, b, ahead);
}

#endif
