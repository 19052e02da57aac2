/* lab/plot/canvas.h - a terminal's screen as cells, drawn on and then written out line by line. */
#ifndef PLOT_CANVAS_H
#define PLOT_CANVAS_H

#include "parts.h"

typedef struct {
    uint32_t cp;  /* 0: nothing yet; CANVAS_BEHIND: the second half of a wide character */
    short fg, bg; /* of the 256 colours, or -1 */
} Cell;
typedef struct { Cell *at; size_t columns, rows; } Canvas; /* at [rows, columns] */

enum { CANVAS_BEHIND = 1, CANVAS_MUTED = 245 };
extern const short canvas_colours[PLOT_COLOURS]; /* of the 256, some that can be read on black and on white */

long canvas_width(int width); /* a picture's columns: 80 for 0, at least 40 */

int canvas_init(Canvas *c, size_t columns, size_t rows); /* 0 or -ENOMEM */
void canvas_free(Canvas *c);
/* What lies outside the canvas is not drawn. */
void canvas_put(Canvas *c, long column, long row, uint32_t cp, int fg);
/* s [n] from column on, cut with an ellipsis where it takes more than so many columns. */
void canvas_text(Canvas *c, long column, long row, const char *s, size_t n, long columns, int fg);
void canvas_words(Canvas *c, long column, long row, const char *s, long columns, int fg); /* s, or NULL */
/* Downwards, at most so many rows, the last one on `bottom`. */
void canvas_upright(Canvas *c, long column, long bottom, const char *s, long rows, int fg);
/* The title and the subtitle in lines of so many columns, broken at spaces: how many lines. c NULL: only that. */
long canvas_head(Canvas *c, const char *title, const char *subtitle, long columns);
/* A dot of a braille character: two a column, four a row. A cell with a word keeps it. */
void canvas_dot(Canvas *c, long x, long y, int fg);

/* ---- map_terminal.c: cells of a heat map ---- */

/* How many cells fit so many columns and lines: what one of those drawn is the mean of, and how large it is drawn. */
typedef struct {
    size_t down, across;
    int half;            /* two rows a line: the upper and the lower half of a character, in colour */
    long wide;           /* columns a cell */
    long columns, lines; /* of all */
} CanvasFit;
CanvasFit canvas_fit(size_t rows, size_t columns, long most_columns, long most_lines, int colour);
/* The cells, binned as fit says; what is no number is left as it is. */
void canvas_cells(Canvas *c, long column, long row, const PlotCells *cells, const CanvasFit *fit, int colour);
uint32_t canvas_shade(const PlotCells *cells, double part); /* without colour; signs have shades of their own */
int canvas_ramp(const PlotCells *cells, double part); /* of the 256 colours */
void canvas_background(Canvas *c, long column, long row, int bg);
/* The scale from column on, with its ends' names (NULL: their numbers). */
void canvas_scale(Canvas *c, long column, long row, const PlotCells *cells, const char *low, const char *high,
                  int decimals, int colour);

/* Trailing spaces are left out; colours only where asked. */
void canvas_write(const Canvas *c, PlotText *t, int colour);

#endif
