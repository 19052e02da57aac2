/* kernels/panel_tiles.h - matmul over panels (panel.h), whatever the width of a vector: which rows and tokens a tile
 * takes, what becomes of the integer sums, and what is fetched meanwhile. A panel has VEC rows; each token's
 * accumulator holds a number for each of them, so nothing is summed across lanes at the end:
 *     acc += f32(exact integer sum) * (scale_w * scale_x)  -  minimum_w * (scale_x * sum of q_x)
 * Before a row includes this it has panel_codes.h, and
 *     enum { TILE_TOKENS };     tokens of the widest tile that activations are packed in, a multiple of 4
 * It defines the functions declared first. */
#ifndef PANEL_TILES_H
#define PANEL_TILES_H

#include "kernels.h"
#include "panel_codes.h"

/* For few tokens, at most so many: places of a matrix that are read at a time; bytes that each is asked for early. */
enum { FEW = 3, STREAMS = 2, AHEAD = 4096 };

INLINE int tokens_at_once(Form f); /* of such a tile that one loop takes; divides TILE_TOKENS */
/* log2 of what dot_lines' codes are too large by, which is taken off where sums begin: -2^z * sum of q_x; 0: nothing.
 * f.shift, or 0 where it multiplies by q although a panel has q + 128, or takes it off itself. */
INLINE int zero_of(Form f);
/* sum[t] += lines j0 .. j1-1 (four or eight of them) of 32 columns by each of T tokens, exact. */
INLINE void dot_lines(Form f, int T, Ints *sum, const uint8_t *lines, const ActBlock *x, int j0, int j1);

/* What is to be in cache soon: so many bytes a block from `at` on; `near`: in the first one. */
typedef struct {
    const uint8_t *at;
    size_t bytes;
    int near;
} Ahead;

INLINE void prefetch(Ahead *ahead) {
    for (size_t i = 0; i < ahead->bytes; i += 64)
        if (ahead->near) __builtin_prefetch(ahead->at + i);
        else __builtin_prefetch(ahead->at + i, 0, 2);
    ahead->at += ahead->bytes;
}

/* acc[t] += block b of a panel, with add_block, and those that go with it, x's blocks `apart`: how many these were. */
INLINE size_t add_blocks(Form f, int T, Vec *acc, const ActBlock *x, size_t apart, const uint8_t *panel,
                         const PanelShape *s, size_t b, Ahead *ahead);

/* Where the sums of sub-block h begin. */
INLINE void begin_sums(Form f, int T, Ints *sum, const ActBlock *x, int h) {
    const int zero = zero_of(f), whole = f.sub == Q_BLOCK;
    UNROLL
    for (int t = 0; t < T; t++)
        if (!zero) sum[t] = ints_all(0);
        else if (whole) sum[t] = ints_shift(ints_all(x[t].minus_8_sum.whole), zero - 3);
        else sum[t] = ints_shift(ints_all(x[t].minus_half[h].whole), zero);
}

/* acc[t] += block b of a panel by each of T tokens. 1: add_blocks' count. */
INLINE size_t add_block(Form f, int T, Vec *acc, const ActBlock *x, const uint8_t *panel, const PanelShape *s, size_t b,
                        Ahead *ahead) {
    prefetch(ahead);
    const int subs = Q_BLOCK / f.sub, whole = subs == 1; /* one sub-block, or two */
    UNROLL
    for (int h = 0; h < subs; h++) {
        Ints sum[TILE_TOKENS];
        begin_sums(f, T, sum, x, h);
        dot_lines(f, T, sum, panel + s->lines + b * s->line_bytes, x, 4 * h, whole ? 8 : 4 * h + 4);
        Vec scale = scales_at(f, panel, s->d, s->sc, b, h);
        UNROLL
        for (int t = 0; t < T; t++)
            acc[t] = vec_fma(acc[t], ints_to_floats(sum[t]), vec_mul(scale, vec_all(x[t].scale)));
        if (!f.minima) continue;
        Vec minimum = scales_at(f, panel, s->dmin, s->mn, b, h);
        UNROLL
        for (int t = 0; t < T; t++)
            acc[t] = vec_fnma(acc[t], minimum, vec_all(whole ? x[t].scaled_sum : x[t].scaled_half[h]));
    }
    return 1;
}

/* A panel and where the sums of its rows go: y[t * ldy ..], so many of them. */
typedef struct {
    const uint8_t *panel;
    const PanelShape *s;
    float *y;
    size_t ldy, rows;
} Strip;

/* While token tile i of n passes a panel, the i-th part of the next panel is fetched. */
INLINE Ahead next_panel(const Strip *of, size_t i, size_t n) {
    size_t blocks = of->s->blocks, lines = of->s->size / 64, each = (lines + n * blocks - 1) / (n * blocks);
    return (Ahead){of->panel + of->s->size + i * each * blocks * 64, i * each * blocks < lines ? each * 64 : 0, 0};
}

/* Tokens t .. t+T-1, in a tile of `packed`; x: the first block of token t. */
INLINE void tile_blocks(Form f, int T, size_t packed, const Strip *to, size_t t, const ActBlock *x, Ahead ahead) {
    Vec acc[TILE_TOKENS];
    UNROLL
    for (int i = 0; i < T; i++) acc[i] = vec_zero();
    for (size_t b = 0, n; b < to->s->blocks; b += n, x += n * packed)
        n = add_blocks(f, T, acc, x, packed, to->panel, to->s, b, &ahead);
    UNROLL
    for (size_t i = 0; i < (size_t)T; i++) vec_store_some(to->y + (t + i) * to->ldy, acc[i], to->rows);
}

/* T tokens by STREAMS panels, each `apart` panels behind the one before. Memory sets the pace, and wants to be asked
 * early. */
INLINE void few_blocks(Form f, int T, float *y, size_t ldy, const ActBlock *x, const uint8_t *panel,
                       const PanelShape *s, size_t rows, size_t apart) {
    Vec acc[STREAMS][FEW];
    Ahead ahead[STREAMS];
    size_t away = apart * s->size;
    UNROLL
    for (size_t i = 0; i < STREAMS; i++) {
        ahead[i] = (Ahead){panel + i * away + AHEAD, s->size / s->blocks, 1};
        UNROLL
        for (int t = 0; t < T; t++) acc[i][t] = vec_zero();
    }
    for (size_t b = 0, n = 0; b < s->blocks; b += n, x += n * (size_t)T)
        UNROLL
        for (size_t i = 0; i < STREAMS; i++)
            n = add_blocks(f, T, acc[i], x, (size_t)T, panel + i * away, s, b, &ahead[i]);
    UNROLL
    for (size_t i = 0; i < STREAMS; i++)
        UNROLL
        for (size_t t = 0; t < (size_t)T; t++)
            vec_store_some(y + t * ldy + i * apart * VEC, acc[i][t], rows - i * apart * VEC);
}

/* What matmul_blocks is asked for. */
typedef struct {
    size_t widest; /* tokens of the widest tile that the activations are packed in */
    float *y;
    size_t ldy;
    const Activations *a;
    const Matrix *w;
    size_t r0, r1;
} PanelJob;

/* The panels of rows r0 .. by a batch of T tokens, one tile, as STREAMS runs of the same length, side by side: memory
 * gives more from two places at a time than from one. Returns the first row that is left, for want of a run. */
INLINE size_t matmul_few_tokens(Form f, int T, const PanelJob *p, const PanelShape *s) {
    size_t run = (p->r1 - p->r0) / (STREAMS * VEC);
    for (size_t r = p->r0; r < p->r0 + run * VEC; r += VEC)
        few_blocks(f, T, p->y + r, p->ldy, p->a->data, panel_of(p->w, s, r), s, p->r1 - r, run);
    return p->r0 + STREAMS * run * VEC;
}

/* Tiles of TILE_TOKENS where these are the widest that activations are packed in, then of 8 and of 4, then the rest in
 * one (token_tile). */
INLINE void matmul_form(Form f, const PanelJob *p) {
    PanelShape s = panel_shape(p->w, VEC);
    const ActBlock *x = p->a->data;
    const int T = tokens_at_once(f);
    size_t r = p->r0, n = p->a->n;
    if (n == 1) r = matmul_few_tokens(f, 1, p, &s);
    if (n == 2) r = matmul_few_tokens(f, 2, p, &s);
    if (n == 3) r = matmul_few_tokens(f, 3, p, &s);
    size_t wide_end = p->widest == TILE_TOKENS ? n / TILE_TOKENS * TILE_TOKENS : 0, fours_end = n / 4 * 4;
    size_t eight_end = wide_end + tile_of_eight(n, p->widest), rest = n - fours_end;
    size_t tiles = wide_end / (size_t)T + narrow_tiles(n, p->widest);
    const ActBlock *last = x + fours_end * s.blocks;
    for (; r < p->r1; r += VEC) {
        const Strip strip = {panel_of(p->w, &s, r), &s, p->y + r, p->ldy, p->r1 - r};
        size_t t = 0, i = 0;
        for (; t < wide_end; i++, t += (size_t)T) {
            const ActBlock *at = x + t / TILE_TOKENS * TILE_TOKENS * s.blocks + t % TILE_TOKENS;
            tile_blocks(f, T, TILE_TOKENS, &strip, t, at, next_panel(&strip, i, tiles));
        }
        if (TILE_TOKENS > 8 && t < eight_end) {
            tile_blocks(f, 8, 8, &strip, t, x + t * s.blocks, next_panel(&strip, i, tiles));
            i++, t += 8;
        }
        for (; TILE_TOKENS > 4 && t < fours_end; i++, t += 4)
            tile_blocks(f, 4, 4, &strip, t, x + t * s.blocks, next_panel(&strip, i, tiles));
        if (rest == 1) tile_blocks(f, 1, 1, &strip, t, last, next_panel(&strip, i, tiles));
        if (rest == 2) tile_blocks(f, 2, 2, &strip, t, last, next_panel(&strip, i, tiles));
        if (rest == 3) tile_blocks(f, 3, 3, &strip, t, last, next_panel(&strip, i, tiles));
    }
}

/* Every format has a function of its own, in which f is constants and whose loops have the registers to themselves. */
NOINLINE void matmul_q4_0(const PanelJob *p) { matmul_form((Form){.bits = 4, .sub = 32, .shift = 3}, p); }
NOINLINE void matmul_q4_1(const PanelJob *p) { matmul_form((Form){.bits = 4, .sub = 32, .minima = 1}, p); }
NOINLINE void matmul_q5_0(const PanelJob *p) { matmul_form((Form){.bits = 5, .sub = 32, .shift = 4}, p); }
NOINLINE void matmul_q5_1(const PanelJob *p) { matmul_form((Form){.bits = 5, .sub = 32, .minima = 1}, p); }
NOINLINE void matmul_q8_0(const PanelJob *p) { matmul_form((Form){.bits = 8, .sub = 32, .shift = 7}, p); }
NOINLINE void matmul_q2_k(const PanelJob *p) { matmul_form((Form){.bits = 2, .sub = 16, .minima = 1, .super = 1}, p); }
NOINLINE void matmul_q3_k(const PanelJob *p) { matmul_form((Form){.bits = 3, .sub = 16, .shift = 2, .super = 1}, p); }
NOINLINE void matmul_q4_k(const PanelJob *p) { matmul_form((Form){.bits = 4, .sub = 32, .minima = 1, .super = 1}, p); }
NOINLINE void matmul_q5_k(const PanelJob *p) { matmul_form((Form){.bits = 5, .sub = 32, .minima = 1, .super = 1}, p); }
NOINLINE void matmul_q6_k(const PanelJob *p) { matmul_form((Form){.bits = 6, .sub = 16, .shift = 5, .super = 1}, p); }
NOINLINE void matmul_iq4_nl(const PanelJob *p) {
    matmul_form((Form){.bits = 4, .sub = 32, .shift = 7, .values = VALUES_IQ4}, p);
}
NOINLINE void matmul_mxfp4(const PanelJob *p) {
    matmul_form((Form){.bits = 4, .sub = 32, .shift = 7, .values = VALUES_MXFP4, .wide = 1}, p);
}
NOINLINE void matmul_nvfp4(const PanelJob *p) {
    matmul_form((Form){.bits = 4, .sub = 16, .shift = 7, .values = VALUES_MXFP4, .mini = 1}, p);
}
NOINLINE void matmul_q1_0(const PanelJob *p) {
    matmul_form((Form){.bits = 1, .sub = 32, .shift = 7, .values = VALUES_Q1, .together = 2}, p);
}
NOINLINE void matmul_q2_0(const PanelJob *p) {
    matmul_form((Form){.bits = 2, .sub = 32, .shift = 7, .values = VALUES_TQ, .together = 1}, p);
}
NOINLINE void matmul_iq4_xs(const PanelJob *p) {
    matmul_form((Form){.bits = 4, .sub = 32, .shift = 7, .values = VALUES_IQ4, .super = 1}, p);
}
INLINE void matmul_iq(int bits, int sub, int values, int halvings, const PanelJob *p) {
    matmul_form((Form){.bits = bits, .sub = sub, .shift = 7, .values = values, .super = 1, .halvings = halvings}, p);
}
NOINLINE void matmul_iq1_s(const PanelJob *p) { matmul_iq(3, 32, VALUES_IQ1, 3, p); }
NOINLINE void matmul_iq1_m(const PanelJob *p) { matmul_iq(3, 16, VALUES_IQ1, 3, p); }
NOINLINE void matmul_iq2_xxs(const PanelJob *p) { matmul_iq(3, 32, VALUES_IQ2, 3, p); }
NOINLINE void matmul_iq2(const PanelJob *p) { matmul_iq(3, 16, VALUES_IQ2, 3, p); }
NOINLINE void matmul_iq3_xxs(const PanelJob *p) { matmul_iq(4, 32, VALUES_IQ3_XXS, 2, p); }
NOINLINE void matmul_iq3_s(const PanelJob *p) { matmul_iq(4, 32, VALUES_IQ3_S, 0, p); }
NOINLINE void matmul_tq(const PanelJob *p) { matmul_iq(2, 32, VALUES_TQ, 0, p); }
NOINLINE void matmul_groups(const PanelJob *p) {
    matmul_form((Form){.bits = 8, .sub = 32, .shift = 7, .groups = 1}, p);
}

INLINE void matmul_blocks(const PanelJob *p) {
    switch (p->w->type) {
    case TENSOR_F32: case TENSOR_F16: case TENSOR_BF16: break; /* float_blocks.h */
    case TENSOR_Q4_0: matmul_q4_0(p); break;
    case TENSOR_Q4_1: matmul_q4_1(p); break;
    case TENSOR_Q5_0: matmul_q5_0(p); break;
    case TENSOR_Q5_1: matmul_q5_1(p); break;
    case TENSOR_Q8_0: matmul_q8_0(p); break;
    case TENSOR_Q2_K: matmul_q2_k(p); break;
    case TENSOR_Q3_K: matmul_q3_k(p); break;
    case TENSOR_Q4_K: matmul_q4_k(p); break;
    case TENSOR_Q5_K: matmul_q5_k(p); break;
    case TENSOR_Q6_K: matmul_q6_k(p); break;
    case TENSOR_IQ4_NL: matmul_iq4_nl(p); break;
    case TENSOR_IQ4_XS: matmul_iq4_xs(p); break;
    case TENSOR_MXFP4: matmul_mxfp4(p); break;
    case TENSOR_NVFP4: matmul_nvfp4(p); break;
    case TENSOR_Q1_0: matmul_q1_0(p); break;
    case TENSOR_Q2_0: matmul_q2_0(p); break;
    case TENSOR_IQ1_S: matmul_iq1_s(p); break;
    case TENSOR_IQ1_M: matmul_iq1_m(p); break;
    case TENSOR_IQ2_XXS: matmul_iq2_xxs(p); break;
    case TENSOR_IQ2_XS: case TENSOR_IQ2_S: matmul_iq2(p); break;
    case TENSOR_IQ3_XXS: matmul_iq3_xxs(p); break;
    case TENSOR_IQ3_S: matmul_iq3_s(p); break;
    case TENSOR_TQ1_0: case TENSOR_TQ2_0: matmul_tq(p); break;
    case TENSOR_I8_GROUPS:
        if (panel_fits(p->w)) matmul_groups(p);
        else ref_matmul.matmul(p->y, p->ldy, p->a, p->w, p->r0, p->r1);
    }
}

#endif
