/* cli/compare_show.c - what comes out of a comparison: a table, CSV, JSON, charts. */
#include "compare.h"
#include "lab/plot/parts.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- CSV ---- */

char *compare_text(const Comparison *c, int head, const CompareCell *cell, size_t *n) {
    char *text = NULL;
    FILE *f = open_memstream(&text, n);
    if (!f) return NULL;
    if (head) compare_put_head(f, &c->table);
    for (size_t i = 0; cell && i < compare_rows(c); i++)
        compare_put_cell(f, &c->table, cell + i, i ? cell + i - 1 : NULL);
    int bad = close_written(f);
    if (!bad) return text;
    free(text);
    return NULL;
}

/* A cell is one write: it is there whole or not at all, also where several processes write to one file. */
int compare_stream(Comparison *c, int head, const CompareCell *cell) {
    size_t n = 0;
    char *text = compare_text(c, head, cell, &n);
    if (!text) return fail("out of memory");
    if (c->file) fwrite(text, 1, n, c->file), fflush(c->file);
    else if (c->a->show.csv) out_bytes(text, n), out_flush();
    free(text);
    return 0;
}

static int show_csv(const CompareTable *t) {
    char *text = NULL;
    size_t n;
    FILE *f = open_memstream(&text, &n);
    if (!f) return fail("out of memory");
    compare_put_head(f, t);
    for (size_t i = 0; i < t->n; i++) compare_put_cell(f, t, &t->cells[i], i ? &t->cells[i - 1] : NULL);
    int bad = close_written(f);
    if (!bad) out_bytes(text, n);
    free(text);
    return bad ? fail("out of memory") : 0;
}

/* ---- JSON ---- */

/* Every comment is a key: "# model file: x" is "model_file":"x". */
static void json_head(const char *head) {
    for (const char *line = head, *end; *line; line = end + (*end != 0)) {
        const char *colon = strstr(line, ": ");
        end = line + strcspn(line, "\n");
        if (strncmp(line, "# ", 2) != 0 || !colon || colon > end) continue;
        char key[100];
        size_t len = (size_t)(colon - line - 2) < sizeof key ? (size_t)(colon - line - 2) : sizeof key;
        for (size_t i = 0; i < len; i++) key[i] = line[2 + i] == ' ' ? '_' : line[2 + i];
        json_string(key, len);
        out_printf(":");
        json_string(colon + 2, (size_t)(end - colon - 2));
        out_printf(",");
    }
}

static void show_json(const CompareTable *t) {
    out_printf("{");
    json_head(t->head);
    out_printf("\"cells\":[");
    for (size_t i = 0; i < t->n; i++) {
        const CompareCell *c = &t->cells[i];
        out_printf("%s{\"rope\":", i ? "," : "");
        json_string(c->rope, strlen(c->rope));
        out_printf(",\"spec\":");
        if (c->spec) json_string(c->spec, strlen(c->spec));
        else out_printf("null");
        out_printf(",\"length\":%zu", c->length);
        if (t->by_position) out_printf(",\"position\":%zu", c->position);
        out_printf(",\"nll\":");
        json_number(c->nll);
        out_printf(",\"stderr\":");
        json_number(c->error);
        out_printf(",\"tokens\":%zu,\"entropy\":", c->tokens);
        json_number(c->entropy);
        out_printf("}");
    }
    out_printf("]}\n");
}

/* ---- the table ---- */

typedef struct {
    const char **ropes; /* [n_ropes]: of the table, in its order */
    size_t *xs;         /* [n_xs]: lengths or positions, ascending */
    size_t n_ropes, n_xs;
} Axes;

static size_t x_of(const CompareTable *t, const CompareCell *c) { return t->by_position ? c->position : c->length; }

static int ascending(const void *a, const void *b) {
    size_t x = *(const size_t *)a, y = *(const size_t *)b;
    return (x > y) - (x < y);
}

static int take_axes(Axes *x, const CompareTable *t) {
    *x = (Axes){.ropes = calloc(t->n, sizeof *x->ropes), .xs = calloc(t->n, sizeof *x->xs)};
    if (!x->ropes || !x->xs) return fail("out of memory");
    for (size_t i = 0; i < t->n; i++) {
        if (i == 0 || strcmp(t->cells[i].rope, t->cells[i - 1].rope) != 0) x->ropes[x->n_ropes++] = t->cells[i].rope;
        x->xs[i] = x_of(t, &t->cells[i]);
    }
    qsort(x->xs, t->n, sizeof *x->xs, ascending);
    for (size_t i = 0; i < t->n; i++)
        if (i == 0 || x->xs[i] != x->xs[x->n_xs - 1]) x->xs[x->n_xs++] = x->xs[i];
    return 0;
}

static void axes_free(Axes *x) {
    free(x->ropes);
    free(x->xs);
}

static const CompareCell *at(const CompareTable *t, const char *rope, size_t x) {
    for (size_t i = 0; i < t->n; i++)
        if (x_of(t, &t->cells[i]) == x && strcmp(t->cells[i].rope, rope) == 0) return &t->cells[i];
    return NULL;
}

/* A number of a cell, "-" where it is not there. */
static void print_number(const CompareCell *c, int entropy, int width) {
    char text[60] = "-";
    if (c && entropy && !isnan(c->entropy)) snprintf(text, sizeof text, "%.4f", c->entropy);
    if (c && !entropy) snprintf(text, sizeof text, "%.4f (%.4f)", c->nll, c->error);
    out_printf("  %*s", width, text);
}

/* The columns [from .. to[ of the table, with what its rows are called in front. */
static void print_columns(const CompareTable *t, const Axes *x, int entropy, size_t from, size_t to, int left,
                          int width) {
    int by = t->by_position;
    out_printf("%-*s", left, by ? "position" : entropy ? "entropy" : "loss");
    for (size_t j = from; j < to; j++)
        if (by) out_printf("  %*s", width, x->ropes[j]);
        else out_printf("  %*zu", width, x->xs[j]);
    for (size_t i = 0; i < (by ? x->n_xs : x->n_ropes); i++) {
        if (by) out_printf("\n%-*zu", left, x->xs[i]);
        else out_printf("\n%-*s", left, x->ropes[i]);
        for (size_t j = from; j < to; j++) print_number(at(t, x->ropes[by ? j : i], x->xs[by ? i : j]), entropy, width);
    }
    out_printf("\n");
}

/* Methods down, lengths across; positions, of which there are many, go down. Columns that have no room stand below. */
static void print_table(const CompareTable *t, const Axes *x, int entropy) {
    int width = 15, left = 8, room = line_room();
    for (size_t i = 0; i < x->n_ropes; i++) {
        int n = (int)strlen(x->ropes[i]);
        if (t->by_position && n > width) width = n;
        if (!t->by_position && n > left) left = n;
    }
    size_t columns = t->by_position ? x->n_ropes : x->n_xs,
           each = plot_block(columns, room > left ? (size_t)(room - left) / (size_t)(2 + width) : 0);
    for (size_t from = 0; from < columns; from += each) {
        if (from) out_printf("\n");
        print_columns(t, x, entropy, from, columns - from < each ? columns : from + each, left, width);
    }
}

static void print_head(const char *head) {
    static const char *const keys[] = {"model file", "text file", "cut"};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        const char *value;
        size_t n = compare_head_value(head, keys[i], &value);
        if (n) prose("%-11s %.*s", keys[i], (int)n, value);
    }
    out_printf("\nmean loss, nats a token (its standard error, as if tokens were independent)\n\n");
}

/* ---- charts ---- */

int compare_check_svg(const Args *a, size_t n_series) {
    if (a->show.svg && n_series > PLOT_MOST_SERIES)
        return usage("--svg: a chart holds %d lines, and these are %zu methods", PLOT_MOST_SERIES, n_series);
    return 0;
}

typedef struct {
    PlotSeries *series;  /* [n_ropes] */
    PlotPoint *points;   /* [n_ropes * n_xs] */
    char subtitle[1200], mark[40];
    PlotLines plot;
} Chart;

/* The middle of a bin of positions; lengths are what they are. */
static double place(const CompareTable *t, const Axes *x, size_t j) {
    double bin = x->n_xs > 1 ? (double)(x->xs[1] - x->xs[0]) : 0;
    return (double)x->xs[j] + (t->by_position ? (bin - 1) / 2 : 0);
}

static void take_words(Chart *c, const CompareTable *t, int entropy) {
    const char *model, *text, *cut, *trained;
    size_t n = compare_head_value(t->head, "model file", &model), m = compare_head_value(t->head, "text file", &text),
           k = compare_head_value(t->head, "cut", &cut), l = compare_head_value(t->head, "trained", &trained);
    for (size_t i = 0; i < n; i++) /* their folders are in the table */
        if (model[i] == '/' && i + 1 < n) model += i + 1, n -= i + 1, i = (size_t)-1;
    for (size_t i = 0; i < m; i++)
        if (text[i] == '/' && i + 1 < m) text += i + 1, m -= i + 1, i = (size_t)-1;
    if (n && m && k)
        snprintf(c->subtitle, sizeof c->subtitle, "%.*s reads %.*s: %.*s%s", (int)n, model, (int)m, text,
                 (int)k, cut, entropy ? "" : "; bars: one standard error of each line");
    const char *title = t->by_position ? "Loss by position in the window" : "Loss by length of context";
    c->plot = (PlotLines){.title = entropy ? "Entropy of attention by length of context" : title,
                          .subtitle = c->subtitle,
                          .x_name = t->by_position ? "position" : "length of context, positions",
                          .y_name = entropy ? "entropy of a query's weights, nats" : "loss, nats a token",
                          .log2_x = 1};
    if (l) {
        snprintf(c->mark, sizeof c->mark, "trained: %.*s", (int)(l < 20 ? l : 20), trained);
        c->plot.mark = strtod(trained, NULL);
        c->plot.mark_name = c->mark;
    }
}

static int take_chart(Chart *c, const CompareTable *t, const Axes *x, int entropy) {
    *c = (Chart){.series = calloc(x->n_ropes, sizeof *c->series),
                 .points = calloc(x->n_ropes * x->n_xs, sizeof *c->points)};
    if (!c->series || !c->points) return fail("out of memory");
    for (size_t i = 0; i < x->n_ropes; i++) {
        PlotSeries *s = &c->series[i];
        PlotPoint *points = c->points + i * x->n_xs;
        *s = (PlotSeries){.name = x->ropes[i], .points = points};
        for (size_t j = 0; j < x->n_xs; j++) {
            const CompareCell *cell = at(t, x->ropes[i], x->xs[j]);
            if (cell && entropy) points[s->n++] = (PlotPoint){place(t, x, j), cell->entropy, 0};
            else if (cell) points[s->n++] = (PlotPoint){place(t, x, j), cell->nll, cell->error};
        }
    }
    take_words(c, t, entropy);
    plot_styles(c->series, x->n_ropes);
    c->plot.series = c->series;
    c->plot.n_series = x->n_ropes;
    return 0;
}

static int has_entropy(const CompareTable *t) {
    int any = 0;
    for (size_t i = 0; i < t->n; i++) any |= !isnan(t->cells[i].entropy);
    return any;
}

int compare_check_entropy(const Comparison *c) {
    const char *svg = c->a->show.svg;
    if (!svg || !(c->a->compare.entropy || has_entropy(&c->table))) return 0;
    char *path = svg_beside(svg, "entropy");
    int code = path ? svg_may_write(path) : fail("out of memory");
    free(path);
    return code;
}

static int show_chart(const Args *a, const CompareTable *t, const Axes *x, int entropy) {
    Chart chart;
    Args other = *a;
    char *path = entropy && a->show.svg ? svg_beside(a->show.svg, "entropy") : NULL;
    if (entropy && a->show.svg && !path) return fail("out of memory");
    if (entropy) other.show.svg = path;
    int code = take_chart(&chart, t, x, entropy);
    if (code == 0 && x->n_ropes <= PLOT_MOST_SERIES) code = plot_show(&chart.plot, &other);
    free(chart.series);
    free(chart.points);
    free(path);
    return code;
}

int compare_show(Comparison *c) {
    const Args *a = c->a;
    CompareTable *t = &c->table;
    Axes x = {0};
    compare_table_sort(t, (const char *const *)c->ropes, c->n_ropes);
    int code = take_axes(&x, t), entropy = has_entropy(t);
    if (code == 0 && a->show.json) show_json(t);
    else if (code == 0 && a->show.csv && (a->compare.resume || a->compare.merge)) code = show_csv(t);
    else if (code == 0 && !a->show.csv) {
        print_head(t->head);
        print_table(t, &x, 0);
        if (entropy) out_printf("\nmean entropy of a query's attention weights, nats\n\n"), print_table(t, &x, 1);
    }
    if (code == 0) code = compare_check_svg(a, x.n_ropes);
    if (code == 0) code = show_chart(a, t, &x, 0);
    if (code == 0 && entropy) code = show_chart(a, t, &x, 1);
    axes_free(&x);
    return code;
}
