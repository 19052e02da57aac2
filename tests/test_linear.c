/* tests/test_linear.c - linear attention against sums written out pair by pair: float64 ones from outside
 * (golden/linear.txt) and long double ones (linear_text.c). LINEAR_PRINT=1 prints how far off the worst row was. */
#include "attention/maps.h"
#include "kernels/rows.h"
#include "lines.h"
#include "linear_text.h"
#include "test.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#define GOLDEN "tests/golden/linear.txt"

/* ---- vectors from outside ---- */

/* The example of linear-attention.md 5.4. q and k are floats here, so results are off by 1e-7 of sums up to ten times
 * larger. */
static Text example(const char *form, const char *phi, int full) {
    static float q[20], k[20], v[20];
    for (int i = 0; i < 5; i++)
        for (int j = 0; j < 4; j++) {
            q[4 * i + j] = (float)sin(1 + 4 * i + j);
            k[4 * i + j] = (float)cos(2 + 4 * i + j);
            v[4 * i + j] = j < 2 ? 0.5f * (float)(i + 1) - 0.25f * (float)(i * j) : 0;
        }
    return (Text){.form = form, .phi = phi, .full = full, .head_dim = 4, .rotary_dim = 4, .heads = 1, .kv_heads = 1,
                  .theta = 10000, .n = 5, .q = q, .k = k, .v = v};
}

/* What linear-attention.md 5.4 prints. */
typedef struct {
    size_t n;
    struct { char form[16]; int causal; double out[10]; } forms[12];
    double S[8], z[4], W[16], favor[5];
} Facts;

static int read_facts(Facts *f) {
    Lines l;
    f->n = 0;
    if (!lines_open(&l, GOLDEN)) return 0;
    while (lines_next(&l) && !lines_is(&l, "tokens")) {
        if (lines_is(&l, "fact") && f->n < 12) {
            snprintf(f->forms[f->n].form, sizeof f->forms->form, "%s", lines_word(&l));
            f->forms[f->n].causal = (int)lines_whole(&l);
            CHECK(lines_numbers(&l, f->forms[f->n++].out, 10) == 10);
        } else if (lines_is(&l, "S")) CHECK(lines_numbers(&l, f->S, 8) == 8);
        else if (lines_is(&l, "z")) CHECK(lines_numbers(&l, f->z, 4) == 4);
        else if (lines_is(&l, "W")) CHECK(lines_numbers(&l, f->W, 16) == 16);
        else if (lines_is(&l, "favor")) CHECK(lines_numbers(&l, f->favor, 5) == 5);
    }
    lines_close(&l);
    CHECK(f->n == 9);
    return 1;
}

static void expect_facts(const Facts *f, const Kernels *k) {
    float out[20];
    for (size_t c = 0; c < f->n; c++) {
        const char *form = f->forms[c].form;
        Text x = example(form, strcmp(form, "cosine") == 0 ? "identity" : "elu+1", !f->forms[c].causal);
        text_run(out, &x, k, (Way){0, 0}, NULL);
        for (int i = 0; i < 10; i++) NEAR(out[i / 2 * 4 + i % 2], f->forms[c].out[i], 1e-6, 0);
    }
    double end[(STATE_COLUMNS + 1) * 4];
    Text x = example("numerator", "elu+1", 0);
    text_run(out, &x, k, (Way){2, 0}, end);
    for (int i = 0; i < 4; i++) NEAR(end[4 * STATE_COLUMNS + i], f->z[i], 1e-6, 0);
    for (int i = 0; i < 8; i++) NEAR(end[i / 2 * STATE_COLUMNS + i % 2], f->S[i], 3e-6, 0); /* sums of 5 v up to 2.5 */
    x = example("none", "favor+", 1);
    x.features = 4;
    x.W = f->W;
    text_run(out, &x, k, (Way){0, 0}, NULL);
    for (int i = 0; i < 5; i++) NEAR(out[4 * i], f->favor[i], 1e-6, 0);
}

static void test_facts(void) {
    static Facts f;
    const Kernels *k;
    if (!read_facts(&f)) return;
    for (int row = 0; (k = kernels_row(row)); row++) expect_facts(&f, k);
}

enum { GOLDEN_ROWS = 7, GOLDEN_DIM = 16 };

/* What linear.py says of a text: some of its rows. */
typedef struct {
    char form[16], phi[16];
    int causal, head_dim, rotary_dim, half_split;
    long start;    /* position of token 0 */
    double epsilon;
    size_t n_rows, token[GOLDEN_ROWS];
    double out[GOLDEN_ROWS][GOLDEN_DIM]; /* of these tokens; head_dim columns */
} LinearGolden;

static void expect_golden(const float *out, const LinearGolden *g, const Text *x, const Kernels *k, Way way) {
    for (size_t r = 0; r < g->n_rows; r++) {
        size_t m = g->token[r];
        text_expect_row(out + m * (size_t)x->head_dim, g->out[r], x, m, k, way);
    }
}

enum { MAX_END = (MAX_DIM / STATE_COLUMNS + 2) * STATE_COLUMNS * MAX_ROWS }; /* of text_run, one head */

/* At once, in pieces (the same bits, state and all), in chunks, and in chunks of pieces that they do not divide. */
static void causal_case(const LinearGolden *g, const Text *x, const Kernels *k) {
    static const Way pieces[] = {{1, 0}, {7, 0}, {64, 0}};
    static const Way chunks[] = {{0, 1}, {0, 2}, {0, 3}, {0, 5}, {0, 8}, {0, 16}, {0, 64}, {100, 16}};
    float *out = text_out(x), *again = text_out(x);
    double *end = text_allocate(MAX_END, sizeof *end), *end_again = text_allocate(MAX_END, sizeof *end);
    text_run(out, x, k, (Way){0}, end);
    expect_golden(out, g, x, k, (Way){0});
    for (size_t i = 0; i < sizeof pieces / sizeof *pieces; i++) {
        text_run(again, x, k, pieces[i], end_again);
        CHECK(memcmp(again, out, text_out_size(x)) == 0);
        CHECK(memcmp(end_again, end, MAX_END * sizeof *end) == 0);
    }
    for (size_t i = 0; i < sizeof chunks / sizeof *chunks; i++) {
        text_run(again, x, k, chunks[i], NULL);
        expect_golden(again, g, x, k, chunks[i]);
    }
    free(end_again);
    free(end);
    free(again);
    free(out);
}

/* Every token sees all. Of two pieces the second does: its outputs have the bits they have at once. */
static void full_case(const LinearGolden *g, const Text *x, const Kernels *k) {
    float *out = text_out(x), *again = text_out(x);
    size_t first = 300, width = (size_t)x->head_dim;
    text_run(out, x, k, (Way){0}, NULL);
    expect_golden(out, g, x, k, (Way){0});
    text_run(again, x, k, (Way){.piece = first}, NULL);
    CHECK(memcmp(again + first * width, out + first * width, (x->n - first) * width * sizeof *out) == 0);
    free(again);
    free(out);
}

static void golden_case(const LinearGolden *g, size_t tokens, int features) {
    Text x = text_of((Text){.form = g->form, .phi = g->phi, .full = !g->causal, .head_dim = g->head_dim,
                            .rotary_dim = g->rotary_dim, .features = strcmp(g->phi, "favor+") == 0 ? features : 0,
                            .pairing = g->half_split ? ROPE_HALF : ROPE_INTERLEAVED, .theta = 10000,
                            .epsilon = g->epsilon, .n = tokens, .start = g->start});
    const Kernels *k;
    CHECK(g->n_rows == GOLDEN_ROWS);
    for (int row = 0; (k = kernels_row(row)); row++)
        if (g->causal) causal_case(g, &x, k);
        else full_case(g, &x, k);
    text_free(&x);
}

static void read_case(LinearGolden *g, Lines *l) {
    *g = (LinearGolden){.n_rows = 0};
    snprintf(g->form, sizeof g->form, "%s", lines_word(l));
    snprintf(g->phi, sizeof g->phi, "%s", lines_word(l));
    g->causal = (int)lines_whole(l);
    g->head_dim = (int)lines_whole(l);
    g->rotary_dim = (int)lines_whole(l);
    g->half_split = (int)lines_whole(l);
    g->start = lines_whole(l);
    g->epsilon = lines_number(l);
}

static void test_goldens(void) {
    static LinearGolden g;
    size_t tokens = 0, n_cases = 0;
    int features = 0;
    Lines l;
    if (!lines_open(&l, GOLDEN)) return;
    while (lines_next(&l)) {
        if (lines_is(&l, "tokens")) tokens = (size_t)lines_whole(&l);
        else if (lines_is(&l, "features")) features = (int)lines_whole(&l);
        else if (lines_is(&l, "case")) {
            if (n_cases++) golden_case(&g, tokens, features);
            read_case(&g, &l);
        } else if (lines_is(&l, "row") && g.n_rows < GOLDEN_ROWS) {
            g.token[g.n_rows] = (size_t)lines_whole(&l);
            CHECK(lines_numbers(&l, g.out[g.n_rows++], GOLDEN_DIM) == (size_t)g.head_dim);
        }
    }
    if (n_cases) golden_case(&g, tokens, features);
    CHECK(n_cases == 80);
    lines_close(&l);
    text_print_worst();
}

/* The steps against eq. 19 as it stands: every map that only looks at one vector, grouped heads, both masks. */
static void test_specification(void) {
    static const char *const forms[] = {"numerator", "none"}, *const maps[] = {"elu+1", "relu", "relu2", "exp",
                                                                               "softmax"};
    const Kernels *kernels;
    for (int z = 0; z < 2 * 2 * 5; z++) {
        Text x = text_of((Text){.form = forms[z % 2], .phi = maps[z / 4], .full = z / 2 % 2, .head_dim = 12, .heads = 6,
                                .kv_heads = 2, .theta = 100, .epsilon = 1e-6, .n = 45});
        size_t d = (size_t)x.head_dim, rows = x.n * (size_t)x.heads;
        double *want = text_allocate(rows * d, sizeof *want);
        float *out = text_out(&x);
        text_reference(want, &x);
        for (int row = 0; (kernels = kernels_row(row)); row++) {
            text_run(out, &x, kernels, (Way){.piece = 45}, NULL);
            for (size_t i = 0; i < rows; i++)
                text_expect_row(out + i * d, want + i * d, &x, i / (size_t)x.heads, kernels, (Way){.piece = 45});
        }
        free(want);
        free(out);
        text_free(&x);
    }
}

/* ---- against long double ---- */

/* Rows of x that were compared, in every row of kernels; *rows: that there were. */
static int everywhere(const Text *x, int *rows) {
    static const Way ways[] = {{0, 0}, {7, 0}, {0, 5}, {40, 16}};
    const Kernels *k;
    int compared = 0;
    for (int row = 0; (k = kernels_row(row)); row++) {
        compared += text_expect_pairs(x, k, ways, 4);
        for (size_t m = 0; m < x->n; m += 1 + m / 4) ++*rows;
    }
    return compared;
}

/* Every form and map, head sizes that fill vectors and strips and that do not, part of a head turned. */
static void test_head_dims(void) {
    static const int dims[] = {2, 6, 16, 20, 64, 130};
    int rows = 0, compared = 0;
    for (int z = 0; z < 6; z++)
        for (int f = 0; linear_form_row(f); f++)
            for (int p = 0; feature_map_row(p); p++) {
                const char *form = linear_form_row(f)->name, *phi = feature_map_row(p)->name;
                if (linear_form_row(f)->cosine && strcmp(phi, "identity") != 0) continue;
                int d = dims[z], favor = strcmp(phi, "favor+") == 0;
                Text x = text_of((Text){.form = form, .phi = phi, .head_dim = d, .rotary_dim = d > 4 ? d / 4 * 2 : d,
                                        .features = favor ? d + 4 : 0,
                                        .pairing = (f + p + z) % 2 ? ROPE_HALF : ROPE_INTERLEAVED, .theta = 100,
                                        .epsilon = 1e-6, .n = 70});
                compared += everywhere(&x, &rows);
                text_free(&x);
            }
    if (getenv("LINEAR_PRINT")) printf("    %d of %d rows compared\n", compared, rows);
    CHECK(compared > rows * 99 / 100); /* the others, all with signed features, are not healthy */
    text_print_worst();
}

/* How much of a row x's outputs differ from those that the same text had at position 0: the least and the most. No
 * denominator of these cases is unhealthy: text_expect_pairs has compared every row. */
static void moved(const Text *x, const float *first, const float *now, double *least, double *most) {
    size_t d = (size_t)x->head_dim;
    for (size_t m = 4; m < x->n; m += 1 + m / 4) {
        double row[MAX_DIM];
        for (size_t i = 0; i < d; i++) row[i] = (double)first[m * d + i];
        double distance = text_distance(now + m * d, row, x->head_dim);
        *least = fmin(*least, distance);
        *most = fmax(*most, distance);
    }
}

/* The same text further on: what depends on distances alone stays, what turns before phi does not. */
static void far_case(const char *form, const char *phi, size_t n, const Kernels *k) {
    static const long starts[] = {0, 1000, 1000000};
    static const Way ways[] = {{0, 0}, {0, 64}, {1000, 5}};
    Text x = text_of((Text){.form = form, .phi = phi, .head_dim = 16, .features = strcmp(phi, "favor+") == 0 ? 32 : 0,
                            .theta = 10000, .epsilon = 1e-6, .n = n});
    float *first = text_out(&x), *out = text_out(&x);
    double least = INFINITY, most = 0;
    text_run(first, &x, k, (Way){0}, NULL);
    for (int s = 0; s < 3; s++) {
        x.start = starts[s];
        int rows = 0;
        for (size_t m = 0; m < n; m += 1 + m / 4) rows++;
        CHECK(text_expect_pairs(&x, k, ways, 3) == rows);
        text_run(out, &x, k, (Way){0}, NULL);
        if (s > 0) moved(&x, first, out, &least, &most);
    }
    if (getenv("LINEAR_PRINT"))
        printf("    %s, %s, %zu tokens: moved by %.1e .. %.1e of a row\n", form, phi, n, least, most);
    if (strcmp(form, "before-phi") == 0) CHECK(least > 1e-2);
    else CHECK(most <= text_tolerance);
    free(out);
    free(first);
    text_free(&x);
}

static void test_far(void) {
    static const size_t sizes[] = {64, 512, 4096};
    static const char *const cases[][2] = {{"numerator", "elu+1"},  {"both", "elu+1"},       {"none", "exp"},
                                           {"cosine", "identity"},  {"numerator", "favor+"}, {"numerator", "relu2"},
                                           {"before-phi", "elu+1"}};
    for (size_t z = 0; z < 3; z++)
        for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
            far_case(cases[i][0], cases[i][1], sizes[z], kernels_best());
            if (z == 1 && kernels_best() != &kernels_ref) far_case(cases[i][0], cases[i][1], sizes[z], &kernels_ref);
        }
    text_print_worst();
}

/* ---- properties ---- */

/* Query head g of x's text alone, with its key head. */
static void expect_alone(const Text *x, size_t g, const float *out, const Kernels *k, Way way) {
    size_t d = (size_t)x->head_dim, heads = (size_t)x->heads, kv = (size_t)x->kv_heads, h = g / (heads / kv);
    Text one = *x;
    one.heads = one.kv_heads = 1;
    float *q = text_out(&one), *key = text_out(&one), *v = text_out(&one), *alone = text_out(&one);
    for (size_t t = 0; t < x->n; t++) {
        memcpy(q + t * d, x->q + (t * heads + g) * d, d * sizeof *q);
        memcpy(key + t * d, x->k + (t * kv + h) * d, d * sizeof *q);
        memcpy(v + t * d, x->v + (t * kv + h) * d, d * sizeof *q);
    }
    one.q = q, one.k = key, one.v = v;
    text_run(alone, &one, k, way, NULL);
    for (size_t t = 0; t < x->n; t++) CHECK(memcmp(alone + t * d, out + (t * heads + g) * d, d * sizeof *out) == 0);
    free(alone);
    free(v);
    free(key);
    free(q);
}

/* Each query head of 4 over 2, and of 9 over 1, has the bits that it has when it is alone. */
static void test_groups(void) {
    static const char *const cases[][2] = {{"numerator", "elu+1"}, {"cosine", "identity"}, {"both", "favor+"}};
    static const Way ways[] = {{33, 0}, {33, 8}};
    const Kernels *k;
    for (int row = 0; (k = kernels_row(row)); row++)
        for (int i = 0; i < 6; i++) {
            Text x = text_of((Text){.form = cases[i / 2][0], .phi = cases[i / 2][1], .head_dim = 20,
                                    .heads = i % 2 ? 9 : 4, .kv_heads = i % 2 ? 1 : 2, .features = i / 2 == 2 ? 24 : 0,
                                    .theta = 10000, .epsilon = 1e-6, .n = 70});
            float *out = text_out(&x);
            for (int w = 0; w < 2; w++) {
                text_run(out, &x, k, ways[w], NULL);
                for (size_t g = 0; g < (size_t)x.heads; g++) expect_alone(&x, g, out, k, ways[w]);
            }
            CHECK(text_expect_pairs(&x, k, ways, 2) > 0);
            free(out);
            text_free(&x);
        }
    text_print_worst();
}

/* With every frequency zero the rotation is multiplication by one, and all forms that turn are the ones that do not. */
static void test_still(void) {
    static const char *const same[][3] = {{"numerator", "none", "elu+1"}, {"both", "none", "elu+1"},
                                          {"before-phi", "none", "elu+1"}, {"cosine", "cosine-none", "identity"}};
    const Kernels *k = kernels_best();
    for (int i = 0; i < 4; i++) {
        Text x = text_of(
            (Text){.form = same[i][0], .phi = same[i][2], .head_dim = 20, .theta = 0, .epsilon = 1e-6, .n = 70});
        Text without = x, turning = x;
        without.form = same[i][1];
        turning.theta = 10000;
        float *a = text_out(&x), *b = text_out(&x);
        text_run(a, &x, k, (Way){0}, NULL);
        text_run(b, &without, k, (Way){0}, NULL);
        CHECK(memcmp(a, b, text_out_size(&x)) == 0);
        text_run(b, &turning, k, (Way){0}, NULL);
        CHECK(memcmp(a, b, text_out_size(&x)) != 0);
        free(b);
        free(a);
        text_free(&x);
    }
}

/* q and k all equal to value, epsilon 0. Features that are all zero: 0. Otherwise finite, and as by definition. */
static void uniform_case(const char *form, const char *phi, float value, const Kernels *k) {
    enum { D = 20, N = 40 };
    static float same[N * D];
    static const Way ways[] = {{0, 0}, {0, 8}};
    int relu = strncmp(phi, "relu", 4) == 0, identity = strcmp(phi, "identity") == 0;
    int cosine = strncmp(form, "cosine", 6) == 0, features = strcmp(phi, "favor+") == 0 ? 24 : 0;
    int empty = value == 0 ? relu || (identity && !cosine) : relu && strcmp(form, "before-phi") != 0;
    Text x = text_of((Text){.form = form, .phi = phi, .head_dim = D, .features = features, .theta = 10000, .n = N});
    Text y = x;
    for (int i = 0; i < N * D; i++) same[i] = value;
    y.q = y.k = same;
    float *out = text_out(&x);
    for (int w = 0; w < 2; w++) {
        text_run(out, &y, k, ways[w], NULL);
        for (int i = 0; i < N * D; i++)
            if (empty ? out[i] != 0 : !isfinite(out[i])) CHECK(!"0 where no query meets any key, otherwise finite");
    }
    CHECK(empty || text_expect_pairs(&y, k, ways, 2) > 0);
    free(out);
    text_free(&x);
}

static void test_zeroes(void) {
    for (int f = 0; linear_form_row(f); f++)
        for (int p = 0; feature_map_row(p); p++) {
            const char *form = linear_form_row(f)->name, *phi = feature_map_row(p)->name;
            if (linear_form_row(f)->cosine && strcmp(phi, "identity") != 0) continue;
            const Kernels *k;
            for (int row = 0; (k = kernels_row(row)); row++) {
                uniform_case(form, phi, 0, k);
                uniform_case(form, phi, -1, k);
            }
        }
    text_print_worst();
}

/* Inputs that are too large: exp stays at e^300, softmax leaves its maximum out; a NaN goes through every map. To
 * 1e-12: exp64 is good to 2 ulp, and so is libm's. */
static void test_extremes(void) {
    enum { D = 6 };
    LinearConfig c = {.head_dim = D};
    const Kernels *k;
    for (int row = 0; (k = kernels_row(row)); row++) {
        const double x[D] = {1000, 300, 299, 1e300, -1000, 0}, y[D] = {1000, 1000, 999, -1000, 0, 1000};
        double out[D];
        feature_map("exp")->map(out, x, &c, k);
        for (int i = 0; i < D; i++) NEAR(out[i], exp(fmin(x[i], 300)), 0, 1e-12);
        feature_map("softmax")->map(out, y, &c, k);
        for (int i = 0; i < D; i++) NEAR(out[i], exp(y[i] - 1000) / (3 + exp(-1)), 0, 1e-12);
        for (int p = 0; feature_map_row(p); p++) {
            const double nan_amid[D] = {1, 2, NAN, -1, 0, 3};
            if (feature_map_row(p)->projection) continue; /* its features are of all entries: linear/head sizes */
            feature_map_row(p)->map(out, nan_amid, &c, k);
            CHECK(isnan(out[2]));
            CHECK(isnan(out[0]) == (strcmp(feature_map_row(p)->name, "softmax") == 0));
        }
    }
}

/* ---- refusals ---- */

static void expect_refused(LinearConfig c, const char *why) {
    char err[200] = "";
    int rc = linear_check(&c, err, sizeof err);
    if (rc != -EINVAL || !strstr(err, why) || strchr(err, '\n')) test_fail(__FILE__, __LINE__, why);
}

static void test_refusals(void) {
    char err[200] = "";
    const LinearConfig good = {
        .phi = feature_map("elu+1"), .form = linear_form("numerator"), .epsilon = 1e-6, .head_dim = 16};
    LinearConfig c = good;
    CHECK(linear_check(&good, err, sizeof err) == 0 && linear_features_n(&good) == 16 && linear_rows(&good) == 16);
    static const double epsilons[] = {-1e-9, NAN, INFINITY};
    for (int i = 0; i < 3; i++) {
        c.epsilon = epsilons[i];
        expect_refused(c, "epsilon");
    }
    c.epsilon = 0;
    CHECK(linear_check(&c, err, sizeof err) == 0);
    for (int p = 0; feature_map_row(p); p++)
        for (int f = 0; linear_form_row(f); f++) {
            c = good;
            c.phi = feature_map_row(p), c.form = linear_form_row(f), c.favor_features = 32;
            CHECK(feature_map(c.phi->name) == c.phi && linear_form(c.form->name) == c.form && *c.phi->source &&
                  *c.form->source);
            if (c.form->cosine && strcmp(c.phi->name, "identity") != 0) expect_refused(c, "identity");
            else CHECK(linear_check(&c, err, sizeof err) == 0);
        }
    c = (LinearConfig){.phi = feature_map("identity"), .form = linear_form("cosine"), .epsilon = 1e-6, .head_dim = 16};
    CHECK(linear_features_n(&c) == 16 && linear_rows(&c) == 17);
    static const int features[] = {-2, 0, 1, 3, 1023, 1025, 1026, INT_MAX};
    c = good;
    c.phi = feature_map("favor+");
    for (int i = 0; i < 8; i++) {
        c.favor_features = features[i];
        expect_refused(c, "favor_features");
    }
    c.favor_features = 1024;
    CHECK(linear_check(&c, err, sizeof err) == 0 && linear_features_n(&c) == 1024 &&
          linear_projection_size(&c) >= 1024 * 16);
    CHECK(!feature_map("elu") && !feature_map("") && !linear_form("eq11") && !linear_form(""));
    CHECK(!feature_map_row(-1) && !linear_form_row(-1) && !feature_map_row(INT_MAX) && !linear_form_row(INT_MAX));
    LinearState s;
    CHECK(linear_init(&s, &good, INT_MAX, INT_MAX, err, sizeof err) == -EOVERFLOW && *err && !s.S && !s.n);
    linear_free(&s);
}

extern const Test tests_linear[];
const Test tests_linear[] = {
    {"linear/facts", test_facts},
    {"linear/goldens", test_goldens},
    {"linear/the specification", test_specification},
    {"linear/head sizes", test_head_dims},
    {"linear/long and far texts", test_far},
    {"linear/grouped queries", test_groups},
    {"linear/nothing turns", test_still},
    {"linear/zeroes", test_zeroes},
    {"linear/extremes", test_extremes},
    {"linear/refusals", test_refusals},
    {0},
};
