/* cli/explain/lens.c - explain lens and next: what each layer would say, and what may be drawn. */
#include "explain.h"

#include "lab/explain/lens.h"
#include "model/encoder.h"
#include "model/sampler.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BEST = 5 };

/* What an id says, in so many columns. */
static void put_word(const Explain *x, int id, size_t width) {
    char *word = explain_word(x->e.tokenizer, id);
    explain_put_word(word ? word : "", width);
    free(word);
}

static void csv_word(const Explain *x, int id) {
    char *word = explain_word(x->e.tokenizer, id);
    csv_field(word ? word : "");
    free(word);
}

static const Candidate *best_at(const Explain *x, const Candidate *best, int l, size_t t) {
    return best + ((size_t)l * x->n + t) * BEST;
}

/* How probable each layer finds what the last one says. */
static int draw_lens(const Explain *x, const Candidate *best) {
    int layers = x->e.model.config.n_layers, code = 0;
    size_t n = x->n < 40 ? x->n : 40, first = x->n - n; /* the last tokens: a map of words has so much room */
    double *p = calloc((size_t)layers * n, sizeof *p);
    char(*names)[24] = calloc((size_t)layers, sizeof *names), about[300];
    const char **rows = calloc((size_t)layers, sizeof *rows);
    if (!p || !names || !rows) code = fail("out of memory");
    for (int l = 0; code == 0 && l < layers; l++) {
        snprintf(names[l], sizeof *names, "layer %d", l);
        rows[l] = names[l];
        for (size_t t = 0; t < n; t++) {
            int said = best_at(x, best, layers - 1, first + t)->id;
            for (int k = 0; k < BEST; k++)
                if (best_at(x, best, l, first + t)[k].id == said)
                    p[(size_t)l * n + t] = best_at(x, best, l, first + t)[k].p;
        }
    }
    snprintf(about, sizeof about,
             "%s: behind each token, the probability that a layer gives to what the last one says, where "
             "that is among its first %d%s",
             file_name(x->a->model), BEST, first ? "; the last 40 tokens" : "");
    PlotHeat h = {.title = "When does the model know?",
                  .subtitle = about,
                  .x_name = "behind",
                  .rows = rows,
                  .columns = (const char *const *)x->words + first,
                  .n_rows = (size_t)layers,
                  .n_columns = n,
                  .values = p,
                  .low = 0,
                  .high = 1,
                  .decimals = n <= 12 ? 2 : -1};
    if (code == 0) code = figure_show((Figure){.heat = &h}, x->a);
    free(p);
    free(names);
    free(rows);
    return code;
}

static void print_lens(const Explain *x, const Candidate *best, size_t query) {
    int layers = x->e.model.config.n_layers;
    if (x->a->show.csv) {
        out_printf("layer,token,rank,id,piece,probability,line\n");
        for (int l = 0; l < layers; l++)
            for (size_t t = 0; t < x->n; t++)
                for (int k = 0; k < BEST; k++) {
                    const Candidate *c = best_at(x, best, l, t) + k;
                    out_printf("%d,%zu,%d,%d,", l, t, k, c->id);
                    csv_word(x, c->id);
                    out_printf(",%.9g,%s\n", c->p, cited_place("lens"));
                }
        return;
    }
    out_printf("\nbehind \"");
    explain_put_word(x->words[query], 0);
    out_printf("\" (%zu) each layer would say\n\n", query);
    size_t width = line_room() < 83 ? 8 : 9;
    for (int l = 0; l < layers; l++) {
        out_printf("layer %2d", l);
        for (int k = 0; k < BEST; k++) {
            const Candidate *c = best_at(x, best, l, query) + k;
            out_printf(" ");
            put_word(x, c->id, width);
            out_printf("%5.3f", c->p);
        }
        out_printf("\n");
    }
    teach("Every layer adds to one vector, so the last norm and the output can be applied to it behind any "
          "of them: the model with its upper layers left out.");
    cite("lens");
}

int explain_lens(Args *a) {
    Explain x;
    Place p;
    int code = explain_options(a, " --query ");
    if (code) return code;
    code = explain_open(&x, a);
    if (code == 0) code = explain_place(&x, &p);
    if (code == 0 && x.e.model.config.vocab_size < BEST) code = fail("the vocabulary has fewer than %d tokens", BEST);
    Candidate *best = code == 0 ? calloc((size_t)x.e.model.config.n_layers * x.n * BEST, sizeof *best) : NULL;
    if (code == 0 && !best) code = fail("out of memory");
    if (code == 0) {
        int rc = lens_read(best, BEST, &x.e.model, x.ids, x.n, (int)a->machine.threads, on_progress, &x.e.progress,
                           x.e.err, sizeof x.e.err);
        progress_clear(&x.e.progress);
        if (rc) code = rc == -EINTR ? EXIT_INTERRUPTED : fail("%s", x.e.err);
    }
    if (code == 0) code = draw_lens(&x, best);
    if (code == 0) print_lens(&x, best, p.query);
    free(best);
    explain_close(&x);
    return code;
}

/* ---- next ---- */

enum { SHOWN = 20 };

typedef struct {
    int id;
    double p, warm;                 /* of the model; after the temperature */
    int by_top_k, by_top_p, by_min_p; /* left by the chain up to this step */
} Choice;

static int among(const Sampler *s, size_t n, int id) {
    for (size_t i = 0; i < n; i++)
        if (s->candidates[i].id == id) return 1;
    return 0;
}

/* The chain once for each step, each time with one filter more. */
static int choices(Explain *x, const float *logits, Choice *of, size_t n, size_t left[4]) {
    const SamplingArgs *a = &x->a->sampling;
    SamplerOptions o = {.temperature = (float)a->temperature, .repetition_penalty = 1, .seed = 1};
    for (int step = 0; step < 4; step++) {
        Sampler s;
        float sum = 1;
        if (step > 0) o.top_k = (size_t)a->top_k;
        if (step > 1) o.top_p = (float)a->top_p;
        if (step > 2) o.min_p = (float)a->min_p;
        if (sampler_init(&s, (size_t)x->e.model.config.vocab_size, &o, x->e.err, sizeof x->e.err))
            return fail("%s", x->e.err);
        left[step] = sampler_left(&s, logits, NULL, 0, &sum);
        for (size_t i = 0; i < n; i++) {
            int kept = among(&s, left[step], of[i].id);
            if (step == 0) of[i].warm = (double)s.probs[of[i].id];
            else *(step == 1 ? &of[i].by_top_k : step == 2 ? &of[i].by_top_p : &of[i].by_min_p) = kept;
        }
        sampler_free(&s);
        if (left[step] == 0)
            return fail("next: at temperature %g nothing is drawn, the first is taken", a->temperature);
    }
    return 0;
}

static int draw_next(const Explain *x, const Choice *of, size_t n) {
    double values[SHOWN];
    const char *names[SHOWN];
    char labels[SHOWN][40], about[300];
    for (size_t i = 0; i < n; i++) {
        char *word = explain_word(x->e.tokenizer, of[i].id);
        snprintf(labels[i], sizeof labels[i], "%.30s%s", word ? word : "", of[i].by_min_p ? "" : " (out)");
        free(word);
        names[i] = labels[i];
        values[i] = of[i].warm;
    }
    snprintf(about, sizeof about, "%s, at temperature %g", file_name(x->a->model), x->a->sampling.temperature);
    PlotBars b = {.title = "What may come next", .subtitle = about, .x_name = "probability", .names = names,
                  .values = values, .n = n, .decimals = 4};
    return figure_show((Figure){.bars = &b}, x->a);
}

static void print_next(const Explain *x, const Choice *of, size_t n, const size_t left[4]) {
    const SamplingArgs *a = &x->a->sampling;
    int csv = x->a->show.csv;
    if (csv) out_printf("id,piece,probability,after_temperature,left_by_top_k,left_by_top_p,left_by_min_p,line\n");
    else out_printf("\n%-18s%12s%12s%8s%8s%8s\n", "", "probability", "at T", "top-k", "top-p", "min-p");
    for (size_t i = 0; i < n; i++) {
        if (csv) {
            out_printf("%d,", of[i].id);
            csv_word(x, of[i].id);
            out_printf(",%.9g,%.9g,%d,%d,%d,%s\n", of[i].p, of[i].warm, of[i].by_top_k, of[i].by_top_p, of[i].by_min_p,
                       cited_place("left"));
            continue;
        }
        put_word(x, of[i].id, 18);
        out_printf("%12.4f%12.4f%8s%8s%8s\n", of[i].p, of[i].warm, of[i].by_top_k ? "in" : "-",
                   of[i].by_top_p ? "in" : "-", of[i].by_min_p ? "in" : "-");
    }
    if (csv) return;
    out_printf("\n");
    prose("of %d tokens temperature %g leaves all, top-k %lld leaves %zu, top-p %g of these %zu, min-p %g of these %zu",
          x->e.model.config.vocab_size, a->temperature, a->top_k, left[1], a->top_p, left[2], a->min_p, left[3]);
    cite("left");
}

int explain_next(Args *a) {
    Explain x;
    Candidate best[SHOWN];
    Choice of[SHOWN];
    size_t left[4] = {0}, n = SHOWN;
    int code = explain_options(a, " ");
    if (code == 0 && a->sampling.temperature == 0)
        return usage("next: temperature 0 draws nothing, it takes the first; give one above 0 (-t)");
    if (code) return code;
    code = explain_open(&x, a);
    if (code == 0 && x.e.model.config.mask != MASK_CAUSAL)
        code = fail("next is for models that read from left to right; fill shows the candidates of a [MASK]");
    if (code == 0) code = explain_trace(&x, NULL, NULL, 0);
    if (code == 0) {
        size_t vocab = (size_t)x.e.model.config.vocab_size;
        if (n > vocab) n = vocab;
        texts_best(x.t.logits, vocab, best, n);
        for (size_t i = 0; i < n; i++) of[i] = (Choice){.id = best[i].id, .p = best[i].p};
        code = choices(&x, x.t.logits, of, n, left);
    }
    if (code == 0) code = draw_next(&x, of, n);
    if (code == 0) print_next(&x, of, n, left);
    explain_close(&x);
    return code;
}
