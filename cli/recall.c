/* cli/recall.c - the command recall: is a span easier the second time, and does the far text help at all? */
#include "compare.h"

#include "base/base.h"
#include "base/system.h"
#include "lab/recall.h"
#include "rope/spec.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_DISTANCES = 32 };

/* Of one method at one distance; or of one method's LongPPL. */
typedef struct {
    RecallTrial mean;
    double gain, squares;    /* of nll[0] - nll[1]: the sum, and that of the squares */
    double all, brief, keys; /* LongPPL: mean losses of all ids, whole and brief; the sum over key ids */
    size_t n, n_ids, n_keys;
} Row;

typedef struct {
    Comparison c; /* model, specs */
    const Args *a;
    size_t distances[MOST_DISTANCES], n_distances, span, samples, n_short, length, done;
    Row *rows;    /* [n_ropes, n_distances]; LongPPL: [n_ropes]; measured in this order, which Ctrl-C ends (n 0) */
} Recall;

static size_t n_rows(const Recall *r) { return r->a->probe.longppl ? 1 : r->n_distances; }

/* Places of a sample, the same for every method and distance. */
static uint64_t place(const Recall *r, size_t sample, size_t which) { return compare_draw(&r->c, 2 * sample + which); }

/* ---- what is asked ---- */

static int take_distances(Recall *r) {
    size_t n = 0, trained = (size_t)r->c.e.model.config.n_ctx_train;
    int *list = NULL, code = r->a->probe.distances ? parse_ids(&list, &n, "--distances", r->a->probe.distances) : 0;
    if (!r->a->probe.distances) {
        size_t d = trained / 4 > r->span ? trained / 4 : r->span; /* no two readings overlap */
        for (; r->n_distances < 5 && (d <= 4 * trained || r->n_distances == 0); d *= 2)
            r->distances[r->n_distances++] = d;
        return 0;
    }
    if (code) return code;
    if (n > MOST_DISTANCES) code = usage("--distances: at most %d", MOST_DISTANCES);
    for (size_t i = 0; code == 0 && i < n; i++) {
        if (list[i] < (int)r->span)
            code = usage("--distances: %d is nearer than a span of %zu is long", list[i], r->span);
        else r->distances[r->n_distances++] = (size_t)list[i];
    }
    free(list);
    return code;
}

static int take_text(Recall *r) {
    Comparison *c = &r->c;
    size_t longest = 0;
    int code = compare_read(c);
    if (code) return code;
    for (size_t i = 0; i < r->n_distances; i++)
        if (r->distances[i] > longest) longest = r->distances[i];
    size_t want = r->a->probe.longppl ? r->length - (c->bos >= 0) : longest + 3 * r->span;
    return c->n_ids >= want ? 0 : fail("%s: has %zu ids, and %zu are needed", r->a->in.file, c->n_ids, want);
}

/* ---- measuring ---- */

/* The distance from a span to its second reading is what lies between, and the span. */
static int sample_span(Recall *r, Session *s, Row *row, size_t distance, size_t i) {
    Comparison *c = &r->c;
    RecallCut cut = {.span = r->span, .between = distance - r->span};
    RecallTrial t;
    cut.at = r->span + place(r, i, 0) % (c->n_ids - 2 * r->span + 1);
    cut.other = place(r, i, 1) % (c->n_ids - cut.between + 1);
    int rc = recall_trial(&t, s, c->ids, c->n_ids, c->bos, &cut, c->e.err, sizeof c->e.err);
    double gain = t.nll[0] - t.nll[1];
    for (int time = 0; rc == 0 && time < 2; time++)
        row->mean.nll[time] += t.nll[time], row->mean.right[time] += t.right[time];
    if (rc == 0) row->gain += gain, row->squares += gain * gain, row->n++;
    return rc;
}

static int sample_losses(Recall *r, Session *s, Row *row, size_t i) {
    Comparison *c = &r->c;
    size_t n = r->length - (c->bos >= 0), keys, from = place(r, i, 0) % (c->n_ids - n + 1);
    double *whole = calloc(2 * n, sizeof *whole), *brief = whole + n;
    int rc = whole ? recall_losses(whole, brief, s, c->ids + from, n, c->bos, r->n_short, c->e.err, sizeof c->e.err)
                   : base_error(c->e.err, sizeof c->e.err, -ENOMEM, "out of memory");
    if (rc == 0) {
        double mean = recall_long_nll(whole + 1, brief + 1, n - 1, 2, 2, &keys);
        for (size_t k = 1; k < n; k++) row->all += whole[k], row->brief += brief[k];
        row->keys += mean * (double)keys, row->n_keys += keys, row->n_ids += n - 1, row->n++;
    }
    free(whole);
    return rc;
}

static int measure(Recall *r, size_t rope, size_t k) {
    Comparison *c = &r->c;
    Engine *e = &c->e;
    Model view;
    Session s;
    RopeNumbers *numbers = malloc(sizeof *numbers);
    RecallCut cut = {.span = r->span, .between = r->n_distances ? r->distances[k] - r->span : 0};
    size_t length = r->a->probe.longppl ? r->length : recall_length(&cut, c->bos);
    SessionOptions o = {.n_ctx = length, .threads = (int)r->a->machine.threads, .cache = c->cache, .n_logits = 16,
                        .progress = on_batch};
    int rc = 0, code = numbers ? compare_view(c, &view, numbers, c->ropes[rope], length) : fail("out of memory");
    if (code == 0 && session_init(&s, &view, &o, e->err, sizeof e->err)) code = fail("%s", e->err);
    else if (code == 0) {
        Row *row = &r->rows[rope * n_rows(r) + k];
        for (size_t i = 0; rc == 0 && i < r->samples; i++) {
            rc = interrupted ? -EINTR : r->a->probe.longppl ? sample_losses(r, &s, row, i)
                                                            : sample_span(r, &s, row, r->distances[k], i);
            progress_show(&e->progress, ++r->done, c->n_ropes * n_rows(r) * r->samples);
        }
        progress_clear(&e->progress);
        if (rc) code = rc == -EINTR ? EXIT_INTERRUPTED : fail("%s", e->err);
        session_free(&s);
    }
    free(numbers);
    return code;
}

/* ---- what came out ---- */

static double gain_of(const Row *row) { return row->gain / (double)row->n; }

static double stderr_of(const Row *row) {
    double n = (double)row->n, mean = gain_of(row);
    return row->n > 1 ? sqrt(fmax(row->squares - n * mean * mean, 0) / (n - 1) / n) : 0;
}

/* What has no key tokens has no LongPPL: "-", null, or nothing. */
static void number_or_none(char *to, size_t size, double v, const char *none) {
    if (isfinite(v)) snprintf(to, size, "%.9g", v);
    else snprintf(to, size, "%s", none);
}

/* What was asked, and of what. */
static void json_head(const Recall *r) {
    out_printf("{");
    json_text("model", r->a->model);
    json_text("file", r->a->in.file);
    out_printf("\"seed\":%lld,\"samples\":%zu,", r->a->sampling.seed, r->samples);
}

static int json_rope(const Recall *r, size_t rope, size_t length, int first) {
    char spec[ROPE_SPEC_MOST];
    int code = compare_spec(&r->c, r->c.ropes[rope], length, spec, sizeof spec);
    out_printf("%s{", first ? "" : ",");
    json_text("rope", r->c.ropes[rope]);
    json_text("spec", code ? NULL : spec);
    return code;
}

static int json_longppl(const Recall *r) {
    int code = 0;
    json_head(r);
    out_printf("\"length\":%zu,\"short\":%zu,\"rows\":[", r->length, r->n_short);
    for (size_t i = 0; i < r->c.n_ropes && r->rows[i].n && code == 0; i++) {
        const Row *w = &r->rows[i];
        double mean = w->n_keys ? w->keys / (double)w->n_keys : NAN, n = (double)w->n_ids;
        code = json_rope(r, i, r->length, i == 0);
        out_printf("\"longppl\":");
        json_number(exp(mean));
        out_printf(",\"key_nll\":");
        json_number(mean);
        out_printf(",\"keys\":%zu,\"tokens\":%zu,\"nll\":%.9g,\"nll_short\":%.9g}", w->n_keys, w->n_ids, w->all / n,
                   w->brief / n);
    }
    out_printf("]}\n");
    return code;
}

static void head(const Recall *r) {
    if (r->a->show.csv)
        out_printf("# recall: model %s, file %s, span %zu, seed %lld\n", r->a->model, r->a->in.file, r->span,
                   r->a->sampling.seed);
    else {
        prose("%s reads %s: %zu samples, seed %lld", file_name(r->a->model), file_name(r->a->in.file), r->samples,
              r->a->sampling.seed);
        out_printf("\n");
    }
}

/* Columns of the methods' names: the usual ones, or where a terminal has no room for them as many as it takes; 0: a
 * name has a line of its own. */
static int name_columns(const Recall *r, int usual, int numbers) {
    int room = line_room(), longest = 0;
    if (usual + numbers <= room) return usual;
    for (size_t i = 0; i < r->c.n_ropes; i++)
        if ((int)strlen(compare_said(r->c.ropes[i])) > longest) longest = (int)strlen(compare_said(r->c.ropes[i]));
    return longest + numbers <= room ? longest : 0;
}

static void print_name(const char *name, int columns, int first) {
    if (columns) out_printf("%-*s", columns, name);
    else if (first) out_printf("%s\n", name);
}

/* What has no key tokens has no LongPPL: "-", or nothing. */
static void print_longppl(const Recall *r) {
    int csv = r->a->show.csv, left = name_columns(r, 40, 61);
    head(r);
    if (csv) out_printf("rope,longppl,key_nll,keys,tokens,nll,nll_short\n");
    else
        out_printf("%-*s%12s%12s%8s%9s%10s%10s\n", left, "", "LongPPL", "key loss", "keys", "of", "loss", "short's");
    for (size_t i = 0; i < r->c.n_ropes && r->rows[i].n; i++) {
        const Row *w = &r->rows[i];
        double mean = w->n_keys ? w->keys / (double)w->n_keys : NAN, n = (double)w->n_ids;
        char ppl[32], key[32];
        number_or_none(ppl, sizeof ppl, exp(mean), csv ? "" : "-");
        number_or_none(key, sizeof key, mean, csv ? "" : "-");
        if (csv) csv_field(r->c.ropes[i]);
        else print_name(compare_said(r->c.ropes[i]), left, 1);
        out_printf(csv ? ",%s,%s,%zu,%zu,%.9g,%.9g\n" : "%12.8s%12.8s%8zu%9zu%10.4f%10.4f\n", ppl, key, w->n_keys,
                   w->n_ids, w->all / n, w->brief / n);
    }
    if (csv) return;
    out_printf("\n");
    prose("key tokens: by more than 2 nats easier with %zu ids in front than with %zu, and then below 2 nats",
          r->length, r->n_short);
}

static int json_rows(const Recall *r) {
    int code = 0;
    json_head(r);
    out_printf("\"span\":%zu,\"rows\":[", r->span);
    for (size_t i = 0; i < r->c.n_ropes * r->n_distances && r->rows[i].n && code == 0; i++) {
        const Row *w = &r->rows[i];
        double n = (double)w->n;
        size_t distance = r->distances[i % r->n_distances];
        RecallCut cut = {.span = r->span, .between = distance - r->span};
        code = json_rope(r, i / r->n_distances, recall_length(&cut, r->c.bos), i == 0);
        out_printf("\"distance\":%zu,\"samples\":%zu,\"first\":%.9g,\"second\":%.9g,\"gain\":%.9g,\"stderr\":%.9g,"
                   "\"right_first\":%.6g,\"right_second\":%.6g}", distance, w->n, w->mean.nll[0] / n,
                   w->mean.nll[1] / n, gain_of(w), stderr_of(w), w->mean.right[0] / n, w->mean.right[1] / n);
    }
    out_printf("]}\n");
    return code;
}

static void print_rows(const Recall *r) {
    static const char *const heads[] = {"%-*s%9s%8s%9s%9s%11s%9s%11s%11s\n", "%-*s%9s%6s%9s%8s%10s%8s%10s%7s\n"},
                             *const lines[] = {"%9zu%8zu%9.4f%9.4f%11.4f%9.4f%11.3f%11.3f\n",
                                               "%9zu%6zu%9.4f%8.4f%10.4f%8.4f%10.3f%7.3f\n"};
    int csv = r->a->show.csv, narrow = line_room() < 34 + 77, left = name_columns(r, 34, narrow ? 67 : 77);
    head(r);
    if (csv) out_printf("rope,distance,samples,first,second,gain,stderr,right_first,right_second\n");
    else
        out_printf(heads[narrow], left, "", "distance", "spans", "loss 1st", "2nd", "easier by", "stderr", "right 1st",
                   "2nd");
    for (size_t i = 0; i < r->c.n_ropes * r->n_distances && r->rows[i].n; i++) {
        const Row *w = &r->rows[i];
        double n = (double)w->n;
        if (csv) csv_field(r->c.ropes[i / r->n_distances]);
        else print_name(compare_said(r->c.ropes[i / r->n_distances]), left, i % r->n_distances == 0);
        out_printf(csv ? ",%zu,%zu,%.9g,%.9g,%.9g,%.9g,%.6g,%.6g\n" : lines[narrow],
                   r->distances[i % r->n_distances], w->n, w->mean.nll[0] / n, w->mean.nll[1] / n, gain_of(w),
                   stderr_of(w), w->mean.right[0] / n, w->mean.right[1] / n);
    }
    if (csv) return;
    out_printf("\n");
    prose("loss of a span of %zu tokens in nats a token, the first time and the second; easier by: below 0, it was "
          "harder", r->span);
    prose("right: the share of tokens that were the model's first guess");
}

static int draw(const Recall *r) {
    size_t n = r->n_distances;
    PlotPoint *points = calloc(r->c.n_ropes * n, sizeof *points);
    PlotSeries series[PLOT_MOST_SERIES];
    char about[300];
    if (!points) return fail("out of memory");
    if (r->c.n_ropes > PLOT_MOST_SERIES) {
        free(points);
        return r->a->show.svg ? fail("--svg: at most %d methods fit a picture", PLOT_MOST_SERIES) : 0;
    }
    snprintf(about, sizeof about, "%s reads spans of %zu tokens of %s a second time", file_name(r->a->model), r->span,
             file_name(r->a->in.file));
    for (size_t i = 0; i < r->c.n_ropes; i++) {
        for (size_t k = 0; k < n; k++) {
            const Row *w = &r->rows[i * n + k];
            points[i * n + k] = (PlotPoint){(double)r->distances[k], gain_of(w), stderr_of(w)};
        }
        series[i] = (PlotSeries){compare_said(r->c.ropes[i]), points + i * n, n, 0};
    }
    plot_styles(series, r->c.n_ropes);
    PlotLines p = {.title = "How much easier the second time is", .subtitle = about, .series = series,
                   .n_series = r->c.n_ropes, .x_name = "distance between the two, tokens",
                   .y_name = "easier by, nats a token", .log2_x = 1,
                   .mark = (double)r->c.e.model.config.n_ctx_train, .mark_name = "trained"};
    int code = plot_show(&p, r->a);
    free(points);
    return code;
}

/* What was measured; code: how that ended. */
static int show(const Recall *r, int code) {
    int whole = r->a->probe.longppl, shown = 0;
    if (r->a->show.json) shown = whole ? json_longppl(r) : json_rows(r);
    else if (whole) print_longppl(r);
    else print_rows(r);
    return code ? code : r->a->show.json || whole ? shown : draw(r);
}

static int run_all(Recall *r) {
    Comparison *c = &r->c;
    const Config *m = &c->e.model.config;
    int code = 0;
    r->length = r->a->context.n ? (size_t)r->a->context.n : 4 * (size_t)m->n_ctx_train;
    r->n_short = r->a->probe.n_short ? (size_t)r->a->probe.n_short : r->length > 8192 ? 4096 : r->length / 2;
    if (r->a->probe.longppl && (r->n_short < 2 || r->n_short >= r->length))
        return usage("--short %zu: the short context must be shorter than the long one, %zu (-c)", r->n_short,
                     r->length);
    if (!r->a->probe.longppl && (r->a->context.n || r->a->probe.n_short))
        return usage("%s goes with --longppl; the distances say how much is read here",
                     r->a->context.n ? "-c" : "--short");
    if (!r->a->probe.longppl && (code = take_distances(r))) return code;
    if ((code = take_text(r))) return code;
    files_opened(c->a);
    r->rows = calloc(c->n_ropes * n_rows(r), sizeof *r->rows);
    if (!r->rows) return fail("out of memory");
    if ((code = compare_cache(c))) return code;
    c->e.progress = (Progress){.what = "reading", .start = clock_seconds()};
    for (size_t i = 0; code == 0 && i < c->n_ropes; i++)
        for (size_t k = 0; code == 0 && k < n_rows(r); k++) code = measure(r, i, k);
    if (code == EXIT_INTERRUPTED)
        note(r->rows->n ? "interrupted: what follows is what was measured before" : "interrupted");
    return code && (code != EXIT_INTERRUPTED || !r->rows->n) ? code : show(r, code);
}

int run_recall(Args *a) {
    Recall r = {.a = a, .c.a = a, .span = a->probe.span ? (size_t)a->probe.span : 64,
                .samples = a->probe.samples ? (size_t)a->probe.samples : 20};
    if (!a->in.file) return usage("recall needs a text (-f FILE)");
    if (!a->compare.ropes) a->compare.ropes = "file";
    if (!a->sampling.seed_given) a->sampling.seed = 42;
    if (a->probe.longppl && (a->probe.distances || a->show.svg || a->probe.span))
        return usage("%s has no meaning with --longppl, which reads whole texts",
                     a->probe.distances ? "--distances" : a->show.svg ? "--svg" : "--span");
    int code = compare_ropes(&r.c);
    if (code == 0) code = engine_open(&r.c.e, a, 1);
    if (code == 0 && r.c.e.model.config.mask != MASK_CAUSAL)
        code = fail("%s: recall is for models that read from left to right", a->model);
    if (code == 0) code = run_all(&r);
    compare_free(&r.c);
    free(r.rows);
    return out_end(code);
}
