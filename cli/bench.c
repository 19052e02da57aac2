/* cli/bench.c - the command bench: how fast the model is here, as a table, CSV or JSON. */
#include "cli.h"
#include "bench/bench.h"
#include "base/base.h"
#include "base/system.h"
#include "text/ahead.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct {
    Engine e;
    Args *a;
    int opened;
    size_t n_logits;
    double drawn; /* when progress was last drawn */
    Bench bench;
} Benchmark;

/* Notes are for the first opening only. Why it fails has been said: what comes back is an exit code. */
static int bench_open(void *arg, Session **s, char *err, size_t errlen) {
    Benchmark *b = arg;
    (void)err, (void)errlen;
    if (b->opened) engine_close(&b->e);
    int verbose = b->a->show.verbose, was_quiet = quiet;
    if (b->opened) b->a->show.verbose = 0, quiet = 1;
    int code = engine_open(&b->e, b->a, 0);
    if (code == 0) code = engine_session(&b->e, b->a, BENCH_CONTEXT, b->n_logits);
    b->a->show.verbose = verbose;
    quiet = was_quiet;
    b->opened = 1;
    *s = &b->e.session;
    return code;
}

static int bench_progress(void *arg, const char *what, double left_s) {
    Benchmark *b = arg;
    if (quiet || !isatty(2) || clock_seconds() - b->drawn < 0.2) return interrupted;
    b->drawn = clock_seconds();
    if (left_s > 0) progress_line("%s, about %.0f s to go ", what, ceil(left_s));
    else progress_line("%s ", what);
    return interrupted;
}

/* "0,1024" or "none": 0, or an exit code. *where: list, or NULL where nothing was said. */
static int bench_list(const char *option, const char *s, size_t least, size_t most, BenchList *list,
                      const BenchList **where) {
    size_t n = 0;
    *list = (BenchList){0};
    *where = s ? list : NULL;
    if (!s || strcmp(s, "none") == 0) return 0;
    int *numbers, code = parse_ids(&numbers, &n, option, s);
    if (code) return code;
    for (size_t i = 0; i < n && i < BENCH_LIST; i++) list->at[list->n++] = (size_t)numbers[i];
    int bad = n > BENCH_LIST;
    for (size_t i = 0; i < list->n; i++) bad |= list->at[i] < least || list->at[i] > most;
    free(numbers);
    return bad ? usage("%s: up to %d numbers from %zu to %zu", option, BENCH_LIST, least, most) : 0;
}

/* What a row is called in the table, CSV and JSON, and the number that tells it from others of its kind. */
static const struct {
    const char *says, *csv, *key;
} kinds[] = {
    [BENCH_DECODING] = {"decode at %zu", "decode", "context"},
    [BENCH_AT_ONCE] = {"%zu at once", "at_once", "tokens"},
    [BENCH_PREFILL] = {"prefill %zu", "prefill", "tokens"},
};
static size_t bench_at(const BenchRow *r) { return r->kind == BENCH_DECODING ? r->context : r->each; }

/* tok/s where ids come one by one, behind nothing; 0: not measured. */
static double one_by_one(const Bench *b) {
    for (size_t i = 0; i < b->n_rows; i++)
        if (b->rows[i].kind == BENCH_DECODING && b->rows[i].context == 0) return b->rows[i].rate.median;
    return 0;
}

/* In five characters, for a table of 80: "0.01", "58.0", "412.7", "77114", "156k". */
typedef struct {
    char text[32];
} Short;

static Short short_number(double v) {
    Short s;
    int thousands = v > 99999.4;
    snprintf(s.text, sizeof s.text, "%.*f%s", v < 9.995 ? 2 : v < 999.95 ? 1 : 0, thousands ? v / 1e3 : v,
             thousands ? "k" : "");
    return s;
}

static void bench_ceiling_text(const Ceilings *c, Ceiling which) {
    if (ceilings_rate(c, which, 1).n == 0) return;
    out_printf("%-25s", ceilings_name(c, which));
    for (int all = 0; all <= (c->threads > 1); all++) {
        Spread s = ceilings_rate(c, which, all);
        char range[70];
        snprintf(range, sizeof range, "(%s to %s)", short_number(s.least / 1e9).text, short_number(s.most / 1e9).text);
        out_printf(" %6s %-16s", short_number(s.median / 1e9).text, range);
    }
    out_printf(" %s\n", which < CEILING_F32 ? "GB/s" : "Gop/s");
}

static void bench_row_text(const BenchRow *r, double alone) {
    char what[40], range[70];
    double v = r->rate.median;
    snprintf(what, sizeof what, kinds[r->kind].says, bench_at(r));
    snprintf(range, sizeof range, "%s to %s", short_number(r->rate.least).text, short_number(r->rate.most).text);
    out_printf("%-15s %5s  %-14s %4zu %6s %5s %5s %5s %3.0f %%", what, short_number(v).text, range, r->rate.n,
               short_number(r->work.bytes / 1e6).text, short_number(v * r->work.bytes / 1e9).text,
               short_number(v * work_ops(r->work) / 1e9).text, short_number(r->limit).text, 100 * v / r->limit);
    if (r->kind == BENCH_AT_ONCE && alone > 0) out_printf(" %5s", short_number((double)r->each * alone / v).text);
    out_printf("\n");
}

static void bench_text(const Bench *b, const Model *m, const char *name) {
    char context[40] = "without end";
    if (!m->config.linear.form) snprintf(context, sizeof context, "%zu", b->session->options.n_ctx);
    out_printf("%s: %s, %.2f M parameters, %s, %.1f MB\nkernels %s, %d thread%s, context %s\n\n", name, m->config.arch,
               (double)m->n_parameters / 1e6, quant_format((int)m->layers->w_up.type)->name,
               (double)m->weights.file_bytes / 1e6, m->kernels->name, b->session->options.threads,
               b->session->options.threads == 1 ? "" : "s", context);
    out_printf("what this machine can do at most: 1 thread, all threads\n");
    for (int i = 0; i < N_CEILINGS; i++) bench_ceiling_text(&b->ceilings, (Ceiling)i);
    out_printf("\nload to first token %.3f s (%.3f to %.3f)\npeak memory %.1f MB after %zu positions\n\n",
               b->load.median, b->load.least, b->load.most, (double)b->peak_bytes / 1e6, b->peak_context);
    double alone = one_by_one(b);
    int at_once = 0;
    for (size_t i = 0; i < b->n_rows; i++) at_once |= b->rows[i].kind == BENCH_AT_ONCE && alone > 0;
    out_printf("%-15s %5s  %-14s %4s %6s %5s %5s %5s %5s%s\n", "", "tok/s", "slow to fast", "runs", "MB/tok", "GB/s",
               "Gop/s", "limit", "share", at_once ? "  time" : "");
    for (size_t i = 0; i < b->n_rows; i++)
        if (b->rows[i].rate.n) bench_row_text(&b->rows[i], alone);
}

static void bench_csv_row(const char *what, size_t at, int threads, Spread s, double scale, const char *unit) {
    out_printf("%s,%zu,%d,%zu,%.9g,%.9g,%.9g,%s", what, at, threads, s.n, s.median * scale, s.least * scale,
               s.most * scale, unit);
}

/* One table: a ceiling's name has commas of its own, and becomes a line's name without them. */
static void bench_csv(const Bench *b) {
    static const char *const names[N_CEILINGS] = {"read_1", "read_4", "reread_1", "reread_4", "f32", "int8", "int4"};
    int threads = b->session->options.threads;
    out_printf("what,at,threads,runs,median,least,most,unit,bytes_per_token,ops_per_token,limit,share\n");
    for (int i = 0; i < N_CEILINGS; i++)
        for (int all = 0; all < 1 + (threads > 1); all++) {
            Spread s = ceilings_rate(&b->ceilings, (Ceiling)i, all);
            if (s.n == 0) continue;
            bench_csv_row(names[i], 0, all ? threads : 1, s, 1e-9, i < CEILING_F32 ? "GB/s" : "Gop/s");
            out_printf(",,,,\n");
        }
    bench_csv_row("load", 0, threads, b->load, 1, "s");
    double peak = (double)b->peak_bytes;
    out_printf(",,,,\n");
    bench_csv_row("peak_memory", b->peak_context, threads, (Spread){peak, peak, peak, 1}, 1, "bytes");
    out_printf(",,,,\n");
    for (const BenchRow *r = b->rows; r < b->rows + b->n_rows; r++) {
        if (r->rate.n == 0) continue;
        bench_csv_row(kinds[r->kind].csv, bench_at(r), threads, r->rate, 1, "tok/s");
        out_printf(",%.9g,%.9g,%.9g,%.9g\n", r->work.bytes, work_ops(r->work), r->limit, r->rate.median / r->limit);
    }
}

static void json_spread(Spread s, double scale) {
    out_printf("\"runs\":%zu,\"median\":", s.n);
    json_number(s.median * scale);
    out_printf(",\"least\":");
    json_number(s.least * scale);
    out_printf(",\"most\":");
    json_number(s.most * scale);
}

static void bench_json_rows(const Bench *b, BenchKind kind) {
    const char *comma = "";
    for (const BenchRow *r = b->rows; r < b->rows + b->n_rows; r++) {
        if (r->kind != kind || r->rate.n == 0) continue;
        out_printf("%s{\"%s\":%zu,", comma, kinds[kind].key, bench_at(r));
        json_spread(r->rate, 1);
        out_printf(",\"unit\":\"tok/s\",\"bytes_per_token\":%.9g,\"ops_per_token\":%.9g,\"gb_per_s\":", r->work.bytes,
                   work_ops(r->work));
        json_number(r->rate.median * r->work.bytes / 1e9);
        out_printf(",\"gop_per_s\":");
        json_number(r->rate.median * work_ops(r->work) / 1e9);
        out_printf(",\"limit\":");
        json_number(r->limit);
        out_printf(",\"share\":");
        json_number(r->rate.median / r->limit);
        out_printf("}");
        comma = ",";
    }
}

static void bench_json(const Bench *b, const Model *m, const char *name) {
    int threads = b->session->options.threads;
    const char *comma = "";
    char context[40] = "null"; /* without end */
    if (!m->config.linear.form) snprintf(context, sizeof context, "%zu", b->session->options.n_ctx);
    out_printf("{\"model\":");
    json_string(name, strlen(name));
    out_printf(",\"architecture\":");
    json_string(m->config.arch, strlen(m->config.arch));
    out_printf(",\"parameters\":%zu,\"weights\":\"%s\",\"file_bytes\":%zu,\"kernels\":\"%s\",\"threads\":%d,"
               "\"context\":%s,\"ceilings\":[",
               m->n_parameters, quant_format((int)m->layers->w_up.type)->name, (size_t)m->weights.file_bytes,
               m->kernels->name, threads, context);
    for (int i = 0; i < N_CEILINGS; i++)
        for (int all = 0; all < 1 + (threads > 1); all++) {
            Spread s = ceilings_rate(&b->ceilings, (Ceiling)i, all);
            if (s.n == 0) continue;
            out_printf("%s{\"what\":\"%s\",\"threads\":%d,", comma, ceilings_name(&b->ceilings, (Ceiling)i),
                       all ? threads : 1);
            json_spread(s, 1e-9);
            out_printf(",\"unit\":\"%s\"}", i < CEILING_F32 ? "GB/s" : "Gop/s");
            comma = ",";
        }
    out_printf("],\"load\":{");
    json_spread(b->load, 1);
    out_printf(",\"unit\":\"s\"},\"peak_memory\":{\"bytes\":%zu,\"context\":%zu},\"decode\":[", b->peak_bytes,
               b->peak_context);
    bench_json_rows(b, BENCH_DECODING);
    out_printf("],\"at_once\":[");
    bench_json_rows(b, BENCH_AT_ONCE);
    out_printf("],\"prefill\":[");
    bench_json_rows(b, BENCH_PREFILL);
    out_printf("]}\n");
}

int run_bench(Args *a) {
    Benchmark b = {.a = a};
    BenchOptions o = {.open = bench_open, .progress = bench_progress, .arg = &b, .runs = (size_t)a->bench.runs};
    const size_t far = 1 << 24;
    BenchList contexts, prompts, at_once;
    if (a->show.json && a->show.csv) return usage("--json and --csv are both given; one is enough");
    int code = bench_list("--contexts", a->bench.contexts, 0, far, &contexts, &o.contexts);
    if (code == 0) code = bench_list("--prompts", a->bench.prompts, 1, far, &prompts, &o.prompts);
    if (code == 0) code = bench_list("--at-once", a->bench.at_once, 1, AHEAD_MOST + 1, &at_once, &o.at_once);
    if (code) return code;
    b.n_logits = o.at_once ? AHEAD_MOST + 1 : 1;
    int rc = bench_run(&b.bench, &o, b.e.err, sizeof b.e.err);
    if (b.drawn > 0) progress_wipe();
    if (rc == -EINTR)
        note(b.bench.ceilings.taken ? "interrupted: what follows is what was measured before" : "interrupted");
    else if (rc < 0) fail("%s", b.e.err);
    if (rc == 0 || (rc == -EINTR && b.bench.ceilings.taken)) {
        const Model *m = &b.e.model;
        if (a->show.json) bench_json(&b.bench, m, m->weights.path);
        else if (a->show.csv) bench_csv(&b.bench);
        else bench_text(&b.bench, m, m->weights.path);
    }
    bench_free(&b.bench);
    engine_close(&b.e);
    return out_end(rc == -EINTR ? EXIT_INTERRUPTED : rc < 0 ? EXIT_FAILED : rc);
}
