/* tests/test_favor.c - FAVOR+: its running maximum, its projection, and what its features are an estimate of. */
#include "attention/maps.h"
#include "kernels/rows.h"
#include "linear_text.h"
#include "test.h"

#include <stdlib.h>
#include <string.h>

enum { FAVOR_N = 96, FAVOR_D = 16, FAVOR_R = 32 };

/* The first keys are so long that their largest exponent is -4000: the next one raises the maximum by that much. */
static void long_keys_first(float *k, const double *W) {
    (void)W;
    for (int i = 0; i < 10 * FAVOR_D; i++) k[i] *= 40;
}

/* Key 50 is the longest row of W: its exponent there is |w|^2 / 2, hundreds above those before. */
static void long_key_amid(float *k, const double *W) {
    int longest = 0;
    double square[FAVOR_R] = {0};
    for (int j = 0; j < FAVOR_R; j++) {
        for (int i = 0; i < FAVOR_D; i++) square[j] += W[j * FAVOR_D + i] * W[j * FAVOR_D + i];
        if (square[j] > square[longest]) longest = j;
    }
    CHECK(square[longest] / 2 > 200);
    for (int i = 0; i < FAVOR_D; i++) k[50 * FAVOR_D + i] = (float)(2 * W[longest * FAVOR_D + i]); /* 2 = 16^(1/4) */
}

/* The maximum over the keys jumps by hundreds: in long double nothing overflows without it, so that is what must come
 * out. */
static void test_running_maximum(void) {
    static const struct {
        const char *form;
        double scale, epsilon;
        void (*spoil)(float *k, const double *W);
    } cases[] = {
        {"none", 1, 1e-6, long_keys_first}, {"numerator", 1, 1e-6, long_keys_first}, {"both", 1, 0, long_keys_first},
        {"none", 12, 0, long_key_amid}, {"both", 12, 0, long_key_amid}, {"numerator", 9, 1e-6, long_key_amid},
    };
    static const Way ways[] = {{0, 0}, {1, 0}, {7, 0}, {0, 5}, {0, 64}, {40, 16}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (int full = 0; full < 2; full++) {
            Text x = text_of((Text){.form = cases[i].form, .phi = "favor+", .full = full, .head_dim = FAVOR_D,
                                    .theta = 10000,
                                    .epsilon = cases[i].epsilon, .n = FAVOR_N});
            float *keys = text_input("k", FAVOR_D, FAVOR_N * FAVOR_D, 64),
                  *w = text_input("W", FAVOR_D, FAVOR_R * FAVOR_D, 128);
            double W[FAVOR_R * FAVOR_D];
            for (int j = 0; j < FAVOR_R * FAVOR_D; j++) W[j] = cases[i].scale * (double)w[j];
            cases[i].spoil(keys, W);
            Text y = x;
            y.k = keys, y.W = W, y.features = FAVOR_R;
            const Kernels *k;
            for (int row = 0; (k = kernels_row(row)); row++) CHECK(text_expect_pairs(&y, k, ways, full ? 1 : 6) > 15);
            free(w);
            free(keys);
            text_free(&x);
        }
    text_print_worst();
}

/* W as rows, wherever it is stored: a marked W tells where each entry goes. Owned by the caller. */
static double *projection_of(const LinearConfig *c) {
    size_t n = (size_t)c->favor_features * (size_t)c->head_dim, size = linear_projection_size(c);
    double *marks = text_allocate(n, sizeof *marks), *w = text_allocate(size, sizeof *w);
    double *stored = text_allocate(size, sizeof *stored);
    for (size_t i = 0; i < n; i++) marks[i] = (double)(i + 1);
    linear_projection_set(stored, c, marks);
    linear_projection(w, c);
    memset(marks, 0, n * sizeof *marks);
    for (size_t i = 0; i < size; i++)
        if (stored[i] > 0) marks[(size_t)stored[i] - 1] = w[i];
    free(w);
    free(stored);
    return marks;
}

static double dot(const double *a, const double *b, int n) {
    double sum = 0;
    for (int i = 0; i < n; i++) sum += a[i] * b[i];
    return sum;
}

/* Blocks of head_dim orthogonal rows; lengths as Gaussian vectors have them: |w|^2 has mean head_dim and variance 2
 * head_dim. */
static void test_projection(void) {
    enum { D = 16, R = 40, N_SEEDS = 50 };
    double mean = 0, variance = 0, worst_angle = 0;
    for (uint64_t seed = 0; seed < N_SEEDS; seed++) {
        LinearConfig c = {.phi = feature_map("favor+"), .form = linear_form("numerator"), .head_dim = D,
                          .favor_features = R, .favor_seed = seed};
        double *w = projection_of(&c), *again = projection_of(&c);
        CHECK(memcmp(w, again, R * D * sizeof *w) == 0);
        for (int a = 0; a < R; a++) {
            double square = dot(w + a * D, w + a * D, D);
            mean += square / (R * N_SEEDS);
            variance += (square - D) * (square - D) / (R * N_SEEDS);
            for (int b = a + 1; b < R && b / D == a / D; b++)
                worst_angle = fmax(worst_angle,
                                   fabs(dot(w + a * D, w + b * D, D)) / sqrt(square * dot(w + b * D, w + b * D, D)));
        }
        CHECK(fabs(dot(w, w + D * D, D)) > 1e-3); /* blocks are drawn apart from each other */
        c.favor_seed = seed + 1;
        free(again);
        again = projection_of(&c);
        CHECK(memcmp(w, again, R * D * sizeof *w) != 0);
        free(again);
        free(w);
    }
    CHECK(worst_angle <= 1e-12);
    NEAR(mean, D, 0.5, 0);          /* 2000 lengths: standard error sqrt(32/2000) = 0.13 */
    NEAR(variance, 2 * D, 6, 0);    /* standard error about sqrt(2 (2 D)^2 (1 + 6/D) / 2000) = 1.2 */
}

/* phi(q).phi(k) with r random features, against e^(q.k/sqrt(d)): the relative error over seeds and pairs of vectors,
 * its mean and mean square, and what the mean square is for r features that are independent: lemma 2 of
 * arXiv:2009.14794, (e^|q' + k'|^2 - 1) / r. */
typedef struct {
    double mean, square, independent;
} Estimate;

enum { PAIRS = 6, SEEDS = 100 };

static Estimate estimate(int r) {
    enum { D = 16, MAX_R = 256 };
    float *q = text_input("q", D, PAIRS * D, 256), *k = text_input("k", D, PAIRS * D, 256);
    Estimate e = {0};
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        LinearConfig c = {.phi = feature_map("favor+"), .form = linear_form("none"), .head_dim = D, .favor_features = r,
                          .favor_seed = seed};
        double *w = text_allocate(linear_projection_size(&c), sizeof *w), a[MAX_R], b[MAX_R];
        linear_projection(w, &c);
        c.favor_w = w;
        for (int i = 0; i < PAIRS; i++) {
            double x[D], y[D], length = 0;
            for (int j = 0; j < D; j++) {
                x[j] = (double)q[i * D + j], y[j] = (double)k[i * D + j];
                length += (x[j] + y[j]) * (x[j] + y[j]) / sqrt(D);
            }
            double left_out = c.phi->map(a, x, &c, kernels_best()) + c.phi->map(b, y, &c, kernels_best());
            double error = dot(a, b, r) * exp(left_out - dot(x, y, D) / sqrt(D)) - 1;
            e.mean += error / (PAIRS * SEEDS);
            e.square += error * error / (PAIRS * SEEDS);
            e.independent += (exp(length) - 1) / r / (PAIRS * SEEDS);
        }
        free(w);
    }
    free(k);
    free(q);
    return e;
}

/* Without bias; better by sqrt(r); and no worse for the features' being orthogonal (theorem 2 there). */
static void test_estimate(void) {
    static const int features[] = {16, 64, 256};
    double before = INFINITY;
    for (int i = 0; i < 3; i++) {
        Estimate e = estimate(features[i]);
        if (getenv("LINEAR_PRINT"))
            printf("    %d features: off by %.3f (%.3f if independent), %+.3f on average\n", features[i],
                   sqrt(e.square),
                   sqrt(e.independent), e.mean);
        CHECK(sqrt(e.square) < 0.6 * before);                   /* 0.5 expected */
        /* 600 squares, of which a seed's six go together: 10 % */
        CHECK(e.square < 1.2 * e.independent);
        CHECK(fabs(e.mean) < 4 * sqrt(e.square / SEEDS));       /* four standard errors, were a seed's six one */
        before = sqrt(e.square);
    }
}

extern const Test tests_favor[];
const Test tests_favor[] = {
    {"linear/favor+ running maximum", test_running_maximum},
    {"linear/favor+ projection", test_projection},
    {"linear/favor+ estimate", test_estimate},
    {0},
};
