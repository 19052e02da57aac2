/* kernels/train_tiles.h - products of float matrices (train_kernels.h) in tiles of registers, once for all widths. A
 * row includes it behind its vectors (vectors.h) and says before it how large its tiles are:
 *     enum { TILE_ROWS = 12, TILE_VECTORS = 2 };
 *
 * A tile is TILE_ROWS rows of c by one panel: each entry of a meets a whole row of the panel, so that a load feeds
 * TILE_VECTORS or TILE_ROWS multiply-adds. TRAIN_DEPTH columns of a tile's rows of a stay in the first cache while the
 * panels go by; PANELS_AT_ONCE blocks of panels, TRAIN_DEPTH deep, stay in the second. */
#ifndef TRAIN_TILES_H
#define TRAIN_TILES_H

#include "train_kernels.h"
#include "vectors.h"

#include <math.h>

enum { PANEL = TILE_VECTORS * VEC, PANELS_AT_ONCE = 512 / PANEL };

INLINE void product_tile(float *c, size_t ldc, int add, Floats a, const float *panel, size_t step, size_t n,
                         size_t depth, size_t rows) {
    Vec sum[TILE_ROWS][TILE_VECTORS];
    UNROLL
    for (size_t i = 0; i < rows; i++) {
        UNROLL
        for (size_t v = 0; v < TILE_VECTORS; v++) sum[i][v] = vec_zero();
    }
    for (size_t t = 0; t < depth; t++, panel += step) {
        Vec b[TILE_VECTORS];
        UNROLL
        for (size_t v = 0; v < TILE_VECTORS; v++) b[v] = vec_load(panel + v * VEC);
        UNROLL
        for (size_t i = 0; i < rows; i++) {
            Vec x = vec_all(a.at[i * a.row + t * a.column]);
            UNROLL
            for (size_t v = 0; v < TILE_VECTORS; v++) sum[i][v] = vec_fma(sum[i][v], x, b[v]);
        }
    }
    UNROLL
    for (size_t i = 0; i < rows; i++) {
        UNROLL
        for (size_t v = 0; v < TILE_VECTORS; v++) {
            if (v * VEC >= n) continue;
            float *to = c + i * ldc + v * VEC;
            size_t some = n - v * VEC;
            if (some >= VEC) vec_store(to, add ? vec_add(vec_load(to), sum[i][v]) : sum[i][v]);
            else vec_store_some(to, add ? vec_add(vec_load_some(TENSOR_F32, to, some), sum[i][v]) : sum[i][v], some);
        }
    }
}

/* The rows of a tile [rows, depth] one behind the other, as a tile reads them: of a transposed matrix they lie far
 * apart. */
INLINE Floats near_together(float *room, Floats a, size_t depth, size_t rows) {
    for (size_t t = 0; t < depth; t++) memcpy(room + t * rows, a.at + t * a.column, rows * sizeof *room);
    return (Floats){room, 1, rows};
}

/* `rows` rows of c, all panels of a block. */
INLINE void product_rows(float *c, size_t ldc, int add, Floats a, Panels b, size_t n, size_t depth, size_t rows) {
    float room[TILE_ROWS * TRAIN_DEPTH];
    if (a.column != 1) {
        a = near_together(room, a, depth, rows);
        for (size_t j = 0; j < n; j += PANEL, b.at += b.panel)
            product_tile(c + j, ldc, add, (Floats){a.at, 1, rows}, b.at, b.row, n - j, depth, rows);
    } else {
        for (size_t j = 0; j < n; j += PANEL, b.at += b.panel)
            product_tile(c + j, ldc, add, (Floats){a.at, a.row, 1}, b.at, b.row, n - j, depth, rows);
    }
}

NOINLINE void rows_most(float *c, size_t ldc, int add, Floats a, Panels b, size_t n, size_t depth) {
    product_rows(c, ldc, add, a, b, n, depth, TILE_ROWS);
}

NOINLINE void rows_four(float *c, size_t ldc, int add, Floats a, Panels b, size_t n, size_t depth) {
    product_rows(c, ldc, add, a, b, n, depth, 4);
}

NOINLINE void rows_one(float *c, size_t ldc, int add, Floats a, Panels b, size_t n, size_t depth) {
    product_rows(c, ldc, add, a, b, n, depth, 1);
}

static void multiply(float *c, size_t ldc, int add, Floats a, Panels b, size_t m, size_t n, size_t depth) {
    for (size_t from = 0; from < depth; from += TRAIN_DEPTH)
        for (size_t j = 0; j < n; j += PANELS_AT_ONCE * PANEL) {
            size_t deep = depth - from < TRAIN_DEPTH ? depth - from : TRAIN_DEPTH,
                   wide = n - j < PANELS_AT_ONCE * PANEL ? n - j : PANELS_AT_ONCE * PANEL;
            Panels block = {b.at + j / PANEL * b.panel + from * b.row, b.row, b.panel};
            for (size_t i = 0, step; i < m; i += step) {
                Floats part = {a.at + i * a.row + from * a.column, a.row, a.column};
                step = m - i >= TILE_ROWS ? TILE_ROWS : m - i >= 4 ? 4 : 1;
                (step == TILE_ROWS ? rows_most : step == 4 ? rows_four : rows_one)(
                    c + i * ldc + j, ldc, add || from, part, block, wide, deep);
            }
        }
}

static void pack(float *panels, Floats b, size_t depth, size_t n) {
    for (size_t first = 0; first < n; first += PANEL, panels += depth * PANEL) {
        size_t some = n - first < PANEL ? n - first : PANEL;
        if (some < PANEL) memset(panels, 0, depth * PANEL * sizeof *panels);
        if (b.column == 1)
            for (size_t t = 0; t < depth; t++) memcpy(panels + t * PANEL, b.at + t * b.row + first, 4 * some);
        else
            for (size_t j = 0; j < some; j++)
                for (size_t t = 0; t < depth; t++) panels[t * PANEL + j] = b.at[t + (first + j) * b.column];
    }
}

static double exp_all(float *x, size_t n, float times, float less) {
    enum { PARTS = VEC / VEC64 };
    Vec by = vec_all(times), from = vec_all(-less);
    Vec64 sums[PARTS];
    double lane[VEC], sum = 0;
    size_t i = 0;
    for (int part = 0; part < PARTS; part++) sums[part] = vec64_zero();
    for (; i + VEC <= n; i += VEC) {
        vec_store(x + i, vec_exp(vec_fma(from, vec_load(x + i), by)));
        for (int part = 0; part < PARTS; part++)
            sums[part] = vec64_fma(sums[part], vec64_all(1), vec64_load_floats(x + i + part * VEC64));
    }
    if (i < n) vec_store_some(x + i, vec_exp(vec_fma(from, vec_load_some(TENSOR_F32, x + i, n - i), by)), n - i);
    for (int part = 0; part < PARTS; part++) vec64_store(lane + part * VEC64, sums[part]);
    for (int j = 0; j < VEC; j++) sum += lane[j];
    for (; i < n; i++) sum += x[i];
    return sum;
}

/* In lanes that the compiler keeps in vectors, as it does with the loops below that have no sum and so no order. */
static float largest(const float *x, size_t n) {
    enum { LANES = 32 };
    float most[LANES], all = x[0];
    size_t i = 0;
    for (size_t j = 0; j < LANES; j++) most[j] = x[0];
    for (; i + LANES <= n; i += LANES)
        for (size_t j = 0; j < LANES; j++) most[j] = x[i + j] > most[j] ? x[i + j] : most[j];
    for (; i < n; i++) all = x[i] > all ? x[i] : all;
    for (size_t j = 0; j < LANES; j++) all = most[j] > all ? most[j] : all;
    return all;
}

static void softmax_back(float *d, const float *p, float along, float times, size_t n) {
    for (size_t j = 0; j < n; j++) d[j] = times * (p[j] * (d[j] - along));
}

static float rmsnorm_back(float *dx, const float *dy, const float *x, const float *w, size_t n, float eps) {
    Vec square = vec_zero(), along = square;
    for (size_t i = 0; i < n; i += VEC) {
        Vec v = vec_load_some(TENSOR_F32, x + i, n - i);
        Vec g = vec_mul(vec_load_some(TENSOR_F32, dy + i, n - i), vec_load_some(TENSOR_F32, w + i, n - i));
        square = vec_fma(square, v, v);
        along = vec_fma(along, g, v);
    }
    float r = 1 / sqrtf(vec_sum(square) / (float)n + eps), b = r * r * r / (float)n * vec_sum(along);
    for (size_t i = 0; i < n; i++) dx[i] += r * (dy[i] * w[i]) - b * x[i];
    return r;
}

static void swiglu_back(float *dgate, float *dup, const float *dh, const float *gate, const float *up, size_t n) {
    enum { LOT = 4 * VEC };
    float s[LOT];
    for (size_t from = 0; from < n; from += LOT, dgate += LOT, dup += LOT, dh += LOT, gate += LOT, up += LOT) {
        size_t some = n - from < LOT ? n - from : LOT;
        for (size_t i = 0; i < some; i += VEC)
            vec_store(s + i, vec_exp(vec_sub(vec_zero(), vec_load_some(TENSOR_F32, gate + i, some - i))));
        for (size_t i = 0; i < some; i++) {
            float of = 1 / (1 + s[i]), d = dh[i] * of;
            dup[i] = d * gate[i];
            dgate[i] = d * up[i] * (1 + gate[i] * (1 - of));
        }
    }
}

#define TRAIN_KERNELS                                                                                              \
    {.width = PANEL, .pack = pack, .multiply = multiply, .exp = exp_all, .largest = largest,                       \
     .softmax_back = softmax_back, .rmsnorm_back = rmsnorm_back, .swiglu_back = swiglu_back}

#endif
