/* weights-tools/training/curve.c - points as lines of numbers and as lines of a chart. */
#include "curve.h"

#include "base/base.h"
#include "base/newfile.h"
#include "lab/plot/plot.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static const char head[] = "step,loss,rate,norm,tokens,seconds,held,first,again,answer\n";
enum { COLUMNS = 10 };

int curve_add(Curve *c, const CoursePoint *p) {
    if (array_reserve(&c->at, &c->cap, c->n + 1, sizeof *c->at)) return -ENOMEM;
    c->at[c->n++] = *p;
    return 0;
}

void curve_free(Curve *c) {
    free(c->at);
    *c = (Curve){0};
}

/* ---- CSV ---- */

enum { ALWAYS = 6 }; /* columns; the others may be empty */

static int read_line(CoursePoint *p, const char *line, const char *end) {
    double v[COLUMNS];
    for (int i = 0; i < COLUMNS; i++) {
        int empty = line == end || *line == ',' || *line == '\n';
        char *after;
        v[i] = empty || isspace((unsigned char)*line) ? NAN : strtod(line, &after);
        if (isfinite(v[i]) ? after == line : i < ALWAYS || !empty) return -EINVAL;
        if (isfinite(v[i])) line = after;
        if (i + 1 < COLUMNS && (line == end || *line++ != ',')) return -EINVAL;
    }
    if ((line < end && *line != '\n') || !(v[0] >= 1 && v[0] < 1e15)) return -EINVAL;
    *p = (CoursePoint){.step = (uint64_t)v[0],
                       .loss = v[1],
                       .rate = v[2],
                       .norm = v[3],
                       .tokens = v[4],
                       .seconds = v[5],
                       .has_held = !isnan(v[6]) || !isnan(v[8]),
                       .held = {v[6], NAN},
                       .first = {v[7], NAN},
                       .again = {v[8], NAN},
                       .answer = {NAN, v[9]}};
    return 0;
}

int curve_read(Curve *c, const char *path, uint64_t step, char *err, size_t errlen) {
    MappedFile f;
    struct stat st;
    if (stat(path, &st) == 0 && S_ISREG(st.st_mode) && st.st_size == 0) return 0;
    int rc = file_map(&f, path, err, errlen);
    if (rc == -ENOENT) return 0;
    if (rc) return rc;
    char *text = malloc(f.size + 1); /* strtod stops at its end */
    if (!text) {
        file_unmap(&f);
        return base_error(err, errlen, -ENOMEM, "%s: out of memory", path);
    }
    memcpy(text, f.data, f.size), text[f.size] = 0;
    const char *end = text + f.size, *line = text;
    if (f.size < sizeof head - 1 || memcmp(text, head, sizeof head - 1) != 0)
        rc = base_error(err, errlen, -EINVAL, "%s: is no table of losses: name another file for --csv", path);
    while (rc == 0 && (line = memchr(line, '\n', (size_t)(end - line))) && ++line < end) {
        CoursePoint p;
        if (read_line(&p, line, end) || (c->n && p.step <= c->at[c->n - 1].step))
            rc = base_error(err, errlen, -EINVAL, "%s: line %zu is no line of losses", path, c->n + 2);
        else if (p.step > step) break;
        else if (curve_add(c, &p)) rc = base_error(err, errlen, -ENOMEM, "%s: out of memory", path);
    }
    free(text);
    file_unmap(&f);
    return rc;
}

static void put(FILE *f, const char *format, double v) {
    fputc(',', f);
    if (!isnan(v)) fprintf(f, format, v);
}

int curve_may_write_csv(const char *path, char *err, size_t errlen) {
    static const char *const begins[] = {head};
    return newfile_check_begins(path, begins, 1, "a table of losses", err, errlen);
}

int curve_write_csv(const Curve *c, const char *path, char *err, size_t errlen) {
    NewFile f;
    int rc = newfile_open(&f, path, err, errlen);
    if (rc) return rc;
    fputs(head, f.file);
    for (size_t i = 0; i < c->n; i++) {
        const CoursePoint *p = &c->at[i];
        fprintf(f.file, "%llu,%.9g,%.6g,%.6g,%.0f,%.3f", (unsigned long long)p->step, p->loss, p->rate, p->norm,
                p->tokens, p->seconds);
        put(f.file, "%.9g", p->has_held ? p->held.loss : NAN);
        put(f.file, "%.9g", p->has_held ? p->first.loss : NAN);
        put(f.file, "%.9g", p->has_held ? p->again.loss : NAN);
        put(f.file, "%.6g", p->has_held ? p->answer.right : NAN);
        fputc('\n', f.file);
    }
    return newfile_close(&f, 1, err, errlen);
}

/* ---- SVG ---- */

enum { MOST_POINTS = 200 };

/* The step's loss, as means of so many steps that MOST_POINTS are left; and what was measured. */
static size_t points_of(PlotPoint *out, const Curve *c, double (*of)(const CoursePoint *p)) {
    size_t per = of ? 1 : (c->n + MOST_POINTS - 1) / MOST_POINTS, n = 0;
    for (size_t i = 0; i < c->n; i += per) {
        double sum = 0;
        size_t k = 0;
        for (; k < per && i + k < c->n; k++) sum += of ? of(&c->at[i + k]) : c->at[i + k].loss;
        if (!isnan(sum) && (!of || c->at[i].has_held))
            out[n++] = (PlotPoint){(double)c->at[i + k / 2].step, sum / (double)k, 0};
    }
    return n;
}

static double held_of(const CoursePoint *p) { return p->held.loss; }
static double first_of(const CoursePoint *p) { return p->first.loss; }
static double again_of(const CoursePoint *p) { return p->again.loss; }

int curve_write_svg(const Curve *c, const char *path, char *err, size_t errlen) {
    static const struct { const char *name; double (*of)(const CoursePoint *p); } lines[] = {
        {"training", NULL}, {"held out", held_of}, {"a copy's first", first_of}, {"its second", again_of}};
    enum { N = sizeof lines / sizeof *lines };
    PlotPoint *room = calloc(N * (c->n + 1), sizeof *room);
    PlotSeries series[N];
    PlotLines p = {.title = "Loss by step", .x_name = "step", .y_name = "loss, nats a token", .series = series};
    PlotText text = {0};
    NewFile f;
    int rc = room ? 0 : base_error(err, errlen, -ENOMEM, "%s: out of memory", path);
    for (size_t i = 0; i < N && rc == 0; i++) {
        PlotPoint *points = room + i * (c->n + 1);
        size_t n = points_of(points, c, lines[i].of);
        if (n) series[p.n_series++] = (PlotSeries){.name = lines[i].name, .points = points, .n = n};
    }
    if (rc == 0) rc = plot_lines_svg(&text, &p, err, errlen);
    if (rc == 0) rc = newfile_open(&f, path, err, errlen);
    if (rc == 0) {
        newfile_write(&f, text.at, text.n);
        rc = newfile_close(&f, 1, err, errlen);
    }
    plot_text_free(&text);
    free(room);
    return rc;
}
