/* lab/plot/lines.c - a line chart as SVG. Each line ends in its name; names keep apart, and a thin line leads from the
 * last point to its name. Above the frame stand the mark's name and the numbers of points that are beyond it. */
#include "parts.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { LABEL_GAP = 17, ROW = 17, LEAD = 22, SAMPLE = 30, MOST_ROWS = 8, FEW_POINTS = 40 };

typedef struct {
    const PlotLines *p;
    PlotText *t;
    PlotSpan span;
    PlotAxis y;
    double width, height, left, right, top, bottom, header, label_width;
    PlotRows beyond; /* numbers above the frame, as placed so far */
} Chart;

static double at_x(const Chart *c, double x) {
    return c->left + 10 + (plot_x(c->p, x) - c->span.x_low) / (c->span.x_high - c->span.x_low) *
                              (c->right - c->left - 20);
}

static double at_y(const Chart *c, double y) {
    return c->bottom - (y - c->y.low) / (c->y.high - c->y.low) * (c->bottom - c->top);
}

/* ---- the room that things take ---- */

/* A word at x in the rows above the frame, within the picture; series -1: the mark's name. Draws where c->t. */
static int put_above(Chart *c, double x, const char *s, int series) {
    double w = plot_width(s, strlen(s), PLOT_FONT) + (series >= 0 ? 14 : 0);
    double x0 = fmax(4, fmin(x - w / 2, c->width - w - 4));
    int row = plot_free_row(&c->beyond, x0, x0 + w, 6);
    double y = c->top - 10 - ROW * row;
    if (!c->t || row >= MOST_ROWS) return row;
    PlotStyle style = series < 0 ? (PlotStyle){0} : plot_style(&c->p->series[series], (size_t)series);
    if (series >= 0)
        plot_put(c->t, "<path class=\"s%d %s\" transform=\"translate(%.1f %.1f)\" d=\"%s\"/>\n", style.colour,
                 style.open ? "open" : "full", x0 + 5, y - 4.5, style.mark);
    plot_svg_text(c->t, series >= 0 ? "beyond" : "sub", x0 + (series >= 0 ? 14 : 0), y, s, strlen(s), c->width);
    return row;
}

/* All words above the frame: the rows they take. */
static int above(Chart *c) {
    int rows = 0, row;
    c->beyond.n = 0;
    if (plot_has_mark(c->p)) rows = 1 + put_above(c, at_x(c, c->p->mark), c->p->mark_name, -1);
    for (size_t i = 0; i < c->p->n_series; i++)
        for (size_t j = 0; j < c->p->series[i].n; j++) {
            const PlotPoint *at = &c->p->series[i].points[j];
            char number[40];
            if (!plot_counts(c->p, at) || !plot_beyond(&c->y, at->y)) continue;
            number[0] = 0;
            strcpy(number, at->y > c->y.high ? "\xe2\x86\x91" : "\xe2\x86\x93"); /* an arrow up or down */
            plot_number(number + 3, at->y, fabs(at->y) < 1000 ? 2 : -1);
            row = put_above(c, at_x(c, at->x), number, (int)i);
            if (row + 1 > rows) rows = row + 1;
        }
    return rows < MOST_ROWS ? rows : MOST_ROWS;
}

static void layout(Chart *c) {
    const PlotLines *p = c->p;
    double widest = 0, tick = 0;
    char number[32];
    c->width = p->width ? fmax(p->width, 400) : 800;
    c->height = p->height ? fmax(p->height, 240) : 480;
    plot_span(&c->span, p);
    plot_axis(&c->y, c->span.y_low, c->span.y_high, 6, p->y_min < p->y_max);
    for (int i = 0; i < c->y.n_ticks; i++) {
        plot_number(number, plot_tick(&c->y, i), c->y.decimals);
        tick = fmax(tick, plot_width(number, strlen(number), PLOT_FONT));
    }
    for (size_t i = 0; i < p->n_series; i++) {
        const char *name = p->series[i].name ? p->series[i].name : "";
        widest = fmax(widest, plot_width(name, strlen(name), PLOT_FONT));
    }
    c->label_width = fmin(widest, 0.42 * c->width);
    c->left = PLOT_MARGIN + (p->y_name ? 20 : 0) + tick + 8;
    c->right = c->width - PLOT_MARGIN - (p->n_series ? c->label_width + LEAD + SAMPLE + 8 : 0);
    c->header = plot_svg_header(NULL, p->title, p->subtitle, c->width);
    c->top = c->header + 12 + ROW * above(c);
    double wanted = c->top + LABEL_GAP * (double)p->n_series + 60, below = p->x_name ? 52 : 32;
    c->height = fmax(c->height, fmax(wanted, c->top + 120 + below));
    c->bottom = c->height - below;
}

/* ---- drawing ---- */

static void draw_y_axis(Chart *c) {
    char number[32];
    for (int i = 0; i < c->y.n_ticks; i++) {
        double y = at_y(c, plot_tick(&c->y, i));
        plot_put(c->t, "<line class=\"grid\" x1=\"%.1f\" x2=\"%.1f\" y1=\"%.1f\" y2=\"%.1f\"/>\n", c->left, c->right, y,
                 y);
        plot_number(number, plot_tick(&c->y, i), c->y.decimals);
        plot_svg_text(c->t, "end", c->left - 8, y + 4.5, number, strlen(number), c->width);
    }
    if (!c->p->y_name) return;
    double middle = (c->top + c->bottom) / 2;
    plot_put(c->t, "<g transform=\"translate(%d %.1f) rotate(-90)\">", PLOT_MARGIN + 12, middle);
    plot_svg_text(c->t, "mid", 0, 0, c->p->y_name, strlen(c->p->y_name), c->bottom - c->top);
    plot_put(c->t, "</g>\n");
}

static int draw_x_axis(Chart *c) {
    size_t n;
    double *ticks = plot_ticks(c->p, &c->span, &n), free_from = 0;
    if (!ticks) return 0;
    plot_put(c->t, "<line class=\"axis\" x1=\"%.1f\" x2=\"%.1f\" y1=\"%.1f\" y2=\"%.1f\"/>\n", c->left, c->right,
             c->bottom, c->bottom);
    for (size_t i = 0; i < n; i++) {
        double x = at_x(c, ticks[i]);
        char number[32];
        plot_number(number, ticks[i], -1);
        if (fabs(ticks[i]) < 1e9 && ticks[i] == floor(ticks[i])) plot_number(number, ticks[i], 0);
        double w = plot_width(number, strlen(number), PLOT_FONT);
        plot_put(c->t, "<line class=\"axis\" x1=\"%.1f\" x2=\"%.1f\" y1=\"%.1f\" y2=\"%.1f\"/>\n", x, x, c->bottom,
                 c->bottom + 5);
        if (x - w / 2 < free_from) continue;
        free_from = x + w / 2 + 8;
        plot_svg_text(c->t, "mid", x, c->bottom + 20, number, strlen(number), c->width);
    }
    free(ticks);
    if (c->p->x_name)
        plot_svg_text(c->t, "mid", (c->left + c->right) / 2, c->bottom + 42, c->p->x_name, strlen(c->p->x_name),
                      c->right - c->left);
    return 1;
}

/* Of the line from a to b what is inside the frame; first: the pen is not at a. Returns whether it is at b then. */
static int draw_piece(Chart *c, const PlotPoint *a, const PlotPoint *b, int first) {
    double x0 = at_x(c, a->x), x1 = at_x(c, b->x), from = 0, to = 1, low = c->y.low, high = c->y.high;
    if ((a->y > high && b->y > high) || (a->y < low && b->y < low)) return 0;
    if (a->y > high || a->y < low) from = ((a->y > high ? high : low) - a->y) / (b->y - a->y);
    if (b->y > high || b->y < low) to = ((b->y > high ? high : low) - a->y) / (b->y - a->y);
    double y0 = fmin(fmax(a->y, low), high), y1 = fmin(fmax(b->y, low), high);
    if (first || from > 0) plot_put(c->t, "M%.1f %.1f", x0 + from * (x1 - x0), at_y(c, y0));
    plot_put(c->t, "L%.1f %.1f", x0 + to * (x1 - x0), at_y(c, y1));
    return to == 1;
}

static void draw_line(Chart *c, size_t i) {
    const PlotSeries *s = &c->p->series[i];
    const char *dash = plot_style(s, i).dash;
    int joined = 0;
    plot_put(c->t, "<path class=\"line\"%s%s%s d=\"", *dash ? " stroke-dasharray=\"" : "", dash, *dash ? "\"" : "");
    for (size_t j = 0; j + 1 < s->n; j++) {
        const PlotPoint *a = &s->points[j], *b = a + 1;
        joined = plot_counts(c->p, a) && plot_counts(c->p, b) && draw_piece(c, a, b, !joined);
    }
    plot_put(c->t, "\"/>\n");
}

static void draw_points(Chart *c, size_t i) {
    const PlotSeries *s = &c->p->series[i];
    PlotStyle style = plot_style(s, i);
    for (size_t j = 0; j < s->n; j++) {
        const PlotPoint *at = &s->points[j];
        if (!plot_counts(c->p, at) || plot_beyond(&c->y, at->y)) continue;
        double x = at_x(c, at->x), y = at_y(c, at->y);
        if (at->error > 0 && isfinite(at->error)) {
            double up = at_y(c, fmin(at->y + at->error, c->y.high)), down = at_y(c, fmax(at->y - at->error, c->y.low));
            plot_put(c->t, "<path class=\"bar\" d=\"M%.1f %.1fV%.1fM%.1f %.1fh6M%.1f %.1fh6\"/>\n", x, up, down, x - 3,
                     up, x - 3, down);
        }
        if (s->n <= FEW_POINTS)
            plot_put(c->t, "<path class=\"%s\" transform=\"translate(%.1f %.1f)\" d=\"%s\"/>\n",
                     style.open ? "open" : "full", x, y, style.mark);
    }
}

/* Names at the right, each behind a piece of its line. */
static void draw_labels(Chart *c) {
    double at[PLOT_MOST_SERIES], ends[PLOT_MOST_SERIES], x = c->right + LEAD;
    for (size_t i = 0; i < c->p->n_series; i++) {
        const PlotPoint *last = plot_last(c->p, i);
        at[i] = ends[i] = last ? at_y(c, fmin(fmax(last->y, c->y.low), c->y.high)) : c->bottom;
    }
    plot_spread(at, c->p->n_series, LABEL_GAP, c->top, c->height - 16);
    for (size_t i = 0; i < c->p->n_series; i++) {
        const char *name = c->p->series[i].name ? c->p->series[i].name : "";
        PlotStyle style = plot_style(&c->p->series[i], i);
        const PlotPoint *last = plot_last(c->p, i);
        plot_put(c->t, "<g class=\"s%d\">\n", style.colour);
        if (last)
            plot_put(c->t, "<path class=\"lead\" d=\"M%.1f %.1fL%.1f %.1f\"/>\n", at_x(c, last->x) + 5, ends[i], x - 3,
                     at[i]);
        plot_put(c->t, "<path class=\"line\"%s%s%s d=\"M%.1f %.1fh%d\"/>\n", *style.dash ? " stroke-dasharray=\"" : "",
                 style.dash, *style.dash ? "\"" : "", x, at[i], SAMPLE);
        plot_put(c->t, "<path class=\"%s\" transform=\"translate(%.1f %.1f)\" d=\"%s\"/>\n</g>\n",
                 style.open ? "open" : "full", x + SAMPLE / 2.0, at[i], style.mark);
        plot_svg_text(c->t, "label", x + SAMPLE + 6, at[i] + 4.5, name, strlen(name), c->label_width + 0.5);
    }
}

int plot_lines_svg(PlotText *out, const PlotLines *p, char *err, size_t errlen) {
    Chart c = {.p = p};
    int rc = plot_check(p, err, errlen);
    if (rc) return rc;
    layout(&c);
    c.t = out;
    plot_svg_begin(out, c.width, c.height, p->title);
    plot_svg_header(out, p->title, p->subtitle, c.width);
    draw_y_axis(&c);
    if (!draw_x_axis(&c)) out->failed = 1;
    if (plot_has_mark(p))
        plot_put(out, "<line class=\"mark\" x1=\"%.1f\" x2=\"%.1f\" y1=\"%.1f\" y2=\"%.1f\"/>\n", at_x(&c, p->mark),
                 at_x(&c, p->mark), c.top, c.bottom);
    for (size_t i = 0; i < p->n_series; i++) {
        plot_put(out, "<g class=\"s%d\">\n", plot_style(&p->series[i], i).colour);
        draw_line(&c, i);
        draw_points(&c, i);
        plot_put(out, "</g>\n");
    }
    above(&c);
    draw_labels(&c);
    plot_put(out, "</svg>\n");
    return plot_done(out, err, errlen);
}
