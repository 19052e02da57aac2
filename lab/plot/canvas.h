/* lab/plot/canvas.h - a terminal's screen as cells, drawn on and then written out line by line. */
#ifndef PLOT_CANVAS_H
#define PLOT_CANVAS_H

#include "parts.h"

typedef struct {
    uint32_t cp;  /* 0: nothing yet; CANVAS_BEHIND: the second half of a wide character */
    short fg, bg; /* of the 256 colours, or -1 */
} Cell;
typedef struct { Cell *at; size_t columns, rows; } Canvas; /* at [rows, columns] */

enum { CANVAS_BEHIND = 1 };

int canvas_init(Canvas *c, size_t columns, size_t rows); /* 0 or -ENOMEM */
void canvas_free(Canvas *c);
/* What lies outside the canvas is not drawn. */
void canvas_put(Canvas *c, long column, long row, uint32_t cp, int fg);
/* s [n] from column on, cut with an ellipsis where it takes more than so many columns. */
void canvas_text(Canvas *c, long column, long row, const char *s, size_t n, long columns, int fg);
/* A dot of a braille character: two a column, four a row. A cell with a word keeps it. */
void canvas_dot(Canvas *c, long x, long y, int fg);
/* Trailing spaces are left out; colours only where asked. */
void canvas_write(const Canvas *c, PlotText *t, int colour);

#endif
