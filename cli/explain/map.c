/* cli/explain/map.c - explain map and heads: where the heads look. */
#include "explain.h"

#include "lab/explain/heads.h"
#include "lab/explain/mute.h"

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

/* ---- all heads ---- */

static int sheet(Explain *x, const char *without) {
    const Config *c = &x->e.model.config;
    const Trace *t = &x->t;
    size_t n = t->n, side = n < SHEET_MOST ? n : SHEET_MOST, layers = (size_t)t->n_layers, heads = (size_t)c->n_heads;
    double *weights = malloc(n * n * sizeof *weights), *cells = malloc(layers * heads * side * side * sizeof *cells);
    char(*names)[24] = calloc(layers + heads, sizeof *names), about[400];
    const char **shown = calloc(layers + heads, sizeof *shown);
    int code = weights && cells && names && shown ? 0 : fail("out of memory");
    for (size_t l = 0; code == 0 && l < layers; l++)
        for (size_t h = 0; h < heads; h++) {
            trace_weights(t, t->first + (int)l, (int)h, weights);
            bin(cells + (l * heads + h) * side * side, side, weights, n);
        }
    for (size_t i = 0; code == 0 && i < layers + heads; i++) {
        snprintf(names[i], sizeof *names, i >= heads ? "layer %zu" : heads > 8 ? "%zu" : "head %zu",
                 i < heads ? i : i - heads + (size_t)t->first);
        shown[i] = names[i];
    }
    snprintf(about, sizeof about, "%s%s: rows are queries, columns keys%s; %s", file_name(x->a->model), without,
             heads > 8 ? ", a column of maps is a head" : "",
             c->linear.form ? "blue above zero, red below" : "dark: more weight");
    about_binning(about, sizeof about, side, n);
    PlotSheet p = {.title = "Where each head looks", .subtitle = about, .columns = shown, .n_columns = heads,
                   .rows = shown + heads, .n_rows = layers, .values = cells, .side = side,
                   .diverging = c->linear.form != NULL};
    if (code == 0) code = figure_show((Figure){.sheet = &p}, x->a);
    free(weights);
    free(cells);
    free(names);
    free(shown);
    return code;
}

/* ---- one head ---- */

static int one(Explain *x, const Place *p, const char *without) {
    const Config *c = &x->e.model.config;
    size_t n = x->t.n, side = n < HEAT_MOST ? n : HEAT_MOST;
    double *weights = malloc(n * n * sizeof *weights), *cells = malloc(side * side * sizeof *cells);
    char title[100], about[400];
    int code = weights && cells ? 0 : fail("out of memory");
    if (code == 0) {
        const char *const *words = (const char *const *)x->words;
        trace_weights(&x->t, p->layer, p->head, weights);
        bin(cells, side, weights, n);
        snprintf(title, sizeof title, "Layer %d, head %d", p->layer, p->head);
        snprintf(about, sizeof about, "%s%s: each row is a query and what it looks at", file_name(x->a->model),
                 without);
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

static void print_csv(const Explain *x, const Place *p, int all, const char *rope) {
    const Config *c = &x->e.model.config;
    size_t n = x->t.n;
    double *weights = malloc(n * n * sizeof *weights);
    for (int l = x->t.first; weights && l < x->t.first + x->t.n_layers; l++)
        for (int h = 0; h < c->n_heads; h++) {
            if (!all && h != p->head) continue;
            trace_weights(&x->t, l, h, weights);
            for (size_t i = 0; i < n * n; i++)
                if (!isnan(weights[i]))
                    out_printf("%s,%d,%d,%zu,%zu,%.9g,%s\n", rope, l, h, i / n, i % n, weights[i],
                               cited_place(c->linear.form ? "weight linear" : "weight"));
        }
    free(weights);
}

/* The picture, and the numbers where they are asked for, of what x->t has read. */
static int show(Explain *x, const Place *p, int all, const char *without) {
    if (x->a->show.csv) print_csv(x, p, all, *without ? "without" : "with");
    if (x->a->show.csv && !x->a->show.svg) return 0;
    return all ? sheet(x, without) : one(x, p, without);
}

int explain_map(Args *a) {
    Explain x;
    Place p;
    Mute mute = {0};
    int code = explain_options(a, " --layer  --head  --without-rope "), all = a->explain.head < 0;
    if (code == 0) code = explain_open(&x, a);
    else return code;
    if (code == 0) code = explain_place(&x, &p);
    if (code == 0) code = explain_square(&x);
    if (code == 0 && !all && a->explain.layer < 0) a->explain.layer = 0;
    if (code == 0 && a->explain.without_given &&
        mute_init(&mute, &x.e.model, a->explain.without, x.e.err, sizeof x.e.err))
        code = usage("--without-rope: %s", x.e.err);
    if (code == 0) code = explain_trace(&x, NULL, NULL, 0);
    if (code == 0 && a->show.csv) out_printf("rope,layer,head,query,key,weight,line\n");
    double before = code == 0 ? mean_loss(&x.t) : NAN;
    if (code == 0 && a->explain.without_given && a->show.svg) { /* one file: of what was asked for */
        if (a->show.csv) print_csv(&x, &p, all, "with");
    } else if (code == 0) code = show(&x, &p, all, "");
    if (code == 0 && a->explain.without_given) {
        code = explain_trace(&x, mute_turn, &mute, 0);
        if (code == 0) code = show(&x, &p, all, ", without RoPE");
    }
    if (code == 0 && !a->show.csv) {
        if (isfinite(before)) { /* a mask that shows what follows leaves no loss */
            out_printf("\nmean loss of the text's tokens: %.4f nats%s", before, mute.n ? " with RoPE" : "");
            if (mute.n) out_printf(", %.4f without it in %zu pairs", mean_loss(&x.t), mute.n);
            out_printf("\n");
        }
        teach("%s", x.e.model.config.linear.form
                        ? "Weights of linear attention may be negative and need not add up to 1 (eq. 19)."
                        : "Each row adds up to 1: softmax of the scores of eq. 16.");
        cite(x.e.model.config.linear.form ? "weight linear" : "weight");
    }
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

int explain_heads(Args *a) {
    Explain x;
    size_t begin, period;
    double *weights = NULL;
    int code = explain_options(a, " --layer ");
    if (code == 0) code = explain_open(&x, a);
    else return code;
    if (code == 0 && a->explain.layer >= x.e.model.config.n_layers)
        code = usage("--layer %lld: layers are 0 to %d", a->explain.layer, x.e.model.config.n_layers - 1);
    if (code == 0 && a->show.svg) code = usage("heads is a table; map draws where a head looks");
    if (code == 0) code = twice(&x, &begin, &period);
    if (code == 0) code = explain_square(&x);
    if (code == 0) code = explain_trace(&x, NULL, NULL, 0);
    if (code == 0 && !(weights = malloc(x.n * x.n * sizeof *weights))) code = fail("out of memory");
    if (code == 0)
        out_printf(a->show.csv ? "layer,head,name,previous,first,local,induction,line\n"
                               : "What each head does, told by the second time it reads the text\n\n"
                                 "layer head  looks at          previous     first     local induction\n");
    for (int l = x.t.first; code == 0 && l < x.t.first + x.t.n_layers; l++)
        for (int h = 0; h < x.e.model.config.n_heads; h++) {
            HeadKind k;
            head_kind(&k, &x.t, l, h, begin, period, weights);
            print_kind(&x, l, h, &k);
        }
    if (code == 0 && !a->show.csv) {
        teach("Shares of a query's weight: on the token before it, on the text's first, on itself and the three "
              "before, and on the one that followed the same token the first time: a head that looks there can "
              "copy (induction, arXiv:2209.11895).");
        cite("kind");
    }
    free(weights);
    explain_close(&x);
    return code;
}
