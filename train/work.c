/* train/work.c - products and sums by a team. */
#include "work.h"

#include "base/base.h"
#include "base/system.h"

#include <errno.h>
#include <string.h>

enum { BLOCK_WIDE = 256, BLOCK = BLOCK_WIDE * TRAIN_DEPTH }; /* columns, and floats, of a block of a product */

int work_init(Work *w, const Kernels *kernels, int threads) {
    *w = (Work){.kernels = kernels, .k = kernels->train};
    return team_init(&w->team, threads ? threads : threads_most());
}

static size_t larger(size_t a, size_t b) { return a > b ? a : b; }

void work_reserve(Work *w, size_t panels, size_t room, size_t rows) {
    w->panels_size = larger(w->panels_size, panels);
    w->room_size = larger(w->room_size, (room + 15) / 16 * 16);
    w->rows_size = larger(w->rows_size, rows);
}

static float *floats_new(size_t n, size_t times) {
    size_t bytes;
    return size_mul(n, times, &bytes) && size_mul(bytes, sizeof(float), &bytes) ? pages_new(bytes ? bytes : 1) : NULL;
}

size_t work_bytes(const Work *w) {
    return sizeof(float) * (w->panels_size + (w->room_size + BLOCK) * (size_t)w->team.most + w->rows_size);
}

int work_allocate(Work *w) {
    w->panels = floats_new(w->panels_size, 1);
    w->room = floats_new(w->room_size, (size_t)w->team.most);
    w->rows = floats_new(w->rows_size, 1);
    w->blocks = floats_new(BLOCK, (size_t)w->team.most);
    return w->panels && w->room && w->rows && w->blocks ? 0 : -ENOMEM;
}

void work_free(Work *w) {
    pages_free(w->panels, w->panels_size * sizeof *w->panels);
    pages_free(w->room, w->room_size * (size_t)w->team.most * sizeof *w->room);
    pages_free(w->rows, w->rows_size * sizeof *w->rows);
    pages_free(w->blocks, BLOCK * (size_t)w->team.most * sizeof *w->blocks);
    team_free(&w->team);
    *w = (Work){0};
}

size_t work_panels(const Work *w, size_t n, size_t depth) {
    return (n + w->k->width - 1) / w->k->width * w->k->width * depth;
}

/* b [depth, n], a matrix that lies by columns, packed by the team. */
static Panels panels_of(Work *w, Floats b, size_t n, size_t depth) {
    size_t wide = w->k->width;
    for (Share i = team_share(&w->team, (n + wide - 1) / wide); i.at < i.end; i.at++) {
        Floats from = {b.at + i.at * wide * b.column, b.row, b.column};
        w->k->pack(w->panels + i.at * wide * depth, from, depth, n - i.at * wide < wide ? n - i.at * wide : wide);
    }
    team_wait(&w->team);
    return panels_packed(w->k, w->panels, depth);
}

enum { TALL = 4 }; /* rows that threads share out together: few, for some matrices have few */

static size_t shares_of(const Product *p) { return (p->m + TALL - 1) / TALL; }

/* A share's rows, as a product of their own. */
static Product rows_of(const Product *p, Share r) {
    size_t first = r.at * TALL < p->m ? r.at * TALL : p->m, end = r.end * TALL < p->m ? r.end * TALL : p->m;
    return (Product){p->c + first * p->ldc, p->ldc, p->add, {p->a.at + first * p->a.row, p->a.row, p->a.column},
                     end - first};
}

/* By panels of a whole matrix: who is done with its rows helps the others. */
static void by_panels(Work *w, const Product *p, size_t products, Panels b, size_t n, size_t depth) {
    for (size_t i = 0; i < products; i++)
        for (Share r; team_take(&w->team, shares_of(&p[i]), &r);) {
            Product part = rows_of(&p[i], r);
            w->k->multiply(part.c, part.ldc, part.add, part.a, b, part.m, n, depth);
        }
}

/* By a matrix that lies by rows: each block of it becomes panels first, which are then read from the thread's own
 * cache, one number behind the other. */
static void by_blocks(const Work *w, const Product *p, size_t products, Floats b, size_t n, size_t depth) {
    float *panels = w->blocks + (size_t)team_member() * BLOCK;
    for (size_t t = 0; t < depth; t += TRAIN_DEPTH)
        for (size_t j = 0; j < n; j += BLOCK_WIDE) {
            size_t deep = depth - t < TRAIN_DEPTH ? depth - t : TRAIN_DEPTH,
                   wide = n - j < BLOCK_WIDE ? n - j : BLOCK_WIDE;
            w->k->pack(panels, (Floats){b.at + t * b.row + j, b.row, 1}, deep, wide);
            for (size_t i = 0; i < products; i++) {
                Product mine = rows_of(&p[i], team_share(&w->team, shares_of(&p[i])));
                Floats a = {mine.a.at + t * mine.a.column, mine.a.row, mine.a.column};
                w->k->multiply(mine.c + j, mine.ldc, mine.add || t, a, panels_packed(w->k, panels, deep), mine.m, wide,
                               deep);
            }
        }
}

void work_products(Work *w, const Product *p, size_t products, Floats b, size_t n, size_t depth) {
    enum { MANY = 48 }; /* rows of a thread that are worth blocks */
    size_t rows = 0;
    for (size_t i = 0; i < products; i++) rows += p[i].m;
    Panels panels = {0};
    if (b.column != 1) panels = panels_of(w, b, n, depth);
    else if (rows / (size_t)w->team.most < MANY) panels = panels_as_they_lie(w->k, b, n);
    else if (depth <= TRAIN_DEPTH && n <= BLOCK_WIDE) { /* a block: a thread's own panels */
        float *block = w->blocks + (size_t)team_member() * BLOCK;
        w->k->pack(block, b, depth, n);
        panels = panels_packed(w->k, block, depth);
    }
    if (panels.at) by_panels(w, p, products, panels, n, depth);
    else by_blocks(w, p, products, b, n, depth);
    team_wait(&w->team);
}

void work_sum_columns(Work *w, float *g, const float *a, const float *b, const float *s, size_t n, size_t d) {
    enum { AT_ONCE = 64, LOT = 64 };
    Share j = team_share(&w->team, (d + AT_ONCE - 1) / AT_ONCE);
    for (; j.at < j.end; j.at++) {
        size_t first = j.at * AT_ONCE, wide = d - first < AT_ONCE ? d - first : AT_ONCE;
        for (size_t from = 0; from < n; from += LOT) {
            float sum[AT_ONCE] = {0};
            for (size_t t = from; t < n && t < from + LOT; t++) {
                const float *x = a + t * d + first, *y = b ? b + t * d + first : NULL, by = s ? s[t] : 1;
                if (y) for (size_t i = 0; i < wide; i++) sum[i] += x[i] * y[i] * by;
                else for (size_t i = 0; i < wide; i++) sum[i] += x[i] * by;
            }
            for (size_t i = 0; i < wide; i++) g[first + i] += sum[i];
        }
    }
    team_wait(&w->team);
}

float work_dot(const float *a, const float *b, size_t n) {
    enum { LANES = 16 };
    float lane[LANES] = {0}, sum = 0;
    size_t i = 0;
    for (; i + LANES <= n; i += LANES)
        for (size_t j = 0; j < LANES; j++) lane[j] += a[i + j] * b[i + j];
    for (; i < n; i++) sum += a[i] * b[i];
    for (size_t half = LANES / 2; half; half /= 2)
        for (size_t j = 0; j < half; j++) lane[j] += lane[j + half];
    return sum + *lane;
}
