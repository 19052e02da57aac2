/* lab/plot/sheet.c - a contact sheet as SVG: small heat maps in rows and columns. */
#include "parts.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_MAP = 168, LEAST_LABEL = 6, MOST_LABEL = 11, SCALE_H = 40 };

typedef struct {
    const PlotSheet *p;
    PlotText *t, about;  /* the subtitle */
    PlotCells first;     /* the first map, and what all have in common */
    size_t bin, cells;   /* each way: of a cell, after binning */
    double width, height, left, top, map, pitch_x, pitch_y, label; /* label: its font's size, 0: none */
} Sheet;

static void layout(Sheet *s) {
    const PlotSheet *p = s->p;
    double names = plot_widest(p->rows, p->n_rows, PLOT_FONT, 200);
    s->width = p->width ? fmax(p->width, 400) : 800;
    s->left = PLOT_MARGIN + (names > 0 ? names + 8 : 0);
    s->pitch_x = (s->width - s->left - PLOT_MARGIN) / (double)p->n_columns;
    double gap = fmin(10, fmax(1, 0.12 * s->pitch_x));
    s->map = fmax(1, fmin(MOST_MAP, s->pitch_x - gap));
    s->bin = (size_t)ceil((double)p->side / s->map);
    s->cells = (p->side + s->bin - 1) / s->bin;
    if (s->map >= 2 * (double)s->cells) s->map -= fmod(s->map, (double)s->cells); /* cells of whole pixels */
    s->pitch_x = s->map + gap;
    double widest = 0;
    for (size_t i = 0; p->labels && i < p->n_rows * p->n_columns; i++)
        widest = fmax(widest, plot_width(plot_name(p->labels, i), strlen(plot_name(p->labels, i)), 1));
    s->label = widest > 0 ? fmax(LEAST_LABEL, fmin(MOST_LABEL, s->pitch_x / widest)) : 0;
    s->pitch_y = s->map + (s->label > 0 ? s->label + fmin(8, gap) : gap);
    plot_put_binned(&s->about, p->subtitle, s->bin, s->bin);
    s->top = plot_svg_header(NULL, p->title, s->about.at, s->width) + (p->columns ? 22 : 4);
    s->height = s->top + s->pitch_y * (double)p->n_rows + SCALE_H;
}

static void draw_names(Sheet *s) {
    double free_from = 0;
    for (size_t i = 0; s->p->columns && i < s->p->n_columns; i++) {
        const char *name = plot_name(s->p->columns, i);
        double w = plot_width(name, strlen(name), PLOT_FONT), x = s->left + s->pitch_x * (double)i + s->map / 2;
        if (x - fmin(w, s->pitch_x) / 2 < free_from) continue;
        free_from = x + fmin(w, s->pitch_x) / 2 + 4;
        plot_svg_text(s->t, "mid", x, s->top - 7, name, strlen(name), fmax(s->pitch_x, 2 * PLOT_FONT));
    }
    for (size_t i = 0; s->p->rows && i < s->p->n_rows; i++) {
        double every = ceil((PLOT_FONT + 1) / s->pitch_y);
        const char *name = plot_name(s->p->rows, i);
        if (fmod((double)i, every) == 0)
            plot_svg_text(s->t, "end", s->left - 8, s->top + s->pitch_y * (double)i + s->map / 2 + 4.5, name,
                          strlen(name), 200.5);
    }
}

/* What a pointer on it shows. */
static void tooltip(Sheet *s, size_t row, size_t column) {
    const char *of[3] = {plot_name(s->p->rows, row), plot_name(s->p->columns, column),
                         plot_name(s->p->labels, row * s->p->n_columns + column)};
    plot_put(s->t, "<title>");
    for (int i = 0, any = 0; i < 3; i++) {
        if (!*of[i]) continue;
        if (any++) plot_put(s->t, ", ");
        plot_put_xml(s->t, of[i], strlen(of[i]));
    }
    plot_put(s->t, "</title>\n");
}

static int draw_map(Sheet *s, size_t row, size_t column) {
    size_t index = row * s->p->n_columns + column;
    double x = s->left + s->pitch_x * (double)column, y = s->top + s->pitch_y * (double)row;
    const char *label = plot_name(s->p->labels, index);
    PlotCells map = s->first, binned;
    map.values = s->p->values + index * s->p->side * s->p->side;
    int rc = plot_bin(&binned, &map, s->bin, s->bin);
    plot_put(s->t, "<g>");
    tooltip(s, row, column);
    plot_put(s->t, "<rect class=\"under\" x=\"%.2f\" y=\"%.2f\" width=\"%.2f\" height=\"%.2f\"/>\n", x, y, s->map,
             s->map);
    if (rc == 0)
        rc = plot_svg_cells(s->t, &binned, x, y, s->map / (double)s->cells, s->map / (double)s->cells);
    free((void *)binned.values);
    if (s->label > 0) {
        size_t n = strlen(label), fits = plot_fitting(label, n, s->label, s->pitch_x + 0.5);
        plot_put(s->t, "<text class=\"mid sub\" style=\"font-size:%.1fpx\" x=\"%.1f\" y=\"%.1f\">", s->label,
                 x + s->map / 2, y + s->map + s->label);
        plot_put_xml(s->t, label, fits);
        plot_put(s->t, "%s</text>\n", fits < n ? "\xe2\x80\xa6" : "");
    }
    plot_put(s->t, "</g>\n");
    return rc;
}

int plot_sheet_svg(PlotText *out, const PlotSheet *p, char *err, size_t errlen) {
    Sheet s = {.p = p, .t = out};
    int rc = plot_sheet_check(p, &s.first, err, errlen);
    if (rc) return rc;
    layout(&s);
    rc = plot_sheet_high(p, &s.first, s.bin, s.bin);
    plot_svg_begin(out, s.width, s.height, p->title);
    plot_put(out, "<style>.under{fill:#fff;stroke:#ccc;stroke-width:1}"
                  "@media (prefers-color-scheme:dark){.under{fill:#23262b;stroke:#3a3e45}}</style>\n");
    plot_svg_header(out, p->title, s.about.at, s.width);
    draw_names(&s);
    for (size_t i = 0; rc == 0 && i < p->n_rows; i++)
        for (size_t j = 0; rc == 0 && j < p->n_columns; j++) rc = draw_map(&s, i, j);
    plot_svg_scale(out, &s.first, s.left, s.height - SCALE_H + 12, NULL, NULL, 2);
    plot_put(out, "</svg>\n");
    if (rc || s.about.failed) out->failed = 1;
    plot_text_free(&s.about);
    return plot_done(out, err, errlen);
}
