/* lab/plot/svg.c - what the pictures in SVG share: the head with its colours, titles, words, marks, cells.
 *
 * The colours are those of Okabe and Ito (2008), which people with any kind of colour vision tell apart, made darker or
 * lighter where they would be pale on white or dull on black; no line depends on its colour alone. */
#include "parts.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char *const light[PLOT_COLOURS] = {"#0072b2", "#d55e00", "#00805e", "#b8478f",
                                                "#4aa8e0", "#d99400", "#333333", "#7a1f4b"};
static const char *const dark[PLOT_COLOURS] = {"#4fb0f5", "#ff8a3d", "#2fcf9f", "#f09ad0",
                                               "#a5dcff", "#ffc44d", "#eeeeee", "#d9659a"};

static void colours(PlotText *t, const char *const *of) {
    for (int i = 0; i < PLOT_COLOURS; i++) plot_put(t, ".s%d{color:%s}\n", i, of[i]);
}

void plot_svg_begin(PlotText *t, double width, double height, const char *title) {
    plot_put(t, "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%.0f\" height=\"%.0f\" viewBox=\"0 0 %.0f %.0f\"",
             width, height, width, height);
    plot_put(t, " role=\"img\">\n<title>");
    if (title) plot_put_xml(t, title, strlen(title));
    plot_put(t, "</title>\n<style>\n"
                "text{font-family:system-ui,\"Segoe UI\",Helvetica,Arial,\"DejaVu Sans\",sans-serif;font-size:%dpx;"
                "fill:#222}\n", PLOT_FONT);
    plot_put(t, ".title{font-size:%dpx;font-weight:600}\n.sub{fill:#555}\n.mid{text-anchor:middle}\n"
                ".end{text-anchor:end}\n.bg{fill:#fff}\n", PLOT_TITLE_FONT);
    plot_put(t, ".grid{stroke:#e4e4e4}\n.axis{stroke:#666}\n.mark{stroke:#666;stroke-dasharray:2 3}\n"
                ".line{fill:none;stroke:currentColor;stroke-width:2;stroke-linejoin:round}\n"
                ".lead{fill:none;stroke:currentColor;stroke-width:1;stroke-opacity:.55}\n"
                ".full{fill:currentColor;stroke:none}\n"
                ".open{fill:#fff;stroke:currentColor;stroke-width:2}\n"
                ".bar{stroke:currentColor;stroke-width:1.2}\n");
    plot_put(t, ".small{font-size:%dpx}\n.start{text-anchor:start}\n", PLOT_SMALL_FONT);
    colours(t, light);
    plot_put(t, "@media (prefers-color-scheme:dark){\ntext{fill:#e6e6e6}\n.sub{fill:#aaa}\n.bg{fill:#16181c}\n"
                ".open{fill:#16181c}\n.grid{stroke:#33363b}\n.axis{stroke:#999}\n.mark{stroke:#999}\n");
    colours(t, dark);
    plot_put(t, "}\n</style>\n<rect class=\"bg\" width=\"100%%\" height=\"100%%\"/>\n");
}

void plot_svg_text(PlotText *t, const char *class, double x, double y, const char *s, size_t n, double pixels) {
    size_t fits = plot_fitting(s, n, PLOT_FONT, pixels);
    plot_put(t, "<text class=\"%s\" x=\"%.1f\" y=\"%.1f\">", class, x, y);
    if (fits < n) {
        plot_put(t, "<title>");
        plot_put_xml(t, s, n);
        plot_put(t, "</title>");
    }
    plot_put_xml(t, s, fits);
    plot_put(t, "%s</text>\n", fits < n ? "\xe2\x80\xa6" : "");
}

static double lines_of(PlotText *t, const char *class, const char *s, double font, double width, double y) {
    size_t n = s ? strlen(s) : 0;
    while (n > 0) {
        size_t len = plot_line_break(s, n, font * (font > PLOT_FONT ? 1.08 : 1), width - 2 * PLOT_MARGIN);
        y += font + 5;
        if (t) {
            plot_put(t, "<text class=\"%s\" x=\"%d\" y=\"%.1f\">", class, PLOT_MARGIN, y);
            plot_put_xml(t, s, len);
            plot_put(t, "</text>\n");
        }
        s += len, n -= len;
        while (n > 0 && *s == ' ') s++, n--;
    }
    return y;
}

double plot_svg_header(PlotText *t, const char *title, const char *subtitle, double width) {
    double y = lines_of(t, "title", title, PLOT_TITLE_FONT, width, 8);
    return lines_of(t, "sub", subtitle, PLOT_FONT, width, y) + 8;
}

/* ---- styles of lines: colours by 8, marks by 16, dashes by 6 differ together up to 48 ---- */

static const struct { const char *path; int open; } marks[16] = {
    {"M-3.8 0a3.8 3.8 0 1 0 7.6 0a3.8 3.8 0 1 0 -7.6 0z", 0},                      /* a disc */
    {"M-3.4 -3.4h6.8v6.8h-6.8z", 0},                                               /* a square */
    {"M0 -4.6L4.4 3.4H-4.4z", 0},                                                  /* triangles, up */
    {"M0 -4.9L4.9 0L0 4.9L-4.9 0z", 0},                                            /* a diamond */
    {"M0 4.6L4.4 -3.4H-4.4z", 0},                                                  /* down */
    {"M-4.4 0h8.8M0 -4.4v8.8", 1},                                                 /* a plus */
    {"M-3.4 -3.4l6.8 6.8M3.4 -3.4l-6.8 6.8", 1},                                   /* a cross */
    {"M-3.6 0a3.6 3.6 0 1 0 7.2 0a3.6 3.6 0 1 0 -7.2 0z", 1},                      /* a ring */
    {"M-3.6 -3.6h7.2v7.2h-7.2z", 1},                                               /* the same, not filled */
    {"M0 -4.8L4.6 3.4H-4.6z", 1},
    {"M0 -5.2L5.2 0L0 5.2L-5.2 0z", 1},
    {"M0 4.8L4.6 -3.4H-4.6z", 1},
    {"M0 -5.6L1.4 -1.7H5.4L2.2 0.8L3.4 4.7L0 2.4L-3.4 4.7L-2.2 0.8L-5.4 -1.7H-1.4z", 0}, /* a star */
    {"M-4.4 -4L4.4 4V-4L-4.4 4z", 0},                                              /* a bow tie */
    {"M-4.8 0h9.6M-2.4 -4.2l4.8 8.4M2.4 -4.2l-4.8 8.4", 1},                        /* an asterisk */
    {"M4.8 0L-3.6 4.5V-4.5z", 0},                                                  /* to the right */
};
static const char *const dashes[6] = {"", "8 4", "2.5 3", "10 4 2.5 4", "14 4", "6 3 2 3 2 3"};

PlotStyle plot_style(const PlotSeries *s, size_t i) {
    size_t k = s->style > 0 ? (size_t)s->style - 1 : i, mark = (k + 5 * (k / 16)) % 16;
    return (PlotStyle){marks[mark].path, dashes[k % 6], (int)(k % PLOT_COLOURS), marks[mark].open};
}

/* ---- cells ---- */

double plot_widest(const char *const *names, size_t n, double size, double most) {
    double w = 0;
    for (size_t i = 0; names && i < n; i++)
        w = fmax(w, plot_width(plot_name(names, i), strlen(plot_name(names, i)), size));
    return fmin(w, most);
}

void plot_svg_scale(PlotText *t, const PlotCells *c, double x, double y, const char *low, const char *high,
                    int decimals) {
    enum { STEPS = 40, BAR = 160, BAR_H = 10 };
    char from[32], to[32];
    int rgb[3];
    plot_number(from, c->low, c->low == floor(c->low) ? 0 : decimals);
    plot_number(to, c->high, c->high == floor(c->high) ? 0 : decimals);
    if (!low) low = from;
    if (!high) high = to;
    plot_svg_text(t, "scale", x, y + BAR_H, low, strlen(low), 120);
    x += fmin(plot_width(low, strlen(low), PLOT_FONT), 120) + 8;
    for (int i = 0; i < STEPS; i++) {
        plot_colour(c, plot_part(c, c->low + (i + 0.5) / STEPS * (c->high - c->low)), rgb);
        plot_put(t, "<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%d\" fill=\"#%02x%02x%02x\"/>\n",
                 x + i * (BAR / (double)STEPS), y, BAR / (double)STEPS + 0.3, BAR_H, (unsigned)rgb[0],
                 (unsigned)rgb[1], (unsigned)rgb[2]);
    }
    plot_svg_text(t, "scale", x + BAR + 8, y + BAR_H, high, strlen(high), 120);
}

/* The runs of one level, if there are any, as a path in units of cells. */
static void put_runs(PlotText *t, const PlotCells *c, const unsigned char *levels, unsigned char level, double part) {
    int rgb[3], any = 0;
    for (size_t i = 0; i < c->rows; i++)
        for (size_t j = 0; j < c->columns; j++) {
            const unsigned char *row = levels + i * c->columns;
            size_t first = j;
            while (j < c->columns && row[j] == level) j++;
            if (j == first) continue;
            plot_colour(c, part, rgb);
            if (!any++)
                plot_put(t, "<path stroke=\"#%02x%02x%02x\" d=\"", (unsigned)rgb[0], (unsigned)rgb[1],
                         (unsigned)rgb[2]);
            plot_put(t, "M%zu %zu.5h%zu", first, i, j - first);
        }
    if (any) plot_put(t, "\"/>\n");
}

int plot_svg_cells(PlotText *t, const PlotCells *c, double x, double y, double cell_w, double cell_h) {
    enum { LEVELS = 60, NOTHING = 255 };
    unsigned char *levels = malloc(c->rows * c->columns);
    if (!levels) return -ENOMEM;
    for (size_t i = 0; i < c->rows * c->columns; i++) {
        double part = plot_part(c, c->values[i]);
        levels[i] = isnan(part) ? NOTHING : (unsigned char)lround(part * LEVELS + (c->diverging ? LEVELS : 0));
    }
    plot_put(t, "<g transform=\"translate(%.2f %.2f) scale(%.4f %.4f)\" shape-rendering=\"crispEdges\">\n", x, y,
             cell_w, cell_h);
    for (int i = 0; i <= (c->diverging ? 2 : 1) * LEVELS; i++)
        put_runs(t, c, levels, (unsigned char)i, (double)(i - (c->diverging ? LEVELS : 0)) / LEVELS);
    plot_put(t, "</g>\n");
    free(levels);
    return 0;
}
