/* lab/plot/heat_terminal.c - a heat map for a terminal: a number in each cell, behind a shade or on a colour. */
#include "canvas.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char *name_of(const char *const *names, size_t i) { return names && names[i] ? names[i] : ""; }
static long columns_of(const char *s) { return (long)plot_columns(s, strlen(s)); }

typedef struct {
    const PlotHeat *p;
    Canvas canvas;
    double low, high;
    long left, top, width; /* where the cells begin; columns of one */
} Heat;

static void layout(Heat *h) {
    const PlotHeat *p = h->p;
    long all = p->width ? p->width > 40 ? p->width : 40 : 80, widest = 0, wanted = 6;
    for (size_t i = 0; i < p->n_rows; i++)
        widest = columns_of(name_of(p->rows, i)) > widest ? columns_of(name_of(p->rows, i)) : widest;
    for (size_t i = 0; i < p->n_columns; i++)
        wanted = columns_of(name_of(p->columns, i)) + 1 > wanted ? columns_of(name_of(p->columns, i)) + 1 : wanted;
    for (size_t i = 0; i < p->n_rows * p->n_columns; i++) {
        char number[32];
        plot_number(number, isfinite(p->values[i]) ? p->values[i] : 0, p->decimals);
        if (p->decimals >= 0 && columns_of(number) + 4 > wanted) wanted = columns_of(number) + 4;
    }
    h->left = (widest < all * 4 / 10 ? widest : all * 4 / 10) + 1;
    h->width = (all - h->left) / (long)p->n_columns;
    h->width = h->width > wanted ? wanted : h->width < 1 ? 1 : h->width;
    h->top = (p->title != NULL) + (p->subtitle != NULL) + (p->x_name != NULL) + (p->columns != NULL);
    long columns = h->left + h->width * (long)p->n_columns;
    h->canvas.columns = (size_t)(columns > all ? columns : all);
    h->canvas.rows = (size_t)h->top + p->n_rows;
}

static void draw_names(Heat *h) {
    const PlotHeat *p = h->p;
    long row = 0, all = (long)h->canvas.columns, free_from = 0;
    if (p->title) canvas_text(&h->canvas, 0, row++, p->title, strlen(p->title), all, -1);
    if (p->subtitle) canvas_text(&h->canvas, 0, row++, p->subtitle, strlen(p->subtitle), all, -1);
    if (p->x_name) canvas_text(&h->canvas, h->left, row++, p->x_name, strlen(p->x_name), all - h->left, -1);
    for (size_t i = 0; p->columns && i < p->n_columns; i++) {
        const char *s = name_of(p->columns, i);
        long n = columns_of(s), end = h->left + h->width * (long)(i + 1) - 1, at = end - n;
        if (at < free_from) continue; /* no room for this one */
        canvas_text(&h->canvas, at, row, s, strlen(s), n, -1);
        free_from = end + 1;
    }
    for (size_t i = 0; p->rows && i < p->n_rows; i++)
        canvas_text(&h->canvas, 0, h->top + (long)i, name_of(p->rows, i), strlen(name_of(p->rows, i)), h->left - 1, -1);
}

/* The nearest of the 256 colours' cube of 6 x 6 x 6. */
static int cube_colour(const int rgb[3]) {
    static const int levels[6] = {0, 95, 135, 175, 215, 255};
    int index = 0;
    for (int i = 0; i < 3; i++) {
        int best = 0;
        for (int j = 1; j < 6; j++)
            if (abs(rgb[i] - levels[j]) < abs(rgb[i] - levels[best])) best = j;
        index = 6 * index + best;
    }
    return 16 + index;
}

static void draw_cell(Heat *h, size_t row, size_t column) {
    static const uint32_t shades[5] = {' ', 0x2591, 0x2592, 0x2593, 0x2588};
    double v = h->p->values[row * h->p->n_columns + column], part = (v - h->low) / (h->high - h->low);
    long x = h->left + h->width * (long)column, y = h->top + (long)row, n = h->width > 2 ? h->width - 1 : h->width;
    int missing = !isfinite(v), rgb[3], fg = -1, bg = -1;
    char number[32] = "";
    part = part > 0 ? part < 1 ? part : 1 : 0;
    if (!missing && h->p->decimals >= 0) plot_number(number, v, h->p->decimals);
    if (columns_of(number) > n) number[0] = 0;
    long shaded = h->p->colour && !missing ? 0 : *number ? n - columns_of(number) - 1 : n;
    if (h->p->colour && !missing) {
        plot_ramp(part, rgb);
        bg = cube_colour(rgb), fg = part > 0.5 ? 231 : 16;
    }
    for (long i = 0; i < n; i++) {
        uint32_t shade = missing ? 0x2571 : shades[part >= 1 ? 4 : (int)(part * 5)];
        canvas_put(&h->canvas, x + i, y, i < shaded ? shade : ' ', fg);
        h->canvas.at[(size_t)y * h->canvas.columns + (size_t)(x + i)].bg = (short)bg;
    }
    canvas_text(&h->canvas, x + n - columns_of(number), y, number, strlen(number), n, fg);
}

int plot_heat_terminal(PlotText *out, const PlotHeat *p, char *err, size_t errlen) {
    Heat h = {.p = p};
    int rc = plot_heat_check(p, &h.low, &h.high, err, errlen);
    if (rc) return rc;
    layout(&h);
    if (canvas_init(&h.canvas, h.canvas.columns, h.canvas.rows))
        return base_error(err, errlen, -ENOMEM, "out of memory");
    draw_names(&h);
    for (size_t i = 0; i < p->n_rows; i++)
        for (size_t j = 0; j < p->n_columns; j++) draw_cell(&h, i, j);
    canvas_write(&h.canvas, out, p->colour);
    canvas_free(&h.canvas);
    return plot_done(out, err, errlen);
}
