/* lab/plot/dials_terminal.c - dials for a terminal: a rim and hands of braille dots. */
#include "canvas.h"

#include <errno.h>
#include <math.h>
#include <string.h>

enum { MOST_DIAL = 12, USUAL_DIAL = 8, LEAST_DIAL = 6, MOST_LABEL = 14, RIM = 243 };

typedef struct {
    const PlotDials *p;
    Canvas canvas;
    size_t block;  /* dials of a line */
    long all, left, head, dial, pitch, lines; /* columns of a dial, of it and the gap; lines of a row of dials */
} Dials;

static size_t blocks(const Dials *d) { return (d->p->n_columns + d->block - 1) / d->block; }
static long block_lines(const Dials *d) { return (d->p->columns != NULL) + d->lines * (long)d->p->n_rows; }

/* A line of the legend for as many names as fit; returns the lines. Draws where c. */
static long legend(Canvas *c, const PlotDials *p, long row, long all) {
    static const char *const samples[] = {"\xe2\x94\x81\xe2\x94\x81", "\xe2\x95\x8d\xe2\x95\x8d",
                                          "\xe2\x94\x85\xe2\x94\x85", "\xe2\x94\x89\xe2\x94\x89"};
    long x = 0;
    for (size_t i = 0; p->names && i < p->n_hands; i++) {
        const char *name = plot_name(p->names, i);
        long n = (long)plot_columns(name, strlen(name));
        if (i > 0 && x + 3 + n > all) x = 0, row++;
        if (c) canvas_words(c, x, row, samples[i], 2, canvas_colours[i]);
        if (c) canvas_words(c, x + 3, row, name, all - 3, -1);
        x += 3 + n + 3;
    }
    return row + (p->names && p->n_hands);
}

static void layout(Dials *d) {
    const PlotDials *p = d->p;
    long names = (long)plot_longest(p->rows, p->n_rows);
    long label = (long)plot_longest(p->labels, p->n_rows * p->n_columns);
    d->all = canvas_width(p->width);
    d->left = names ? (names < d->all * 3 / 10 ? names : d->all * 3 / 10) + 1 : 0;
    if (label > MOST_LABEL) label = MOST_LABEL;
    for (d->dial = MOST_DIAL; d->dial > LEAST_DIAL; d->dial -= 2)
        if (((d->dial > label ? d->dial : label) + 1) * (long)p->n_columns <= d->all - d->left + 1) break;
    long wide = d->dial > label ? d->dial : label;
    if ((wide + 1) * (long)p->n_columns > d->all - d->left + 1) { /* they go on below, and may be larger */
        d->dial = USUAL_DIAL;
        wide = d->dial > label ? d->dial : label;
    }
    d->block = plot_block(p->n_columns, (size_t)((d->all - d->left + 1) / (wide + 1)));
    d->pitch = wide + 1;
    if ((wide + 2) * (long)d->block <= d->all - d->left) d->pitch++;
    d->lines = d->dial / 2 + 1; /* the label, or a gap */
    d->head = legend(NULL, p, canvas_head(NULL, p->title, p->subtitle, d->all), d->all);
    d->canvas.columns = (size_t)d->all;
    d->canvas.rows = (size_t)(d->head + (long)blocks(d) * block_lines(d));
}

/* A hand in dots around the middle (x, y); the second has gaps, the third and fourth more. */
static void draw_hand(Dials *d, const PlotHand *h, size_t i, double x, double y) {
    double rim = (double)d->dial - 0.5, length = fmin(fmax(h->length, 0), 1) * (rim - 1.5);
    if (!isfinite(h->angle) || !isfinite(h->length)) return;
    double dx = cos(h->angle), dy = -sin(h->angle), longer = fmax(fabs(dx), fabs(dy));
    long steps = lround(length * longer);
    for (long k = 0; k <= steps; k++) {
        double at = (double)k / longer;
        if ((i == 1 && k % 2) || (i == 2 && k % 3) || (i == 3 && k % 4 > 1)) continue;
        canvas_dot(&d->canvas, lround(x + at * dx), lround(y + at * dy), canvas_colours[i]);
    }
}

static void draw_dial(Dials *d, size_t row, size_t column) {
    const PlotDials *p = d->p;
    size_t index = row * p->n_columns + column;
    long x = d->left + d->pitch * (long)(column % d->block) + (d->pitch - 1 - d->dial) / 2;
    long y = d->head + block_lines(d) * (long)(column / d->block) + (p->columns != NULL) + d->lines * (long)row;
    double rim = (double)d->dial - 0.5, mx = 2 * (double)x + rim, my = 4 * (double)y + rim;
    const char *label = plot_name(p->labels, index);
    long n = (long)plot_columns(label, strlen(label)), room = d->pitch - 1;
    for (size_t i = 0; i < p->n_hands; i++) draw_hand(d, &p->hands[index * p->n_hands + i], i, mx, my);
    int dots = (int)lround(TURN * rim * 1.5);
    for (int k = 0; k < dots; k++)
        canvas_dot(&d->canvas, lround(mx + rim * cos(TURN * k / dots)), lround(my + rim * sin(TURN * k / dots)), RIM);
    long first = d->left + d->pitch * (long)(column % d->block) + (n < room ? (room - n) / 2 : 0);
    canvas_words(&d->canvas, first, y + d->dial / 2, label, room, -1);
}

static void draw_names(Dials *d) {
    const PlotDials *p = d->p;
    for (size_t j = 0; p->columns && j < p->n_columns; j++) {
        const char *name = plot_name(p->columns, j);
        long n = (long)plot_columns(name, strlen(name)), room = d->pitch - 1;
        canvas_words(&d->canvas, d->left + d->pitch * (long)(j % d->block) + (n < room ? (room - n) / 2 : 0),
                     d->head + block_lines(d) * (long)(j / d->block), name, room, -1);
    }
    for (size_t b = 0; p->rows && b < blocks(d); b++)
        for (size_t i = 0; i < p->n_rows; i++)
            canvas_words(&d->canvas, 0,
                         d->head + block_lines(d) * (long)b + (p->columns != NULL) + d->lines * (long)i + d->dial / 4,
                         plot_name(p->rows, i), d->left - 1, -1);
}

int plot_dials_terminal(PlotText *out, const PlotDials *p, char *err, size_t errlen) {
    Dials d = {.p = p};
    int rc = plot_dials_check(p, err, errlen);
    if (rc) return rc;
    layout(&d);
    if (canvas_init(&d.canvas, d.canvas.columns, d.canvas.rows))
        return base_error(err, errlen, -ENOMEM, "out of memory");
    legend(&d.canvas, p, canvas_head(&d.canvas, p->title, p->subtitle, d.all), d.all);
    draw_names(&d);
    for (size_t i = 0; i < p->n_rows; i++)
        for (size_t j = 0; j < p->n_columns; j++) draw_dial(&d, i, j);
    canvas_write(&d.canvas, out, p->colour);
    canvas_free(&d.canvas);
    return plot_done(out, err, errlen);
}
