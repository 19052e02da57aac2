/* lab/plot/heat_terminal.c - a heat map for a terminal: a number in each cell, behind a shade or on a colour; without
 * numbers small cells, means of several where the map is larger than the terminal. */
#include "canvas.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_LINES = 64, UPRIGHT = 10, LEAST_NUMBER = 3, MOST_WIDE = 9 };

static long columns_of(const char *s) { return (long)plot_columns(s, strlen(s)); }

typedef struct {
    const PlotHeat *p;
    Canvas canvas;
    PlotText about;      /* the subtitle */
    PlotCells cells;     /* binned, owned */
    CanvasFit fit;
    int numbers;
    long all, left, head, top, names; /* columns; where the cells begin; lines of the head, of the columns' names */
} Heat;

/* With numbers: a line a row, as wide as names and numbers ask, or there is room. */
static void layout_numbers(Heat *h) {
    const PlotHeat *p = h->p;
    long wanted = (long)plot_longest(p->columns, p->n_columns) + 1, wide = (h->all - h->left) / (long)p->n_columns;
    if (wanted < 6) wanted = 6;
    for (size_t i = 0; i < p->n_rows * p->n_columns; i++) {
        char number[32];
        plot_number(number, isfinite(p->values[i]) ? p->values[i] : 0, p->decimals);
        if (columns_of(number) + 4 > wanted) wanted = columns_of(number) + 4;
    }
    if (wide > wanted) wide = wanted;
    h->fit = (CanvasFit){1, 1, 0, wide, wide * (long)p->n_columns, (long)p->n_rows};
    h->names = p->columns != NULL;
}

static int all_digits(const char *const *names, size_t n) {
    for (size_t i = 0; i < n; i++) {
        const char *s = plot_name(names, i);
        if (strspn(s, "0123456789") < strlen(s)) return 0;
    }
    return 1;
}

static void layout_cells(Heat *h) {
    const PlotHeat *p = h->p;
    long longest = (long)plot_longest(p->columns, p->n_columns), wide = longest < 3 ? 4 : longest + 1;
    h->fit = canvas_fit(p->n_rows, p->n_columns, h->all - h->left, MOST_LINES, p->colour);
    h->names = !p->columns ? 0 : longest < UPRIGHT ? longest : UPRIGHT;
    if (h->names && all_digits(p->columns, p->n_columns)) h->names = 1;
    if (wide <= MOST_WIDE && wide * (long)p->n_columns <= h->all - h->left && p->n_rows <= MOST_LINES) {
        h->fit = (CanvasFit){1, 1, 0, wide, wide * (long)p->n_columns, (long)p->n_rows};
        h->names = p->columns != NULL;
    }
}

static void layout(Heat *h) {
    const PlotHeat *p = h->p;
    long longest = (long)plot_longest(p->rows, p->n_rows);
    h->all = canvas_width(p->width);
    h->left = longest ? (longest < h->all * 4 / 10 ? longest : h->all * 4 / 10) + 1 : p->decimals >= 0;
    h->numbers = p->decimals >= 0 && (h->all - h->left) / (long)p->n_columns >= LEAST_NUMBER;
    if (h->numbers) layout_numbers(h);
    else layout_cells(h);
    plot_put_binned(&h->about, p->subtitle, h->fit.down, h->fit.across);
    h->head = canvas_head(NULL, p->title, h->about.at, h->all) + (p->x_name != NULL);
    h->top = h->head + h->names;
    h->canvas.columns = (size_t)h->all;
    h->canvas.rows = (size_t)(h->top + h->fit.lines + !h->numbers);
}

static void draw_column_names(Heat *h) {
    long free_from = 0;
    size_t each = h->fit.wide == 1 ? 2 : 1; /* of names that stand upright */
    for (size_t i = 0; h->names && i < h->cells.columns; i++) {
        const char *s = plot_name(h->p->columns, i * h->fit.across);
        long n = columns_of(s), first = h->left + h->fit.wide * (long)i, at = first + h->fit.wide - 1 - n;
        if (h->names > 1) {
            if (i % each == 0) canvas_upright(&h->canvas, first, h->top - 1, s, h->names, -1);
            continue;
        }
        if (!h->numbers && h->fit.wide < n + 1) at = first;
        if (at < free_from || at + n > h->all) continue; /* no room for this one */
        canvas_words(&h->canvas, at, h->top - 1, s, n, -1);
        free_from = at + n + 1;
    }
}

static void draw_names(Heat *h) {
    const PlotHeat *p = h->p;
    size_t each = h->fit.down * (h->fit.half ? 2 : 1); /* rows of a line */
    canvas_head(&h->canvas, p->title, h->about.at, h->all);
    canvas_words(&h->canvas, h->left, h->head - 1, p->x_name, h->all - h->left, CANVAS_MUTED);
    draw_column_names(h);
    for (long i = 0; p->rows && i < h->fit.lines; i++)
        canvas_words(&h->canvas, 0, h->top + i, plot_name(p->rows, (size_t)i * each), h->left - 1, -1);
}

static void draw_number(Heat *h, size_t row, size_t column) {
    double v = h->p->values[row * h->p->n_columns + column], part = plot_part(&h->cells, v);
    long x = h->left + h->fit.wide * (long)column, y = h->top + (long)row, n = h->fit.wide - 1;
    int missing = isnan(part), fg = -1, bg = -1;
    char number[32] = "";
    if (!missing) plot_number(number, v, h->p->decimals);
    if (columns_of(number) > n) number[0] = 0;
    long shaded = h->p->colour && !missing ? 0 : *number ? n - columns_of(number) - 1 : n;
    if (h->p->colour && !missing) bg = canvas_ramp(&h->cells, part), fg = fabs(part) > 0.64 ? 231 : 16;
    for (long i = 0; i < n; i++) {
        uint32_t shade = missing ? 0x2571 : canvas_shade(&h->cells, part);
        canvas_put(&h->canvas, x + i, y, i < shaded ? shade : ' ', fg);
        canvas_background(&h->canvas, x + i, y, bg);
    }
    canvas_words(&h->canvas, x + n - columns_of(number), y, number, n, fg);
}

static void draw(Heat *h) {
    draw_names(h);
    for (size_t i = 0; h->numbers && i < h->p->n_rows; i++)
        for (size_t j = 0; j < h->p->n_columns; j++) draw_number(h, i, j);
    if (h->numbers) return;
    canvas_cells(&h->canvas, h->left, h->top, &h->cells, &h->fit, h->p->colour);
    canvas_scale(&h->canvas, h->left, (long)h->canvas.rows - 1, &h->cells, h->p->low_name, h->p->high_name,
                 h->p->decimals > 0 ? h->p->decimals : 2, h->p->colour);
}

int plot_heat_terminal(PlotText *out, const PlotHeat *p, char *err, size_t errlen) {
    Heat h = {.p = p};
    PlotCells all;
    int rc = plot_heat_check(p, &all, err, errlen);
    if (rc) return rc;
    layout(&h);
    rc = plot_heat_bin(&h.cells, p, &all, h.fit.down, h.fit.across);
    if (rc == 0) rc = canvas_init(&h.canvas, h.canvas.columns, h.canvas.rows);
    if (rc == 0) {
        draw(&h);
        canvas_write(&h.canvas, out, p->colour);
    }
    canvas_free(&h.canvas);
    free((void *)h.cells.values);
    if (rc || h.about.failed) out->failed = 1;
    plot_text_free(&h.about);
    return plot_done(out, err, errlen);
}
