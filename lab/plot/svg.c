/* lab/plot/svg.c - what both pictures in SVG have: the head with its colours, titles, words.
 *
 * The colours are those of Okabe and Ito (2008), which people with any kind of colour vision tell apart, made darker or
 * lighter where they would be pale on white or dull on black; no line depends on its colour alone. */
#include "parts.h"

#include <math.h>
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
                ".open{fill:none;stroke:currentColor;stroke-width:2}\n"
                ".bar{stroke:currentColor;stroke-width:1.2}\n");
    colours(t, light);
    plot_put(t, "@media (prefers-color-scheme:dark){\ntext{fill:#e6e6e6}\n.sub{fill:#aaa}\n.bg{fill:#16181c}\n"
                ".grid{stroke:#33363b}\n.axis{stroke:#999}\n.mark{stroke:#999}\n");
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
