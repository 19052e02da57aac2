/* tests/emulated/tiles.h - AMX's instructions in C, those that kernels/x86/amx.c uses. Comes before it (Makefile).
 * Source: Intel's Architecture Instruction Set Extensions, chapter 3. */
#ifndef TILES_H
#define TILES_H

#include <immintrin.h>
#include <stdint.h>
#include <string.h>

static struct {
    uint8_t palette, start, reserved[14];
    uint16_t bytes[16]; /* of a tile's row */
    uint8_t rows[16];
} shapes;
static uint8_t tile_rows[8][16][64];

static void in_c_loadconfig(const void *config) { memcpy(&shapes, config, sizeof shapes); }
static void in_c_release(void) { memset(&shapes, 0, sizeof shapes); }
static void in_c_zero(int t) { memset(tile_rows[t], 0, sizeof tile_rows[t]); }

static void in_c_loadd(int t, const void *from, size_t apart) {
    in_c_zero(t);
    for (size_t r = 0; r < shapes.rows[t]; r++)
        memcpy(tile_rows[t][r], (const uint8_t *)from + r * apart, shapes.bytes[t]);
}

static void in_c_stored(int t, void *to, size_t apart) {
    for (size_t r = 0; r < shapes.rows[t]; r++) memcpy((uint8_t *)to + r * apart, tile_rows[t][r], shapes.bytes[t]);
}

/* to[m][n] += sum of i < 4, k: a[m][4k + i] * b[k][4n + i], bytes with a sign. */
static void in_c_dpbssd(int to, int a, int b) {
    for (int m = 0; m < shapes.rows[to]; m++)
        for (int n = 0; n < shapes.bytes[to] / 4; n++) {
            int32_t sum;
            memcpy(&sum, &tile_rows[to][m][4 * n], 4);
            for (int k = 0; k < shapes.bytes[a] / 4; k++)
                for (int i = 0; i < 4; i++)
                    sum += (int8_t)tile_rows[a][m][4 * k + i] * (int8_t)tile_rows[b][k][4 * n + i];
            memcpy(&tile_rows[to][m][4 * n], &sum, 4);
        }
}

#define kernels_amx kernels_amx_emulated
#undef _tile_loadconfig
#undef _tile_release
#undef _tile_zero
#undef _tile_loadd
#undef _tile_stored
#undef _tile_dpbssd
#define _tile_loadconfig in_c_loadconfig
#define _tile_release in_c_release
#define _tile_zero in_c_zero
#define _tile_loadd in_c_loadd
#define _tile_stored in_c_stored
#define _tile_dpbssd in_c_dpbssd

#endif
