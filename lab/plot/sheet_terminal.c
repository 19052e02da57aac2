/* lab/plot/sheet_terminal.c - a contact sheet for a terminal; columns that do not fit a line go on below. */
#include "canvas.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { LEAST_MAP = 4, MOST_LABEL = 6, MOST_HEADING = 10, MOST_MAP_LINES = 32 };

typedef struct {
    const PlotSheet *p;
    Canvas canvas;
    PlotText about;     /* the subtitle */
    PlotCells first;    /* the first map, and what all have in common */
    CanvasFit fit;
    size_t block;       /* maps of a line */
    long all, left, head, pitch, lines; /* columns; of a map and the gap; lines of a row of maps */
} Sheet;

static size_t blocks(const Sheet *s) { return (s->p->n_columns + s->block - 1) / s->block; }
static long block_lines(const Sheet *s) { return (s->p->columns != NULL) + s->lines * (long)s->p->n_rows; }

static void layout(Sheet *s) {
    const PlotSheet *p = s->p;
    long names = (long)plot_longest(p->rows, p->n_rows);
    long label = (long)plot_longest(p->labels, p->n_rows * p->n_columns);
    s->all = canvas_width(p->width);
    s->left = names ? (names < s->all * 3 / 10 ? names : s->all * 3 / 10) + 1 : 0;
    long heading = (long)plot_longest(p->columns, p->n_columns), least = LEAST_MAP;
    if (label > MOST_LABEL) label = MOST_LABEL;
    if (heading > MOST_HEADING) heading = MOST_HEADING;
    if (label > least) least = label;
    if (heading > least) least = heading;
    s->block = plot_block(p->n_columns, (size_t)((s->all - s->left + 1) / (least + 1)));
    long room = (s->all - s->left + 1) / (long)s->block - 1;
    s->fit = canvas_fit(p->side, p->side, room, MOST_MAP_LINES, p->colour);
    s->pitch = (s->fit.columns > least ? s->fit.columns : least) + 1;
    s->lines = s->fit.lines + 1; /* the label, or a gap */
    plot_put_binned(&s->about, p->subtitle, s->fit.down, s->fit.across);
    s->head = canvas_head(NULL, p->title, s->about.at, s->all);
    s->canvas.columns = (size_t)s->all;
    s->canvas.rows = (size_t)(s->head + (long)blocks(s) * block_lines(s) + 1);
}

static int draw_map(Sheet *s, size_t row, size_t column, long x, long y) {
    size_t index = row * s->p->n_columns + column;
    const char *label = plot_name(s->p->labels, index);
    PlotCells map = s->first, binned;
    map.values = s->p->values + index * s->p->side * s->p->side;
    int rc = plot_bin(&binned, &map, s->fit.down, s->fit.across);
    if (rc == 0) canvas_cells(&s->canvas, x, y, &binned, &s->fit, s->p->colour);
    free((void *)binned.values);
    canvas_words(&s->canvas, x, y + s->fit.lines, label, s->pitch - 1, CANVAS_MUTED);
    return rc;
}

static int draw(Sheet *s) {
    const PlotSheet *p = s->p;
    int rc = 0;
    canvas_head(&s->canvas, p->title, s->about.at, s->all);
    for (size_t b = 0; b < blocks(s); b++) {
        long y = s->head + (long)b * block_lines(s);
        for (size_t j = 0; j < s->block && b * s->block + j < p->n_columns; j++) {
            size_t column = b * s->block + j;
            long x = s->left + s->pitch * (long)j;
            canvas_words(&s->canvas, x, y, plot_name(p->columns, column), s->pitch - 1, -1);
            for (size_t i = 0; rc == 0 && i < p->n_rows; i++)
                rc = draw_map(s, i, column, x, y + (p->columns != NULL) + s->lines * (long)i);
        }
        for (size_t i = 0; i < p->n_rows; i++)
            canvas_words(&s->canvas, 0, y + (p->columns != NULL) + s->lines * (long)i, plot_name(p->rows, i),
                         s->left - 1, -1);
    }
    canvas_scale(&s->canvas, s->left, (long)s->canvas.rows - 1, &s->first, NULL, NULL, 2, p->colour);
    return rc;
}

int plot_sheet_terminal(PlotText *out, const PlotSheet *p, char *err, size_t errlen) {
    Sheet s = {.p = p};
    int rc = plot_sheet_check(p, &s.first, err, errlen);
    if (rc) return rc;
    layout(&s);
    rc = plot_sheet_high(p, &s.first, s.fit.down, s.fit.across);
    if (rc == 0) rc = canvas_init(&s.canvas, s.canvas.columns, s.canvas.rows);
    if (rc == 0) rc = draw(&s);
    if (rc == 0) canvas_write(&s.canvas, out, p->colour);
    canvas_free(&s.canvas);
    if (rc || s.about.failed) out->failed = 1;
    plot_text_free(&s.about);
    return plot_done(out, err, errlen);
}
