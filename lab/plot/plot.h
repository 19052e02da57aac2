/* lab/plot/plot.h - pictures: lines, heat maps, dials, bars, as SVG or for a terminal, drawn into text that grows.
 *
 *     const PlotPoint a[] = {{256, 2.31, 0.02}, {512, 2.35, 0.02}}, b[] = {{256, 2.31, 0}, {512, 4.1, 0}};
 *     const PlotSeries series[] = {{"yarn:factor=2", a, 2, 0}, {"none", b, 2, 0}};
 *     PlotLines p = {.title = "Loss against length", .x_name = "window, tokens", .y_name = "loss, nats a token",
 *                    .series = series, .n_series = 2, .log2_x = 1, .mark = 256, .mark_name = "trained: 256"};
 *     PlotText svg = {0};
 *     int rc = plot_lines_svg(&svg, &p, err, sizeof err);
 *     if (rc == 0) ... svg.at [svg.n], NUL behind it ...
 *     plot_text_free(&svg);
 *
 * Names are UTF-8 and may hold anything: what a format reserves is escaped, control characters and broken bytes are
 * replaced. Nothing here depends on the time, the locale or the machine: the same numbers give the same text. Every
 * plot_ function that returns int returns 0 or a negative errno and leaves one line in err: -EINVAL (more than
 * PLOT_MOST_SERIES series or 4 hands, a range that is none, nothing to draw in a heat map), -ENOMEM. */
#ifndef PLOT_H
#define PLOT_H

#include <stddef.h>

/* Text that grows; begin with {0}. plot_text_free accepts a zeroed struct. */
typedef struct {
    char *at;   /* [n], and a NUL behind it; NULL while nothing was written */
    size_t n, cap;
    int failed; /* there was no memory; what came later is not in it */
} PlotText;
void plot_text_free(PlotText *t);

enum { PLOT_MOST_SERIES = 24 };

/* A point whose x or y is no finite number is left out, and the line has a gap there. On a log axis so is one whose x
 * is not above 0. */
typedef struct { double x, y, error; } PlotPoint; /* error: one standard error of y, drawn as a bar; 0: none */
/* The line runs through its points in the order given. A series without a point keeps its label. */
typedef struct {
    const char *name;
    const PlotPoint *points;
    size_t n;
    int style; /* its colour, mark and dash: 1, 2 .. 48; 0: by its place in the order */
} PlotSeries;

/* A line chart. What is zero is left out or chosen. Each line is named where it ends; there is no legend. */
typedef struct {
    const char *title, *subtitle, *x_name, *y_name;
    const PlotSeries *series; /* at most PLOT_MOST_SERIES; 8 colours, 16 marks, 6 dashes */
    size_t n_series;
    int log2_x;               /* x by its logarithm to base 2 */
    const double *ticks;      /* where the x axis has numbers (those that have room); NULL: the xs of the points, or
                               * round numbers where these are more than twelve */
    size_t n_ticks;
    double mark;              /* a line across the frame at this x, where mark_name is given */
    const char *mark_name;    /* "trained: 256" */
    double y_min, y_max;      /* the frame's edges, y_min < y_max: a line that goes beyond leaves the frame, and the
                               * number stands at the edge. Both 0: what the points need */
    int width, height;        /* SVG: pixels (800 by 480; higher where labels need it), at least 400 by 240. Terminal:
                               * columns and lines (80 by 24), at least 40 by 10 */
    int colour;               /* terminal: 256-colour SGR sequences */
} PlotLines;

int plot_lines_svg(PlotText *out, const PlotLines *p, char *err, size_t errlen);
int plot_lines_terminal(PlotText *out, const PlotLines *p, char *err, size_t errlen);

/* A heat map: a cell for each row and column.
 *
 *     PlotHeat p = {.title = "layer 3, head 1", .columns = tokens, .rows = tokens, .n_columns = n, .n_rows = n,
 *                   .values = weights, .decimals = -1};                    a map of attention, NaN above the diagonal
 *
 * With numbers a cell has room for one. Without, cells are square and thin where they are many, and where the picture
 * has less room than one each (a pixel; half a character), one that is drawn is the mean of several: the subtitle says
 * so, and a scale that was not chosen ends at the largest mean. Names that do not fit are turned, then thinned out. */
typedef struct {
    const char *title, *subtitle, *x_name, *y_name;
    const char *const *columns, *const *rows; /* names; NULL: none */
    size_t n_columns, n_rows;
    const double *values;     /* [n_rows, n_columns], the first row on top; NaN: missing, the cell is hatched, or
                               * nothing is drawn where there are no numbers */
    double low, high;         /* the scale's ends, low < high; values beyond get its colours. Both 0: 0 to 1 */
    int decimals;             /* of the numbers in the cells; -1: no numbers. 0 writes whole numbers. No cell has one
                               * where cells are too many */
    int diverging;            /* pale at 0, deep blue at high, deep red at low = -high; low, high both 0: -1 to 1.
                               * Terminal without colour: shades above 0, and - ~ = ≡ below */
    const char *low_name, *high_name; /* what the ends are called beside the scale; NULL: the numbers */
    int width, height;        /* as above; height 0: what the rows need. Terminal: what they need, always; where no
                               * numbers are, at most 64 lines */
    int colour;
} PlotHeat;

int plot_heat_svg(PlotText *out, const PlotHeat *p, char *err, size_t errlen);
int plot_heat_terminal(PlotText *out, const PlotHeat *p, char *err, size_t errlen);

/* Many small heat maps in rows and columns, without numbers in their cells: a contact sheet.
 *
 *     PlotSheet p = {.title = "every head", .columns = heads, .rows = layers, .n_columns = n_heads, .n_rows = n_layers,
 *                    .values = weights, .side = n, .labels = kinds};
 *
 * A map that has less room than its cells is drawn as means, as above. SVG: any number of columns side by side, 32 are
 * 20 pixels each, and a pointer on a map shows its names. Terminal: columns that do not fit go on below. */
typedef struct {
    const char *title, *subtitle;
    const char *const *columns, *const *rows; /* names; NULL: none */
    size_t n_columns, n_rows;
    const double *values;     /* [n_rows, n_columns, side, side], NaN: nothing, left white */
    size_t side;              /* cells of a map, each way */
    const char *const *labels; /* [n_rows, n_columns], short, below each map; NULL: none */
    double high;              /* the scale's end, 0: 1, of means the largest. A map's colours run with the square root:
                               * small weights show */
    int diverging;            /* as above, from -high to high */
    int width, colour;        /* as above */
} PlotSheet;

int plot_sheet_svg(PlotText *out, const PlotSheet *p, char *err, size_t errlen);
int plot_sheet_terminal(PlotText *out, const PlotSheet *p, char *err, size_t errlen);

/* Dials in rows and columns: circles with hands.
 *
 *     const PlotHand hands[] = {{0.5, 0.9, NAN}, {0.5 + 7, 0.9, 0.5}};               before, and turned by 7 radians
 *     PlotDials p = {.title = "pair 0", .n_columns = 1, .n_rows = 1, .hands = hands, .n_hands = 2,
 *                    .names = (const char *const[]){"before", "after"}};
 *
 * Hands differ in colour and dashes. */
typedef struct {
    double angle, length; /* radians, counter-clockwise from the right, as in mathematics; 0 to 1, the rim. NaN: no
                           * hand */
    double from;          /* SVG: a thin arc from this angle to angle, the way it was turned; a spiral where it is more
                           * than once around, of which the last six turns are drawn. NaN, or nearly angle: none */
} PlotHand;
typedef struct {
    const char *title, *subtitle;
    const char *const *columns, *const *rows; /* names; NULL: none */
    size_t n_columns, n_rows;
    const PlotHand *hands;     /* [n_rows, n_columns, n_hands] */
    size_t n_hands;            /* at most 4 */
    const char *const *names;  /* [n_hands]: a legend; NULL: none */
    const char *const *labels; /* [n_rows, n_columns], below each; NULL: none */
    int width, colour;         /* as above; what does not fit the width goes on below, row by row */
} PlotDials;

int plot_dials_svg(PlotText *out, const PlotDials *p, char *err, size_t errlen);
int plot_dials_terminal(PlotText *out, const PlotDials *p, char *err, size_t errlen);

/* Horizontal bars, one below the other, from zero to the left and right.
 *
 *     PlotBars p = {.title = "a score", .names = pairs, .values = terms, .n = n_pairs, .waterfall = 1,
 *                   .sum_name = "q . k", .decimals = 3};
 *
 * What is below 0 has a colour of its own, on a terminal a shade, too. */
typedef struct {
    const char *title, *subtitle, *x_name;
    const char *const *names; /* [n] */
    const double *values;     /* [n]; NaN: a gap, which adds nothing */
    size_t n;
    int waterfall;            /* 1: each begins where the one before ends, and a last bar from 0 is their sum */
    const char *sum_name;     /* what that is called */
    int decimals;             /* of the number beside each bar */
    int width, colour;        /* as above */
} PlotBars;

int plot_bars_svg(PlotText *out, const PlotBars *p, char *err, size_t errlen);
int plot_bars_terminal(PlotText *out, const PlotBars *p, char *err, size_t errlen);

#endif
