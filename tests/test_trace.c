/* tests/test_trace.c - what explain looks at: the forward pass's own numbers, and weights that give its own results. */
#include "lab/explain/trace.h"
#include "lab/perplexity.h"
#include "model/options.h"
#include "build.h"
#include "test.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { LONG = 50, HEADS = 4, KV = 2, D = 16, LAYERS = 3 };

static int open_model(Model *m, const char *phi, const char *form, const char *spec) {
    const BuildShape shape = {.d = 64, .ff = 96, .layers = LAYERS, .heads = HEADS, .kv_heads = KV, .n_ctx = 64,
                              .phi = phi, .form = form};
    char err[400] = "";
    ModelOptions o = {.rope = {.spec = spec, .n_ctx = LONG}};
    build_gguf(test_tmp("trace.gguf"), &shape, TENSOR_F32);
    int rc = model_open(m, test_tmp("trace.gguf"), &o, err, sizeof err);
    if (rc) printf("    %s\n", err);
    CHECK(rc == 0);
    return rc;
}

static int read_text(Trace *t, const Model *m, TraceOptions o) {
    char err[300] = "";
    int ids[LONG];
    for (int i = 0; i < LONG; i++) ids[i] = build_id(i);
    int rc = trace_read(t, m, ids, LONG, &o, err, sizeof err);
    if (rc) printf("    %s\n", err);
    CHECK(rc == 0);
    return rc;
}

/* Weights times values are what the engine's attention gave: to 1e-5 of the largest value, a float's rounding over 50
 * terms. */
static void weights_of(const Trace *t, const char *what) {
    static double w[LONG * LONG];
    double worst = 0;
    for (int l = 0; l < t->n_layers; l++)
        for (int h = 0; h < HEADS; h++) {
            trace_weights(t, t->first + l, h, w);
            for (size_t m = 0; m < LONG; m++)
                for (size_t i = 0; i < D; i++) {
                    double sum = 0, size = 1e-3;
                    for (size_t j = 0; j <= m; j++) {
                        double v = (double)t->v[(((size_t)l * LONG + j) * KV + (size_t)h / 2) * D + i];
                        sum += w[m * LONG + j] * v;
                        size += fabs(w[m * LONG + j] * v);
                    }
                    double att = (double)t->att[(((size_t)l * LONG + m) * HEADS + (size_t)h) * D + i];
                    double off = fabs(sum - att) / size;
                    worst = off > worst ? off : worst;
                }
            for (size_t m = 0; m < LONG; m++)
                for (size_t j = m + 1; j < LONG; j++) CHECK(isnan(w[m * LONG + j]));
        }
    if (!(worst < 1e-5)) printf("    %s: off by %g\n", what, worst);
    CHECK(worst < 1e-5);
}

static void weights(void) {
    static const struct { const char *phi, *form, *spec; } rows[] = {
        {NULL, NULL, NULL}, {NULL, NULL, "yarn:factor=4+log-n"}, {"elu+1", "numerator", NULL}, {"exp", "both", NULL},
        {"favor+", "numerator", NULL}, {"identity", "cosine", NULL}, {"relu", "before-phi", NULL}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        Model m;
        Trace t;
        if (open_model(&m, rows[i].phi, rows[i].form, rows[i].spec)) continue;
        if (read_text(&t, &m, (TraceOptions){.threads = 2}) == 0)
            weights_of(&t, rows[i].form ? rows[i].form : rows[i].spec ? rows[i].spec : "softmax");
        trace_free(&t);
        model_close(&m);
    }
}

/* One layer alone, and read from another place: the same numbers. Losses are perplexity's. */
static void parts(void) {
    Model m;
    Trace all, one, moved;
    if (open_model(&m, NULL, NULL, NULL)) return;
    if (read_text(&all, &m, (TraceOptions){0}) == 0 &&
        read_text(&one, &m, (TraceOptions){.layer_given = 1, .layer = 1}) == 0 &&
        read_text(&moved, &m, (TraceOptions){.origin = 1000}) == 0) {
        CHECK(memcmp(trace_q(&all, 1, 3, 7), trace_q(&one, 1, 3, 7), D * sizeof(float)) == 0);
        CHECK(memcmp(trace_rk(&all, 1, 1, LONG - 1), trace_rk(&one, 1, 1, LONG - 1), D * sizeof(float)) == 0);
        CHECK(memcmp(all.x + LONG * 64, one.x, LONG * 64 * sizeof(float)) == 0);
        CHECK(memcmp(trace_q(&all, 0, 0, 9), trace_q(&moved, 0, 0, 9), D * sizeof(float)) == 0);
        CHECK(memcmp(trace_rq(&all, 0, 0, 9), trace_rq(&moved, 0, 0, 9), D * sizeof(float)) != 0);
        CHECK(isnan(all.nll[0]) && all.nll[1] > 0 && fabs(all.nll[9] - moved.nll[9]) < 1e-4);
        CHECK(trace_bytes(&m, LONG, &(TraceOptions){0}) == 3.0 * LONG * (2 * 6 * 16 + 6 * 16 + 64) * 4);
    }
    trace_free(&all);
    trace_free(&one);
    trace_free(&moved);
    model_close(&m);
}

static void refused(void) {
    char err[300] = "";
    int ids[] = {1, 5, BUILD_VOCAB + 1};
    Model m;
    Trace t;
    if (open_model(&m, NULL, NULL, NULL)) return;
    CHECK(trace_read(&t, &m, ids, 0, &(TraceOptions){0}, err, sizeof err) == -EINVAL && strstr(err, "no text"));
    CHECK(trace_read(&t, &m, ids, 3, &(TraceOptions){0}, err, sizeof err) == -EINVAL);
    CHECK(trace_read(&t, &m, ids, 2, &(TraceOptions){.layer_given = 1, .layer = 3}, err, sizeof err) == -EINVAL);
    CHECK(strstr(err, "layers are 0 to 2") && !t.ids && !t.owned);
    model_close(&m);
    static const char *const specs[] = {"rerope:window=9", "nope:layers=1", "dynamic-each:factor=2"};
    for (size_t i = 0; i < sizeof specs / sizeof *specs; i++) {
        if (open_model(&m, NULL, NULL, specs[i])) continue;
        CHECK(trace_read(&t, &m, ids, 2, &(TraceOptions){0}, err, sizeof err) == -EINVAL);
        CHECK(strstr(err, "several angles"));
        model_close(&m);
    }
}

const Test tests_trace[] = {{"trace/weights", weights}, {"trace/parts", parts}, {"trace/refused", refused}, {0}};
