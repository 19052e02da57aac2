/* cli/perplexity.c - the command perplexity: how well the model foresees a text. */
#include "cli.h"
#include "lab/perplexity.h"
#include "text/documents.h"
#include "rope/spec.h"
#include "base/base.h"
#include "base/system.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What is scored, and what came of it. */
typedef struct {
    Engine *e;
    const Args *a;
    Cut cut;
    PerplexityBins by; /* where --by-position asks */
    Perplexity p;
    const char *text;
    size_t n, documents; /* bytes */
    double seconds;
} Scoring;

/* ---- reading ---- */

/* BOS, where the vocabulary adds it by itself; -1: it does not. */
static int added_bos(Engine *e) {
    int *ids, bos = -1;
    size_t n;
    if (tokenizer_encode(e->tokenizer, "", 0, ENCODE_BOS, &ids, &n, e->err, sizeof e->err)) return -1;
    if (n == 1) bos = ids[0];
    free(ids);
    return bos;
}

/* How the text is to be cut. What the options say wrong is said in terms of the options. */
static int plan(Scoring *s) {
    const Args *a = s->a;
    const CutConvention *v = cut_convention(a->cut.convention);
    CutOptions o = {v, (size_t)a->context.n, (size_t)a->cut.stride, (size_t)a->cut.last};
    Engine *e = s->e;
    if (!v) return usage("--convention: there is no \"%s\"", a->cut.convention);
    if (a->in.separator && !v->documents) return usage("--separator: %s reads a file as one stream", v->name);
    int bos = engine_bos(e);
    if (v->bos == CUT_BOS_INSTEAD) bos = added_bos(e);
    if (cut_init(&s->cut, &o, (size_t)e->model.config.n_ctx_train, bos, e->err, sizeof e->err))
        return usage("%s", e->err);
    if (v->mean == CUT_MEAN_WEIGHTED && s->cut.stride == 1)
        note("%s weighs a window by its new ids but one: with --stride 1 the result is the first window's alone",
             v->name);
    if (!a->cut.by_position) return 0;
    int rc = perplexity_bins_init(&s->by, s->cut.window, (size_t)a->cut.bin, e->err, sizeof e->err);
    return option_refused(rc, "--by-position: ", e->err);
}

/* Progress goes by bytes of text, as the number of tokens is not known before the end. */
static void show_progress(Scoring *s, const char *doc, size_t len, size_t done, size_t n_ids) {
    size_t bytes = (size_t)(doc - s->text) + (size_t)((double)len * (double)done / (double)n_ids);
    if (s->p.tokens)
        progress_show(&s->e->progress, s->p.tokens,
                      (size_t)((double)s->p.tokens * (double)s->n / (double)(bytes ? bytes : 1)));
}

static int score_document(Scoring *s, const char *doc, size_t len) {
    Engine *e = s->e;
    const CutConvention *v = s->cut.convention;
    int *ids, flags = v->bos == CUT_BOS_INSTEAD ? ENCODE_BOS : v->bos == CUT_BOS_ONCE ? ENCODE_ADDED : ENCODE_BARE;
    size_t n_ids;
    int rc = tokenizer_encode(e->tokenizer, doc, len, flags | (v->special ? ENCODE_SPECIAL : 0), &ids, &n_ids, e->err,
                              sizeof e->err);
    if (rc) return rc;
    ++s->documents;
    rc = cut_check(&s->cut, n_ids, e->err, sizeof e->err);
    for (CutWindow w = {0}; rc == 0 && cut_next(&s->cut, n_ids, &w);) {
        rc = interrupted ? -EINTR
                         : perplexity_window(&s->p, &e->session, ids, &s->cut, &w, s->by.at ? &s->by : NULL, e->err,
                                             sizeof e->err);
        show_progress(s, doc, len, w.end, n_ids);
    }
    free(ids);
    return rc;
}

static int score_documents(Scoring *s) {
    size_t at = 0, len, n = s->n;
    const char *doc;
    int rc = 0;
    if (s->cut.convention->drops_newline && n > 0 && s->text[n - 1] == '\n') n--;
    while (rc == 0 && document_next(s->text, n, s->a->in.separator, &at, &doc, &len))
        if (len > 0) rc = score_document(s, doc, len);
    return rc;
}

/* ---- what is printed ---- */

/* The cut in words, as the last line of the text says it and as a picture's subtitle does. */
static void describe_cut(const Scoring *s, char *line, size_t n) {
    const Cut *c = &s->cut;
    const CutConvention *v = c->convention;
    size_t room = c->room;
    int at = s->a->in.separator ? snprintf(line, n, "%zu document%s, ", s->documents, s->documents == 1 ? "" : "s")
                                : snprintf(line, n, "one stream, ");
    at += snprintf(line + at, n - (size_t)at, "%zu window%s%s", s->p.windows, s->p.windows == 1 ? "" : "s",
                   v->bos == CUT_BOS_ONCE ? "" : c->bos >= 0 ? ", each from BOS" : ", without BOS");
    if (c->stride != room) at += snprintf(line + at, n - (size_t)at, ", %zu ids apart", c->stride);
    if (c->last) at += snprintf(line + at, n - (size_t)at, ", the last %zu ids of each scored", c->last);
    if (v->second_half) at += snprintf(line + at, n - (size_t)at, ", the second half of each scored");
    if (v->mean == CUT_MEAN_WINDOWS) snprintf(line + at, n - (size_t)at, ", the mean of their means");
}

static void print_json_bins(const PerplexityBins *by) {
    const char *comma = "";
    out_printf(",\"bin\":%zu,\"by_position\":[", by->width);
    for (size_t i = 0; i < by->n; i++) {
        if (by->at[i].tokens == 0) continue;
        size_t end = (i + 1) * by->width < by->window ? (i + 1) * by->width : by->window;
        out_printf("%s{\"from\":%zu,\"to\":%zu,\"nll\":%.9g,\"stderr\":%.9g,\"tokens\":%zu}", comma, i * by->width,
                   end - 1, perplexity_mean(&by->at[i]), perplexity_stderr(&by->at[i]), by->at[i].tokens);
        comma = ",";
    }
    out_printf("]");
}

static int print_json(const Scoring *s) {
    const Perplexity *p = &s->p;
    double mean = perplexity_mean(p);
    if (!isfinite(exp(mean)))
        return fail("%s: a mean of %.9g nats has no perplexity that a number can hold", s->a->model, mean);
    out_printf("{\"nll_mean\":%.9g,\"nll_sum\":%.9g,\"perplexity\":%.9g,\"stderr\":%.9g,\"tokens\":%zu,"
               "\"tokens_per_second\":%.3f,\"window\":%zu,\"windows\":%zu,\"documents\":%zu,\"stride\":%zu,\"last\":",
               mean, p->nll_sum, exp(mean), perplexity_stderr(p), p->tokens, (double)p->tokens / fmax(s->seconds, 1e-9),
               s->cut.window, p->windows, s->documents, s->cut.stride);
    out_printf(s->cut.last ? "%zu," : "null,", s->cut.last);
    json_text("convention", s->cut.convention->name);
    json_text("separator", s->a->in.separator);
    json_text("model", s->a->model);
    json_text("file", s->a->in.file);
    char spec[ROPE_SPEC_MOST];
    rope_spec_print(&s->e->model.config.rope, spec, sizeof spec);
    json_text("rope", spec);
    out_printf("\"trained_context\":%lld,\"seed\":null", (long long)s->e->model.config.n_ctx_train);
    if (s->by.at) print_json_bins(&s->by);
    out_printf("}\n");
    return 0;
}

/* A row a bin, or one for the text. */
static void print_csv(const Scoring *s) {
    const PerplexityBins *by = &s->by;
    if (!by->at)
        out_printf("convention,window,stride,last,nll,stderr,perplexity,tokens,windows\n%s,%zu,%zu,%zu,%.9g,%.9g,%.9g,"
                   "%zu,%zu\n", s->cut.convention->name, s->cut.window, s->cut.stride, s->cut.last,
                   perplexity_mean(&s->p), perplexity_stderr(&s->p), exp(perplexity_mean(&s->p)), s->p.tokens,
                   s->p.windows);
    else out_printf("from,to,nll,stderr,tokens\n");
    for (size_t i = 0; i < by->n; i++) {
        size_t end = (i + 1) * by->width < by->window ? (i + 1) * by->width : by->window;
        if (by->at[i].tokens)
            out_printf("%zu,%zu,%.9g,%.9g,%zu\n", i * by->width, end - 1, perplexity_mean(&by->at[i]),
                       perplexity_stderr(&by->at[i]), by->at[i].tokens);
    }
}

static void print_text(const Scoring *s) {
    const Perplexity *p = &s->p;
    double mean = perplexity_mean(p);
    char line[400];
    describe_cut(s, line, sizeof line);
    out_printf("nll_mean    %.7f nats a token\nnll_sum     %.7f\nperplexity  %.7f\nstderr      %.7f of nll_mean\n"
               "tokens      %zu\ntokens/s    %.1f\nwindow      %zu positions\ncut         %s\n",
               mean, p->nll_sum, exp(mean), perplexity_stderr(p), p->tokens,
               (double)p->tokens / fmax(s->seconds, 1e-9), s->cut.window, line);
    if (s->a->cut.convention)
        out_printf("convention  %s: %s\n", s->cut.convention->name, s->cut.convention->source);
    if (s->by.at) out_printf("\n%17s %11s %11s %9s\n", "position", "nll", "stderr", "tokens");
    for (size_t i = 0; i < s->by.n; i++) {
        size_t end = (i + 1) * s->by.width < s->by.window ? (i + 1) * s->by.width : s->by.window;
        if (s->by.at[i].tokens)
            out_printf("%8zu-%-8zu %11.5f %11.5f %9zu\n", i * s->by.width, end - 1, perplexity_mean(&s->by.at[i]),
                       perplexity_stderr(&s->by.at[i]), s->by.at[i].tokens);
    }
}

/* The middle of each bin and its loss; malloc'ed. */
static PlotPoint *bin_points(const PerplexityBins *by) {
    PlotPoint *points = calloc(by->n, sizeof *points);
    for (size_t i = 0; points && i < by->n; i++) {
        double end = fmin((double)((i + 1) * by->width), (double)by->window);
        points[i] = (PlotPoint){((double)(i * by->width) + end - 1) / 2,
                                by->at[i].tokens ? perplexity_mean(&by->at[i]) : NAN, perplexity_stderr(&by->at[i])};
    }
    return points;
}

/* Loss by position as a picture: into the file of --svg, and on a terminal. */
static int draw(const Scoring *s) {
    enum { EIGHTHS = 8 };
    size_t trained = (size_t)s->e->model.config.n_ctx_train, window = s->cut.window;
    char title[300], subtitle[900], cut[400], mark[40];
    double ticks[EIGHTHS + 1];
    PlotPoint *points = bin_points(&s->by);
    if (!points) return fail("out of memory");
    for (size_t i = 0; i <= EIGHTHS; i++) ticks[i] = (double)(i * window / EIGHTHS);
    describe_cut(s, cut, sizeof cut);
    snprintf(title, sizeof title, "Loss by position: %.200s", file_name(s->a->model));
    snprintf(subtitle, sizeof subtitle, "%.200s; windows of %zu: %s; bars: one standard error",
             file_name(s->a->in.file), window, cut);
    snprintf(mark, sizeof mark, "trained: %zu", trained);
    PlotSeries series = {s->a->rope.method ? s->a->rope.method : "as trained", points, s->by.n, 0};
    PlotLines p = {.title = title, .subtitle = subtitle, .x_name = "position in the window",
                   .y_name = "loss, nats a token", .series = &series, .n_series = 1, .mark = (double)trained,
                   .mark_name = trained < window ? mark : NULL, .ticks = ticks, .n_ticks = EIGHTHS + 1};
    int code = plot_show(&p, s->a);
    free(points);
    return code;
}

static int print_all(const Scoring *s) {
    int code = 0;
    if (s->a->show.json) code = print_json(s);
    else if (s->a->show.csv) print_csv(s);
    else print_text(s);
    return code == 0 && s->by.at ? draw(s) : code;
}

/* The text through the engine's session, and what came of it. An exit code. */
static int score(Scoring *s) {
    Engine *e = s->e;
    e->session.options.progress = on_batch; /* only the whole file's progress is shown */
    e->progress.what = "scoring";
    double t0 = clock_seconds();
    int rc = score_documents(s), code = 0;
    s->seconds = clock_seconds() - t0;
    progress_clear(&e->progress);
    if (rc == -EINTR) note("interrupted: what follows is of the text's beginning only");
    if (rc && rc != -EINTR) return fail("%s", e->err);
    if (rc == -EINTR && s->p.tokens == 0) return EXIT_INTERRUPTED;
    if (s->p.tokens == 0) return fail("%s: no text to score", s->a->in.file);
    if (!isfinite(s->p.nll_sum))
        code = fail("%s: the model's logits are not finite; its weights may be damaged", s->a->model);
    else code = print_all(s);
    return rc == -EINTR ? EXIT_INTERRUPTED : code;
}

int run_perplexity(Args *a) {
    Engine e;
    Scoring s = {.e = &e, .a = a};
    char *text = NULL;
    if (!a->in.file && !(a->in.file = piped_text())) return usage("perplexity needs a text (-f FILE, or on stdin)");
    if (a->show.svg && !a->cut.by_position) return usage("--svg draws the loss by position; add --by-position");
    int code = engine_open(&e, a, 1);
    if (code) return code;
    code = plan(&s);
    if (code == 0) code = read_text(a->in.file, &text, &s.n);
    s.text = text;
    if (s.cut.window > (size_t)e.model.config.n_ctx_train && !e.model.config.linear.form)
        a->context.n = (long long)s.cut.window; /* a convention's own */
    /* a text has no more ids than bytes, and a space and BOS in front */
    if (code == 0) code = engine_session(&e, a, s.n + 2, 16);
    if (code == 0) files_opened(a);
    if (code == 0) code = score(&s);
    free(text);
    perplexity_bins_free(&s.by);
    engine_close(&e);
    return out_end(code);
}
