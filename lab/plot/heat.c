/* lab/plot/heat.c - a heat map as SVG: cells with numbers, hatched where nothing was measured, and the scale below.
 *
 * The colours run evenly from pale to deep blue: lightness falls in a straight line in Oklab (B. Ottosson, "A
 * perceptual color space for image processing", 2020), so that equal steps of the value look equal, in grey, too. */
#include "parts.h"

#include <errno.h>
#include <math.h>
#include <string.h>

static double srgb(double linear) {
    double v = linear < 0 ? 0 : linear > 1 ? 1 : linear;
    return v <= 0.0031308 ? 12.92 * v : 1.055 * pow(v, 1 / 2.4) - 0.055;
}

void plot_ramp(double v, int rgb[3]) {
    double at = v < 0 ? 0 : v > 1 ? 1 : v;
    double lightness = 0.97 - 0.67 * at, chroma = 0.012 + 0.125 * sin(2.26 * at), hue = 4.42 + 0.2 * at;
    double a = chroma * cos(hue), b = chroma * sin(hue);
    double l = pow(lightness + 0.3963377774 * a + 0.2158037573 * b, 3);
    double m = pow(lightness - 0.1055613458 * a - 0.0638541728 * b, 3);
    double s = pow(lightness - 0.0894841775 * a - 1.2914855480 * b, 3);
    double linear[3] = {4.0767416621 * l - 3.3077115913 * m + 0.2309699292 * s,
                        -1.2684380046 * l + 2.6097574011 * m - 0.3413193965 * s,
                        -0.0041960863 * l - 0.7034186147 * m + 1.7076147010 * s};
    for (int i = 0; i < 3; i++) rgb[i] = (int)(255 * srgb(linear[i]) + 0.5);
}

int plot_heat_check(const PlotHeat *p, double *low, double *high, char *err, size_t errlen) {
    *low = p->low, *high = p->high;
    if (p->n_rows == 0 || p->n_columns == 0)
        return base_error(err, errlen, -EINVAL, "a heat map of %zu rows and %zu columns has no cell", p->n_rows,
                          p->n_columns);
    if (*low == 0 && *high == 0) *high = 1;
    if (!(*low < *high) || !isfinite(*high - *low))
        return base_error(err, errlen, -EINVAL, "a scale from %g to %g has no length", *low, *high);
    return 0;
}

typedef struct {
    const PlotHeat *p;
    PlotText *t;
    double width, height, left, top, cell_w, cell_h, low, high, column_h;
    int tilted; /* the columns' names, where they are too wide for their cells */
} Heat;

static const char *name_of(const char *const *names, size_t i) { return names && names[i] ? names[i] : ""; }

static double widest(const char *const *names, size_t n) {
    double w = 0;
    for (size_t i = 0; i < n; i++) w = fmax(w, plot_width(name_of(names, i), strlen(name_of(names, i)), PLOT_FONT));
    return w;
}

static void layout(Heat *h) {
    const PlotHeat *p = h->p;
    enum { SCALE_H = 46, MOST_CELL_W = 110 };
    h->width = p->width ? fmax(p->width, 400) : 800;
    h->left = PLOT_MARGIN + (p->y_name ? 20 : 0) + fmin(widest(p->rows, p->n_rows), 0.42 * h->width) + 8;
    h->cell_w = fmin(MOST_CELL_W, (h->width - h->left - PLOT_MARGIN) / (double)p->n_columns);
    double names = widest(p->columns, p->n_columns);
    h->tilted = names > h->cell_w - 6;
    h->column_h = !p->columns ? 0 : h->tilted ? fmin(names, 150) * 0.71 + 14 : 22;
    h->top = plot_svg_header(NULL, p->title, p->subtitle, h->width) + (p->x_name ? 20 : 0) + h->column_h;
    double below = SCALE_H + PLOT_MARGIN;
    h->cell_h = p->height ? fmax(20, (fmax(p->height, 240) - h->top - below) / (double)p->n_rows) : 34;
    h->height = h->top + h->cell_h * (double)p->n_rows + below;
}

static void draw_cell(Heat *h, size_t row, size_t column) {
    double v = h->p->values[row * h->p->n_columns + column];
    double x = h->left + h->cell_w * (double)column, y = h->top + h->cell_h * (double)row;
    char number[32];
    int rgb[3];
    plot_put(h->t, "<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\"", x + 1, y + 1, h->cell_w - 2,
             h->cell_h - 2);
    if (!isfinite(v)) {
        plot_put(h->t, " class=\"missing\" fill=\"url(#hatch)\"/>\n");
        return;
    }
    double part = (v - h->low) / (h->high - h->low);
    plot_ramp(part, rgb);
    plot_put(h->t, " fill=\"#%02x%02x%02x\"/>\n", (unsigned)rgb[0], (unsigned)rgb[1], (unsigned)rgb[2]);
    if (h->p->decimals < 0) return;
    plot_number(number, v, h->p->decimals);
    if (plot_width(number, strlen(number), PLOT_FONT) > h->cell_w - 2) return;
    plot_put(h->t, "<text class=\"mid cell\" style=\"fill:%s\" x=\"%.1f\" y=\"%.1f\">%s</text>\n",
             part > 0.5 ? "#fff" : "#1a1a1a", x + h->cell_w / 2, y + h->cell_h / 2 + 4.5, number);
}

static void draw_names(Heat *h) {
    const PlotHeat *p = h->p;
    double free_from = -1e9;
    for (size_t i = 0; p->rows && i < p->n_rows; i++)
        plot_svg_text(h->t, "end", h->left - 8, h->top + h->cell_h * ((double)i + 0.5) + 4.5, name_of(p->rows, i),
                      strlen(name_of(p->rows, i)), 0.42 * h->width + 0.5);
    for (size_t i = 0; p->columns && i < p->n_columns; i++) {
        double x = h->left + h->cell_w * ((double)i + 0.5);
        const char *s = name_of(p->columns, i);
        if (!h->tilted) {
            plot_svg_text(h->t, "mid", x, h->top - 7, s, strlen(s), h->cell_w);
        } else if (x > free_from) { /* more than one in so many pixels would lie on another */
            free_from = x + PLOT_FONT + 5 - 1e-6;
            plot_put(h->t, "<g transform=\"translate(%.1f %.1f) rotate(-45)\">", x + 3, h->top - 5);
            plot_svg_text(h->t, "tilted", 0, 0, s, strlen(s), 150);
            plot_put(h->t, "</g>\n");
        }
    }
    double middle = h->left + h->cell_w * (double)p->n_columns / 2;
    if (p->x_name)
        plot_svg_text(h->t, "mid sub", middle, h->top - h->column_h - 6, p->x_name, strlen(p->x_name),
                      2 * fmin(middle, h->width - middle));
    if (!p->y_name) return;
    plot_put(h->t, "<g transform=\"translate(%d %.1f) rotate(-90)\">", PLOT_MARGIN + 12,
             h->top + h->cell_h * (double)p->n_rows / 2);
    plot_svg_text(h->t, "mid sub", 0, 0, p->y_name, strlen(p->y_name), h->cell_h * (double)p->n_rows + 40);
    plot_put(h->t, "</g>\n");
}

/* A bar of all colours with its ends' names, at the right below the cells. */
static void draw_scale(Heat *h) {
    enum { STEPS = 40, BAR = 160, BAR_H = 10 };
    char low[32], high[32];
    int rgb[3], decimals = h->p->decimals > 0 ? h->p->decimals : 0;
    double y = h->top + h->cell_h * (double)h->p->n_rows + 18, x = h->left;
    plot_number(low, h->low, h->low == floor(h->low) ? 0 : decimals);
    plot_number(high, h->high, h->high == floor(h->high) ? 0 : decimals);
    const char *from = h->p->low_name ? h->p->low_name : low, *to = h->p->high_name ? h->p->high_name : high;
    plot_svg_text(h->t, "scale", x, y + BAR_H, from, strlen(from), 120);
    x += fmin(plot_width(from, strlen(from), PLOT_FONT), 120) + 8;
    for (int i = 0; i < STEPS; i++) {
        plot_ramp((i + 0.5) / STEPS, rgb);
        plot_put(h->t, "<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%d\" fill=\"#%02x%02x%02x\"/>\n",
                 x + i * (BAR / (double)STEPS), y, BAR / (double)STEPS + 0.3, BAR_H, (unsigned)rgb[0],
                 (unsigned)rgb[1], (unsigned)rgb[2]);
    }
    plot_svg_text(h->t, "scale", x + BAR + 8, y + BAR_H, to, strlen(to), 120);
}

int plot_heat_svg(PlotText *out, const PlotHeat *p, char *err, size_t errlen) {
    Heat h = {.p = p};
    int rc = plot_heat_check(p, &h.low, &h.high, err, errlen);
    if (rc) return rc;
    layout(&h);
    h.t = out;
    plot_svg_begin(out, h.width, h.height, p->title);
    plot_put(out, "<defs><pattern id=\"hatch\" width=\"7\" height=\"7\" patternUnits=\"userSpaceOnUse\">"
                  "<path d=\"M-1 8L8 -1M-1 1L1 -1M6 8L8 6\" class=\"axis\" stroke-width=\"1\"/></pattern></defs>\n");
    plot_svg_header(out, p->title, p->subtitle, h.width);
    draw_names(&h);
    for (size_t i = 0; i < p->n_rows; i++)
        for (size_t j = 0; j < p->n_columns; j++) draw_cell(&h, i, j);
    draw_scale(&h);
    plot_put(out, "</svg>\n");
    return plot_done(out, err, errlen);
}
