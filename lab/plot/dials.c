/* lab/plot/dials.c - dials as SVG: a rim with ticks at every quarter, hands with arrow heads, and thin arcs for turns,
 * which are spirals where a hand went around more than once. */
#include "parts.h"

#include <errno.h>
#include <math.h>
#include <string.h>

enum { MOST_CELL = 150, LEAST_CELL = 74, HEAD = 8, LEGEND = 20, MOST_HANDS = 4, MOST_TURNS = 6 };
static const char *const dashes[MOST_HANDS] = {"", "6 3", "2 2.5", "7 2.5 2 2.5"};

int plot_dials_check(const PlotDials *p, char *err, size_t errlen) {
    if (p->n_rows == 0 || p->n_columns == 0)
        return base_error(err, errlen, -EINVAL, "%zu by %zu dials are none", p->n_rows, p->n_columns);
    if (p->n_hands > MOST_HANDS)
        return base_error(err, errlen, -EINVAL, "a dial has room for %d hands; these are %zu", MOST_HANDS, p->n_hands);
    return 0;
}

typedef struct {
    const PlotDials *p;
    PlotText *t;
    size_t block;  /* dials of a line */
    double width, height, left, top, cell, radius, pitch, names, block_h; /* names: height of the columns' names */
} Dials;

static size_t blocks(const Dials *d) { return (d->p->n_columns + d->block - 1) / d->block; }

/* Names of hands, each behind a piece of one: where the next line begins. Draws where d->t. */
static double legend(const Dials *d, double y) {
    double x = PLOT_MARGIN;
    for (size_t i = 0; d->p->names && i < d->p->n_hands; i++) {
        const char *name = plot_name(d->p->names, i);
        double w = fmin(plot_width(name, strlen(name), PLOT_FONT), 0.8 * d->width);
        if (i > 0 && x + 34 + w > d->width - PLOT_MARGIN) x = PLOT_MARGIN, y += LEGEND;
        if (d->t) {
            plot_put(d->t, "<g class=\"s%zu\"><path class=\"hand\" stroke-dasharray=\"%s\" d=\"M%.1f %.1fh18\"/>"
                           "<path class=\"full\" d=\"M%.1f %.1fl-8 -4v8z\"/></g>\n", i, *dashes[i] ? dashes[i] : "none",
                     x, y + 10, x + 25, y + 10);
            plot_svg_text(d->t, "", x + 31, y + 14.5, name, strlen(name), w + 0.5);
        }
        x += 31 + w + 20;
    }
    return d->p->names && d->p->n_hands ? y + LEGEND + 4 : y;
}

static void layout(Dials *d) {
    const PlotDials *p = d->p;
    double names = plot_widest(p->rows, p->n_rows, PLOT_FONT, 200);
    d->width = p->width ? fmax(p->width, 400) : 800;
    d->left = PLOT_MARGIN + (names > 0 ? names + 8 : 0);
    double room = d->width - d->left - PLOT_MARGIN;
    double label = plot_widest(p->labels, p->n_rows * p->n_columns, PLOT_SMALL_FONT, MOST_CELL) + 8;
    d->block = plot_block(p->n_columns, (size_t)(room / fmax(LEAST_CELL, label)));
    d->cell = fmin(MOST_CELL, room / (double)d->block);
    d->radius = d->cell / 2 - 7;
    d->pitch = 2 * d->radius + (p->labels ? 28 : 14);
    d->names = p->columns ? 20 : 0;
    d->block_h = d->names + d->pitch * (double)p->n_rows + 6;
    d->top = legend(d, plot_svg_header(NULL, p->title, p->subtitle, d->width)) + 2;
    d->height = d->top + d->block_h * (double)blocks(d) + PLOT_MARGIN - 6;
}

/* The rim, and a tick at 0, 90, 180 and 270 degrees. */
static void draw_rim(Dials *d, double x, double y) {
    double r = d->radius, tick = fmin(5, r / 5);
    plot_put(d->t, "<circle class=\"rim\" cx=\"%.1f\" cy=\"%.1f\" r=\"%.1f\"/>\n", x, y, r);
    plot_put(d->t, "<path class=\"tick\" d=\"M%.1f %.1fh%.1fM%.1f %.1fh%.1fM%.1f %.1fv%.1fM%.1f %.1fv%.1f\"/>\n",
             x + r, y, -tick, x - r, y, tick, x, y + r, -tick, x, y - r, tick);
}

static void head(Dials *d, double x, double y, double angle, double size) {
    double a = angle + 0.42, b = angle - 0.42;
    plot_put(d->t, "<path class=\"full\" d=\"M%.1f %.1fL%.1f %.1fL%.1f %.1fz\"/>\n", x, y, x - size * cos(a),
             y + size * sin(a), x - size * cos(b), y + size * sin(b));
}

/* A thin arc from h->from to h->angle; of more than MOST_TURNS turns the last ones. */
static void draw_turn(Dials *d, const PlotHand *h, size_t i, double x, double y) {
    double by = h->angle - h->from, from = h->from;
    if (!isfinite(by) || fabs(by) < 0.15) return;
    if (fabs(by) > MOST_TURNS * TURN) from = h->angle - copysign(MOST_TURNS * TURN, by), by = h->angle - from;
    double first = (0.24 + 0.13 * (double)i) * d->radius;
    double grow = fmin(0.09 * d->radius, (0.8 * d->radius - first) / fmax(1, fabs(by) / TURN)) / TURN;
    int steps = (int)(fabs(by) / 0.12) + 2;
    double r = first, at = from;
    plot_put(d->t, "<path class=\"turn\" d=\"");
    for (int k = 0; k <= steps; k++) {
        at = from + by * k / steps, r = first + grow * fabs(by) * k / steps;
        plot_put(d->t, "%c%.1f %.1f", k ? 'L' : 'M', x + r * cos(at), y - r * sin(at));
    }
    plot_put(d->t, "\"/>\n");
    double back = fmin(0.45 * HEAD / r, fabs(by)); /* the head lies along the arc's last piece */
    head(d, x + r * cos(at), y - r * sin(at), at + copysign(TURN / 4 - back / 2, by), HEAD * 0.7);
}

static void draw_hand(Dials *d, const PlotHand *h, size_t i, double x, double y) {
    if (!isfinite(h->angle) || !isfinite(h->length)) return;
    double length = fmin(fmax(h->length, 0), 1) * d->radius, size = fmin(HEAD, length);
    double dx = cos(h->angle), dy = -sin(h->angle), shaft = length - 0.8 * size;
    plot_put(d->t, "<g class=\"s%zu\">\n", i);
    draw_turn(d, h, i, x, y);
    if (shaft > 0)
        plot_put(d->t, "<path class=\"hand\" stroke-dasharray=\"%s\" d=\"M%.1f %.1fL%.1f %.1f\"/>\n",
                 *dashes[i] ? dashes[i] : "none", x, y, x + shaft * dx, y + shaft * dy);
    head(d, x + length * dx, y + length * dy, h->angle, size);
    plot_put(d->t, "</g>\n");
}

static void draw_dial(Dials *d, size_t row, size_t column) {
    const PlotDials *p = d->p;
    size_t index = row * p->n_columns + column;
    double x = d->left + d->cell * ((double)(column % d->block) + 0.5);
    double y = d->top + d->block_h * (double)(column / d->block) + d->names + d->pitch * (double)row + d->radius;
    const char *label = plot_name(p->labels, index);
    draw_rim(d, x, y);
    for (size_t i = 0; i < p->n_hands; i++) draw_hand(d, &p->hands[index * p->n_hands + i], i, x, y);
    plot_put(d->t, "<circle class=\"hub\" cx=\"%.1f\" cy=\"%.1f\" r=\"2\"/>\n", x, y);
    if (p->labels) plot_svg_text(d->t, "mid small", x, y + d->radius + 15, label, strlen(label), d->cell - 2);
}

int plot_dials_svg(PlotText *out, const PlotDials *p, char *err, size_t errlen) {
    Dials d = {.p = p};
    int rc = plot_dials_check(p, err, errlen);
    if (rc) return rc;
    layout(&d);
    d.t = out;
    plot_svg_begin(out, d.width, d.height, p->title);
    plot_put(out, "<style>.rim{fill:none;stroke:#bbb;stroke-width:1.5}.tick{fill:none;stroke:#888}.hub{fill:#666}\n"
                  ".hand{fill:none;stroke:currentColor;stroke-width:2.2}\n"
                  ".turn{fill:none;stroke:currentColor;stroke-width:1.1}\n");
    plot_put(out, "@media (prefers-color-scheme:dark){.rim{stroke:#555b63}.hub{fill:#aaa}}</style>\n");
    legend(&d, plot_svg_header(out, p->title, p->subtitle, d.width));
    for (size_t j = 0; j < p->n_columns; j++) {
        const char *name = plot_name(p->columns, j);
        plot_svg_text(out, "mid", d.left + d.cell * ((double)(j % d.block) + 0.5),
                      d.top + d.block_h * (double)(j / d.block) + 12, name, strlen(name), d.cell - 4);
        for (size_t i = 0; i < p->n_rows; i++) draw_dial(&d, i, j);
    }
    for (size_t b = 0; p->rows && b < blocks(&d); b++)
        for (size_t i = 0; i < p->n_rows; i++)
            plot_svg_text(out, "end", d.left - 8,
                          d.top + d.block_h * (double)b + d.names + d.pitch * (double)i + d.radius + 4.5,
                          plot_name(p->rows, i), strlen(plot_name(p->rows, i)), 200.5);
    plot_put(out, "</svg>\n");
    return plot_done(out, err, errlen);
}
