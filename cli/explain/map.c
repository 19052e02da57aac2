/* cli/explain/map.c - explain map and heads: where the heads look. */
#include "explain.h"

#include "lab/explain/heads.h"
#include "lab/explain/mute.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SHEET_MOST = 48, HEAT_MOST = 200 }; /* cells of a map, each way */

/* The mean of weights [n, n] over squares, into to [side, side]; NaN where nothing is seen. */
static void bin(double *to, size_t side, const double *weights, size_t n) {
    for (size_t r = 0; r < side; r++)
        for (size_t c = 0; c < side; c++) {
            double sum = 0;
            size_t count = 0;
            for (size_t m = r * n / side; m < (r + 1) * n / side; m++)
                for (size_t j = c * n / side; j < (c + 1) * n / side; j++)
                    if (!isnan(weights[m * n + j])) sum += weights[m * n + j], count++;
            to[r * side + c] = count ? sum / (double)count : NAN;
        }
}

static double mean_loss(const Trace *t) {
    double sum = 0;
    for (size_t i = 1; i < t->n; i++) sum += t->nll[i];
    return t->n > 1 ? sum / (double)(t->n - 1) : NAN;
}

static void about_binning(char *line, size_t n, size_t side, size_t all) {
    size_t at = strlen(line);
    if (side < all) snprintf(line + at, n - at, "; %zu tokens in %zu bins, each the mean of its weights", all, side);
}

/* ---- many maps ---- */

int explain_sheet(Explain *x, const Sheet *want) {
    const Config *c = &x->e.model.config;
    const Trace *t = want->traces[0];
    size_t n = t->n, side = n < SHEET_MOST ? n : SHEET_MOST, layers = (size_t)t->n_layers, k = want->n_traces;
    size_t heads = want->head < 0 ? (size_t)c->n_heads : 1, columns = heads * k,
           first = want->head < 0 ? 0 : (size_t)want->head;
    double *weights = calloc(n, n * sizeof *weights), *cells = calloc(layers * columns * side * side, sizeof *cells);
    char(*names)[40] = calloc(layers + columns, sizeof *names), about[400];
    const char **shown = calloc(layers + columns, sizeof *shown);
    int code = weights && cells && names && shown ? 0 : fail("out of memory");
    for (size_t l = 0; code == 0 && l < layers; l++)
        for (size_t i = 0; i < columns; i++) {
            trace_weights(want->traces[i % k], t->first + (int)l, (int)(first + i / k), weights);
            bin(cells + (l * columns + i) * side * side, side, weights, n);
        }
    for (size_t i = 0; code == 0 && i < layers + columns; i++) {
        shown[i] = names[i];
        if (i >= columns) snprintf(names[i], sizeof *names, "layer %zu", i - columns + (size_t)t->first);
        else if (k == 1) snprintf(names[i], sizeof *names, columns > 8 ? "%zu" : "head %zu", first + i);
        else if (i % k) snprintf(names[i], sizeof *names, "%s", want->of[i % k]); /* behind the same head */
        else snprintf(names[i], sizeof *names, columns > 8 ? "%zu" : "head %zu", first + i / k);
    }
    snprintf(about, sizeof about, "%s: rows are queries, columns keys%s; %s", file_name(x->a->model),
             columns > 8 ? ", a column of maps is a head" : "",
             c->linear.form ? "blue above zero, red below" : "dark: more weight");
    about_binning(about, sizeof about, side, n);
    PlotSheet p = {.title = want->title,
                   .subtitle = about,
                   .columns = shown,
                   .n_columns = columns,
                   .rows = shown + columns,
                   .n_rows = layers,
                   .values = cells,
                   .side = side,
                   .diverging = c->linear.form != NULL};
    if (code == 0) code = figure_show((Figure){.sheet = &p}, x->a);
    free(weights);
    free(cells);
    free(names);
    free(shown);
    return code;
}

/* ---- one head ---- */

static int one(Explain *x, const Place *p) {
    const Config *c = &x->e.model.config;
    size_t n = x->t.n, side = n < HEAT_MOST ? n : HEAT_MOST;
    double *weights = calloc(n, n * sizeof *weights), *cells = calloc(side * side, sizeof *cells);
    char title[100], about[400];
    int code = weights && cells ? 0 : fail("out of memory");
    if (code == 0) {
        const char *const *words = (const char *const *)x->words;
        trace_weights(&x->t, p->layer, p->head, weights);
        bin(cells, side, weights, n);
        snprintf(title, sizeof title, "Layer %d, head %d", p->layer, p->head);
        snprintf(about, sizeof about, "%s: each row is a query and what it looks at", file_name(x->a->model));
        about_binning(about, sizeof about, side, n);
        PlotHeat h = {.title = title,
                      .subtitle = about,
                      .x_name = "key",
                      .y_name = "query",
                      .rows = side == n ? words : NULL,
                      .columns = side == n ? words : NULL,
                      .n_rows = side,
                      .n_columns = side,
                      .values = cells,
                      .decimals = side <= 12 ? 2 : -1,
                      .diverging = c->linear.form != NULL};
        code = figure_show((Figure){.heat = &h}, x->a);
    }
    free(weights);
    free(cells);
    return code;
}

static void print_csv(const Explain *x, const Trace *t, const Place *p, int all, const char *rope) {
    const Config *c = &x->e.model.config;
    size_t n = t->n;
    double *weights = calloc(n, n * sizeof *weights);
    if (!weights) out.broken = ENOMEM;
    for (int l = t->first; weights && l < t->first + t->n_layers; l++)
        for (int h = 0; h < c->n_heads; h++) {
            if (!all && h != p->head) continue;
            trace_weights(t, l, h, weights);
            for (size_t i = 0; i < n * n; i++)
                if (!isnan(weights[i]))
                    out_printf("%s,%d,%d,%zu,%zu,%.9g,%s\n", rope, l, h, i / n, i % n, weights[i],
                               cited_place(c->linear.form ? "weight linear" : "weight"));
        }
    free(weights);
}

/* The picture, and the numbers where they are asked for: of x->t, and beside it of what was read with parts muted. */
static int show(Explain *x, const Place *p, int all, const Trace *muted) {
    static const char *const of[] = {"", "no RoPE"};
    const Trace *traces[] = {&x->t, muted};
    Sheet sheet = {.title = "Where each head looks", .traces = traces, .of = of, .n_traces = muted ? 2 : 1,
                   .head = all ? -1 : p->head};
    if (x->a->show.csv) {
        out_printf("rope,layer,head,query,key,weight,line\n");
        print_csv(x, &x->t, p, all, "with");
        if (muted) print_csv(x, muted, p, all, "without");
    }
    if (x->a->show.csv && !x->a->show.svg) return 0;
    if (muted) sheet.title = "Where heads look, with RoPE and without";
    return all || muted ? explain_sheet(x, &sheet) : one(x, p);
}

const char *explain_row_sums(const Config *c) {
    const LinearForm *f = c->linear.form;
    if (!f) return "Each row adds up to 1: softmax of the scores of eq. 16.";
    if (f->in_numerator && !f->in_denominator)
        return "Weights of linear attention may be negative, and where the numerator alone is rotated a row need not "
               "add "
               "up to 1 (eq. 19).";
    return "Each row adds up to 1, what divides it being the sum of the same products; where that sum may be near 0 or "
           "negative, weights may have any size.";
}

static void print_extremes(const Trace *t, const Place *p, int all) {
    double *weights = calloc(t->n, t->n * sizeof *weights), most = -INFINITY, least = INFINITY;
    int at[2][2] = {{0}};
    if (!weights) out.broken = ENOMEM;
    for (int l = t->first; weights && l < t->first + t->n_layers; l++)
        for (int h = 0; h < t->model->config.n_heads; h++) {
            if (!all && h != p->head) continue;
            trace_weights(t, l, h, weights);
            for (size_t i = 0; i < t->n * t->n; i++) {
                if (weights[i] > most) most = weights[i], at[0][0] = l, at[0][1] = h;
                if (weights[i] < least) least = weights[i], at[1][0] = l, at[1][1] = h;
            }
        }
    free(weights);
    if (isfinite(most))
        out_printf("\nlargest weight %.4g (layer %d, head %d), smallest %.4g (layer %d, head %d)\n", most, at[0][0],
                   at[0][1], least, at[1][0], at[1][1]);
}

static void print_loss(const Explain *x, const Trace *muted, size_t pairs) {
    double loss = mean_loss(&x->t);
    int linear = x->e.model.config.linear.form != NULL;
    if (isfinite(loss)) { /* a mask that shows what follows leaves no loss */
        out_printf("\n");
        if (!muted) prose("mean loss of the text's tokens: %.4f nats", loss);
        else prose("mean loss of the text's tokens: %.4f nats with RoPE, %.4f without it in %zu pairs", loss,
                   mean_loss(muted), pairs);
    }
    teach("%s", explain_row_sums(&x->e.model.config));
    cite(linear ? "weight linear" : "weight");
}

int explain_map(Args *a) {
    Explain x;
    Place p;
    Mute mute = {0};
    Trace muted = {0};
    int without = a->explain.without_given, all = a->explain.head < 0;
    int code = explain_options(a, " --layer  --head  --without-rope ");
    if (code) return code;
    code = explain_open(&x, a);
    if (code == 0) code = explain_place(&x, &p);
    if (code == 0) code = explain_square(&x);
    if (code == 0 && !all && a->explain.layer < 0) a->explain.layer = 0;
    if (code == 0 && without) code = needs_rope(&x.e, "--without-rope");
    if (code == 0 && without && mute_init(&mute, &x.e.model, a->explain.without, x.e.err, sizeof x.e.err))
        code = usage("--without-rope: %s", x.e.err);
    if (code == 0 && without && (code = explain_trace(&x, mute_turn, &mute, 0)) == 0) muted = x.t, x.t = (Trace){0};
    if (code == 0) code = explain_trace(&x, NULL, NULL, 0);
    if (code == 0) code = show(&x, &p, all, without ? &muted : NULL);
    if (code == 0 && !a->show.csv) print_extremes(&x.t, &p, all);
    if (code == 0 && !a->show.csv) print_loss(&x, without ? &muted : NULL, mute.n);
    trace_free(&muted);
    mute_free(&mute);
    explain_close(&x);
    return code;
}

/* ---- what they do ---- */

/* The text's own ids twice in a row, behind what the vocabulary puts in front. */
static int twice(Explain *x, size_t *begin, size_t *period) {
    *begin = x->n > 1 && x->ids[0] == tokenizer_bos(x->e.tokenizer);
    *period = x->n - *begin;
    if (*period < 4)
        return usage("heads: a text of %zu tokens says little when it comes twice; give a sentence", *period);
    int *ids = realloc(x->ids, (x->n + *period) * sizeof *ids);
    char **words = realloc(x->words, (x->n + *period) * sizeof *words);
    if (ids) x->ids = ids;
    if (words) x->words = words;
    if (!ids || !words) return fail("out of memory");
    for (size_t i = 0; i < *period; i++) {
        ids[x->n] = ids[*begin + i];
        if (!(words[x->n] = strdup(words[*begin + i]))) return fail("out of memory");
        x->n++;
    }
    return 0;
}

static void print_kind(const Explain *x, int l, int h, const HeadKind *k) {
    if (x->a->show.csv)
        out_printf("%d,%d,%s,%.9g,%.9g,%.9g,%.9g,%s\n", l, h, head_names[k->name], k->previous, k->first, k->local,
                   k->induction, cited_place("kind"));
    else
        out_printf("%5d%5d  %-16s%10.3f%10.3f%10.3f%10.3f\n", l, h, head_names[k->name], k->previous, k->first,
                   k->local, k->induction);
}

/* The shares, a row a head. */
static int draw_kinds(const Explain *x, const HeadKind *kinds, size_t n) {
    static const char *const columns[] = {"previous", "first", "local", "induction"};
    size_t heads = (size_t)x->e.model.config.n_heads;
    double *values = calloc(4 * n, sizeof *values);
    char(*names)[40] = calloc(n, sizeof *names), about[300];
    const char **rows = calloc(n, sizeof *rows);
    int code = values && names && rows ? 0 : fail("out of memory");
    for (size_t i = 0; code == 0 && i < n; i++) {
        const HeadKind *k = &kinds[i];
        memcpy(values + 4 * i, (double[]){k->previous, k->first, k->local, k->induction}, 4 * sizeof *values);
        snprintf(names[i], sizeof *names, "%zu.%zu%s%s", i / heads + (size_t)x->t.first, i % heads,
                 k->name == HEAD_NONE ? "" : " ", k->name == HEAD_NONE ? "" : head_names[k->name]);
        rows[i] = names[i];
    }
    snprintf(about, sizeof about, "%s: layer.head and what it is called; shares of its weight", file_name(x->a->model));
    PlotHeat h = {.title = "What each head looks at", .subtitle = about, .rows = rows, .n_rows = n, .columns = columns,
                  .n_columns = 4, .values = values, .decimals = 2};
    if (code == 0) code = figure_show((Figure){.heat = &h}, x->a);
    free(values);
    free(names);
    free(rows);
    return code;
}

int explain_heads(Args *a) {
    Explain x;
    size_t begin, period, n = 0;
    double *weights = NULL;
    HeadKind *kinds = NULL;
    int code = explain_options(a, " --layer ");
    if (code) return code;
    code = explain_open(&x, a);
    if (code == 0 && a->explain.layer >= x.e.model.config.n_layers)
        code = usage("--layer %lld: layers are 0 to %d", a->explain.layer, x.e.model.config.n_layers - 1);
    if (code == 0) code = twice(&x, &begin, &period);
    if (code == 0) code = explain_square(&x);
    if (code == 0) code = explain_trace(&x, NULL, NULL, 0);
    size_t heads = (size_t)x.e.model.config.n_heads, all = code == 0 ? (size_t)x.t.n_layers * heads : 0;
    if (code == 0 && (!(weights = calloc(x.n, x.n * sizeof *weights)) || !(kinds = calloc(all, sizeof *kinds))))
        code = fail("out of memory");
    for (; code == 0 && n < all; n++)
        head_kind(&kinds[n], &x.t, x.t.first + (int)(n / heads), (int)(n % heads), begin, period, weights);
    if (code == 0) code = draw_kinds(&x, kinds, n);
    if (code == 0)
        out_printf(a->show.csv ? "layer,head,name,previous,first,local,induction,line\n"
                               : "\nlayer head  looks at          previous     first     local induction\n");
    for (size_t i = 0; code == 0 && i < n; i++)
        print_kind(&x, x.t.first + (int)(i / heads), (int)(i % heads), &kinds[i]);
    if (code == 0 && !a->show.csv) {
        teach("Shares of a query's weight, means over queries, 1 being all of it: on the token before it, on the "
              "text's first, on itself and the three "
              "before, and on the one that followed the same token the first time: a head that looks there can "
              "copy (induction, arXiv:2209.11895).");
        cite("kind");
    }
    free(weights);
    free(kinds);
    explain_close(&x);
    return code;
}
