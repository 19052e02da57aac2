/* lab/plot/bars_terminal.c - bars for a terminal, to half a column: full ones to the right, shaded ones to the left. */
#include "canvas.h"

#include <errno.h>
#include <math.h>
#include <string.h>

enum { BLOCK = 0x2588, LEFT_HALF = 0x258c, RIGHT_HALF = 0x2590, SHADE = 0x2592, THIN = 0x258f, THIN_LEFT = 0x2595,
       ZERO = 0x2502 };

typedef struct {
    const PlotBars *p;
    Canvas canvas;
    PlotSpan span;
    double sum;
    long all, names, numbers, left, columns, head; /* columns: of the bars */
} Bars;

static long half_of(const Bars *b, double v) { /* in half columns from the left */
    double length = b->span.x_high - b->span.x_low;
    return length > 0 ? lround((v - b->span.x_low) / length * (double)(2 * b->columns)) : 0;
}

static void layout(Bars *b) {
    const PlotBars *p = b->p;
    const char *const sum[] = {p->waterfall ? p->sum_name : NULL};
    char number[34];
    b->all = canvas_width(p->width);
    b->names = (long)plot_longest(p->names, p->n);
    if ((long)plot_longest(sum, 1) > b->names) b->names = (long)plot_longest(sum, 1);
    if (b->names > b->all * 4 / 10) b->names = b->all * 4 / 10;
    for (size_t i = 0; i <= p->n; i++) {
        plot_bar_number(number, p, i < p->n ? p->values[i] : b->sum, i == p->n);
        long n = (long)plot_columns(number, strlen(number));
        if (n > b->numbers && (i < p->n || p->waterfall)) b->numbers = n;
    }
    if (b->numbers > b->all / 3) b->numbers = b->all / 3;
    b->left = b->names + 1 + b->numbers + 1;
    b->columns = b->all - b->left;
    b->head = canvas_head(NULL, p->title, p->subtitle, b->all);
    b->canvas.columns = (size_t)b->all;
    b->canvas.rows = (size_t)b->head + p->n + (p->waterfall != 0) + (p->x_name != NULL);
}

/* What a column shows of a bar between two half columns. */
static uint32_t piece(long column, long from, long to, int negative) {
    int left = from <= 2 * column && to > 2 * column, right = from <= 2 * column + 1 && to > 2 * column + 1;
    if (negative) return left || right ? SHADE : 0;
    return left && right ? BLOCK : left ? LEFT_HALF : right ? RIGHT_HALF : 0;
}

static void draw_bar(Bars *b, long row, const char *name, double from, double v, int sum) {
    double to = from + v;
    long low = half_of(b, fmin(from, to)), high = half_of(b, fmax(from, to)), zero = half_of(b, 0) / 2;
    int colour = canvas_colours[sum ? 6 : v < 0 ? 1 : 0];
    char number[34];
    canvas_words(&b->canvas, 0, row, name, b->names, -1);
    plot_bar_number(number, b->p, v, sum);
    long n = (long)plot_columns(number, strlen(number));
    canvas_words(&b->canvas, b->names + 1 + (n < b->numbers ? b->numbers - n : 0), row, number, b->numbers, -1);
    if (zero >= b->columns) zero = b->columns - 1;
    canvas_put(&b->canvas, b->left + zero, row, ZERO, CANVAS_MUTED);
    if (isnan(v)) return;
    for (long i = 0; i < b->columns; i++) {
        uint32_t cp = piece(i, low, high, v < 0);
        if (cp) canvas_put(&b->canvas, b->left + i, row, cp, colour);
    }
    if (low == high && v != 0) { /* a trace of what is too small */
        long at = low / 2 - (v < 0 && low % 2 == 0);
        at = at < 0 ? 0 : at < b->columns ? at : b->columns - 1;
        canvas_put(&b->canvas, b->left + at, row, v < 0 ? THIN_LEFT : THIN, colour);
    }
}

int plot_bars_terminal(PlotText *out, const PlotBars *p, char *err, size_t errlen) {
    Bars b = {.p = p};
    int rc = plot_bars_check(p, &b.span, &b.sum, err, errlen);
    if (rc) return rc;
    layout(&b);
    if (canvas_init(&b.canvas, b.canvas.columns, b.canvas.rows))
        return base_error(err, errlen, -ENOMEM, "out of memory");
    canvas_head(&b.canvas, p->title, p->subtitle, b.all);
    double at = 0; /* where the next bar begins */
    for (size_t i = 0; i < p->n; i++) {
        draw_bar(&b, b.head + (long)i, plot_name(p->names, i), at, p->values[i], 0);
        if (p->waterfall && isfinite(p->values[i])) at += p->values[i];
    }
    long row = b.head + (long)p->n;
    if (p->waterfall) draw_bar(&b, row++, p->sum_name ? p->sum_name : "", 0, b.sum, 1);
    canvas_words(&b.canvas, b.left, row, p->x_name, b.columns, CANVAS_MUTED);
    canvas_write(&b.canvas, out, p->colour);
    canvas_free(&b.canvas);
    return plot_done(out, err, errlen);
}
