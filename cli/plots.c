/* cli/plots.c - where pictures go: files, and the terminal. */
#include "cli.h"
#include "base/newfile.h"
#include "base/paths.h"
#include "rope/spec.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>

int svg_save(const char *path, const PlotText *svg) {
    NewFile f;
    char err[400];
    int rc = newfile_open(&f, path, err, sizeof err);
    if (rc == 0) {
        newfile_write(&f, svg->at, svg->n);
        rc = newfile_close(&f, 1, err, sizeof err);
    }
    return rc ? fail("--svg: %s", err) : 0;
}

int svg_may_write(const char *path) {
    static const char *const begins[] = {"<svg"}; /* as ours do; what somebody drew begins otherwise */
    NewFile f;
    char err[600];
    if (strcmp(path, "-") == 0) return usage("--svg -: a picture goes into a file, not to stdout: name one");
    if (newfile_check_begins(path, begins, 1, "a picture that was drawn here", err, sizeof err) ||
        newfile_open(&f, path, err, sizeof err))
        return fail("--svg %s", err);
    newfile_close(&f, 0, err, sizeof err);
    return 0;
}

int svg_check(const Args *a) {
    const char *svg = a->show.svg, *resume = a->compare.resume;
    if (!svg) return 0;
    if ((a->model && file_same(a->model, svg)) || (a->in.file && file_same(a->in.file, svg)))
        return fail("--svg %s: is read by this command, and stays as it is: name another file", svg);
    if (resume && (strcmp(resume, svg) == 0 || file_same(resume, svg)))
        return usage("--svg and --resume name the same file: %s", svg);
    return svg_may_write(svg);
}

char *svg_beside(const char *path, const char *suffix) {
    const char *dot = strrchr(path, '.'), *slash = strrchr(path, '/');
    if (!dot || (slash && slash > dot)) dot = path + strlen(path);
    size_t n = strlen(path) + strlen(suffix) + 2;
    char *made = malloc(n);
    if (made) snprintf(made, n, "%.*s-%s%s", (int)(dot - path), path, suffix, dot);
    return made;
}

static int wants_terminal(const Args *a) { return out.terminal && !a->show.json && !a->show.csv; }

void screen(int *width, int *height, int *colour) {
    struct winsize w;
    const char *term = getenv("TERM"), *plain = getenv("NO_COLOR");
    *width = 80, *height = 20;
    if (ioctl(1, TIOCGWINSZ, &w) == 0 && w.ws_col > 0 && w.ws_row > 0) {
        *width = w.ws_col < 120 ? w.ws_col : 120;
        *height = w.ws_row < 30 ? w.ws_row - 4 : 26;
    }
    *colour = !(plain && *plain) && term && strcmp(term, "dumb") != 0;
}

int line_room(void) {
    int width, height, colour;
    screen(&width, &height, &colour);
    return out.terminal ? width : INT_MAX;
}

/* What was drawn goes where it belongs. An exit code. */
static int hand_out(PlotText *t, int rc, const char *svg, const char *err) {
    int code = 0;
    if (rc) code = fail("%s", err);
    else if (svg) code = svg_save(svg, t);
    else out_bytes("\n", 1), out_bytes(t->at, t->n);
    plot_text_free(t);
    return code;
}

/* Methods that are often drawn, in an order in which neighbours have different colours; then all others. */
static int style_of(const char *spec) {
    static const char *const usual[] = {"none",   "linear", "ntk",     "yarn",   "rerope", "self-extend", "dca",
                                        "window", "sinks",  "dynamic", "string", "llama3", "lm-infinite", "by-parts"};
    enum { USUAL = sizeof usual / sizeof *usual };
    size_t n = strcspn(spec, ":+");
    const char *name;
    for (int i = 0; i < USUAL; i++)
        if (strlen(usual[i]) == n && memcmp(usual[i], spec, n) == 0) return i;
    for (int i = 0; (name = rope_spec_name(i)); i++)
        if (strlen(name) == n && memcmp(name, spec, n) == 0) return USUAL + i;
    return 0;
}

void plot_styles(PlotSeries *s, size_t n) {
    for (size_t i = 0; i < n; i++) {
        s[i].style = 1 + style_of(s[i].name);
        for (size_t j = 0; j < i; j++) /* the same method with other numbers: the next style that is free */
            if (s[j].style == s[i].style) s[i].style++, j = SIZE_MAX;
    }
}

int plot_show(PlotLines *p, const Args *a) {
    PlotText t = {0};
    char err[200];
    int code = 0;
    if (a->show.svg) code = hand_out(&t, plot_lines_svg(&t, p, err, sizeof err), a->show.svg, err);
    if (code || !wants_terminal(a)) return code;
    screen(&p->width, &p->height, &p->colour);
    return hand_out(&t, plot_lines_terminal(&t, p, err, sizeof err), NULL, err);
}

int heat_show(PlotHeat *p, const Args *a) {
    PlotText t = {0};
    char err[200];
    int code = 0;
    if (a->show.svg) code = hand_out(&t, plot_heat_svg(&t, p, err, sizeof err), a->show.svg, err);
    if (code || !wants_terminal(a)) return code;
    screen(&p->width, &p->height, &p->colour);
    return hand_out(&t, plot_heat_terminal(&t, p, err, sizeof err), NULL, err);
}

static int draw_svg(PlotText *t, Figure f, char *err, size_t errlen) {
    if (f.lines) return plot_lines_svg(t, f.lines, err, errlen);
    if (f.heat) return plot_heat_svg(t, f.heat, err, errlen);
    if (f.sheet) return plot_sheet_svg(t, f.sheet, err, errlen);
    return f.dials ? plot_dials_svg(t, f.dials, err, errlen) : plot_bars_svg(t, f.bars, err, errlen);
}

static int draw_terminal(PlotText *t, Figure f, char *err, size_t errlen) {
    int width, height, colour;
    screen(&width, &height, &colour);
    colour &= out.terminal;
    if (f.lines) {
        f.lines->width = width, f.lines->height = height, f.lines->colour = colour;
        return plot_lines_terminal(t, f.lines, err, errlen);
    }
    if (f.heat) {
        f.heat->width = width, f.heat->colour = colour;
        return plot_heat_terminal(t, f.heat, err, errlen);
    }
    if (f.sheet) {
        f.sheet->width = width, f.sheet->colour = colour;
        return plot_sheet_terminal(t, f.sheet, err, errlen);
    }
    if (f.dials) {
        f.dials->width = width, f.dials->colour = colour;
        return plot_dials_terminal(t, f.dials, err, errlen);
    }
    f.bars->width = width, f.bars->colour = colour;
    return plot_bars_terminal(t, f.bars, err, errlen);
}

int figure_show(Figure f, const Args *a) {
    PlotText t = {0};
    char err[200];
    int code = 0;
    if (a->show.svg) code = hand_out(&t, draw_svg(&t, f, err, sizeof err), a->show.svg, err);
    if (code || a->show.csv) return code;
    return hand_out(&t, draw_terminal(&t, f, err, sizeof err), NULL, err);
}

const char *file_name(const char *path) {
    const char *slash = strrchr(path, '/');
    return slash && slash[1] ? slash + 1 : path;
}
