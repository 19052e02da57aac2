/* cli/explain/more.c - explain use and state: which frequencies a model uses; linear attention's sums as they fill. */
#include "explain.h"

#include "base/system.h"
#include "lab/explain/filling.h"
#include "lab/explain/use.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* ---- use ---- */

static int by_cost(const void *a, const void *b) {
    double x = ((const PairUse *)a)->cost, y = ((const PairUse *)b)->cost;
    return x < y ? 1 : x > y ? -1 : 0;
}

/* Each pair's cost: one reading of the text for each. */
static int costs(Explain *x, PairUse *use, size_t n, double *loss) {
    Mute mute;
    const Model *m = &x->e.model;
    int threads = (int)x->a->machine.threads, code = 0;
    if (mute_init(&mute, m, NULL, x->e.err, sizeof x->e.err)) return fail("%s", x->e.err);
    if (use_loss(loss, m, x->ids, x->n, NULL, threads, x->e.err, sizeof x->e.err)) code = fail("%s", x->e.err);
    x->e.progress = (Progress){.what = "muting pairs", .start = clock_seconds()};
    for (size_t i = 0; code == 0 && i < n; i++) {
        double without;
        mute_part(&mute, use[i].layer, use[i].head, use[i].pair);
        if (use_loss(&without, m, x->ids, x->n, &mute, threads, x->e.err, sizeof x->e.err)) code = fail("%s", x->e.err);
        use[i].cost = without - *loss;
        progress_show(&x->e.progress, i + 1, n);
        if (interrupted) code = EXIT_INTERRUPTED;
    }
    progress_clear(&x->e.progress);
    mute_free(&mute);
    return code;
}

/* The sizes, summed over layers and heads, and the costs, by pair: bars. */
static int draw_use(const Explain *x, const PairUse *use, size_t n, int half) {
    double *sum = calloc((size_t)half, sizeof *sum);
    char(*labels)[48] = calloc((size_t)half, sizeof *labels), about[300], wave[WAVELENGTH_SIZE];
    const char **names = calloc((size_t)half, sizeof *names);
    int code = sum && labels && names ? 0 : fail("out of memory");
    for (size_t i = 0; code == 0 && i < n; i++) sum[use[i].pair] += use[i].cost;
    for (int i = 0; code == 0 && i < half; i++) {
        snprintf(labels[i], sizeof *labels, "pair %d, wavelength %s", i, explain_wavelength(wave, x, i));
        names[i] = labels[i];
    }
    snprintf(about, sizeof about,
             "%s: the loss of this text without a pair's turning less the loss with it, summed over "
             "layers and heads that were asked for",
             file_name(x->a->model));
    PlotBars b = {.title = "What each frequency is worth", .subtitle = about, .x_name = "nats a token", .names = names,
                  .values = sum, .n = (size_t)half, .decimals = 4};
    if (code == 0) code = figure_show((Figure){.bars = &b}, x->a);
    free(sum);
    free(labels);
    free(names);
    return code;
}

static void print_use(const Explain *x, PairUse *use, size_t n, double loss) {
    if (x->a->show.csv) out_printf("layer,key_head,pair,wavelength,size,cost,line\n");
    else {
        out_printf("\nloss %.4f nats a token; the pairs that cost most to do without\n\n"
                   "layer  head  pair  wavelength      size      cost\n", loss);
        qsort(use, n, sizeof *use, by_cost);
    }
    for (size_t i = 0; i < n && (x->a->show.csv || i < 12); i++)
        out_printf(x->a->show.csv ? "%d,%d,%d,%.9g,%.9g,%.9g,%s\n" : "%5d%6d%6d%12.4g%10.3f%10.4f\n", use[i].layer,
                   use[i].head, use[i].pair, TURN / use[i].inv_freq, use[i].size, use[i].cost,
                   cited_place("use"));
    if (x->a->show.csv) return;
    teach(
        "size: mean |q| times mean |k| of the pair, by which its terms grow (of features, where attention is "
        "linear); cost: nats a token more when it does not turn, below 0 where the loss is lower without it. Of a "
        "short text much is chance: some hundred tokens say more. head: a key head, and all queries that share it.");
    cite("use");
}

int explain_use(Args *a) {
    Explain x;
    Place p;
    int code = explain_options(a, " --layer  --head ");
    if (code) return code;
    code = explain_open(&x, a);
    const Config *c = &x.e.model.config;
    int half = c->rope.rotary_dim / 2;
    if (code == 0) code = needs_rope(&x.e, "use");
    if (code == 0) code = explain_place(&x, &p);
    if (code == 0 && c->mask != MASK_CAUSAL) code = fail("use is for models that read from left to right");
    if (code == 0 && x.n < 2) code = fail("a text of one token has no loss");
    if (code == 0) code = explain_trace(&x, NULL, NULL, 0);
    size_t each = (size_t)c->n_kv_heads * (size_t)half, n = 0;
    PairUse *use = code == 0 ? calloc((size_t)x.t.n_layers * each, sizeof *use) : NULL;
    if (code == 0 && !use) code = fail("out of memory");
    for (int l = x.t.first; code == 0 && l < x.t.first + x.t.n_layers; l++) {
        PairUse *of = use + n;
        use_sizes(of, &x.t, l);
        if (a->explain.head < 0) n += each;
        else
            for (int i = 0; i < half; i++) use[n++] = of[p.head / (c->n_heads / c->n_kv_heads) * half + i];
    }
    double loss = 0;
    if (code == 0) code = costs(&x, use, n, &loss);
    if (code == 0) code = draw_use(&x, use, n, half);
    if (code == 0) print_use(&x, use, n, loss);
    free(use);
    explain_close(&x);
    return code;
}

/* ---- state ---- */

static int draw_state(const Explain *x, const Filling *f, int l) {
    PlotPoint *points = calloc(2 * x->n, sizeof *points);
    char about[300];
    if (!points) return fail("out of memory");
    for (size_t m = 0; m < x->n; m++) {
        points[m] = (PlotPoint){(double)m, f[m].S, 0};
        points[x->n + m] = (PlotPoint){(double)m, f[m].z, 0};
    }
    snprintf(about, sizeof about, "%s, layer %d, mean of its key heads", file_name(x->a->model), l);
    PlotSeries s[] = {{"S", points, x->n, 0}, {"z", points + x->n, x->n, 0}};
    PlotLines p = {.title = "The state as the text fills it", .subtitle = about, .x_name = "token", .y_name = "norm",
                   .series = s, .n_series = 2};
    int code = figure_show((Figure){.lines = &p}, x->a);
    free(points);
    return code;
}

static void print_state(const Explain *x, const Filling *f, int l) {
    const Model *m = &x->e.model;
    if (x->a->show.csv) out_printf("layer,token,S,z,row_sum,negative,line\n");
    else out_printf("\n%5s  %-16s%10s%10s%10s%10s\n", "token", "", "S", "z", "row sum", "below 0");
    for (size_t i = 0; i < x->n; i++)
        if (x->a->show.csv)
            out_printf("%d,%zu,%.9g,%.9g,%.9g,%.9g,%s\n", l, i, f[i].S, f[i].z, f[i].sum, f[i].negative,
                       cited_place("state"));
        else if (i < 20 || i + 4 > x->n) {
            out_printf("%5zu  ", i);
            explain_put_word(x->words[i], 16);
            out_printf("%10.3f%10.3f%10.3f%9.0f%%\n", f[i].S, f[i].z, f[i].sum, 100 * f[i].negative);
        } else if (i == 20) out_printf("  ..\n");
    if (x->a->show.csv) return;
    double state = filling_state_bytes(m), now = filling_cache_bytes(m, x->n),
           whole = filling_cache_bytes(m, (size_t)m->config.n_ctx_train);
    out_printf("\n");
    prose("the past in memory: %.0f bytes, now and after any number of tokens; softmax's keys and values: %.0f now,\n"
          "%.0f after %lld tokens", state, now, whole, (long long)m->config.n_ctx_train);
    const LinearForm *form = m->config.linear.form;
    teach("S takes each key with its value, z the same key%s %s",
          form->in_denominator ? "; both turned." : form->before_phi ? "; both turned before the feature map." :
          !form->in_numerator ? "; neither turned." : ": turned in S, not turned in z, which grows with every "
          "feature above 0, where S points every way and grows slowly.", explain_row_sums(&m->config));
    cite("state");
}

int explain_state(Args *a) {
    Explain x;
    Place p;
    int code = explain_options(a, " --layer ");
    if (code) return code;
    code = explain_open(&x, a);
    if (code == 0 && !x.e.model.config.linear.form)
        code = fail("%s: has softmax attention, which keeps keys and values; state is for linear attention (try "
                    "--attention linear)", a->model);
    if (code == 0) code = explain_place(&x, &p);
    if (code == 0) code = explain_square(&x);
    if (code == 0) a->explain.layer = p.layer;
    if (code == 0) code = explain_trace(&x, NULL, NULL, 0);
    Filling *f = code == 0 ? calloc(x.n, sizeof *f) : NULL;
    double *weights = code == 0 ? calloc(x.n, x.n * sizeof *weights) : NULL;
    if (code == 0 && (!f || !weights)) code = fail("out of memory");
    if (code == 0 && filling_of(f, &x.t, p.layer, weights, x.e.err, sizeof x.e.err)) code = fail("%s", x.e.err);
    if (code == 0) code = draw_state(&x, f, p.layer);
    if (code == 0) print_state(&x, f, p.layer);
    free(f);
    free(weights);
    explain_close(&x);
    return code;
}
