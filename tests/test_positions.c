/* tests/test_positions.c - every kind of position (rope/positions.h) as a whole model, against logits computed outside
 * the engine.
 *
 * tests/oracle/positions.py made tests/golden/positions.txt: keys and tensors of small decoders and encoders, whose
 * values a formula gives, and float64 logits; of some also those that the formula gives with one mistake in it, from
 * which the engine must be far. */
#include "positions_files.h"

#include "kernels/rows.h"
#include "lab/explain/trace.h"
#include "model/attend_texts.h"
#include "model/encoder.h"
#include "model/options.h"
#include "model/shift.h"
#include "model/state.h"
#include "model/timeline.h"
#include "build.h"
#include "test.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Logits are -7 .. 7; the oracle itself in float32 is at most 2e-5 off (positions.py --float32). */
static const double TOLERANCE = 1e-4, WRONG = 1e-2;

/* ---- against the oracle ---- */

static double distance(const PositionsRow *r, const float *logits) {
    double off = 0;
    for (int i = 0; i < STORED; i++) {
        double by = fabs(r->at[i] - (double)logits[i * EVERY]);
        off = by <= off ? off : by; /* NaN is far */
    }
    return off;
}

typedef struct {
    const PositionsCase *c;
    double right, wrong[4]; /* the largest distances; of each mistake's rows */
    char names[4][40];
    size_t n_wrong;
} Distances;

/* The logits of row n of a text, against all that is known of it. */
static void meet(Distances *d, size_t text, size_t n, const float *logits) {
    for (size_t i = 0; i < d->c->n_rows; i++) {
        const PositionsRow *r = &d->c->rows[i];
        size_t k = 0;
        if (r->text != text || r->n != n) continue;
        if (!*r->wrong) {
            double off = distance(r, logits);
            d->right = off <= d->right ? d->right : off;
            continue;
        }
        while (k < d->n_wrong && strcmp(d->names[k], r->wrong) != 0) k++;
        if (k == d->n_wrong) snprintf(d->names[d->n_wrong++], 40, "%s", r->wrong);
        d->wrong[k] = fmax(d->wrong[k], distance(r, logits));
    }
}

static void each_row(void *arg, size_t i, const float *logits) { meet(arg, 0, i + 1, logits); }

static void read_case(Distances *d, Session *s) {
    char err[300] = "";
    const PositionsCase *c = d->c;
    for (size_t t = 0; t < c->n_texts; t++) {
        const PositionsText *x = &c->texts[t];
        EncoderText text = {.ids = x->ids, .types = x->types, .keep = x->keep, .n = x->n};
        int rc = positions_decoder(c) ? session_eval_each(s, x->ids, x->n, each_row, d, err, sizeof err)
                               : encoder_read(s, &text, 1, err, sizeof err);
        if (rc) test_fail(__FILE__, __LINE__, err);
        for (size_t i = 0; rc == 0 && !positions_decoder(c) && i < x->n; i++) meet(d, t, i, encoder_logits(s, i));
    }
}

static void run_cases(const Kernels *kernels, CacheType cache, size_t chunk, double tolerance) {
    char *golden = file_read("tests/golden/positions.txt", NULL);
    static PositionsCase c;
    size_t n = 0;
    CHECK(golden != NULL);
    for (const char *p = golden; p && (p = positions_next(p, &c));) {
        Model m;
        Session s = {0};
        Distances d = {.c = &c};
        n++;
        if (positions_open(&m, &c, kernels)) continue;
        SessionOptions o = {.threads = 2, .cache = cache, .n_logits = 4, .chunk = chunk};
        if (chunk) o.linear = &linear_texts;
        if (m.encoder) o.cache = CACHE_F32;
        if (positions_start(&s, &m, o) == 0) read_case(&d, &s);
        if (getenv("ORACLE_PRINT")) printf("    %-15s %.1e\n", c.name, d.right);
        if (!(d.right <= tolerance)) positions_fail(&c, "is off by", d.right);
        for (size_t k = 0; k < d.n_wrong; k++)
            if (!(d.wrong[k] > WRONG)) positions_fail(&c, d.names[k], d.wrong[k]);
        session_free(&s);
        model_close(&m);
    }
    CHECK(n == 32);
    free(golden);
}

static void oracle_ref(void) { run_cases(kernels_row(0), CACHE_F32, 0, TOLERANCE); }
static void oracle_best(void) { run_cases(NULL, CACHE_F32, 0, TOLERANCE); }
static void oracle_chunks(void) { run_cases(NULL, CACHE_F32, 24, TOLERANCE); } /* linear attention's */
static void oracle_f16(void) { run_cases(NULL, CACHE_F16, 0, 0.05); } /* keys and values of 11 bits: 5e-4 of each */

static void oracle_rows(void) {
    for (int i = 1; kernels_row(i); i++) run_cases(kernels_row(i), CACHE_F32, 0, TOLERANCE);
}

/* ---- the same bits ---- */

static void same(const PositionsCase *c, const float *got, const float *want, const char *how) {
    if (memcmp(got, want, VOCAB * sizeof *got) != 0) positions_fail(c, how, 0);
}

/* In one call, in pieces, one by one, with 1 to 3 threads, after going back, saved and loaded. */
static void ways(const PositionsCase *c, const Model *m, CacheType cache) {
    static const struct { int threads; size_t batch, step; } rows[] = {{2, 0, 40}, {3, 7, MOST_IDS}, {3, 64, 1}};
    float want[VOCAB], got[VOCAB];
    char err[300] = "";
    Session s, other;
    int linear = m->config.linear.form != NULL;
    positions_start(&s, m, (SessionOptions){.threads = 1, .cache = cache});
    positions_go_on(want, &s, c, MOST_IDS, MOST_IDS);
    session_free(&s);
    for (size_t i = 0; i < 3; i++) {
        positions_start(&s, m, (SessionOptions){.threads = rows[i].threads, .n_batch = rows[i].batch, .cache = cache});
        positions_go_on(got, &s, c, MOST_IDS, rows[i].step);
        same(c, got, want, "in another way");
        if (i < 2) session_free(&s);
    }
    session_rewind(&s, linear ? 0 : 20);
    positions_go_on(got, &s, c, MOST_IDS, 33);
    same(c, got, want, "after going back");
    session_rewind(&s, 0);
    positions_go_on(got, &s, c, 90, 13);
    CHECK(session_save(&s, test_tmp("positions.state"), err, sizeof err) == 0);
    positions_start(&other, m, (SessionOptions){.threads = 1, .cache = cache});
    CHECK(session_load(&other, test_tmp("positions.state"), NULL, err, sizeof err) == 0);
    positions_go_on(got, &other, c, MOST_IDS, 9);
    same(c, got, want, "after loading");
    session_free(&other);
    session_free(&s);
}

static void exact(void) {
    char *golden = file_read("tests/golden/positions.txt", NULL);
    static PositionsCase c;
    for (const char *p = golden; p && (p = positions_next(p, &c));) {
        Model m;
        if (!positions_decoder(&c) && strcmp(c.name, "e.t5.causal") != 0) continue;
        for (int ref = 0; ref < 2; ref++) {
            if (positions_open(&m, &c, ref ? kernels_row(0) : NULL)) break;
            ways(&c, &m, CACHE_F32);
            if (!m.config.linear.form && !ref) ways(&c, &m, CACHE_F16), ways(&c, &m, CACHE_Q8_0);
            model_close(&m);
        }
    }
    free(golden);
}

/* An encoder's token has the same bits whatever is read beside it, with any number of threads. */
static void exact_encoders(void) {
    static const char *const names[] = {"e.sinusoidal", "e.alibi", "e.t5", "e.t5.unilm", "e.linear"};
    static PositionsCase c;
    for (size_t i = 0; i < 5; i++) {
        Model m;
        Session s;
        char err[300] = "";
        float want[2][VOCAB];
        if (!positions_find(&c, names[i]) || positions_open(&m, &c, NULL)) continue;
        EncoderText t[2];
        for (int k = 0; k < 2; k++)
            t[k] = (EncoderText){.ids = c.texts[k].ids, .types = c.texts[k].types, .keep = c.texts[k].keep,
                                 .n = c.texts[k].n};
        positions_start(&s, &m, (SessionOptions){.threads = 1});
        for (int k = 0; k < 2; k++) {
            CHECK(encoder_read(&s, &t[k], 1, err, sizeof err) == 0);
            memcpy(want[k], encoder_logits(&s, 10), sizeof want[k]);
        }
        session_free(&s);
        positions_start(&s, &m, (SessionOptions){.threads = 3});
        CHECK(encoder_read(&s, (EncoderText[]){t[1], t[0]}, 2, err, sizeof err) == 0);
        same(&c, encoder_logits(&s, 10), want[1], "beside another text");
        same(&c, encoder_logits(&s, t[1].n + 10), want[0], "behind another text");
        session_free(&s);
        model_close(&m);
    }
}

/* Distances alone: a text read from a million on, and keys that have moved, say the same; what is added to embeddings
 * does not. */
static void moved(void) {
    static const struct { const char *name; int same; } rows[] = {
        {"nope", 1}, {"alibi", 1}, {"t5", 1}, {"linear.nope", 1}, {"sinusoidal", 0}};
    static PositionsCase c;
    for (size_t i = 0; i < 5; i++) {
        Model m;
        Session s;
        float want[VOCAB], got[VOCAB];
        if (!positions_find(&c, rows[i].name) || positions_open(&m, &c, NULL)) continue;
        positions_start(&s, &m, (SessionOptions){.threads = 1});
        positions_go_on(want, &s, &c, 100, 100);
        session_free(&s);
        positions_start(&s, &m, (SessionOptions){.threads = 1, .origin = 1000000});
        positions_go_on(got, &s, &c, 100, 100);
        CHECK((memcmp(got, want, sizeof got) == 0) == rows[i].same);
        session_free(&s);
        model_close(&m);
    }
}

/* ---- stretched: masks, and factors on scores ---- */

static void stretched(void) {
    static const struct { const char *name, *spec, *why; } rows[] = {
        {"alibi", "yarn:factor=2", "rope: yarn stretches RoPE, and this model has none: its positions are alibi"},
        {"nope", "rerope:window=20", "rope: rerope stretches RoPE, and this model has none: its positions are nope"},
        {"learned", "nope", "rope: nope stretches"}, {"t5", "linear:factor=2+log-n", "its positions are t5"},
        {"sinusoidal", "xpos", "not trained with it"}, {"alibi", "none", NULL}, {"t5", "file", NULL},
        {"t5", "window:size=33", NULL}, {"alibi", "sinks:keep=3:window=29", NULL},
        {"nope", "window:size=7+log-n", NULL},
        {"learned", "temperature:t=0.8", NULL}};
    static PositionsCase c;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        Model m;
        char err[400] = "";
        if (!positions_find(&c, rows[i].name)) continue;
        ModelOptions o = {.rope = {.spec = rows[i].spec}};
        int rc = model_open(&m, positions_write(&c), &o, err, sizeof err);
        CHECK((rc == 0) == (rows[i].why == NULL));
        if (rows[i].why && !strstr(err, rows[i].why)) test_fail(__FILE__, __LINE__, err);
        if (rc == 0) ways(&c, &m, CACHE_F32), model_close(&m);
    }
}

/* A window as a spec is the window of a layer: the same keys under the same distances, to rounding. */
static void window(void) {
    static const char *const names[] = {"alibi", "t5", "nope", "sinusoidal"};
    static PositionsCase c;
    for (size_t i = 0; i < 4; i++) {
        Model m, view;
        Session s;
        char err[400] = "";
        float want[VOCAB], got[VOCAB];
        static RopeNumbers numbers;
        if (!positions_find(&c, names[i]) || positions_open(&m, &c, NULL)) continue;
        CHECK(model_stretch(&view, &numbers, &m, &(RopeOverride){.spec = "window:size=33"}, err, sizeof err) == 0);
        positions_start(&s, &view, (SessionOptions){.threads = 2});
        positions_go_on(got, &s, &c, MOST_IDS, MOST_IDS);
        session_free(&s);
        for (int l = 0; l < m.config.n_layers; l++) m.layers[l].window = 33;
        positions_start(&s, &m, (SessionOptions){.threads = 2});
        positions_go_on(want, &s, &c, MOST_IDS, MOST_IDS);
        session_free(&s);
        for (int v = 0; v < VOCAB; v++) NEAR((double)got[v], (double)want[v], 1e-5, 0);
        model_close(&m);
    }
}

/* A context that shifts: what reads distances goes on; what was added to embeddings cannot be taken out again. */
static void shifts(void) {
    static PositionsCase c;
    static const struct { const char *name, *why; } rows[] = {
        {"alibi", NULL}, {"t5", NULL}, {"nope", NULL}, {"learned", "positions are learned"},
        {"sinusoidal", "positions are sinusoidal"}};
    for (size_t i = 0; i < 5; i++) {
        Model m;
        Session s;
        char err[400] = "";
        const float *logits;
        if (!positions_find(&c, rows[i].name) || positions_open(&m, &c, NULL)) continue;
        int rc = session_can_shift(&m, 4, 40, err, sizeof err);
        CHECK((rc == 0) == (rows[i].why == NULL) && (rc == 0 || strstr(err, rows[i].why)));
        SessionOptions o = {.n_ctx = 40, .threads = 2, .shifts = 1};
        if (rc == 0 && session_init(&s, &m, &o, err, sizeof err) == 0) {
            CHECK(session_eval_shifting(&s, 4, c.texts[0].ids, MOST_IDS, &logits, err, sizeof err) == 0);
            CHECK(isfinite(logits[0]));
            session_free(&s);
        }
        model_close(&m);
    }
}

/* ---- the end of a table ---- */

static void ends(void) {
    static PositionsCase c;
    Model m;
    Session s;
    char err[400] = "";
    int ids[MOST_IDS + 20] = {0};
    if (!positions_find(&c, "extended") || !(c.option[0] = 0, 1) || positions_open(&m, &c, NULL)) return;
    CHECK(session_init(&s, &m, &(SessionOptions){.n_ctx = 14}, err, sizeof err) == -EINVAL);
    CHECK(strstr(err, "14 positions") && strstr(err, "the 13 that") && strstr(err, "--position-extend"));
    CHECK(session_init(&s, &m, &(SessionOptions){.n_ctx = 10, .origin = 5}, err, sizeof err) == -EINVAL);
    CHECK(session_init(&s, &m, &(SessionOptions){.n_ctx = 13}, err, sizeof err) == 0);
    CHECK(session_eval(&s, ids, 14, NULL, err, sizeof err) == -ENOSPC && strstr(err, "position 13"));
    CHECK(session_eval(&s, ids, 13, NULL, err, sizeof err) == 0);
    session_free(&s);
    model_close(&m);
    strcpy(c.option, "hierarchical");
    if (positions_open(&m, &c, NULL)) return;
    CHECK(session_init(&s, &m, &(SessionOptions){.n_ctx = 170}, err, sizeof err) == -EINVAL && strstr(err, "the 169 "));
    CHECK(session_init(&s, &m, &(SessionOptions){.n_ctx = 169}, err, sizeof err) == 0);
    CHECK(session_eval(&s, ids, 169, NULL, err, sizeof err) == 0);
    session_free(&s);
    model_close(&m);
    if (!positions_find(&c, "linear.learned") || positions_open(&m, &c, NULL)) return; /* no context, and yet an end */
    CHECK(session_init(&s, &m, &(SessionOptions){0}, err, sizeof err) == 0);
    CHECK(session_eval(&s, ids, 150, NULL, err, sizeof err) == 0);
    CHECK(session_eval(&s, ids, 1, NULL, err, sizeof err) == -ENOSPC && strstr(err, "position 150"));
    session_free(&s);
    model_close(&m);
    if (!positions_find(&c, "e.extended") || !(c.option[0] = 0, 1) || positions_open(&m, &c, NULL)) return;
    CHECK(session_init(&s, &m, &(SessionOptions){.n_ctx = 40}, err, sizeof err) == 0); /* several texts */
    CHECK(encoder_read(&s, (EncoderText[]){{.ids = ids, .n = 9}, {.ids = ids, .n = 9}}, 2, err, sizeof err) == 0);
    CHECK(encoder_read(&s, &(EncoderText){.ids = ids, .n = 10}, 1, err, sizeof err) == -ENOSPC);
    CHECK(strstr(err, "10 tokens") && strstr(err, "9 positions"));
    session_free(&s);
    model_close(&m);
}

/* ---- weights, as explain shows them ---- */

/* Weights computed once more, with their biases, times values are attention's own output. */
static void traced(void) {
    static const char *const names[] = {"alibi", "t5", "e.t5", "alibi.log-n", "sinusoidal"};
    static PositionsCase c;
    for (size_t i = 0; i < 5; i++) {
        Model m;
        Trace t;
        char err[300] = "";
        enum { N = 40 };
        static double w[N * N];
        double off = 0;
        if (!positions_find(&c, names[i]) || positions_open(&m, &c, NULL)) continue;
        CHECK(trace_read(&t, &m, c.texts[0].ids, N, &(TraceOptions){.threads = 1}, err, sizeof err) == 0);
        size_t heads = (size_t)m.config.n_heads, kv = (size_t)m.config.n_kv_heads, d = (size_t)m.config.head_dim;
        for (size_t h = 0; h < heads; h++) {
            trace_weights(&t, 0, (int)h, w);
            for (size_t at = 0; at < N * d; at++) {
                size_t query = at / d, e = at % d;
                double sum = 0;
                for (size_t j = 0; j < N; j++)
                    if (!isnan(w[query * N + j]))
                        sum += w[query * N + j] * (double)t.v[(j * kv + h / (heads / kv)) * d + e];
                off = fmax(off, fabs(sum - (double)t.att[(query * heads + h) * d + e]));
            }
        }
        if (!(off < 1e-5)) positions_fail(&c, "weights are off by", off);
        trace_free(&t);
        model_close(&m);
    }
}

const Test tests_positions[] = {
    {"positions/the oracle, row ref", oracle_ref},
    {"positions/the oracle, the fastest row", oracle_best},
    {"positions/the oracle, every row", oracle_rows},
    {"positions/the oracle, chunks", oracle_chunks},
    {"positions/the oracle, half floats", oracle_f16},
    {"positions/exact", exact},
    {"positions/exact encoders", exact_encoders},
    {"positions/moved", moved},
    {"positions/stretched", stretched},
    {"positions/a window", window},
    {"positions/shifts", shifts},
    {"positions/the end of a table", ends},
    {"positions/weights", traced},
    {0}};
