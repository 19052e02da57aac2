/* cli/plot.c - the command plot: columns of tables with commas, a line for each series, as means of several files. */
#include "cli.h"

#include "lab/csv.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_FILES = 64 };

typedef struct {
    const Args *a;
    Series series[PLOT_MOST_SERIES];
    PlotSeries lines[PLOT_MOST_SERIES];
    char *names[PLOT_MOST_SERIES]; /* owned */
    size_t n;
} Figures;

/* "NAME=FILE,FILE[@COLUMN=VALUE..]" in place; NAME is the first file's where it is not given. */
static int take_series(Figures *f, char *word) {
    const PlotArgs *o = &f->a->plot;
    char *paths[MOST_FILES], *where = strchr(word, '@');
    if (where) *where++ = 0;
    char *equals = strrchr(word, '='); /* a name may hold others: window:size=64 */
    if (equals) *equals = 0;
    size_t n = csv_cut(equals ? equals + 1 : word, paths, MOST_FILES);
    if (!n || !*paths[0]) return usage("\"%s\": NAME=FILE,FILE.. is how a series is written", word);
    SeriesWish w = {.x = o->x ? o->x : "step", .y = o->y ? o->y : "loss", .where = where, .bin = o->bin};
    char err[400];
    if (series_read(&f->series[f->n], (const char *const *)paths, n, &w, err, sizeof err)) return fail("%s", err);
    f->lines[f->n++] = (PlotSeries){.name = equals ? word : file_name(paths[0])};
    return 0;
}

static int take_points(PlotSeries *line, const Series *s) {
    PlotPoint *p = calloc(s->n, sizeof *p);
    if (!p) return fail("out of memory");
    for (size_t i = 0; i < s->n; i++) p[i] = (PlotPoint){s->at[i].x, s->at[i].y, s->at[i].error};
    line->points = p, line->n = s->n;
    return 0;
}

static void print_csv(const Figures *f) {
    out_printf("series,%s,mean,stderr,least,most,files\n", f->a->plot.x ? f->a->plot.x : "step");
    for (size_t k = 0; k < f->n; k++)
        for (size_t i = 0; i < f->series[k].n; i++) {
            const SeriesPoint *p = &f->series[k].at[i];
            csv_field(f->lines[k].name);
            out_printf(",%.9g,%.9g,%.6g,%.9g,%.9g,%zu\n", p->x, p->y, p->error, p->least, p->most, p->n_files);
        }
}

static int draw(Figures *f) {
    const PlotArgs *o = &f->a->plot;
    PlotLines p = {.title = o->title, .subtitle = o->subtitle, .x_name = o->x ? o->x : "step",
                   .y_name = o->y_name ? o->y_name : o->y ? o->y : "loss", .series = f->lines, .n_series = f->n,
                   .log2_x = o->log_x, .y_min = o->least, .y_max = o->most};
    if (o->mark_given) p.mark = o->mark, p.mark_name = "trained";
    if (o->least_given != o->most_given || (o->least_given && !(o->least < o->most)))
        return usage("--y-min and --y-max go together, the smaller first");
    return figure_show((Figure){.lines = &p}, f->a);
}

int run_plot(Args *a) {
    Figures f = {.a = a};
    int code = a->n_words ? 0 : usage("plot needs a table: NAME=FILE.csv");
    if (code == 0 && a->n_words > PLOT_MOST_SERIES) code = usage("at most %d series", (int)PLOT_MOST_SERIES);
    for (int i = 0; i < a->n_words && code == 0; i++) {
        char *word = f.names[i] = strdup(a->words[i]);
        code = word ? take_series(&f, word) : fail("out of memory");
    }
    files_opened(NULL);
    for (size_t i = 0; i < f.n && code == 0; i++) code = take_points(&f.lines[i], &f.series[i]);
    if (code == 0 && a->show.csv) print_csv(&f);
    if (code == 0) code = draw(&f);
    for (size_t i = 0; i < PLOT_MOST_SERIES; i++) {
        free((void *)(uintptr_t)f.lines[i].points);
        free(f.names[i]);
        series_free(&f.series[i]);
    }
    return out_end(code);
}
