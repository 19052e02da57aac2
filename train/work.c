/* train/work.c - products and sums by a team. */
#include "work.h"

#include "base/base.h"
#include "base/system.h"

#include <errno.h>
#include <string.h>

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

int work_allocate(Work *w) {
    w->panels = floats_new(w->panels_size, 1);
    w->room = floats_new(w->room_size, (size_t)w->team.most);
    w->rows = floats_new(w->rows_size, 1);
    return w->panels && w->room && w->rows ? 0 : -ENOMEM;
}

void work_free(Work *w) {
    pages_free(w->panels, w->panels_size * sizeof *w->panels);
    pages_free(w->room, w->room_size * (size_t)w->team.most * sizeof *w->room);
    pages_free(w->rows, w->rows_size * sizeof *w->rows);
    team_free(&w->team);
    *w = (Work){0};
}

size_t work_panels(const Work *w, size_t n, size_t depth) {
    return (n + w->k->width - 1) / w->k->width * w->k->width * depth;
}

/* b [depth, n], packed by the team where it must be: by b, so that all threads wait or none does. */
static Panels panels_of(Work *w, Floats b, size_t n, size_t depth) {
    size_t wide = w->k->width;
    Panels p = panels_as_they_lie(w->k, b, n);
    if (p.at) return p;
    for (Share i = team_share(&w->team, (n + wide - 1) / wide); i.at < i.end; i.at++) {
        Floats from = {b.at + i.at * wide * b.column, b.row, b.column};
        w->k->pack(w->panels + i.at * wide * depth, from, depth, n - i.at * wide < wide ? n - i.at * wide : wide);
    }
    team_wait(&w->team);
    return panels_packed(w->k, w->panels, depth);
}

void work_product(Work *w, float *c, size_t ldc, int add, Floats a, Floats b, size_t m, size_t n, size_t depth) {
    enum { TALL = 4 }; /* rows that threads share out together: few, for some matrices have few */
    Panels panels = panels_of(w, b, n, depth);
    Share r = team_share(&w->team, (m + TALL - 1) / TALL);
    size_t first = r.at * TALL, end = r.end * TALL < m ? r.end * TALL : m;
    if (first < end) {
        Floats from = {a.at + first * a.row, a.row, a.column};
        w->k->multiply(c + first * ldc, ldc, add, from, panels, end - first, n, depth);
    }
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
