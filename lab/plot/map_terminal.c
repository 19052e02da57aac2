/* lab/plot/map_terminal.c - cells of heat maps and sheets in a terminal: two rows a line in colour, or shades. */
#include "canvas.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { UPPER_HALF = 0x2580, LOWER_HALF = 0x2584, FLAT = 12 };

static size_t bins(size_t n, size_t of) { return (n + of - 1) / of; }

/* A cell is about as wide as high: two columns a line, or a column and half a line. Maps of few and long rows are
 * stripes, a line a row. */
CanvasFit canvas_fit(size_t rows, size_t columns, long most_columns, long most_lines, int colour) {
    CanvasFit f = {1, 1, 0, 2, 2 * (long)columns, (long)rows};
    if (most_columns < 1) most_columns = 1;
    if (f.columns <= most_columns && f.lines <= most_lines) return f;
    f.across = bins(columns, (size_t)most_columns);
    f.wide = f.across == 1 && f.columns <= most_columns ? 2 : 1;
    f.columns = f.wide * (long)bins(columns, f.across);
    int stripes = f.wide == 2 || (rows <= FLAT && 2 * rows <= columns);
    f.half = !stripes && colour;
    f.down = stripes ? 1 : (colour ? 1 : 2) * f.across;
    if (f.down > rows) f.down = rows;
    for (;; f.down++) {
        size_t left = bins(rows, f.down);
        f.lines = (long)(f.half ? bins(left, 2) : left);
        if (f.lines <= most_lines || f.down >= rows) return f;
    }
}

/* Of the 256 colours, from pale to deep; the nearest ones to a picture's ramp would be purple and green in between. */
int canvas_ramp(const PlotCells *cells, double part) {
    static const short blue[8] = {255, 189, 153, 111, 69, 26, 19, 18}, red[8] = {255, 224, 217, 210, 203, 160, 124, 88};
    double size = fabs(part) < 1 ? fabs(part) : 1;
    return (cells->diverging && part < 0 ? red : blue)[(int)(size * 7 + 0.5)];
}

uint32_t canvas_shade(const PlotCells *cells, double part) {
    static const uint32_t shades[5] = {' ', 0x2591, 0x2592, 0x2593, 0x2588};
    static const uint32_t below[5] = {' ', '-', '~', '=', 0x2261};
    double size = fabs(part);
    int at = size >= 1 ? 4 : (int)(size * 5);
    return cells->diverging && part < 0 ? below[at] : shades[at];
}

/* Where no number stands beside it: a dot for next to nothing, which is not nothing, and little is seen sooner. */
static uint32_t fine_shade(const PlotCells *cells, double part) {
    double size = fabs(part);
    if (size < 0.05) return 0xb7;
    return canvas_shade(cells, copysign(size < 0.2 ? 0.25 : size, part));
}

void canvas_background(Canvas *c, long column, long row, int bg) {
    if (column < 0 || row < 0 || (size_t)column >= c->columns || (size_t)row >= c->rows) return;
    c->at[(size_t)row * c->columns + (size_t)column].bg = (short)bg;
}

static int colour_of(const PlotCells *cells, double part) { return isnan(part) ? -1 : canvas_ramp(cells, part); }

static double part_at(const PlotCells *cells, size_t row, size_t column) {
    return row < cells->rows ? plot_part(cells, cells->values[row * cells->columns + column]) : NAN;
}

/* A character of a line: a colour for each half. */
static void put_halves(Canvas *c, long column, long row, int upper, int lower) {
    if (upper < 0 && lower < 0) return;
    canvas_put(c, column, row, upper < 0 ? LOWER_HALF : UPPER_HALF, upper < 0 ? lower : upper);
    if (upper >= 0) canvas_background(c, column, row, lower);
}

void canvas_cells(Canvas *c, long column, long row, const PlotCells *cells, const CanvasFit *fit, int colour) {
    size_t step = fit->half ? 2 : 1;
    for (size_t i = 0; i < cells->rows; i += step)
        for (size_t j = 0; j < cells->columns; j++) {
            double part = part_at(cells, i, j);
            long x = column + fit->wide * (long)j, y = row + (long)(i / step);
            if (fit->half) put_halves(c, x, y, colour_of(cells, part), colour_of(cells, part_at(cells, i + 1, j)));
            for (long k = 0; !fit->half && !isnan(part) && k < fit->wide; k++) {
                canvas_put(c, x + k, y, colour ? ' ' : fine_shade(cells, part), -1);
                if (colour) canvas_background(c, x + k, y, colour_of(cells, part));
            }
        }
}

void canvas_scale(Canvas *c, long column, long row, const PlotCells *cells, const char *low, const char *high,
                  int decimals, int colour) {
    enum { STEPS = 17 };
    char from[32], to[32];
    double values[STEPS];
    PlotCells bar = *cells;
    plot_number(from, cells->low, cells->low == floor(cells->low) ? 0 : decimals);
    plot_number(to, cells->high, cells->high == floor(cells->high) ? 0 : decimals);
    if (!low) low = from;
    if (!high) high = to;
    for (int i = 0; i < STEPS; i++) values[i] = cells->low + i / (double)(STEPS - 1) * (cells->high - cells->low);
    bar.values = values, bar.rows = 1, bar.columns = STEPS;
    long room = ((long)c->columns - column - STEPS - 2) / 2, width = (long)plot_columns(low, strlen(low));
    canvas_words(c, column, row, low, room, CANVAS_MUTED);
    column += (width < room ? width : room) + 1;
    canvas_cells(c, column, row, &bar, &(CanvasFit){1, 1, 0, 1, STEPS, 1}, colour);
    canvas_words(c, column + STEPS + 1, row, high, room, CANVAS_MUTED);
}
