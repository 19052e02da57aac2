/* bench/bench.c - the rows of `run bench`. Each run of a row is a quarter of a second or more, so that a token of a
 * small model is not lost in the clock, and decoding ends after a second, so that a large one does not take minutes.
 * Each stands beside a sample of the ceilings. */
#include "bench.h"

#include "base/base.h"
#include "base/system.h"
#include "model/encoder.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

static const double RUN_S = 0.25;   /* a run repeats its work for so long */
static const double DECODE_S = 1;   /* and decodes no longer */
static const double SAMPLE_S = 0.1; /* ceilings_sample */
static const double ROW_S = 10;     /* unless --runs is given, a row ends after this */
static const double LOAD_S = 4;

/* ---- progress ---- */

static int tell(Bench *b) {
    double left = b->ends - clock_seconds();
    const BenchOptions *o = b->options;
    return o->progress && o->progress(o->arg, b->doing, left > 0 ? left : 0) ? -EINTR : 0;
}

static int on_tokens(void *arg, size_t done, size_t total) {
    (void)done, (void)total;
    return tell(arg);
}

/* Seconds that a row will take, where a token takes token_s and one of a prompt prompt_s. */
static double row_seconds(const Bench *b, const BenchRow *r, double token_s, double prompt_s) {
    double one = r->kind == BENCH_PREFILL ? prompt_s * (double)r->tokens : token_s * BENCH_DECODE;
    if (r->kind != BENCH_PREFILL && one > DECODE_S) one = token_s > DECODE_S ? token_s : DECODE_S;
    double runs = (double)(b->options->runs ? b->options->runs : BENCH_RUNS) + 1;
    double all = runs * ((one > RUN_S ? one : RUN_S) + SAMPLE_S);
    return !b->options->runs && all > ROW_S ? (one > ROW_S ? one : ROW_S) : all;
}

static void estimate(Bench *b, double token_s, double prompt_s) {
    double left = 0;
    for (size_t i = 0; i < b->n_rows; i++)
        if (b->rows[i].rate.n == 0) left += row_seconds(b, &b->rows[i], token_s, prompt_s);
    b->ends = clock_seconds() + left;
}

/* ---- the work that is timed ---- */

static int whole_texts(const Bench *b) { return b->session->model->config.mask != MASK_CAUSAL; }

static const int *next_ids(const Bench *b, size_t n) { return b->ids + b->session->pos % (b->n_ids - n + 1); }

/* The next n ids, with the logits after each. */
static int read_at_once(Bench *b, size_t n, char *err, size_t errlen) {
    Session *s = b->session;
    const int *ids = next_ids(b, n);
    int rc = session_begin(s, ids, n, 1, err, errlen);
    if (rc == 0) session_batch(s, ids, n, n);
    return rc;
}

/* Read ids [n], the next ones or a text of their own. */
static int read_ids(Bench *b, size_t n, char *err, size_t errlen) {
    Session *s = b->session;
    const float *logits;
    EncoderText text = {.ids = b->ids, .n = n};
    if (whole_texts(b)) return encoder_read(s, &text, 1, err, errlen);
    return session_eval(s, next_ids(b, n), n, s->model->has_logits ? &logits : NULL, err, errlen);
}

/* Behind the first n ids; who cannot go back reads them again. */
static int go_to(Bench *b, size_t n, char *err, size_t errlen) {
    if (session_rewind(b->session, n) == 0) return 0;
    session_rewind(b->session, 0);
    return read_ids(b, n, err, errlen);
}

/* One run of a row: *rate in tokens a second. */
static int run_row(Bench *b, const BenchRow *r, double *rate, char *err, size_t errlen) {
    size_t tokens = 0;
    double spent = 0, longest = r->kind == BENCH_PREFILL ? RUN_S : DECODE_S;
    int rc = 0;
    while (rc == 0 && spent < RUN_S) {
        rc = go_to(b, r->context, err, errlen);
        for (size_t i = 0; i < r->tokens && rc == 0 && spent < longest; i += r->each) {
            double begin = clock_seconds();
            rc = (r->kind == BENCH_AT_ONCE ? read_at_once : read_ids)(b, r->each, err, errlen);
            spent += clock_seconds() - begin;
            tokens += r->each;
        }
        if (rc == 0) rc = tell(b);
    }
    *rate = (double)tokens / spent;
    return rc;
}

/* Runs of a row, each beside a sample of the ceilings; the first, which warms up, is not counted unless it takes long.
 */
static int measure_row(Bench *b, BenchRow *r, char *err, size_t errlen) {
    const BenchOptions *o = b->options;
    double rates[BENCH_MOST_RUNS + 1], begin = clock_seconds();
    size_t n = 0, want = o->runs ? o->runs : BENCH_RUNS;
    int rc = 0, warm = 0;
    while (rc == 0 && n < want && (n == 0 || o->runs || clock_seconds() - begin < ROW_S)) {
        double start = clock_seconds();
        ceilings_sample(&b->ceilings);
        rc = run_row(b, r, &rates[n], err, errlen);
        if (rc == 0)
            n += warm || clock_seconds() - start > 2 * (DECODE_S + SAMPLE_S); /* what takes long needs no warming */
        warm = 1;
    }
    r->rate = spread_of(rates, n);
    return rc;
}

/* ---- what is measured before ---- */

/* Open, first token: several times; the last one stays open. The first brings the file into memory and is not counted.
 */
static int measure_load(Bench *b, char *err, size_t errlen) {
    const BenchOptions *o = b->options;
    double seconds[BENCH_MOST_RUNS], begin = clock_seconds();
    size_t want = o->runs ? o->runs : BENCH_RUNS, n = 0;
    for (int warm = 0; n == 0 || (n < want && (o->runs || clock_seconds() - begin < LOAD_S)); warm = 1) {
        double start = clock_seconds();
        int rc = o->open(o->arg, &b->session, err, errlen);
        if (rc) return rc;
        b->session->options.progress = on_tokens;
        b->session->options.progress_arg = b;
        rc = read_ids(b, 1, err, errlen);
        if (rc == 0) rc = tell(b);
        if (rc) return rc;
        if (warm) seconds[n++] = clock_seconds() - start;
    }
    b->load = spread_of(seconds, n);
    return 0;
}

/* The high-water mark of this program alone: ru_maxrss may be that of the program which started it. */
static size_t peak_memory(void) {
    char line[200];
    unsigned long long kb = 0;
    FILE *f = fopen("/proc/self/status", "r");
    while (f && fgets(line, sizeof line, f))
        if (strncmp(line, "VmHWM:", 6) == 0) kb = strtoull(line + 6, NULL, 10);
    if (f) fclose(f);
    if (kb) return (size_t)kb * 1024;
    struct rusage usage;
    if (getrusage(RUSAGE_SELF, &usage)) return 0;
#ifdef __APPLE__
    return (size_t)usage.ru_maxrss; /* bytes there, kilobytes elsewhere */
#else
    return (size_t)usage.ru_maxrss * 1024;
#endif
}

static void add_row(Bench *b, BenchKind kind, size_t context, size_t tokens, size_t each) {
    size_t room = b->session->options.n_ctx;
    if (tokens > room || context > room - tokens) return;
    b->rows[b->n_rows++] = (BenchRow){.kind = kind, .context = context, .tokens = tokens, .each = each};
}

/* What the user named must fit. */
static int check_lists(const Bench *b, char *err, size_t errlen) {
    const BenchOptions *o = b->options;
    const SessionOptions *has = &b->session->options;
    size_t room = has->n_ctx, decode = BENCH_DECODE < room ? BENCH_DECODE : room;
    size_t least = has->n_logits < has->n_batch ? has->n_logits : has->n_batch, most = least < room ? least : room;
    for (size_t i = 0; o->contexts && i < o->contexts->n; i++)
        if (o->contexts->at[i] > room - decode)
            return base_error(err, errlen, -EINVAL,
                              "%zu positions and %zu more do not fit a context of %zu; give a longer one (-c)",
                              o->contexts->at[i], decode, room);
    for (size_t i = 0; o->prompts && i < o->prompts->n; i++)
        if (o->prompts->at[i] > room)
            return base_error(err, errlen, -EINVAL,
                              "a prompt of %zu does not fit a context of %zu; give a longer one (-c)",
                              o->prompts->at[i], room);
    for (size_t i = 0; o->at_once && i < o->at_once->n; i++)
        if (o->at_once->at[i] > most)
            return base_error(err, errlen, -EINVAL, "%zu tokens at once are more than are read at a time here, %zu",
                              o->at_once->at[i], most);
    return 0;
}

static void plan(Bench *b) {
    const BenchOptions *o = b->options;
    size_t room = b->session->options.n_ctx, decode = BENCH_DECODE < room ? BENCH_DECODE : room;
    int linear = b->session->model->config.linear.form != NULL;
    BenchList contexts = {.n = 1}, prompts = {3, {128, 512, 2048}};
    for (size_t at = 1024; at < room && contexts.n < BENCH_LIST && !linear; at *= 4) contexts.at[contexts.n++] = at;
    if (room < prompts.at[0]) prompts = (BenchList){1, {room}};
    if (o->contexts) contexts = *o->contexts;
    if (o->prompts) prompts = *o->prompts;
    for (size_t i = 0; i < contexts.n && !whole_texts(b); i++)
        if (!linear || contexts.at[i] == 0)
            add_row(b, BENCH_DECODING, contexts.at[i], decode, 1);
    for (size_t i = 0; o->at_once && i < o->at_once->n && !whole_texts(b) && b->session->model->has_logits; i++) {
        size_t each = o->at_once->at[i];
        add_row(b, BENCH_AT_ONCE, 0, each < decode ? decode / each * each : each, each);
    }
    for (size_t i = 0; i < prompts.n; i++) add_row(b, BENCH_PREFILL, 0, prompts.at[i], prompts.at[i]);
}

/* The work of one token of a row, on average. */
static Work row_work(const Session *s, const BenchRow *r) {
    size_t head = s->model->config.mask == MASK_CAUSAL && s->model->has_logits;
    Work all = {0};
    if (r->kind == BENCH_AT_ONCE) head = r->each;
    for (size_t i = 0; i < r->tokens; i += r->each)
        all = work_sum(all, work_sum(work_matrices(s->model, r->each, head),
                                     work_attention(s, r->context + i, r->each)));
    double n = (double)r->tokens;
    return (Work){all.bytes / n, all.f32 / n, all.int8 / n, all.int4 / n};
}

static double peak(const Bench *b, Ceiling which) { return ceilings_rate(&b->ceilings, which, 1).median; }

static void limits(Bench *b) {
    if (b->ceilings.taken == 0) return;
    double read = ceilings_read(&b->ceilings);
    for (size_t i = 0; i < b->n_rows; i++) {
        const Work *w = &b->rows[i].work;
        double arithmetic =
            w->f32 / peak(b, CEILING_F32) + w->int8 / peak(b, CEILING_INT8) + w->int4 / peak(b, CEILING_INT4);
        b->rows[i].limit = 1 / (w->bytes / read > arithmetic ? w->bytes / read : arithmetic);
    }
}

/* Ids without meaning, the same in every run. */
static int make_ids(Bench *b, size_t n, char *err, size_t errlen) {
    uint64_t x = 88172645463325252u; /* Marsaglia's xorshift */
    int *ids = realloc(b->ids, n * sizeof *ids);
    if (!ids) return base_error(err, errlen, -ENOMEM, "out of memory");
    b->ids = ids;
    for (b->n_ids = 0; b->n_ids < n; b->n_ids++) {
        x ^= x << 13, x ^= x >> 7, x ^= x << 17;
        ids[b->n_ids] = b->session ? (int)(x % (uint64_t)b->session->model->config.vocab_size) : 0;
    }
    return 0;
}

/* Rows, their work, and the past that the longest context needs. Then memory is at its peak: the ceilings' buffer comes
 * later. */
static int prepare(Bench *b, char *err, size_t errlen) {
    size_t room = b->session->options.n_ctx, fill = room < 128 ? room : 128, longest = fill;
    int rc = check_lists(b, err, errlen);
    if (rc) return rc;
    plan(b);
    for (size_t i = 0; i < b->n_rows; i++) {
        BenchRow *r = &b->rows[i];
        r->work = row_work(b->session, r);
        if (r->context > fill) fill = r->context;
        if (r->tokens > longest) longest = r->tokens;
    }
    rc = make_ids(b, fill > longest ? fill : longest, err, errlen);
    if (rc) return rc;
    estimate(b, b->load.median, b->load.median / 8);
    b->ends += b->load.median / 8 * (double)fill;
    session_rewind(b->session, 0);
    double begin = clock_seconds();
    rc = read_ids(b, fill, err, errlen);
    double prompt_s = (clock_seconds() - begin) / (double)fill;
    if (rc) return rc;
    estimate(b, 8 * prompt_s, prompt_s);
    b->peak_bytes = peak_memory();
    b->peak_context = fill;
    double token_bytes = work_matrices(b->session->model, 1, 1).bytes;
    return ceilings_init(&b->ceilings, b->session->model->kernels->name, b->session->options.threads,
                         (b->n_rows + 1) * (BENCH_MOST_RUNS + 1), token_bytes, err, errlen);
}

/* Longer contexts first: a session goes back, and need not read again. */
static BenchRow *next_row(Bench *b, const uint8_t *done) {
    BenchRow *next = NULL;
    for (size_t i = 0; i < b->n_rows; i++)
        if (!done[i] && (!next || b->rows[i].context > next->context)) next = &b->rows[i];
    return next;
}

int bench_run(Bench *b, const BenchOptions *o, char *err, size_t errlen) {
    uint8_t done[3 * BENCH_LIST] = {0};
    memset(b, 0, sizeof *b);
    b->options = o;
    b->doing = "opening";
    int rc = make_ids(b, 1, err, errlen);
    if (rc == 0) rc = measure_load(b, err, errlen);
    b->doing = "reading";
    if (rc == 0) rc = prepare(b, err, errlen);
    for (BenchRow *r; rc == 0 && (r = next_row(b, done)); done[r - b->rows] = 1) {
        b->doing = r->kind == BENCH_PREFILL ? "prefill" : "decoding";
        rc = measure_row(b, r, err, errlen);
    }
    if (rc == 0 && b->n_rows == 0) ceilings_sample(&b->ceilings);
    limits(b);
    return rc;
}

void bench_free(Bench *b) {
    ceilings_free(&b->ceilings);
    free(b->ids);
    memset(b, 0, sizeof *b);
}
