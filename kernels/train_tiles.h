/* kernels/train_tiles.h - products of float matrices (train_kernels.h) in tiles of registers, once for all widths. A
 * row includes it behind its vectors (vectors.h) and says before it how large its tiles are:
 *     enum { TILE_ROWS = 12, TILE_VECTORS = 2 };
 *
 * A tile is TILE_ROWS rows of c by one panel: each entry of a meets a whole row of the panel, so that a load feeds
 * TILE_VECTORS or TILE_ROWS multiply-adds. TRAIN_DEPTH columns of a tile's rows of a stay in the first cache while the
 * panels go by; PANELS_AT_ONCE blocks of panels, TRAIN_DEPTH deep, and a lot of tiles stay in the second. What lies
 * further away is fetched while a tile is summed: where its sums go, and, towards the second cache, the rows of a that
 * come next. Few fetches can be on their way to the first. */
#ifndef TRAIN_TILES_H
#define TRAIN_TILES_H

#include "train_kernels.h"
#include "vectors.h"

#include <math.h>

enum { PANEL = TILE_VECTORS * VEC, PANELS_AT_ONCE = 512 / PANEL, LOT_ROWS = 48, LINE = 16 /* floats of a cache's */ };

/* NEAR rows of a are read by one pointer, at none, one and two times their distance, which an address can say. There
 * are fewer registers than a tile of twelve rows would need one by one. */
enum { NEAR = 3 };

INLINE void product_tile(float *c, size_t ldc, int add, Floats a, const float *panel, size_t step, size_t n,
                         size_t depth, size_t rows) {
    Vec sum[TILE_ROWS][TILE_VECTORS];
    UNROLL
    for (size_t i = 0; i < rows; i++) {
        UNROLL
        for (size_t v = 0; v < TILE_VECTORS; v++) sum[i][v] = vec_zero();
        UNROLL
        for (size_t v = 0; v < PANEL; v += LINE) __builtin_prefetch(c + i * ldc + v, 1);
    }
    const float *at[(TILE_ROWS + NEAR - 1) / NEAR];
    UNROLL
    for (size_t i = 0; i < rows; i += NEAR) at[i / NEAR] = a.at + i * a.row;
    for (size_t t = 0; t < depth; t++, panel += step) {
        Vec b[TILE_VECTORS];
        UNROLL
        for (size_t v = 0; v < TILE_VECTORS; v++) b[v] = vec_load(panel + v * VEC);
        UNROLL
        for (size_t i = 0; i < rows; i++) {
            Vec x = vec_all(at[i / NEAR][i % NEAR * a.row]);
            UNROLL
            for (size_t v = 0; v < TILE_VECTORS; v++) sum[i][v] = vec_fma(sum[i][v], x, b[v]);
        }
        UNROLL
        for (size_t i = 0; i < rows; i += NEAR) at[i / NEAR] += a.column;
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

/* Columns from .. end-1 of `rows` rows of a, towards the second cache. */
INLINE void fetch_rows(Floats a, size_t rows, size_t from, size_t end) {
    for (size_t t = from; t < end; t += LINE) {
        UNROLL
        for (size_t i = 0; i < rows; i++) __builtin_prefetch(a.at + i * a.row + t, 0, 2);
    }
}

/* `rows` rows of c, all panels of a block. With each panel comes a part of a's rows that are next, where they are not
 * near already. */
INLINE void product_rows(float *c, size_t ldc, int add, Floats a, Panels b, size_t n, size_t depth, size_t rows) {
    if (a.column != 1) {
        for (size_t j = 0; j < n; j += PANEL, b.at += b.panel)
            product_tile(c + j, ldc, add, (Floats){a.at, 1, a.column}, b.at, b.row, n - j, depth, rows);
        return;
    }
    const size_t part = (depth * PANEL / n / LINE + 1) * LINE;
    const Floats next = {a.at + rows * a.row, a.row, 1};
    for (size_t j = 0, t = 0; j < n; j += PANEL, t += part, b.at += b.panel) {
        fetch_rows(next, rows, t, t + part < depth ? t + part : depth);
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

/* Rows of the next tile, so that few are left to tiles of one. */
INLINE size_t tile_rows(size_t left) {
    int two_fours = TILE_ROWS == 6 && left >= 8 && left < 10;
    return left < 4 ? 1 : left < TILE_ROWS || two_fours ? 4 : TILE_ROWS;
}

/* A transposed matrix's rows lie far apart, and a line of memory that is fetched for one tile has other tiles' numbers.
 * So a lot of rows is copied first, tile behind tile, each as it is read: [depth, rows]. DEEP terms are done for all
 * tiles before the next, while their lines are in the cache, and those of the next are on their way. Behind each tile
 * there is SLACK a row, so that whole vectors may be written: the next one overwrites what is too much. */
enum { SLACK = 1, DEEP = 8 };
_Static_assert(VEC - TILE_ROWS <= SLACK * TILE_ROWS && LOT_ROWS % TILE_ROWS == 0, "of near_together");

INLINE void near_tile(float *to, Floats a, size_t depth, size_t rows, int whole) {
    for (size_t t = 0; t < depth; t++) {
        const float *from = a.at + t * a.column;
        __builtin_prefetch(from + DEEP * a.column);
        if (whole) vec_store(to + t * rows, vec_load(from));
        else memcpy(to + t * rows, from, rows * sizeof *to);
    }
}

NOINLINE void near_together(float *room, Floats a, size_t depth, size_t rows) {
    for (size_t t = 0; t < depth; t += DEEP)
        for (size_t i = 0, step; i < rows; i += step) {
            float *to = room + i * (depth + SLACK);
            size_t deep = depth - t < DEEP ? depth - t : DEEP;
            Floats from = {a.at + t * a.column + i, 1, a.column};
            step = tile_rows(rows - i);
            /* the usual number is a constant, so that its loop has no calls */
            if (step == TILE_ROWS) near_tile(to + t * TILE_ROWS, from, deep, TILE_ROWS, rows - i >= VEC);
            else near_tile(to + t * step, from, deep, step, 0);
        }
}

/* A lot of rows of c by a block of panels. */
static void product_lot(float *c, size_t ldc, int add, Floats a, Panels b, size_t m, size_t n, size_t depth) {
    enum { FEW = 2 * PANEL }; /* columns, for which nothing is worth being moved */
    float room[LOT_ROWS * (TRAIN_DEPTH + SLACK)];
    int moved = a.column != 1 && n > FEW;
    if (moved) near_together(room, a, depth, m);
    for (size_t i = 0, step; i < m; i += step) {
        Floats part = {a.at + i * a.row, a.row, a.column};
        step = tile_rows(m - i);
        if (moved) part = (Floats){room + i * (depth + SLACK), 1, step};
        (step == TILE_ROWS ? rows_most : step == 4 ? rows_four : rows_one)(c + i * ldc, ldc, add, part, b, n, depth);
    }
}

static void multiply(float *c, size_t ldc, int add, Floats a, Panels b, size_t m, size_t n, size_t depth) {
    for (size_t from = 0; from < depth; from += TRAIN_DEPTH)
        for (size_t j = 0; j < n; j += PANELS_AT_ONCE * PANEL)
            for (size_t i = 0; i < m; i += LOT_ROWS) {
                size_t deep = depth - from < TRAIN_DEPTH ? depth - from : TRAIN_DEPTH,
                       wide = n - j < PANELS_AT_ONCE * PANEL ? n - j : PANELS_AT_ONCE * PANEL;
                product_lot(c + i * ldc + j, ldc, add || from,
                            (Floats){a.at + i * a.row + from * a.column, a.row, a.column},
                            (Panels){b.at + j / PANEL * b.panel + from * b.row, b.row, b.panel},
                            m - i < LOT_ROWS ? m - i : LOT_ROWS, wide, deep);
            }
}

/* A panel of `some` columns of a matrix that lies by columns. */
static void pack_turned(float *panel, Floats b, size_t depth, size_t some) {
    size_t t = 0, j;
    for (; t + 4 <= depth; t += 4) {
        for (j = 0; j + 8 <= some; j += 8) vec_turn(panel + t * PANEL + j, PANEL, b.at + t + j * b.column, b.column);
        for (; j < some; j++)
            for (size_t i = t; i < t + 4; i++) panel[i * PANEL + j] = b.at[i + j * b.column];
    }
    for (; t < depth; t++)
        for (j = 0; j < some; j++) panel[t * PANEL + j] = b.at[t + j * b.column];
}

enum { LINES = 8 };

/* So many lines of a panel, of a matrix that lies by rows; the next LINES are fetched. */
INLINE void pack_lines(float *panel, const float *from, size_t row, size_t some, size_t lines) {
    for (size_t t = 0; t < lines; t++, panel += PANEL, from += row) {
        UNROLL
        for (size_t v = 0; v < PANEL; v += LINE) __builtin_prefetch(from + LINES * row + v, 0, 2);
        UNROLL
        for (size_t v = 0; v < PANEL; v += VEC)
            vec_store(panel + v, vec_load_some(TENSOR_F32, from + v, v < some ? some - v : 0));
    }
}

/* A panel's lines are written one behind the other, LINES at a time: the same line of many panels, one after another,
 * falls on the same few places of a cache. */
static void pack_by_rows(float *panels, Floats b, size_t depth, size_t n) {
    for (size_t t = 0; t < depth; t += LINES)
        for (size_t first = 0; first < n; first += PANEL) {
            size_t lines = depth - t < LINES ? depth - t : LINES;
            float *to = panels + first * depth + t * PANEL;
            const float *from = b.at + t * b.row + first;
            if (n - first >= PANEL) pack_lines(to, from, b.row, PANEL, lines); /* a constant, as above */
            else pack_lines(to, from, b.row, n - first, lines);
        }
}

static void pack(float *panels, Floats b, size_t depth, size_t n) {
    if (b.column == 1) {
        pack_by_rows(panels, b, depth, n);
        return;
    }
    for (size_t first = 0; first < n; first += PANEL, panels += depth * PANEL) {
        size_t some = n - first < PANEL ? n - first : PANEL;
        if (some < PANEL) memset(panels, 0, depth * PANEL * sizeof *panels);
        pack_turned(panels, (Floats){b.at + first * b.column, 1, b.column}, depth, some);
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
    for (size_t half = LANES / 2; half; half /= 2)
        for (size_t j = 0; j < half; j++) most[j] = most[j + half] > most[j] ? most[j + half] : most[j];
    return *most > all ? *most : all;
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
