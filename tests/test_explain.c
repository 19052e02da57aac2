/* tests/test_explain.c - what explain shows: numbers that must agree with the engine's own, whichever way they are
 * taken. */
#include "lab/explain/filling.h"
#include "lab/explain/heads.h"
#include "lab/explain/lens.h"
#include "lab/explain/pairs.h"
#include "lab/explain/use.h"
#include "model/options.h"
#include "model/past.h"
#include "model/timeline.h"
#include "build.h"
#include "test.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { LONG = 40, HEADS = 4, KV = 2, LAYERS = 3 };
static int ids[LONG];

static int open_model(Model *m, const char *phi, const char *form, const char *spec) {
    const BuildShape shape = {.d = 64, .ff = 96, .layers = LAYERS, .heads = HEADS, .kv_heads = KV, .n_ctx = 64,
                              .phi = phi, .form = form};
    char err[400] = "";
    ModelOptions o = {.rope = {.spec = spec, .n_ctx = LONG}};
    for (int i = 0; i < LONG; i++) ids[i] = build_id(i);
    build_gguf(test_tmp("explain.gguf"), &shape, TENSOR_F32);
    int rc = model_open(m, test_tmp("explain.gguf"), &o, err, sizeof err);
    if (rc) printf("    %s\n", err);
    CHECK(rc == 0);
    return rc;
}

static int read_text(Trace *t, const Model *m, Mute *mute) {
    char err[300] = "";
    TraceOptions o = {.threads = 2, .turn = mute ? mute_turn : NULL, .turn_arg = mute};
    int rc = trace_read(t, m, ids, LONG, &o, err, sizeof err);
    if (rc) printf("    %s\n", err);
    CHECK(rc == 0);
    return rc;
}

/* The terms of a score add up to attention's own: to 1e-5 of their sizes' sum, a float's rounding of rotated vectors;
 * and at the distance in the text the sliding score is it, too. Both pairings, methods of frequencies, partial
 * rotation. */
static void scores(void) {
    static const char *const specs[] = {NULL, "yarn:factor=4+log-n", "linear:factor=3"};
    for (int i = 0; i < 6; i++) {
        Model m;
        Trace t;
        PairTerm pairs[8];
        double worst = 0, slid = 0;
        if (open_model(&m, NULL, NULL, specs[i % 3])) return;
        if (i > 2) m.config.rope.pairing = ROPE_HALF;
        if (i == 4) m.config.rope.rotary_dim = 10;
        if (read_text(&t, &m, NULL)) return;
        for (int l = 0; l < LAYERS; l++)
            for (int h = 0; h < HEADS; h++)
                for (size_t q = 0; q < LONG; q += 7)
                    for (size_t j = 0; j <= q; j++) {
                        double sum, size;
                        pairs_of(&t, l, h, q, j, pairs, &sum);
                        size = fabs(sum) + 1e-6;
                        for (int k = 0; k < m.config.rope.rotary_dim / 2; k++)
                            sum += pairs[k].term, size += fabs(pairs[k].term);
                        double by = fabs(sum - pairs_engine_score(&t, l, h, q, j)) / size;
                        worst = by > worst ? by : worst;
                        by = fabs(pairs_score_at(&t, l, h, q, j, (double)(q - j)) - sum) / size;
                        slid = by > slid ? by : slid;
                    }
        CHECK(worst < 1e-5 && slid < 1e-12);
        trace_free(&t);
        model_close(&m);
    }
}

/* Muted parts: their scores are as at distance 0; all of them, the loss is that of --rope nope. */
static void muted(void) {
    char err[300] = "";
    Model m, nope;
    Mute mute;
    Trace t, plain;
    double loss, same, all;
    if (open_model(&m, NULL, NULL, NULL)) return;
    CHECK(mute_init(&mute, &m, "1.2.3,0.*.1", err, sizeof err) == 0 && mute.n == 1 + KV);
    if (read_text(&t, &m, &mute) || read_text(&plain, &m, NULL)) return;
    const float *q = trace_q(&t, 1, 2, 9), *rq = trace_rq(&t, 1, 2, 9); /* pair 3 is entries 6 and 7 */
    CHECK(q[6] == rq[6] && q[7] == rq[7] && q[4] != rq[4]);
    CHECK(trace_q(&t, 1, 0, 9)[6] != trace_rq(&t, 1, 0, 9)[6]);               /* another group */
    CHECK(trace_k(&t, 1, 1, 9)[6] == trace_rk(&t, 1, 1, 9)[6]);               /* the key of this one */
    CHECK(use_loss(&same, &m, ids, LONG, NULL, 1, err, sizeof err) == 0);
    CHECK(use_loss(&loss, &m, ids, LONG, &mute, 2, err, sizeof err) == 0 && loss != same);
    double sum = 0;
    for (int i = 1; i < LONG; i++) sum += plain.nll[i];
    NEAR(same, sum / (LONG - 1), 1e-12, 0);
    mute_free(&mute);
    CHECK(mute_init(&mute, &m, NULL, err, sizeof err) == 0 && mute.n == LAYERS * KV * 8);
    CHECK(use_loss(&all, &m, ids, LONG, &mute, 1, err, sizeof err) == 0);
    mute_free(&mute);
    trace_free(&t), trace_free(&plain);
    model_close(&m);
    if (open_model(&nope, NULL, NULL, "nope")) return;
    CHECK(use_loss(&loss, &nope, ids, LONG, NULL, 1, err, sizeof err) == 0);
    NEAR(all, loss, 1e-5, 0);
    static const char *const wrong[] = {"3", "0.4", "0.0.8", "x", "0.", "0,", "-1", "0.1.2.3", "0 1"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        CHECK(mute_init(&mute, &nope, wrong[i], err, sizeof err) == -EINVAL && strstr(err, "layers 0 to 2"));
    model_close(&nope);
}

/* The last layer's lens is what the model says; and each is the model with fewer layers. */
static void lens(void) {
    char err[300] = "";
    Model m;
    Candidate best[LAYERS * LONG * 2], last[2];
    const float *logits;
    Session s;
    if (open_model(&m, NULL, NULL, NULL)) return;
    CHECK(lens_read(best, 2, &m, ids, LONG, 2, NULL, NULL, err, sizeof err) == 0);
    for (int l = 0; l < LAYERS; l++) {
        Model view = m;
        view.config.n_layers = l + 1;
        CHECK(session_init(&s, &view, &(SessionOptions){.n_ctx = LONG}, err, sizeof err) == 0);
        CHECK(session_eval(&s, ids, LONG, &logits, err, sizeof err) == 0);
        texts_best(logits, BUILD_VOCAB, last, 2);
        const Candidate *at = best + ((size_t)l * LONG + LONG - 1) * 2;
        CHECK(at[0].id == last[0].id && at[1].id == last[1].id && at[0].p == last[0].p);
        session_free(&s);
    }
    model_close(&m);
}

/* S and z as they fill end as the session's state. */
static void filling(void) {
    static const char *const maps[] = {"elu+1", "favor+", "exp"};
    for (int i = 0; i < 3; i++) {
        char err[300] = "";
        static double weights[LONG * LONG];
        Filling f[LONG];
        Model m;
        Trace t;
        Session s;
        if (open_model(&m, maps[i], i == 2 ? "both" : "numerator", NULL)) return;
        if (read_text(&t, &m, NULL)) return;
        CHECK(filling_of(f, &t, 1, weights, err, sizeof err) == 0);
        CHECK(session_init(&s, &m, &(SessionOptions){.n_ctx = LONG}, err, sizeof err) == 0);
        CHECK(session_eval(&s, ids, LONG, NULL, err, sizeof err) == 0);
        const LinearState *state = &s.past->state;
        double S = 0, z = 0;
        for (int h = 0; h < KV; h++) {
            size_t head = (size_t)KV + (size_t)h, rows = state->rows;
            double sum = 0;
            for (size_t k = 0; k < state->n_strips * rows * 16; k++) {
                double x = state->S[head * state->n_strips * rows * 16 + k];
                sum += x * x;
            }
            S += sqrt(sum) / KV;
            sum = 0;
            for (size_t k = 0; k < rows; k++) sum += state->z[head * rows + k] * state->z[head * rows + k];
            z += sqrt(sum) / KV;
        }
        NEAR(f[LONG - 1].S, S, 0, 1e-9);
        NEAR(f[LONG - 1].z, z, 0, 1e-9);
        CHECK(f[0].z > 0 && f[LONG - 1].z > f[0].z && f[0].negative == 0);
        CHECK(filling_state_bytes(&m) == 8.0 * (double)LAYERS * KV * (double)state->rows * 17);
        session_free(&s);
        trace_free(&t);
        model_close(&m);
    }
}

/* Heads are named by where weights are put: a trace of which rows are known. */
static void kinds(void) {
    static double weights[LONG * LONG];
    Model m;
    Trace t;
    HeadKind k;
    if (open_model(&m, NULL, NULL, NULL) || read_text(&t, &m, NULL)) return;
    head_kind(&k, &t, 1, 2, 1, 19, weights);
    double previous = 0, induction = 0;
    for (size_t q = 20; q < 39; q++) previous += weights[q * LONG + q - 1], induction += weights[q * LONG + q - 18];
    NEAR(k.previous, previous / 19, 1e-12, 0);
    NEAR(k.induction, induction / 19, 1e-12, 0);
    CHECK(k.first > 0 && k.local >= k.previous && k.score > 0);
    for (size_t i = 0; i < (size_t)LAYERS * LONG * HEADS * 16; i++) t.rq[i] = 0; /* every key alike: nobody special */
    head_kind(&k, &t, 1, 2, 1, 19, weights);
    CHECK(k.name == HEAD_NONE && k.previous < 0.05);
    for (size_t q = 0; q < LONG; q++) /* queries and keys of layer 1 whose product is large for the one before alone */
        for (size_t e = 0; e < 16; e++) {
            float *rq = (float *)trace_rq(&t, 1, 2, q), *rk = (float *)trace_rk(&t, 1, 1, q);
            rk[e] = e == q % 16 ? 60.0f : 0;
            rq[e] = e == (q + 15) % 16 ? 60.0f : 0;
        }
    head_kind(&k, &t, 1, 2, 1, 15, weights); /* and 16 before it, which are as many */
    CHECK(k.previous > 0.4 && k.name == HEAD_PREVIOUS && strcmp(head_names[k.name], "previous token") == 0);
    trace_free(&t);
    model_close(&m);
}

/* ---- against NumPy: tests/golden/explain.txt (tests/oracle/explain.py) ---- */

typedef struct {
    Model m;
    Trace t;
    int ids[LONG];
    size_t n;
    double weights[LONG * LONG];
    Candidate best[16 * LONG * 2]; /* [n_layers, n, 2] */
    Filling filling[LONG];
    int open, filled; /* filled: of this layer; -1: of none */
} Golden;

static int open_golden(Golden *g, const char *line) {
    char name[100], path[200], err[300] = "";
    if (g->open) trace_free(&g->t), model_close(&g->m);
    g->open = 0, g->filled = -1;
    sscanf(line, "%99s", name);
    snprintf(path, sizeof path, "tales/%s", name);
    if (!test_data(path)) return -1;
    CHECK(model_open(&g->m, test_data(path), NULL, err, sizeof err) == 0);
    g->open = !err[0];
    return err[0] ? -1 : 0;
}

static void read_golden(Golden *g, const char *line) {
    char err[300] = "", *end;
    g->n = 0;
    for (const char *s = line; g->n < LONG; s = end) {
        long v = strtol(s, &end, 10);
        if (end == s || *s == '\n') break;
        g->ids[g->n++] = (int)v;
        if (*end == '\n') break;
    }
    CHECK(trace_read(&g->t, &g->m, g->ids, g->n, &(TraceOptions){0}, err, sizeof err) == 0);
    CHECK(lens_read(g->best, 2, &g->m, g->ids, g->n, 1, NULL, NULL, err, sizeof err) == 0);
}

/* F32 weights and sums in float: 1e-5 of 1 for weights, probabilities, losses; of their size for norms. */
static void golden_line(Golden *g, const char *key, const char *s) {
    PairTerm pairs[64];
    char err[200];
    double v, rest, S, z, p[2];
    int l, h, m, j, i, id[2];
    if (strcmp(key, "nll") == 0 && sscanf(s, "%d %lf", &i, &v) == 2) NEAR(g->t.nll[i], v, 1e-5, 1e-5);
    else if (strcmp(key, "weight") == 0 && sscanf(s, "%d %d %d %d %lf", &l, &h, &m, &j, &v) == 5) {
        trace_weights(&g->t, l, h, g->weights);
        NEAR(g->weights[(size_t)m * g->n + (size_t)j], v, 1e-5, 0);
    } else if (strcmp(key, "term") == 0 && sscanf(s, "%d %d %d %d %d %lf", &l, &h, &m, &j, &i, &v) == 6) {
        pairs_of(&g->t, l, h, (size_t)m, (size_t)j, pairs, &rest);
        NEAR(pairs[i].term, v, 1e-5, 1e-5);
    } else if (strcmp(key, "term") == 0 && sscanf(s, "%d %d %d %d sum %lf", &l, &h, &m, &j, &v) == 5)
        NEAR(pairs_engine_score(&g->t, l, h, (size_t)m, (size_t)j), v, 1e-5, 1e-5);
    else if (strcmp(key, "lens") == 0 && sscanf(s, "%d %d %d %lf %d %lf", &l, &i, &id[0], &p[0], &id[1], &p[1]) == 6)
        for (int k = 0; k < 2; k++) {
            const Candidate *c = g->best + ((size_t)l * g->n + (size_t)i) * 2 + k;
            CHECK(c->id == id[k]);
            NEAR(c->p, p[k], 1e-5, 0);
        }
    else if (strcmp(key, "state") == 0 && sscanf(s, "%d %d %lf %lf", &l, &m, &S, &z) == 4) {
        if (g->filled != l) CHECK(filling_of(g->filling, &g->t, l, g->weights, err, sizeof err) == 0);
        g->filled = l;
        NEAR(g->filling[m].S, S, 0, 1e-5);
        NEAR(g->filling[m].z, z, 0, 1e-5);
    } else {
        printf("    %s %.60s\n", key, s);
        CHECK(!"a line of the golden file");
    }
}

static void numpy(void) {
    static Golden g;
    size_t n;
    int lines = 0;
    char *text = file_read("tests/golden/explain.txt", &n);
    CHECK(text);
    for (char *line = text; line && *line; line = strchr(line, '\n') + 1, lines++) {
        char key[20];
        int at = 0;
        sscanf(line, "%19s %n", key, &at);
        if (strcmp(key, "model") == 0 && open_golden(&g, line + at)) break;
        if (strcmp(key, "ids") == 0) read_golden(&g, line + at);
        else if (strcmp(key, "model") != 0) golden_line(&g, key, line + at);
    }
    if (g.open) trace_free(&g.t), model_close(&g.m), g.open = 0;
    free(text);
    CHECK(lines == 0 || lines > 150);
}

const Test tests_explain[] = {{"explain/scores by frequency", scores},
                              {"explain/muted parts", muted},
                              {"explain/lens", lens},
                              {"explain/the state fills", filling},
                              {"explain/kinds of heads", kinds},
                              {"explain/NumPy, float64", numpy},
                              {0}};
