/* kernels/neon_matmul.h - matmul over panels for both NEON rows. The file that includes it has defined
 *     INLINE void dot_lines(Form f, int T, int32x4_t (*sum)[2], const uint8_t *lines, const ActBlock *x, int j0, int j1)
 * sum[t] += lines j0 .. j1-1 (four or eight of them) against each of T tokens; the panel's rows 0-3 and 4-7.
 *
 * A panel of 8 rows (panel.h) meets a tile of up to 4 tokens. Codes below 8 bits go in as they are, unsigned, and the sum of a
 * block begins at -zero * (sum of x), which pack has ready. Integers are exact and the floats round in avx2_matmul.c's order:
 * over blocks all three rows have the same bits. */
#ifndef NEON_MATMUL_H
#define NEON_MATMUL_H

/* acc[t] += block b of a panel by each of T tokens. */
INLINE void add_block(Form f, int T, Vec8 *acc, const ActBlock *x, const uint8_t *panel, const PanelShape *s, size_t b) {
    int exact = f.shift < 0 || f.bits == 8 || f.values; /* codes are values: nothing to take off */
    #pragma GCC unroll 2
    for (int h = 0; h < 32 / f.sub; h++) {
        int whole = f.sub == 32;
        int32x4_t sum[NEON_BLOCKS][2];
        #pragma GCC unroll 4
        for (int t = 0; t < T; t++)
            sum[t][0] = sum[t][1] = vdupq_n_s32(exact ? 0 : (whole ? x[t].minus_sum : x[t].minus_half[h]) * (1 << f.shift));
        dot_lines(f, T, sum, panel + s->lines + b * s->line_bytes, x, 4 * h, whole ? 8 : 4 * h + 4);
        Vec8 scale = scales_at(f, panel, s->d, s->sc, b, h);
        #pragma GCC unroll 4
        for (int t = 0; t < T; t++) {
            acc[t].lo = vfmaq_f32(acc[t].lo, vcvtq_f32_s32(sum[t][0]), vmulq_n_f32(scale.lo, x[t].scale));
            acc[t].hi = vfmaq_f32(acc[t].hi, vcvtq_f32_s32(sum[t][1]), vmulq_n_f32(scale.hi, x[t].scale));
        }
        if (!f.minima) continue;
        Vec8 minimum = scales_at(f, panel, s->dmin, s->mn, b, h);
        #pragma GCC unroll 4
        for (int t = 0; t < T; t++) {
            float32x4_t of_x = vdupq_n_f32(whole ? x[t].scaled_sum : x[t].scaled_half[h]);
            acc[t] = (Vec8){vfmsq_f32(acc[t].lo, minimum.lo, of_x), vfmsq_f32(acc[t].hi, minimum.hi, of_x)};
        }
    }
}

INLINE void tile_blocks(Form f, int T, float *y, size_t ldy, const ActBlock *x, const uint8_t *panel, const PanelShape *s,
                        size_t rows, Ahead ahead) {
    Vec8 acc[NEON_BLOCKS];
    #pragma GCC unroll 4
    for (int t = 0; t < T; t++) acc[t] = all8(0);
    for (size_t b = 0; b < s->blocks; b++, x += T) {
        prefetch(&ahead);
        add_block(f, T, acc, x, panel, s, b);
    }
    #pragma GCC unroll 4
    for (int t = 0; t < T; t++) store8(y + (size_t)t * ldy, acc[t], rows);
}

/* One token: memory sets the pace, and wants to be asked early. */
INLINE void token_blocks(Form f, float *y, const ActBlock *x, const uint8_t *panel, const PanelShape *s, size_t rows) {
    Vec8 acc = all8(0);
    size_t step = s->size / s->blocks;
    for (size_t b = 0; b < s->blocks; b++) {
        for (size_t i = 0; i < step; i += 64) __builtin_prefetch(panel + b * step + AHEAD + i, 0, 2);
        add_block(f, 1, &acc, x + b, panel, s, b);
    }
    store8(y, acc, rows);
}

INLINE void matmul_form(Form f, float *y, size_t ldy, const Activations *a, const Matrix *w, size_t r0, size_t r1) {
    PanelShape s = panel_shape(w, NEON_LANES);
    const ActBlock *x = a->data;
    size_t wide = a->n / NEON_BLOCKS, tiles = wide + a->n % NEON_BLOCKS;
    for (size_t r = r0; r < r1; r += NEON_LANES) {
        const uint8_t *panel = (const uint8_t *)w->panels + r / NEON_LANES * s.size;
        size_t t = 0, i = 0;
        if (a->n == 1) {
            token_blocks(f, y + r, x, panel, &s, r1 - r);
            continue;
        }
        for (; i < wide; i++, t += NEON_BLOCKS)
            tile_blocks(f, NEON_BLOCKS, y + t * ldy + r, ldy, x + t * s.blocks, panel, &s, r1 - r,
                        next_panel(panel, &s, i, tiles));
        for (; t < a->n; i++, t++)
            tile_blocks(f, 1, y + t * ldy + r, ldy, x + t * s.blocks, panel, &s, r1 - r, next_panel(panel, &s, i, tiles));
    }
}

static void matmul_panels(float *y, size_t ldy, const Activations *a, const Matrix *w, size_t r0, size_t r1) {
    switch (w->type) {
    case TENSOR_F32:
    case TENSOR_F16:
    case TENSOR_BF16: neon_matmul_floats(y, ldy, a, w, r0, r1); break;
    case TENSOR_Q4_0: matmul_form((Form){.bits = 4, .sub = 32, .shift = 3}, y, ldy, a, w, r0, r1); break;
    case TENSOR_Q4_1: matmul_form((Form){.bits = 4, .sub = 32, .shift = -1, .minima = 1}, y, ldy, a, w, r0, r1); break;
    case TENSOR_Q5_0: matmul_form((Form){.bits = 5, .sub = 32, .shift = 4}, y, ldy, a, w, r0, r1); break;
    case TENSOR_Q5_1: matmul_form((Form){.bits = 5, .sub = 32, .shift = -1, .minima = 1}, y, ldy, a, w, r0, r1); break;
    case TENSOR_Q8_0: matmul_form((Form){.bits = 8, .sub = 32, .shift = 7}, y, ldy, a, w, r0, r1); break;
    case TENSOR_Q2_K: matmul_form((Form){.bits = 2, .sub = 16, .shift = -1, .minima = 1, .super = 1},
                                    y, ldy, a, w, r0, r1); break;
    case TENSOR_Q3_K: matmul_form((Form){.bits = 3, .sub = 16, .shift = 2, .super = 1}, y, ldy, a, w, r0, r1); break;
    case TENSOR_Q4_K: matmul_form((Form){.bits = 4, .sub = 32, .shift = -1, .minima = 1, .super = 1},
                                    y, ldy, a, w, r0, r1); break;
    case TENSOR_Q5_K: matmul_form((Form){.bits = 5, .sub = 32, .shift = -1, .minima = 1, .super = 1},
                                    y, ldy, a, w, r0, r1); break;
    case TENSOR_Q6_K: matmul_form((Form){.bits = 6, .sub = 16, .shift = 5, .super = 1}, y, ldy, a, w, r0, r1); break;
    case TENSOR_IQ4_NL: matmul_form((Form){.bits = 4, .sub = 32, .shift = 7, .values = 1}, y, ldy, a, w, r0, r1); break;
    case TENSOR_IQ4_XS: matmul_form((Form){.bits = 4, .sub = 32, .shift = 7, .values = 1, .super = 1},
                                      y, ldy, a, w, r0, r1); break;
    case TENSOR_I8_GROUPS:
        if (panel_fits(w)) matmul_form((Form){.bits = 8, .sub = 32, .shift = 7, .groups = 1}, y, ldy, a, w, r0, r1);
        else kernels_ref.matmul(y, ldy, a, w, r0, r1);
    }
}

#endif
