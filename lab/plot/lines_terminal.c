/* lab/plot/lines_terminal.c - lines for a terminal: braille dots, with a letter at each point. They can be told apart
 * without colour. */
#include "canvas.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MUTED = CANVAS_MUTED, MOST_ABOVE = 4 };

static long columns_of(const char *s) { return s ? (long)plot_columns(s, strlen(s)) : 0; }
static void words(Canvas *c, long column, long row, const char *s, long most, int fg) {
    canvas_words(c, column, row, s, most, fg);
}

typedef struct {
    const PlotLines *p;
    PlotSpan span;
    PlotAxis y;
    Canvas canvas;
    long left, top, columns, rows, label, label_columns; /* of the frame; where labels begin */
    PlotRows above;
} Chart;

static int colour_of(const Chart *c, size_t i) { return canvas_colours[plot_style(&c->p->series[i], i).colour]; }

static double at_x(const Chart *c, double x) { /* in dots from the frame's left */
    return (plot_x(c->p, x) - c->span.x_low) / (c->span.x_high - c->span.x_low) * (double)(2 * c->columns - 1);
}
static double at_y(const Chart *c, double y) {
    return (c->y.high - y) / (c->y.high - c->y.low) * (double)(4 * c->rows - 1);
}
static long column_of(const Chart *c, double x) { return c->left + lround(at_x(c, x)) / 2; }
static long row_of(const Chart *c, double y) {
    return c->top + lround(at_y(c, fmin(fmax(y, c->y.low), c->y.high))) / 4;
}

/* ---- what stands above the frame ---- */

static long put_above(Chart *c, double x, const char *s, int fg, int draw) {
    long n = columns_of(s), column = column_of(c, x) - n / 2, most = (long)c->canvas.columns - n;
    if (column > most) column = most;
    if (column < 0) column = 0;
    long row = plot_free_row(&c->above, (double)column, (double)(column + n), 1);
    if (draw && row < MOST_ABOVE) words(&c->canvas, column, c->top - 1 - row, s, n, fg);
    return row;
}

static long put_all_above(Chart *c, int draw) {
    long rows = 0, row;
    c->above.n = 0;
    if (plot_has_mark(c->p)) rows = 1 + put_above(c, c->p->mark, c->p->mark_name, MUTED, draw);
    for (size_t i = 0; i < c->p->n_series; i++)
        for (size_t j = 0; j < c->p->series[i].n; j++) {
            const PlotPoint *at = &c->p->series[i].points[j];
            char s[40] = {(char)('a' + i)};
            if (!plot_counts(c->p, at) || !plot_beyond(&c->y, at->y)) continue;
            strcpy(s + 1, at->y > c->y.high ? "\xe2\x86\x91" : "\xe2\x86\x93");
            plot_number(s + 4, at->y, fabs(at->y) < 1000 ? 2 : -1);
            row = put_above(c, at->x, s, colour_of(c, i), draw);
            if (row + 1 > rows) rows = row + 1;
        }
    return rows < MOST_ABOVE ? rows : MOST_ABOVE;
}

/* ---- the frame ---- */

static void layout(Chart *c) {
    const PlotLines *p = c->p;
    long width = p->width == 0 ? 80 : p->width > 40 ? p->width : 40;
    long height = p->height == 0 ? 24 : p->height > 10 ? p->height : 10, tick = 0, widest = 0;
    char number[32];
    if (height < (long)p->n_series + 1) height = (long)p->n_series + 1; /* a line for each label */
    c->canvas.columns = (size_t)width, c->canvas.rows = (size_t)height;
    plot_span(&c->span, p);
    plot_axis(&c->y, c->span.y_low, c->span.y_high, height > 14 ? 5 : 3, p->y_min < p->y_max);
    for (int i = 0; i < c->y.n_ticks; i++) {
        plot_number(number, plot_tick(&c->y, i), c->y.decimals);
        tick = columns_of(number) > tick ? columns_of(number) : tick;
    }
    for (size_t i = 0; i < p->n_series; i++)
        widest = columns_of(p->series[i].name) > widest ? columns_of(p->series[i].name) : widest;
    c->label_columns = widest + 2 < width * 4 / 10 ? widest + 2 : width * 4 / 10;
    c->left = tick + 2;
    c->label = width - (p->n_series ? c->label_columns : 0);
    c->columns = c->label - c->left - (p->n_series ? 2 : 0);
    c->top = canvas_head(NULL, p->title, p->subtitle, width) + (p->y_name != NULL);
    c->top += put_all_above(c, 0);
    c->rows = height - c->top - 2 - (p->x_name != NULL);
    if (c->rows < 3) c->rows = 3, c->canvas.rows = (size_t)(c->top + 5 + (p->x_name != NULL));
}

static void draw_axes(Chart *c, const double *ticks, size_t n) {
    char number[32];
    long free_from = 0, axis = c->top + c->rows;
    for (long i = 0; i < c->rows; i++) canvas_put(&c->canvas, c->left - 1, c->top + i, 0x2502, -1);
    for (int i = 0; i < c->y.n_ticks; i++) {
        double v = plot_tick(&c->y, i);
        plot_number(number, v, c->y.decimals);
        words(&c->canvas, c->left - 1 - columns_of(number), row_of(c, v), number, c->left, -1);
        canvas_put(&c->canvas, c->left - 1, row_of(c, v), 0x2524, -1);
    }
    for (long i = 0; i < c->columns; i++) canvas_put(&c->canvas, c->left + i, axis, 0x2500, -1);
    canvas_put(&c->canvas, c->left - 1, axis, 0x2514, -1);
    for (size_t i = 0; i < n; i++) {
        long at = column_of(c, ticks[i]), width, first;
        plot_number(number, ticks[i], fabs(ticks[i]) < 1e9 && ticks[i] == floor(ticks[i]) ? 0 : -1);
        width = columns_of(number), first = at - width / 2;
        if (first + width > (long)c->canvas.columns) first = (long)c->canvas.columns - width;
        canvas_put(&c->canvas, at, axis, 0x252c, -1);
        if (first < free_from) continue;
        words(&c->canvas, first, axis + 1, number, width, -1);
        free_from = first + width + 1;
    }
    if (c->p->x_name) {
        long width = columns_of(c->p->x_name), first = c->left + (c->columns - width) / 2;
        words(&c->canvas, first > 0 ? first : 0, axis + 2, c->p->x_name, (long)c->canvas.columns, MUTED);
    }
}

static void draw_head(Chart *c) {
    long all = (long)c->canvas.columns, row = canvas_head(&c->canvas, c->p->title, c->p->subtitle, all);
    words(&c->canvas, 0, row, c->p->y_name, all, MUTED);
}

/* ---- lines ---- */

static void draw_piece(Chart *c, const PlotPoint *a, const PlotPoint *b, int fg) {
    double x0 = at_x(c, a->x), y0 = at_y(c, a->y), x1 = at_x(c, b->x), y1 = at_y(c, b->y), high = 4.0 * (double)c->rows;
    if (fmax(y0, y1) < 0 || fmin(y0, y1) >= high) return;
    double from = y0 < 0 ? -y0 / (y1 - y0) : y0 >= high ? (high - y0) / (y1 - y0) : 0;
    double to = y1 < 0 ? -y0 / (y1 - y0) : y1 >= high ? (high - y0) / (y1 - y0) : 1;
    double dx = x1 - x0, dy = y1 - y0;
    x1 = x0 + to * dx, x0 += from * dx;
    y1 = fmin(fmax(y0 + to * dy, 0), high - 1); /* of 1e300 nothing is left but rounding */
    y0 = fmin(fmax(y0 + from * dy, 0), high - 1);
    long steps = lround(fmax(fabs(x1 - x0), fabs(y1 - y0))) + 1;
    for (long i = 0; i <= steps; i++) {
        double part = (double)i / (double)steps;
        long x = lround(x0 + part * (x1 - x0)), y = lround(y0 + part * (y1 - y0));
        if (x >= 0 && x < 2 * c->columns && y >= 0 && y < 4 * c->rows)
            canvas_dot(&c->canvas, 2 * c->left + x, 4 * c->top + y, fg);
    }
}

static void draw_series(Chart *c, size_t i) {
    const PlotSeries *s = &c->p->series[i];
    for (size_t j = 0; j + 1 < s->n; j++)
        if (plot_counts(c->p, &s->points[j]) && plot_counts(c->p, &s->points[j + 1]))
            draw_piece(c, &s->points[j], &s->points[j + 1], colour_of(c, i));
}

static void draw_letters(Chart *c, size_t i) {
    const PlotSeries *s = &c->p->series[i];
    const PlotPoint *last = plot_last(c->p, i);
    for (size_t j = 0; j < s->n; j++) {
        const PlotPoint *at = &s->points[j];
        if (plot_counts(c->p, at) && !plot_beyond(&c->y, at->y) && (s->n <= 20 || at == last))
            canvas_put(&c->canvas, column_of(c, at->x), row_of(c, at->y), 'a' + (uint32_t)i, colour_of(c, i));
    }
}

static void draw_labels(Chart *c) {
    double at[PLOT_MOST_SERIES];
    size_t n = c->p->n_series;
    for (size_t i = 0; i < n; i++) {
        const PlotPoint *last = plot_last(c->p, i);
        at[i] = (double)(last ? row_of(c, last->y) : c->top + c->rows - 1);
    }
    plot_spread(at, n, 1, (double)((long)n > c->rows ? 0 : c->top), (double)c->canvas.rows - 1);
    for (size_t i = 0; i < n; i++) {
        char letter[3] = {(char)('a' + i), ' ', 0};
        words(&c->canvas, c->label, lround(at[i]), letter, 2, colour_of(c, i));
        words(&c->canvas, c->label + 2, lround(at[i]), c->p->series[i].name, c->label_columns - 2, -1);
    }
}

int plot_lines_terminal(PlotText *out, const PlotLines *p, char *err, size_t errlen) {
    Chart c = {.p = p};
    size_t n;
    int rc = plot_check(p, err, errlen);
    if (rc) return rc;
    layout(&c);
    double *ticks = plot_ticks(p, &c.span, &n);
    if (!ticks || canvas_init(&c.canvas, c.canvas.columns, c.canvas.rows)) {
        free(ticks);
        return base_error(err, errlen, -ENOMEM, "out of memory");
    }
    draw_head(&c);
    draw_axes(&c, ticks, n);
    for (size_t i = 0; i < p->n_series; i++) draw_series(&c, i);
    for (size_t i = p->n_series; i-- > 0;) draw_letters(&c, i);
    for (long i = 0; plot_has_mark(p) && i < c.rows; i++) {
        long column = column_of(&c, p->mark), row = c.top + i;
        if (c.canvas.at[(size_t)row * c.canvas.columns + (size_t)column].cp == 0)
            canvas_put(&c.canvas, column, row, 0x250a, MUTED);
    }
    put_all_above(&c, 1);
    draw_labels(&c);
    canvas_write(&c.canvas, out, p->colour);
    canvas_free(&c.canvas);
    free(ticks);
    return plot_done(out, err, errlen);
}
