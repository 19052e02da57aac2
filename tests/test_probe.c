/* tests/test_probe.c - a window into the forward pass: it changes no bit, shows what it says, and turns what it is told
 * to. */
#include "model/options.h"
#include "model/probe.h"
#include "model/timeline.h"
#include "rope/rope.h"
#include "build.h"
#include "test.h"

#include <stdlib.h>
#include <string.h>

enum { LONG = 60, HEADS = 4, KV = 2, D = 16 };
static const BuildShape softmax = {.d = 64, .ff = 96, .layers = 3, .heads = HEADS, .kv_heads = KV, .n_ctx = 64};
static const BuildShape linear = {.d = 64, .ff = 96, .layers = 3, .heads = HEADS, .kv_heads = KV, .n_ctx = 64,
                                  .phi = "elu+1", .form = "numerator"};

static int open_model(Model *m, const BuildShape *shape, const char *spec) {
    char err[400] = "";
    ModelOptions o = {.rope = {.spec = spec, .n_ctx = LONG}};
    build_gguf(test_tmp("probe.gguf"), shape, TENSOR_F32);
    int rc = model_open(m, test_tmp("probe.gguf"), &o, err, sizeof err);
    if (rc) printf("    %s\n", err);
    CHECK(rc == 0);
    return rc;
}

static void read_text(float *out, const Model *m, Probe *p, int threads, size_t step) {
    char err[300] = "";
    const float *logits = NULL;
    Session s;
    int ids[LONG];
    for (int i = 0; i < LONG; i++) ids[i] = build_id(i);
    CHECK(session_init(&s, m, &(SessionOptions){.n_ctx = LONG, .threads = threads, .grain = 1,
                                                .attention = p ? &p->attention : NULL}, err, sizeof err) == 0);
    for (size_t at = 0; at < LONG; at += step)
        CHECK(session_eval(&s, ids + at, LONG - at < step ? LONG - at : step, &logits, err, sizeof err) == 0);
    if (err[0]) printf("    %s\n", err);
    if (logits) memcpy(out, logits, BUILD_VOCAB * sizeof *out);
    session_free(&s);
}

/* ---- it changes nothing, and shows what there is ---- */

typedef struct { size_t calls, tokens, wrong; Probe *probe; } Seen;

static void look(void *arg, const Session *s, int l, size_t n) {
    Seen *seen = arg;
    const Scratch *w = s->scratch;
    (void)l;
    seen->calls++, seen->tokens += n;
    if (!probe_turns(s)) {
        seen->wrong += memcmp(w->q, seen->probe->q, n * HEADS * D * sizeof *w->q) != 0;
        return;
    }
    for (size_t t = 0; t < n; t++)
        for (size_t h = 0; h < HEADS; h++) {
            float x[D], c[D / 2], r[D / 2];
            memcpy(x, seen->probe->q + (t * HEADS + h) * D, sizeof x);
            rope_row(&s->rope, (int64_t)w->tokens[t].pos, c, r);
            rope_rotate(x, c, r, D, s->model->config.rope.pairing);
            seen->wrong += memcmp(x, w->q + (t * HEADS + h) * D, sizeof x) != 0;
        }
}

static void changes_nothing(void) {
    static float want[BUILD_VOCAB], got[BUILD_VOCAB];
    static const char *const specs[] = {NULL, "yarn:factor=4", "rerope:window=9", "dynamic:factor=2"};
    for (int k = 0; k < 5; k++)
        for (int threads = 1; threads <= 3; threads += 2) {
            Model m;
            Probe p;
            Seen seen = {.probe = &p};
            if (open_model(&m, k < 4 ? &softmax : &linear, k < 4 ? specs[k] : NULL)) continue;
            read_text(want, &m, NULL, 1, LONG);
            probe_init(&p, &seen, look, NULL);
            read_text(got, &m, &p, threads, threads == 1 ? LONG : 17);
            CHECK(memcmp(want, got, sizeof want) == 0);
            CHECK(seen.wrong == 0 && seen.tokens >= 3 * LONG && seen.calls >= 3);
            model_close(&m);
        }
}

/* ---- it turns as it is told ---- */

typedef struct { int layer, head, pair; } Muted; /* -1: all */

static void mute(void *arg, const Session *s, int l, size_t t, size_t head, double *cos, double *sin) {
    const Muted *m = arg;
    (void)t;
    if (m->layer >= 0 && m->layer != l) return;
    if (m->head >= 0 && (size_t)m->head != head) return;
    for (int i = 0; i < s->model->config.rope.rotary_dim / 2; i++)
        if (m->pair < 0 || m->pair == i) cos[i] = 1, sin[i] = 0;
}

static double largest(const float *a, const float *b) {
    double off = 0;
    for (int v = 0; v < BUILD_VOCAB; v++) {
        double by = fabs((double)a[v] - (double)b[v]);
        off = by > off ? by : off; /* with fmax gcc 12 for arm64 stops: "internal compiler error" */
    }
    return off;
}

/* No rotation in a layer is --rope nope:layers=.., which gets there in another way; and each part that is muted makes a
 * difference of its own, for linear attention too. */
static void turns(void) {
    static const Muted parts[] = {{-1, -1, -1}, {1, -1, -1}, {1, 2, -1}, {1, 2, 0}, {1, HEADS + 1, 0}, {-1, -1, 3}};
    static float got[7][BUILD_VOCAB], nope[BUILD_VOCAB];
    for (int k = 0; k < 2; k++) {
        Model m;
        Probe p;
        if (open_model(&m, k ? &linear : &softmax, NULL)) return;
        read_text(got[6], &m, NULL, 1, LONG);
        for (int i = 0; i < 6; i++) {
            Muted part = parts[i];
            probe_init(&p, &part, NULL, mute);
            read_text(got[i], &m, &p, 2, LONG);
            for (int j = 0; j < i; j++) CHECK(largest(got[i], got[j]) > 1e-5);
            CHECK(largest(got[i], got[6]) > 1e-5);
        }
        model_close(&m);
        for (int i = 0; i < 2 && k == 0; i++) { /* to rounding */
            if (open_model(&m, &softmax, i ? "nope:layers=1" : "nope")) return;
            read_text(nope, &m, NULL, 1, LONG);
            CHECK(largest(nope, got[i]) < 1e-5);
            model_close(&m);
        }
    }
}

static void refused(void) {
    char err[300] = "";
    Model m;
    Probe p;
    Session s;
    if (open_model(&m, &softmax, "rerope:window=9")) return;
    probe_init(&p, NULL, NULL, mute);
    CHECK(session_init(&s, &m, &(SessionOptions){.n_ctx = LONG, .attention = &p.attention}, err, sizeof err) < 0);
    CHECK(strstr(err, "rewrites distances"));
    session_free(&s);
    model_close(&m);
}

const Test tests_probe[] = {{"probe/changes nothing", changes_nothing},
                            {"probe/turns as told", turns},
                            {"probe/refused", refused},
                            {0}};
