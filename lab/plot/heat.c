/* lab/plot/heat.c - a heat map as SVG: cells with numbers, hatched where nothing was measured, or thin cells without
 * either; and the scale below. */
#include "parts.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SCALE_H = 46, MOST_CELL_W = 110, MOST_SQUARE = 52, MOST_HEIGHT = 900, TILTED_W = 150 };
enum { LEAST_NUMBER = 9, GAPS_FROM = 16 }; /* pixels of a cell that may have a number, that has a gap */

typedef struct {
    const PlotHeat *p;
    PlotText *t, about;         /* the subtitle */
    PlotCells cells;            /* binned where they would be thinner than a pixel; owned */
    size_t down, across;
    double width, height, left, top, cell_w, cell_h, column_h;
    int numbers, turned;        /* the columns' names, in degrees, where they are too wide for their cells */
} Heat;

static int font_of(const Heat *h) { return h->numbers ? PLOT_FONT : PLOT_SMALL_FONT; }
static const char *column_name(const Heat *h, size_t i) { return plot_name(h->p->columns, i * h->across); }
static const char *row_name(const Heat *h, size_t i) { return plot_name(h->p->rows, i * h->down); }

/* Cells without numbers are square, where the map does not become too high or too flat. */
static void squares(Heat *h, double room) {
    double rows = (double)h->p->n_rows, columns = (double)h->p->n_columns;
    double w = fmin(MOST_SQUARE, room / columns); /* of one value */
    if (w >= 3) w = floor(w);
    double high = fmax(w, floor(fmin(34, 200 / rows)));
    if (h->p->height) high = (fmax(h->p->height, 240) - h->top - SCALE_H - PLOT_MARGIN) / rows;
    high = fmin(high, fmax(MOST_HEIGHT, h->width) / rows);
    h->across = w < 1 ? (size_t)ceil(1 / w) : 1;
    h->down = high < 1 ? (size_t)ceil(1 / high) : 1;
    h->cell_w = w * (double)h->across, h->cell_h = high * (double)h->down;
}

/* Places, as far as they do not depend on the subtitle. */
static void layout(Heat *h) {
    const PlotHeat *p = h->p;
    h->width = p->width ? fmax(p->width, 400) : 800;
    h->numbers = p->decimals >= 0;
    h->down = h->across = 1;
    h->top = plot_svg_header(NULL, p->title, p->subtitle, h->width) + 60; /* nearly, for squares() */
    for (int pass = 0; pass < 2; pass++) { /* names that are turned stand out at the right, which takes room */
        double over = h->turned == 45 ? fmax(0, h->column_h - 14 - h->cell_w / 2) : 0;
        double names = plot_widest(p->columns, p->n_columns, font_of(h), TILTED_W);
        h->left = PLOT_MARGIN + (p->y_name ? 20 : 0) + plot_widest(p->rows, p->n_rows, font_of(h), 0.42 * h->width) + 8;
        double room = h->width - h->left - PLOT_MARGIN - over;
        h->cell_w = fmin(MOST_CELL_W, room / (double)p->n_columns);
        if (h->cell_w < LEAST_NUMBER) h->numbers = 0;
        if (h->numbers) h->cell_h = 34;
        else squares(h, room);
        double turned_h = h->cell_w >= font_of(h) * 1.5 ? names * 0.71 + 14 : names + 10;
        h->turned = names <= h->cell_w - 6 ? 0 : h->cell_w >= font_of(h) * 1.5 ? 45 : 90;
        h->column_h = !p->columns ? 0 : h->turned ? turned_h : 22;
    }
    plot_put_binned(&h->about, p->subtitle, h->down, h->across);
    h->top = plot_svg_header(NULL, p->title, h->about.at, h->width) + (p->x_name ? 20 : 0) + h->column_h;
    double below = SCALE_H + PLOT_MARGIN;
    if (h->numbers && p->height) h->cell_h = fmax(20, (fmax(p->height, 240) - h->top - below) / (double)p->n_rows);
    h->height = h->top + h->cell_h * ceil((double)p->n_rows / (double)h->down) + below;
}

static void draw_cell(Heat *h, size_t row, size_t column) {
    double v = h->cells.values[row * h->cells.columns + column], part = plot_part(&h->cells, v);
    double x = h->left + h->cell_w * (double)column, y = h->top + h->cell_h * (double)row;
    double gap = h->numbers ? 1 : 0.5;
    char number[32];
    int rgb[3];
    if (isnan(part) && !h->numbers) return;
    plot_put(h->t, "<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\"", x + gap, y + gap, h->cell_w - 2 * gap,
             h->cell_h - 2 * gap);
    if (isnan(part)) {
        plot_put(h->t, " class=\"missing\" fill=\"url(#hatch)\"/>\n");
        return;
    }
    plot_colour(&h->cells, part, rgb);
    plot_put(h->t, " fill=\"#%02x%02x%02x\"/>\n", (unsigned)rgb[0], (unsigned)rgb[1], (unsigned)rgb[2]);
    if (!h->numbers) return;
    plot_number(number, v, h->p->decimals);
    if (plot_width(number, strlen(number), PLOT_FONT) > h->cell_w - 2) return;
    plot_put(h->t, "<text class=\"mid cell\" style=\"fill:%s\" x=\"%.1f\" y=\"%.1f\">%s</text>\n",
             fabs(part) > (h->cells.diverging ? 0.58 : 0.5) ? "#fff" : "#1a1a1a", x + h->cell_w / 2,
             y + h->cell_h / 2 + 4.5, number);
}

/* Every how many names there is room for one. */
static size_t stride(double cell, double line) { return cell >= line ? 1 : (size_t)ceil(line / cell - 1e-9); }

static void draw_column_names(Heat *h) {
    static const char *const classes[2][2] = {{"mid small", "tilted small"}, {"mid", "tilted"}};
    double line = font_of(h) + 2, aside = h->turned == 45 ? 2 : font_of(h) / 3.0;
    size_t each = !h->turned ? 1 : stride(h->cell_w, h->turned == 45 ? line / 0.71 : line);
    for (size_t i = 0; h->p->columns && i < h->cells.columns; i += each) {
        double x = h->left + h->cell_w * ((double)i + 0.5);
        const char *s = column_name(h, i);
        if (h->turned)
            plot_put(h->t, "<g transform=\"translate(%.1f %.1f) rotate(-%d)\">", x + aside, h->top - 5, h->turned);
        plot_svg_text(h->t, classes[h->numbers][h->turned > 0], h->turned ? 0 : x, h->turned ? 0 : h->top - 7, s,
                      strlen(s), h->turned ? TILTED_W + 1 : h->cell_w);
        if (h->turned) plot_put(h->t, "</g>\n");
    }
}

static void draw_names(Heat *h) {
    const PlotHeat *p = h->p;
    double middle = h->left + h->cell_w * (double)h->cells.columns / 2, all_h = h->cell_h * (double)h->cells.rows;
    for (size_t i = 0; p->rows && i < h->cells.rows; i += stride(h->cell_h, font_of(h) + 1))
        plot_svg_text(h->t, h->numbers ? "end" : "end small", h->left - 8,
                      h->top + h->cell_h * ((double)i + 0.5) + font_of(h) * 0.35, row_name(h, i),
                      strlen(row_name(h, i)), 0.42 * h->width + 0.5);
    draw_column_names(h);
    if (p->x_name)
        plot_svg_text(h->t, "mid sub", fmax(middle, h->left + 40), h->top - h->column_h - 6, p->x_name,
                      strlen(p->x_name), 2 * fmin(middle, h->width - middle));
    if (!p->y_name) return;
    plot_put(h->t, "<g transform=\"translate(%d %.1f) rotate(-90)\">", PLOT_MARGIN + 12, h->top + all_h / 2);
    plot_svg_text(h->t, "mid sub", 0, 0, p->y_name, strlen(p->y_name), all_h + 40);
    plot_put(h->t, "</g>\n");
}

static int draw(Heat *h) {
    int rc = 0;
    plot_svg_begin(h->t, h->width, h->height, h->p->title);
    plot_put(h->t, "<defs><pattern id=\"hatch\" width=\"7\" height=\"7\" patternUnits=\"userSpaceOnUse\">"
                   "<path d=\"M-1 8L8 -1M-1 1L1 -1M6 8L8 6\" class=\"axis\" stroke-width=\"1\"/></pattern></defs>\n");
    plot_svg_header(h->t, h->p->title, h->about.at, h->width);
    draw_names(h);
    if (!h->numbers && fmin(h->cell_w, h->cell_h) < GAPS_FROM)
        rc = plot_svg_cells(h->t, &h->cells, h->left, h->top, h->cell_w, h->cell_h);
    else
        for (size_t i = 0; i < h->cells.rows; i++)
            for (size_t j = 0; j < h->cells.columns; j++) draw_cell(h, i, j);
    plot_svg_scale(h->t, &h->cells, h->left, h->top + h->cell_h * (double)h->cells.rows + 18, h->p->low_name,
                   h->p->high_name, h->p->decimals > 0 ? h->p->decimals : 0);
    plot_put(h->t, "</svg>\n");
    return rc;
}

int plot_heat_svg(PlotText *out, const PlotHeat *p, char *err, size_t errlen) {
    Heat h = {.p = p, .t = out};
    PlotCells all;
    int rc = plot_heat_check(p, &all, err, errlen);
    if (rc) return rc;
    layout(&h);
    rc = plot_heat_bin(&h.cells, p, &all, h.down, h.across);
    if (rc == 0) rc = draw(&h);
    free((void *)h.cells.values);
    if (rc || h.about.failed) out->failed = 1;
    plot_text_free(&h.about);
    return plot_done(out, err, errlen);
}
