/* kernels/panel_tiles.h - matmul over panels (panel.h), whatever the width of vectors: which rows and tokens a tile takes, and what
 * is fetched meanwhile. Before a row includes this it has panel_codes.h, and
 *     enum { LANES, TILE_TOKENS };   rows of a panel; tokens of the widest tile that activations are packed in, a multiple of 4
 *     typedef .. Sums;               a number for each of a panel's rows
 * It defines the functions declared first. */
#ifndef PANEL_TILES_H
#define PANEL_TILES_H

#include "kernels.h"
#include "panel_codes.h"

enum { STREAMS = 2, AHEAD = 4096 }; /* one token: places of a matrix that are read at a time; bytes that each is asked for early */

INLINE int tokens_at_once(Form f); /* of such a tile that one loop takes; divides TILE_TOKENS */
INLINE Sums no_sums(void);
INLINE void store_sums(float *y, Sums v, size_t rows); /* the first of them; `rows` may be more than LANES */
/* acc[t] += block b of a panel by each of T tokens. */
INLINE void add_block(Form f, int T, Sums *acc, const ActBlock *x, const uint8_t *panel, const PanelShape *s, size_t b);

/* What is to be in cache soon: `lines` cache lines a block from `at` on. */
typedef struct {
    const uint8_t *at;
    size_t lines;
} Ahead;

INLINE void prefetch(Ahead *ahead) {
    for (size_t i = 0; i < ahead->lines; i++, ahead->at += 64) __builtin_prefetch(ahead->at, 0, 2);
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
    return (Ahead){of->panel + of->s->size + i * each * blocks * 64, i * each * blocks < lines ? each : 0};
}

/* Tokens t .. t+T-1, in a tile of `packed`; x: the first block of token t. */
INLINE void tile_blocks(Form f, int T, size_t packed, const Strip *to, size_t t, const ActBlock *x, Ahead ahead) {
    Sums acc[TILE_TOKENS];
    UNROLL
    for (int i = 0; i < T; i++) acc[i] = no_sums();
    for (size_t b = 0; b < to->s->blocks; b++, x += packed) {
        prefetch(&ahead);
        add_block(f, T, acc, x, to->panel, to->s, b);
    }
    UNROLL
    for (size_t i = 0; i < (size_t)T; i++) store_sums(to->y + (t + i) * to->ldy, acc[i], to->rows);
}

/* One token by S panels, each `apart` panels behind the one before. Memory sets the pace, and wants to be asked early. */
INLINE void token_blocks(Form f, int S, float *y, const ActBlock *x, const uint8_t *panel, const PanelShape *s, size_t rows, size_t apart) {
    Sums acc[STREAMS];
    size_t step = s->size / s->blocks;
    UNROLL
    for (int i = 0; i < S; i++) acc[i] = no_sums();
    for (size_t b = 0; b < s->blocks; b++)
        UNROLL
        for (int i = 0; i < S; i++) {
            const uint8_t *at = panel + (size_t)i * apart * s->size;
            for (size_t k = 0; k < step; k += 64) __builtin_prefetch(at + b * step + AHEAD + k);
            add_block(f, 1, &acc[i], x + b, at, s, b);
        }
    UNROLL
    for (size_t i = 0; i < (size_t)S; i++) store_sums(y + i * apart * LANES, acc[i], rows - i * apart * LANES);
}

/* The panels of rows r0 .. r1-1 by one token, as STREAMS runs of the same length, side by side: memory gives more from two places at a time
 * than from one. */
INLINE void matmul_token(Form f, float *y, const ActBlock *x, const Matrix *w, const PanelShape *s, size_t r0, size_t r1) {
    size_t run = (r1 - r0) / (STREAMS * LANES), r = r0;
    for (; r < r0 + run * LANES; r += LANES) token_blocks(f, STREAMS, y + r, x, panel_of(w, s, r), s, r1 - r, run);
    for (r += (STREAMS - 1) * run * LANES; r < r1; r += LANES) token_blocks(f, 1, y + r, x, panel_of(w, s, r), s, r1 - r, 0);
}

/* Tiles of TILE_TOKENS where these are the widest that activations are packed in, then of 4, then of 1 (token_tile). */
INLINE void matmul_form(Form f, size_t widest, float *y, size_t ldy, const Activations *a, const Matrix *w, size_t r0, size_t r1) {
    PanelShape s = panel_shape(w, LANES);
    const ActBlock *x = a->data;
    if (a->n == 1) {
        matmul_token(f, y, x, w, &s, r0, r1);
        return;
    }
    const int T = tokens_at_once(f);
    size_t wide_end = widest == TILE_TOKENS ? a->n / TILE_TOKENS * TILE_TOKENS : 0, fours_end = a->n / 4 * 4;
    size_t tiles = wide_end / (size_t)T + (fours_end - wide_end) / 4 + a->n - fours_end;
    for (size_t r = r0; r < r1; r += LANES) {
        const Strip strip = {panel_of(w, &s, r), &s, y + r, ldy, r1 - r};
        size_t t = 0, i = 0;
        for (; t < wide_end; i++, t += (size_t)T) {
            const ActBlock *at = x + t / TILE_TOKENS * TILE_TOKENS * s.blocks + t % TILE_TOKENS;
            tile_blocks(f, T, TILE_TOKENS, &strip, t, at, next_panel(&strip, i, tiles));
        }
        for (; TILE_TOKENS > 4 && t < fours_end; i++, t += 4)
            tile_blocks(f, 4, 4, &strip, t, x + t * s.blocks, next_panel(&strip, i, tiles));
        for (; t < a->n; i++, t++) tile_blocks(f, 1, 1, &strip, t, x + t * s.blocks, next_panel(&strip, i, tiles));
    }
}

/* Every block format has a matmul_form of its own, in which f is constants. */
INLINE void matmul_blocks(size_t widest, float *y, size_t ldy, const Activations *a, const Matrix *w, size_t r0, size_t r1) {
    switch (w->type) {
    case TENSOR_F32: case TENSOR_F16: case TENSOR_BF16: break; /* float_blocks.h */
    case TENSOR_Q4_0: matmul_form((Form){.bits = 4, .sub = 32, .shift = 3}, widest, y, ldy, a, w, r0, r1); break;
    case TENSOR_Q4_1: matmul_form((Form){.bits = 4, .sub = 32, .shift = -1, .minima = 1}, widest, y, ldy, a, w, r0, r1); break;
    case TENSOR_Q5_0: matmul_form((Form){.bits = 5, .sub = 32, .shift = 4}, widest, y, ldy, a, w, r0, r1); break;
    case TENSOR_Q5_1: matmul_form((Form){.bits = 5, .sub = 32, .shift = -1, .minima = 1}, widest, y, ldy, a, w, r0, r1); break;
    case TENSOR_Q8_0: matmul_form((Form){.bits = 8, .sub = 32, .shift = 7}, widest, y, ldy, a, w, r0, r1); break;
    case TENSOR_Q2_K: matmul_form((Form){.bits = 2, .sub = 16, .shift = -1, .minima = 1, .super = 1}, widest, y, ldy, a, w, r0, r1); break;
    case TENSOR_Q3_K: matmul_form((Form){.bits = 3, .sub = 16, .shift = 2, .super = 1}, widest, y, ldy, a, w, r0, r1); break;
    case TENSOR_Q4_K: matmul_form((Form){.bits = 4, .sub = 32, .shift = -1, .minima = 1, .super = 1}, widest, y, ldy, a, w, r0, r1); break;
    case TENSOR_Q5_K: matmul_form((Form){.bits = 5, .sub = 32, .shift = -1, .minima = 1, .super = 1}, widest, y, ldy, a, w, r0, r1); break;
    case TENSOR_Q6_K: matmul_form((Form){.bits = 6, .sub = 16, .shift = 5, .super = 1}, widest, y, ldy, a, w, r0, r1); break;
    case TENSOR_IQ4_NL: matmul_form((Form){.bits = 4, .sub = 32, .shift = 7, .values = 1}, widest, y, ldy, a, w, r0, r1); break;
    case TENSOR_IQ4_XS: matmul_form((Form){.bits = 4, .sub = 32, .shift = 7, .values = 1, .super = 1}, widest, y, ldy, a, w, r0, r1); break;
    case TENSOR_I8_GROUPS:
        if (panel_fits(w)) matmul_form((Form){.bits = 8, .sub = 32, .shift = 7, .groups = 1}, widest, y, ldy, a, w, r0, r1);
        else ref_matmul.matmul(y, ldy, a, w, r0, r1);
    }
}

#endif
