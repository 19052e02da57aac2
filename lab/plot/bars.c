/* lab/plot/bars.c - horizontal bars as SVG, from zero or, as a waterfall, each from where the one before ended. */
#include "parts.h"

#include <errno.h>
#include <math.h>
#include <string.h>

enum { BAR = 22, THIN_BAR = 17, MANY = 24, POSITIVE = 0, NEGATIVE = 1, SUM = 6 };

int plot_bars_check(const PlotBars *p, PlotSpan *span, double *sum, char *err, size_t errlen) {
    *span = (PlotSpan){0}, *sum = 0;
    if (p->n == 0) return base_error(err, errlen, -EINVAL, "no bar to draw");
    for (size_t i = 0; i < p->n; i++) {
        if (!isfinite(p->values[i])) continue;
        *sum += p->values[i], span->n++;
        double end = p->waterfall ? *sum : p->values[i];
        span->x_low = fmin(span->x_low, end), span->x_high = fmax(span->x_high, end);
    }
    if (!isfinite(span->x_high - span->x_low) || fabs(span->x_low) > 1e300 || fabs(span->x_high) > 1e300)
        return base_error(err, errlen, -EINVAL, "bars from %g to %g have no scale", span->x_low, span->x_high);
    return 0;
}

void plot_bar_number(char text[34], const PlotBars *p, double v, int sum) {
    int sign = p->waterfall && !sum && v > 0;
    text[0] = '+';
    if (isfinite(v)) plot_number(text + sign, v, p->decimals);
    else strcpy(text, "\xe2\x80\x93"); /* a dash */
}

typedef struct {
    const PlotBars *p;
    PlotText *t;
    PlotSpan span;
    PlotAxis axis;
    double sum, width, height, left, right, top, bottom, bar, names;
} Bars;

static double at_x(const Bars *b, double v) {
    return b->left + (v - b->axis.low) / (b->axis.high - b->axis.low) * (b->right - b->left);
}

static void layout(Bars *b) {
    const PlotBars *p = b->p;
    double below = 0, above = 0; /* widest numbers, of bars to the left and right */
    char number[34];
    for (size_t i = 0; i <= p->n; i++) {
        double v = i < p->n ? p->values[i] : b->sum;
        if (!p->waterfall && i == p->n) break;
        plot_bar_number(number, p, v, i == p->n);
        double w = plot_width(number, strlen(number), PLOT_FONT) + 6;
        if (v < 0) below = fmax(below, w);
        else above = fmax(above, w);
    }
    b->width = p->width ? fmax(p->width, 400) : 800;
    const char *const sum[] = {p->waterfall ? p->sum_name : NULL};
    b->names = fmax(plot_widest(p->names, p->n, PLOT_FONT, 0.42 * b->width),
                    plot_widest(sum, 1, PLOT_FONT, 0.42 * b->width));
    b->left = PLOT_MARGIN + b->names + 10 + below;
    b->right = b->width - PLOT_MARGIN - above;
    b->bar = p->n > MANY ? THIN_BAR : BAR;
    b->top = plot_svg_header(NULL, p->title, p->subtitle, b->width) + 6;
    b->bottom = b->top + b->bar * (double)(p->n + (p->waterfall != 0)) + (p->waterfall ? 6 : 0) + 4;
    b->height = b->bottom + (p->x_name ? 52 : 32);
    plot_axis(&b->axis, b->span.x_low, b->span.x_high, 6, 1);
}

static void draw_axis(Bars *b) {
    char number[32];
    double free_from = 0;
    for (int i = 0; i < b->axis.n_ticks; i++) {
        double x = at_x(b, plot_tick(&b->axis, i));
        plot_number(number, plot_tick(&b->axis, i), b->axis.decimals);
        double w = plot_width(number, strlen(number), PLOT_FONT);
        plot_put(b->t, "<line class=\"grid\" x1=\"%.1f\" x2=\"%.1f\" y1=\"%.1f\" y2=\"%.1f\"/>\n", x, x, b->top,
                 b->bottom);
        if (x - w / 2 < free_from) continue;
        free_from = x + w / 2 + 8;
        plot_svg_text(b->t, "mid", x, b->bottom + 17, number, strlen(number), b->width);
    }
    if (b->p->x_name)
        plot_svg_text(b->t, "mid sub", (b->left + b->right) / 2, b->bottom + 39, b->p->x_name, strlen(b->p->x_name),
                      2 * fmin((b->left + b->right) / 2, b->width - (b->left + b->right) / 2));
}

/* A bar of v from a value on, its name and its number, behind the end that it points to. */
static void draw_bar(Bars *b, double y, const char *name, double from, double v, int sum) {
    double to = from + v, x0 = at_x(b, fmin(from, to)), x1 = at_x(b, fmax(from, to));
    char number[34];
    plot_svg_text(b->t, "end", PLOT_MARGIN + b->names, y + b->bar / 2 + 4.5, name, strlen(name), b->names + 0.5);
    plot_put(b->t, "<rect class=\"full s%d\" x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\"/>\n",
             sum ? SUM : v < 0 ? NEGATIVE : POSITIVE, x0, y + 2, fmax(x1 - x0, 0.8), b->bar - 4);
    plot_bar_number(number, b->p, v, sum);
    plot_svg_text(b->t, v < 0 ? "end" : "start", v < 0 ? x0 - 5 : x1 + 5, y + b->bar / 2 + 4.5, number, strlen(number),
                  b->width);
}

static void draw(Bars *b) {
    const PlotBars *p = b->p;
    double y = b->top + 2, at = 0;
    plot_put(b->t, "<line class=\"axis\" x1=\"%.1f\" x2=\"%.1f\" y1=\"%.1f\" y2=\"%.1f\"/>\n", at_x(b, 0), at_x(b, 0),
             b->top, b->bottom);
    for (size_t i = 0; i < p->n; i++, y += b->bar) {
        const char *name = plot_name(p->names, i);
        double v = p->values[i];
        if (isfinite(v)) draw_bar(b, y, name, at, v, 0);
        else {
            plot_svg_text(b->t, "end", PLOT_MARGIN + b->names, y + b->bar / 2 + 4.5, name, strlen(name),
                          b->names + 0.5);
            plot_svg_text(b->t, "start sub", at_x(b, at) + 5, y + b->bar / 2 + 4.5, "\xe2\x80\x93", 3, b->width);
        }
        if (!p->waterfall) continue;
        at += isfinite(v) ? v : 0;
        plot_put(b->t, "<line class=\"mark\" x1=\"%.1f\" x2=\"%.1f\" y1=\"%.1f\" y2=\"%.1f\"/>\n", at_x(b, at),
                 at_x(b, at), y + b->bar - 2, y + b->bar + (i + 1 < p->n ? 2 : 8));
    }
    if (p->waterfall) draw_bar(b, y + 6, p->sum_name ? p->sum_name : "", 0, b->sum, 1);
}

int plot_bars_svg(PlotText *out, const PlotBars *p, char *err, size_t errlen) {
    Bars b = {.p = p, .t = out};
    int rc = plot_bars_check(p, &b.span, &b.sum, err, errlen);
    if (rc) return rc;
    layout(&b);
    plot_svg_begin(out, b.width, b.height, p->title);
    plot_svg_header(out, p->title, p->subtitle, b.width);
    draw_axis(&b);
    draw(&b);
    plot_put(out, "</svg>\n");
    return plot_done(out, err, errlen);
}
