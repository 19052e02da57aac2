/* kernels/float_blocks.h - matmul for float weights, whatever the width of a vector. An output is the sum of VEC
 * partial sums, column j going to sum j % VEC; they are folded in pairs of neighbours after each 2048 columns.
 *
 * Few tokens meet rows as the file has them, a lane for each partial sum. For many, blocks of 1 or 2 vectors of rows x
 * 2048 columns are transposed, so that a lane is a row and nothing has to be folded across lanes: all columns of the
 * first partial sum come first, then those of the second. The sums are the same, in the same order.
 *
 * A row includes this behind its vectors (vectors.h) and
 *     enum { FLOAT_TOKENS };   tokens of the widest tile where they are many; of half as many where they are few
 * and it defines the functions declared first. */
#ifndef FLOAT_BLOCKS_H
#define FLOAT_BLOCKS_H

#include "inline.h"
#include "kernels.h"
#include "panel.h"

enum { MOST_VECTORS = 2, MOST_LEVELS = 5, FLOAT_FEW = FEW_OF(FLOAT_TOKENS) };
_Static_assert(FLOAT_FEW >= 1 && FLOAT_FEW <= 6, "rows_few has a case for each");
enum { AHEAD_FLOATS = 2048 }; /* bytes that the weights of few tokens are asked for early */
typedef float Four __attribute__((vector_size(16)));

/* The sums of four vectors' lanes: neighbours, then neighbours of these, and so on. */
INLINE Four fold4(const Vec *v);
/* Columns c .. c+3 of the rows i, i+4, i+8 .., each four in a quarter (a half where VEC is 8) of the vector. */
INLINE Vec every_fourth(float (*from)[VEC], int i, int c);
/* In each quarter a0 b0 a1 b1, or a2 b2 a3 b3; the same with pairs of floats: a01 b01, or a23 b23. */
INLINE Vec zip_low(Vec a, Vec b);
INLINE Vec zip_high(Vec a, Vec b);
INLINE Vec zip_low_pairs(Vec a, Vec b);
INLINE Vec zip_high_pairs(Vec a, Vec b);

/* to[c * stride + r] = from[r][c]: squares of 4 x 4. */
INLINE void transpose(float *to, size_t stride, float (*from)[VEC]) {
    UNROLL
    for (int c = 0; c < VEC; c += 4, to += 4 * stride) {
        Vec a = every_fourth(from, 0, c), b = every_fourth(from, 1, c);
        Vec d = every_fourth(from, 2, c), e = every_fourth(from, 3, c);
        Vec ab01 = zip_low(a, b), ab23 = zip_high(a, b), de01 = zip_low(d, e), de23 = zip_high(d, e);
        vec_store(to, zip_low_pairs(ab01, de01));
        vec_store(to + stride, zip_high_pairs(ab01, de01));
        vec_store(to + 2 * stride, zip_low_pairs(ab23, de23));
        vec_store(to + 3 * stride, zip_high_pairs(ab23, de23));
    }
}

INLINE size_t float_bytes(TensorType type) { return type == TENSOR_F32 ? 4 : 2; }

/* VEC columns, of which n exist, of four rows, `step` bytes apart, by T tokens, whose columns stand side by side. */
INLINE void few_columns(TensorType type, int T, Vec (*acc)[4], const uint8_t *w, size_t step, const float *x,
                        size_t n) {
    Vec xv[FLOAT_FEW];
    UNROLL
    for (int t = 0; t < T; t++) xv[t] = vec_pin(vec_load(x + t * VEC));
    UNROLL
    for (size_t i = 0; i < 4; i++) {
        Vec wv = vec_load_some(type, w + i * step, n);
        UNROLL
        for (int t = 0; t < T; t++) acc[t][i] = vec_fma(acc[t][i], wv, xv[t]);
    }
}

/* What is fetched while few tokens meet a row, in bytes behind its begin, and by how much it moves from a cache line of
 * the row to the next, and from one pass over it to the next. One pass is a little ahead of itself. Several share the
 * next row between them, so that memory is busy in each. To the second cache: the first one has too few places for
 * lines under way, and loads that wait for one would hold the others up. */
typedef struct { size_t at, each, pass; } Fetched;

/* Four rows of d columns, `step` bytes apart, by T tokens, 1 to FLOAT_FEW; outputs `apart` from each other. Four rows
 * hide the latency of an FMA. They come a cache line of each at a time. */
INLINE void few_floats(TensorType type, int T, float *y, size_t ldy, size_t apart, const float *x, const uint8_t *w,
                       size_t d, size_t step, Fetched f) {
    size_t each = float_bytes(type), line = 64 / each;
    Four sum[FLOAT_FEW];
    UNROLL
    for (int t = 0; t < T; t++) sum[t] = (Four){0};
    for (size_t n; d; d -= n) {
        Vec acc[FLOAT_FEW][4];
        n = d < FLOAT_COLUMNS ? d : FLOAT_COLUMNS;
        UNROLL
        for (int t = 0; t < T; t++)
            UNROLL
            for (int i = 0; i < 4; i++) acc[t][i] = vec_zero();
        size_t k = 0;
        for (; k + line <= n; k += line, f.at += f.each) {
            UNROLL
            for (size_t i = 0; i < 4; i++) __builtin_prefetch(w + i * step + f.at, 0, 2);
            UNROLL
            for (size_t j = 0; j < line; j += VEC)
                few_columns(type, T, acc, w + each * (k + j), step, x + (k + j) * (size_t)T, VEC);
        }
        for (; k + VEC <= n; k += VEC) few_columns(type, T, acc, w + each * k, step, x + k * (size_t)T, VEC);
        if (k < n) few_columns(type, T, acc, w + each * k, step, x + k * (size_t)T, n - k);
        UNROLL
        for (int t = 0; t < T; t++) sum[t] += fold4(acc[t]);
        w += each * n, x += n * (size_t)T, f.at -= each * n;
    }
    UNROLL
    for (int t = 0; t < T; t++)
        UNROLL
        for (size_t i = 0; i < 4; i++) y[(size_t)t * ldy + i * apart] = sum[t][i];
}

/* Floats from a partial sum's first column to the next one's: a line more than it takes, or all would fall into the
 * same sets of a cache. */
INLINE size_t transposed_stride(int V, size_t steps) { return steps * (size_t)V * VEC + 16; }

/* V vectors of rows from r0 on, those behind r1 zero; columns k0 .. k1-1. To out [VEC][steps][V * VEC], the parts of
 * the partial sums transposed_stride apart. */
INLINE void transpose_block(TensorType type, int V, float *out, const Matrix *m, size_t r0, size_t r1, size_t k0,
                            size_t k1) {
    size_t each = float_bytes(type), steps = float_columns(k1 - k0, VEC) / VEC;
    const uint8_t *data = m->data;
    for (size_t s = 0; s < steps; s++)
        for (size_t r = r0; r < r0 + (size_t)V * VEC; r += VEC, out += VEC) {
            _Alignas(64) float square[VEC][VEC];
            for (size_t i = 0, k = k0 + s * VEC; i < VEC; i++) {
                const uint8_t *at = data + ((r + i) * m->cols + k) * each;
                vec_store(square[i], r + i < r1 ? vec_load_some(type, at, k1 - k) : vec_zero());
            }
            transpose(out, transposed_stride(V, steps), square);
        }
}

/* Rows that are wanted soon, fetched a few cache lines at a time: many at once would be waited for. */
typedef struct {
    const uint8_t *row;
    size_t bytes, lines, line, each; /* from row to row, of a row, the next one's, at a time */
} RowsAhead;

INLINE void fetch_rows(RowsAhead *a) {
    for (size_t i = 0; i < a->each; i++) {
        __builtin_prefetch(a->row + a->line * 64, 0, 2);
        if (++a->line == a->lines) a->line = 0, a->row += a->bytes;
    }
}

/* The same columns of the rows behind the first r, as many as V vectors have, in so many times. */
INLINE RowsAhead rows_ahead(TensorType type, int V, const Matrix *m, size_t r, size_t k0, size_t k1, size_t times) {
    size_t each = float_bytes(type), lines = ((k1 - k0) * each + 63) / 64;
    RowsAhead a = {.row = (const uint8_t *)m->data + (r * m->cols + k0) * each, .bytes = m->cols * each};
    a.lines = lines;
    a.each = ((size_t)V * VEC * lines + times - 1) / times;
    return a;
}

/* V vectors of rows by T tokens: w as transpose_block leaves it, x [VEC][steps][T]. The last partial sum is folded with
 * the one before, that pair with the pair before, and so on, as the bits of a counter carry. more: y has the sum of
 * earlier columns. */
INLINE void tile_floats(int V, int T, float *y, size_t ldy, size_t rows, const float *x, const float *w, size_t steps,
                        int more, RowsAhead *ahead) {
    Vec pairs[MOST_LEVELS][MOST_VECTORS][FLOAT_TOKENS];
    int level = 0;
    for (int lane = 0; lane < VEC; lane++, w += transposed_stride(V, steps)) {
        Vec acc[MOST_VECTORS][FLOAT_TOKENS];
        const float *at = w;
        fetch_rows(ahead);
        UNROLL
        for (int t = 0; t < T; t++)
            UNROLL
            for (int v = 0; v < V; v++) acc[v][t] = vec_zero();
        for (size_t s = 0; s < steps; s++, x += T, at += V * VEC) {
            UNROLL
            for (int v = 0; v < V; v++) __builtin_prefetch(at + (v + 16) * VEC);
            __builtin_prefetch(x + 32 * T);
            UNROLL
            for (int t = 0; t < T; t++)
                UNROLL
                for (int v = 0; v < V; v++) acc[v][t] = vec_fma(acc[v][t], vec_load(at + v * VEC), vec_all(x[t]));
        }
        for (level = 0; lane >> level & 1; level++)
            UNROLL
            for (int t = 0; t < T; t++)
                UNROLL
                for (int v = 0; v < V; v++) acc[v][t] = vec_add(pairs[level][v][t], acc[v][t]);
        UNROLL
        for (int t = 0; t < T; t++)
            UNROLL
            for (int v = 0; v < V; v++) pairs[level][v][t] = acc[v][t];
    }
    for (int v = 0; v < V && (size_t)v * VEC < rows; v++)
        for (int t = 0; t < T; t++) {
            float *to = y + (size_t)t * ldy + v * VEC;
            size_t left = rows - (size_t)v * VEC;
            Vec before = more ? vec_load_some(TENSOR_F32, to, left) : vec_zero();
            vec_store_some(to, vec_add(before, pairs[level][v][t]), left);
        }
}

/* V vectors of rows from r on, of which those below r1 exist, by all tokens. */
INLINE void rows_floats(TensorType type, int V, float *y, size_t ldy, const Activations *a, const Matrix *m, size_t r,
                        size_t r1) {
    float *w = float_scratch();
    size_t tiles = a->n / FLOAT_TOKENS + narrow_tiles(a->n, FLOAT_TOKENS);
    size_t padded = float_columns(a->d, VEC);
    for (size_t k0 = 0; k0 < a->d; k0 += FLOAT_COLUMNS) {
        size_t k1 = k0 + FLOAT_COLUMNS < a->d ? k0 + FLOAT_COLUMNS : a->d, steps = float_columns(k1 - k0, VEC) / VEC;
        RowsAhead ahead = rows_ahead(type, V, m, r1, k0, k1, tiles * VEC);
        transpose_block(type, V, w, m, r, r1, k0, k1);
        for (size_t t = 0, T; t < a->n; t += T) {
            T = token_tile(t, a->n, FLOAT_TOKENS).n;
            const float *x = (const float *)a->data + t * padded + k0 * T;
            float *to = y + t * ldy + r;
            if (T == FLOAT_TOKENS) tile_floats(V, FLOAT_TOKENS, to, ldy, r1 - r, x, w, steps, k0 > 0, &ahead);
            else if (FLOAT_TOKENS > 8 && T == 8) tile_floats(V, 8, to, ldy, r1 - r, x, w, steps, k0 > 0, &ahead);
            else if (T == 4) tile_floats(V, 4, to, ldy, r1 - r, x, w, steps, k0 > 0, &ahead);
            else if (T == 3) tile_floats(V, 3, to, ldy, r1 - r, x, w, steps, k0 > 0, &ahead);
            else if (T == 2) tile_floats(V, 2, to, ldy, r1 - r, x, w, steps, k0 > 0, &ahead);
            else tile_floats(V, 1, to, ldy, r1 - r, x, w, steps, k0 > 0, &ahead);
        }
    }
}

/* Four rows by few tokens, FLOAT_FEW at a time: they come from memory once, and stay in the cache until the last token
 * has met them. One token, the usual case, has its offsets as constants. */
INLINE void rows_few(TensorType type, float *y, size_t ldy, size_t apart, const Activations *a, size_t padded,
                     const uint8_t *w, size_t step, Fetched f) {
    const float *x = a->data;
    size_t d = a->d, left = a->n;
    if (left == 1) {
        few_floats(type, 1, y, ldy, apart, x, w, d, step, (Fetched){AHEAD_FLOATS, 64, 0});
        return;
    }
    const size_t each = few_tokens(a->n, FLOAT_FEW);
    for (size_t n; left; left -= n, y += n * ldy, x += n * padded, f.at += f.pass)
        switch (n = left < each ? left : each) {
        case 1: few_floats(type, 1, y, ldy, apart, x, w, d, step, f); break;
        case 2: few_floats(type, 2, y, ldy, apart, x, w, d, step, f); break;
        case 3: few_floats(type, 3, y, ldy, apart, x, w, d, step, f); break;
        case 4: if (FLOAT_FEW >= 4) few_floats(type, 4, y, ldy, apart, x, w, d, step, f); break;
        case 5: if (FLOAT_FEW >= 5) few_floats(type, 5, y, ldy, apart, x, w, d, step, f); break;
        case 6: if (FLOAT_FEW >= 6) few_floats(type, 6, y, ldy, apart, x, w, d, step, f); break;
        }
}

/* Memory sets the pace, and gives more from four places at a time: the rows are read as four runs of the same length,
 * side by side. What four do not divide is read four times, from the cache. */
INLINE void matmul_few(TensorType type, float *y, size_t ldy, const Activations *a, const Matrix *m, size_t r0,
                       size_t r1) {
    size_t run = (r1 - r0) / 4, row = m->cols * float_bytes(type), padded = float_columns(a->d, VEC);
    size_t passes = (a->n + FLOAT_FEW - 1) / FLOAT_FEW;
    Fetched f = {passes == 1 ? AHEAD_FLOATS : row, (64 + passes - 1) / passes, row / passes};
    const uint8_t *w = m->data;
    for (size_t i = 0; i < run + (r1 - r0) % 4; i++) {
        size_t apart = i < run ? run : 0, r = r0 + i + (i < run ? 0 : 3 * run);
        rows_few(type, y + r, ldy, apart, a, padded, w + r * row, apart * row, f);
    }
}

INLINE void matmul_floats(TensorType type, float *y, size_t ldy, const Activations *a, const Matrix *m, size_t r0,
                          size_t r1) {
    size_t r = r0, two = 2 * VEC;
    if (a->n < FLOAT_MANY) {
        matmul_few(type, y, ldy, a, m, r0, r1);
        return;
    }
    for (; r1 > r + VEC; r += two) rows_floats(type, 2, y, ldy, a, m, r, r + two < r1 ? r + two : r1);
    if (r < r1) rows_floats(type, 1, y, ldy, a, m, r, r1);
}

/* Each type has a function of its own, whose loops have the registers to themselves. */
NOINLINE void matmul_f32(float *y, size_t ldy, const Activations *a, const Matrix *m, size_t r0, size_t r1) {
    matmul_floats(TENSOR_F32, y, ldy, a, m, r0, r1);
}

NOINLINE void matmul_f16(float *y, size_t ldy, const Activations *a, const Matrix *m, size_t r0, size_t r1) {
    matmul_floats(TENSOR_F16, y, ldy, a, m, r0, r1);
}

NOINLINE void matmul_bf16(float *y, size_t ldy, const Activations *a, const Matrix *m, size_t r0, size_t r1) {
    matmul_floats(TENSOR_BF16, y, ldy, a, m, r0, r1);
}

/* 1 where w's type is one of floats, and the product is done; 0: it is not. */
INLINE int matmul_any_floats(float *y, size_t ldy, const Activations *a, const Matrix *w, size_t r0, size_t r1) {
    if (w->type == TENSOR_F32) matmul_f32(y, ldy, a, w, r0, r1);
    else if (w->type == TENSOR_F16) matmul_f16(y, ldy, a, w, r0, r1);
    else if (w->type == TENSOR_BF16) matmul_bf16(y, ldy, a, w, r0, r1);
    else return 0;
    return 1;
}

#endif
