/* tests/test_entropy.c - the entropy of attention's weights, against formulas by distance: what each method says a
 * query at m sees of a key at j. */
#include "kernels/cache_kernels.h"
#include "model/entropy.h"
#include "model/options.h"
#include "model/past.h"
#include "model/timeline.h"
#include "build.h"
#include "test.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { LONG = 110, TRAINED = 64, D = 16 };
static const BuildShape shape = {.d = 64, .ff = 96, .layers = 2, .heads = 4, .kv_heads = 2, .n_ctx = TRAINED};

/* A method's distance of a key that is seen; below 0: it is not seen. */
static double plain(int m, int j) { return m - j; }
static double rerope(int m, int j) { return m - j < 20 ? m - j : 20; }
static double leaky(int m, int j) { return m - j < 20 ? m - j : 20 + (m - j - 20) / 4.0; }
static double near_only(int m, int j) { return m - j < 33 ? m - j : -1; }
static double infinite(int m, int j) { return j < 5 || m - j < 40 ? (m - j < 40 ? m - j : 40) : -1; }
static double everywhere(int m, int j) { return (void)m, (void)j, 0; }

/* Frequencies of the query at m. */
static double usual_theta(int m) { return (void)m, 10000; }
static double each_theta(int m) {
    double n = m + 1 > TRAINED ? m + 1 : TRAINED;
    return 10000 * pow(4 * n / TRAINED - 3, D / (D - 2.0));
}
static double one(int m) { return (void)m, 1; }
static double log_n(int m) { return fmax(1, log(m + 1) / log(TRAINED)); }
static double warm(int m) { return (void)m, 1 / 0.7; }

static const struct {
    const char *spec;
    double (*distance)(int m, int j), (*theta)(int m), (*factor)(int m);
} rows[] = {{"rerope:window=20", rerope, usual_theta, one},
            {"leaky:window=20:factor=4+log-n", leaky, usual_theta, log_n},
            {"window:size=33", near_only, usual_theta, one},
            {"lm-infinite:keep=5:window=40+temperature:t=0.7", infinite, usual_theta, warm},
            {"nope", everywhere, usual_theta, one},
            {"dynamic-each:factor=4", plain, each_theta, one}};
enum { N_ROWS = sizeof rows / sizeof *rows };

/* A session's attention with this behind it sums what the formula gives; keys are cached as they are, as f32. */
typedef struct {
    Attention attention;
    int row;
    size_t from, n;
    double sum;
} Formula;

static double dot_turned(const float *q, const double *k, double distance, double theta) {
    double sum = 0;
    for (int i = 0; i < D / 2; i++) { /* q (R(distance) k), interleaved pairs */
        double angle = distance * pow(theta, -2.0 * i / D), x = k[2 * i], y = k[2 * i + 1];
        sum += (double)q[2 * i] * (x * cos(angle) + y * sin(angle)) +
               (double)q[2 * i + 1] * (y * cos(angle) - x * sin(angle));
    }
    return sum;
}

static double formula(const Session *s, const Formula *f, int l, size_t t, int h) {
    double x[LONG], k[D], z = 0, sum = 0;
    int m = (int)s->scratch->tokens[t].pos, n = 0;
    for (int j = 0; j <= m; j++) {
        CacheSlot at = cache_slot(&s->past->cache, l, h / 2, (size_t)j, 0);
        double distance = rows[f->row].distance(m, j);
        if (distance < 0) continue;
        for (size_t i = 0; i < D; i++) k[i] = (double)((const float *)at.entries)[i * at.step];
        x[n++] = rows[f->row].factor(m) / sqrt(D) *
                 dot_turned(s->scratch->q + (t * 4 + (size_t)h) * D, k, distance, rows[f->row].theta(m));
    }
    for (int j = 0; j < n; j++) z += exp(x[j]);
    for (int j = 0; j < n; j++) sum -= exp(x[j]) / z * log(exp(x[j]) / z);
    return sum;
}

static int formula_init(Session *s, char *err, size_t errlen) { return attention_tiles.init(s, err, errlen); }
static void formula_free(Session *s) { attention_tiles.free(s); }
static void formula_attend(Session *s, int l, size_t n) {
    Formula *f = (Formula *)(uintptr_t)s->options.attention;
    attention_tiles.attend(s, l, n);
    for (size_t t = 0; t < n; t++)
        for (int h = 0; h < 4 && s->scratch->tokens[t].pos >= f->from; h++)
            f->sum += formula(s, f, l, t, h), f->n++;
}

static int open_random(Model *m) {
    char err[300] = "";
    build_gguf(test_tmp("entropy.gguf"), &shape, TENSOR_F32);
    int rc = model_open(m, test_tmp("entropy.gguf"), NULL, err, sizeof err);
    CHECK(rc == 0);
    return rc;
}

static void read_all(const Model *m, const char *spec, SessionOptions o, size_t step) {
    static RopeNumbers numbers;
    char err[400] = "";
    int ids[LONG], rc;
    Model view;
    Session s;
    o.n_ctx = LONG, o.grain = 1;
    for (int i = 0; i < LONG; i++) ids[i] = build_id(i);
    rc = model_stretch(&view, &numbers, m, &(RopeOverride){.spec = spec, .n_ctx = LONG}, err, sizeof err);
    if (rc == 0) rc = session_init(&s, &view, &o, err, sizeof err);
    if (rc) printf("    %s: %s\n", spec, err);
    CHECK(rc == 0);
    for (size_t at = 0; at < LONG && rc == 0; at += step) {
        rc = session_eval(&s, ids + at, LONG - at < step ? LONG - at : step, NULL, err, sizeof err);
        CHECK(rc == 0);
    }
    session_free(&s);
}

static double measured(const Model *m, const char *spec, SessionOptions o, size_t step, size_t from) {
    EntropyMeter meter;
    entropy_meter(&meter);
    meter.from = from;
    o.attention = &meter.attention;
    read_all(m, spec, o, step);
    CHECK(meter.n == (LONG - from) * 4 * 2);
    return meter.sum / (double)meter.n;
}

static void by_formula(void) {
    Model m;
    if (open_random(&m)) return;
    for (int i = 0; i < N_ROWS; i++)
        for (size_t from = 0; from < LONG; from += 50) {
            Formula f = {.attention = {formula_init, formula_free, formula_attend, NULL}, .row = i, .from = from};
            read_all(&m, rows[i].spec, (SessionOptions){.threads = 1, .attention = &f.attention}, LONG);
            double want = f.sum / (double)f.n;
            CHECK(want > 0.1 && want < log(LONG)); /* neither one key nor all alike */
            NEAR(measured(&m, rows[i].spec, (SessionOptions){.threads = 1}, LONG, from), want, 1e-6, 0);
        }
    /* keys cached with their rotation: the same distances give the same */
    double want = measured(&m, "rerope:window=1000", (SessionOptions){.threads = 1}, LONG, 0);
    NEAR(measured(&m, "none", (SessionOptions){.threads = 1}, LONG, 0), want, 1e-5, 0);
    want = measured(&m, "yarn:factor=4+rerope:window=1000", (SessionOptions){.threads = 1}, LONG, 0);
    NEAR(measured(&m, "yarn:factor=4", (SessionOptions){.threads = 1}, LONG, 0), want, 1e-5, 0);
    model_close(&m);
}

static void same_bits(void) {
    static const char *const specs[] = {"none", "yarn", "rerope:window=20", "dynamic-each", "nope:layers=1"};
    Model m;
    if (open_random(&m)) return;
    for (size_t i = 0; i < sizeof specs / sizeof *specs; i++) {
        double want = measured(&m, specs[i], (SessionOptions){.threads = 1}, LONG, 30);
        double three = measured(&m, specs[i], (SessionOptions){.threads = 3}, LONG, 30);
        CHECK(memcmp(&want, &three, sizeof want) == 0);
        NEAR(measured(&m, specs[i], (SessionOptions){.threads = 2, .n_batch = 7}, 25, 30), want, 1e-12, 0);
        NEAR(measured(&m, specs[i], (SessionOptions){.threads = 2, .cache = CACHE_F16}, LONG, 30), want, 1e-3, 0);
        NEAR(measured(&m, specs[i], (SessionOptions){.threads = 2, .cache = CACHE_Q8_0}, LONG, 30), want, 1e-2, 0);
    }
    /* scores all alike: the logarithm of how many keys there are; far apart: nothing */
    double sum = 0;
    for (int i = 1; i <= LONG; i++) sum += log(i) / LONG;
    NEAR(measured(&m, "temperature:t=1000000", (SessionOptions){.threads = 1}, LONG, 0), sum, 1e-6, 0);
    CHECK(measured(&m, "temperature:t=0.0001", (SessionOptions){.threads = 1}, LONG, 0) < 0.2);
    model_close(&m);
}

static void refused(void) {
    char err[300] = "";
    EntropyMeter meter;
    Session s;
    Model m;
    BuildShape linear = shape;
    linear.phi = "elu+1", linear.form = "numerator";
    build_gguf(test_tmp("linear.gguf"), &linear, TENSOR_F32);
    entropy_meter(&meter);
    CHECK(model_open(&m, test_tmp("linear.gguf"), NULL, err, sizeof err) == 0);
    SessionOptions o = {.n_ctx = 10, .attention = &meter.attention};
    CHECK(session_init(&s, &m, &o, err, sizeof err) == -EINVAL && strstr(err, "linear"));
    o.attention = NULL;
    CHECK(session_init(&s, &m, &o, err, sizeof err) == 0 && entropy_of(&s) == NULL);
    session_free(&s);
    model_close(&m);
}

const Test tests_entropy[] = {{"entropy/by formula", by_formula},
                              {"entropy/the same bits", same_bits},
                              {"entropy/refused", refused},
                              {0}};
