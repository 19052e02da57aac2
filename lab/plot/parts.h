/* lab/plot/parts.h - what the files of lab/plot/ share: text, axes, places of labels. */
#ifndef PLOT_PARTS_H
#define PLOT_PARTS_H

#include "plot.h"

#include "base/base.h"

/* ---- text.c: text ---- */

void plot_put(PlotText *t, const char *fmt, ...) BASE_PRINTF(2, 3);
void plot_put_bytes(PlotText *t, const char *s, size_t n);
void plot_put_xml(PlotText *t, const char *s, size_t n);   /* escaped; what XML forbids becomes U+FFFD */
int plot_done(const PlotText *t, char *err, size_t errlen); /* 0, or -ENOMEM */

/* Pixels that s [n] takes in a sans-serif font of that size, rather more than less (DejaVu Sans is a wide one). */
double plot_width(const char *s, size_t n, double size);
/* Bytes of s [n] that fit so many pixels; all of them, or as many as leave room for an ellipsis. */
size_t plot_fitting(const char *s, size_t n, double size, double pixels);
/* Bytes of the first line of s [n], broken at a space where it must be: at least one character. */
size_t plot_line_break(const char *s, size_t n, double size, double pixels);
size_t plot_columns(const char *s, size_t n); /* of a terminal; wide characters take two */
const char *plot_name(const char *const *names, size_t i); /* "" where there is none */
size_t plot_longest(const char *const *names, size_t n);   /* columns of the longest */

/* ---- scale.c: axes, places ---- */

typedef struct {
    double low, high, first, step; /* ticks at first + i step, i < n_ticks */
    int n_ticks, decimals;         /* decimals -1: as %g */
} PlotAxis;

/* An axis of about so many round numbers that holds low and high, and ends at such a number unless exact. */
void plot_axis(PlotAxis *a, double low, double high, int ticks, int exact);
int plot_beyond(const PlotAxis *a, double v); /* 1 above it, -1 below */
double plot_tick(const PlotAxis *a, int i);
void plot_number(char text[32], double v, int decimals);

/* What a chart's points span: of points that count (finite, and above 0 where x is a logarithm). */
int plot_counts(const PlotLines *p, const PlotPoint *at);
double plot_x(const PlotLines *p, double x); /* x, or its logarithm */
typedef struct { double x_low, x_high, y_low, y_high; size_t n; } PlotSpan;
void plot_span(PlotSpan *span, const PlotLines *p);
const PlotPoint *plot_last(const PlotLines *p, size_t series); /* the last that counts, or NULL */
/* The numbers below the x axis: those given, else xs of the points, else round ones. malloc'ed; NULL: no memory. */
double *plot_ticks(const PlotLines *p, const PlotSpan *span, size_t *n);
int plot_check(const PlotLines *p, char *err, size_t errlen);

/* Places of n labels, each at at[i] if it could, none nearer to the next than gap, all from low to high where there is
 * room: as near to where they want to be as the others leave, in the order of at (equal ones in the order of the
 * array). n <= PLOT_MOST_SERIES. */
void plot_spread(double *at, size_t n, double gap, double low, double high);

/* Words in rows above a frame, none on another: the lowest row where one from x0 to x1 has gap around it. */
typedef struct { struct { double x0, x1; int row; } at[256]; size_t n; } PlotRows;
int plot_free_row(PlotRows *r, double x0, double x1, double gap);
int plot_has_mark(const PlotLines *p);

/* Cells on a scale. */
typedef struct {
    const double *values; /* [rows, columns], NaN: nothing */
    size_t rows, columns;
    double low, high;     /* diverging: low is -high */
    int diverging, root;  /* root: colours run with the square root of the value */
} PlotCells;

/* ---- svg.c: what the pictures in SVG share ---- */

/* The line of a series, by its style: colour, mark and dash, of which the first 48 differ. */
typedef struct { const char *mark, *dash; int colour, open; } PlotStyle; /* paths; open: the mark is not filled */
PlotStyle plot_style(const PlotSeries *s, size_t i);

enum { PLOT_FONT = 13, PLOT_SMALL_FONT = 11, PLOT_TITLE_FONT = 17, PLOT_MARGIN = 14, PLOT_COLOURS = 8 }; /* pixels */
void plot_svg_begin(PlotText *t, double width, double height, const char *title); /* .. to the background */
/* The title and the subtitle, broken into lines: where the picture may begin below them. t NULL: only that. */
double plot_svg_header(PlotText *t, const char *title, const char *subtitle, double width);
/* A line of text; what does not fit the pixels ends in an ellipsis, and the whole is its tooltip. */
void plot_svg_text(PlotText *t, const char *class, double x, double y, const char *s, size_t n, double pixels);

/* Pixels of the widest name in that font, at most so many; 0 where there are none. */
double plot_widest(const char *const *names, size_t n, double size, double most);
/* A bar of the scale's colours from x on, its ends' names (NULL: their numbers) before and behind it. */
void plot_svg_scale(PlotText *t, const PlotCells *c, double x, double y, const char *low, const char *high,
                    int decimals);
/* Cells without gaps, drawn as runs of one colour: a path a colour. What is no number is left out. 0 or -ENOMEM. */
int plot_svg_cells(PlotText *t, const PlotCells *c, double x, double y, double cell_w, double cell_h);

/* ---- cells.c ---- */

void plot_ramp(double v, int rgb[3]); /* the colour of 0 to 1: pale to deep, even in lightness */
void plot_ramp_signed(double v, int rgb[3]); /* of -1 to 1: deep red, pale at 0, deep blue; even on both sides */
double plot_part(const PlotCells *c, double v); /* where v is on the scale: 0 to 1, diverging -1 to 1; NaN: nowhere */
void plot_colour(const PlotCells *c, double part, int rgb[3]);
/* Each cell of out is the mean of down x across cells of in, of those that are numbers; out's values are malloc'ed.
 * 0 or -ENOMEM. */
int plot_bin(PlotCells *out, const PlotCells *in, size_t down, size_t across);
/* A subtitle that says so, where it is more than one; put into t. */
void plot_put_binned(PlotText *t, const char *subtitle, size_t down, size_t across);
int plot_heat_check(const PlotHeat *p, PlotCells *c, char *err, size_t errlen); /* and its cells */
/* The same as plot_bin; where nobody chose the scale, it ends at the largest mean (in size). */
int plot_heat_bin(PlotCells *out, const PlotHeat *p, const PlotCells *all, size_t down, size_t across);
int plot_sheet_check(const PlotSheet *p, PlotCells *first, char *err, size_t errlen); /* and its first map's */
/* first's scale where nobody chose one: it ends at the largest mean of all maps. 0 or -ENOMEM. */
int plot_sheet_high(const PlotSheet *p, PlotCells *first, size_t down, size_t across);
int plot_dials_check(const PlotDials *p, char *err, size_t errlen);

/* ---- bars.c ---- */

/* Where bars begin and end, zero included (span's xs), and their sum. */
int plot_bars_check(const PlotBars *p, PlotSpan *span, double *sum, char *err, size_t errlen);
void plot_bar_number(char text[34], const PlotBars *p, double v, int sum);

/* Columns that go side by side where a line has room for so many: all blocks but the last have as many. */
size_t plot_block(size_t columns, size_t room);

#endif
