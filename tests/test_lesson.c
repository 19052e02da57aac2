/* tests/test_lesson.c - RoPE's other forms, the decay, places from a file: against each other and against published
 * numbers. */
#include "lab/lesson/decay.h"
#include "lab/lesson/forms.h"
#include "lab/lesson/places.h"
#include "rope/positions.h"
#include "build.h"
#include "test.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static void frequencies(Rope *r, int dims, double theta) {
    RopeConfig c = {.scaling = &rope_none, .rotary_dim = dims, .theta = theta};
    rope_init(r, &c, 1000);
}

/* Matrix, elements, complex numbers and the exponential of a generator: to some last places of doubles, whose angles
 * are up to 1,000 rad. */
static void forms(void) {
    enum { D = 12 };
    static double m[D * D], e[D * D], B[D * D], scratch[3 * D * D], back[D * D], product[D * D];
    for (int pairing = 0; pairing < 2; pairing++)
        for (int dims = 8; dims <= D; dims += 4)
            for (int64_t n = -3; n < 1000; n = n * 2 + 7) {
                Rope r;
                double x[D], a[D], b[D], c[D / 2], s[D / 2];
                frequencies(&r, dims, 10000);
                for (int i = 0; i < D; i++) x[i] = sin(i + 1.0);
                form_matrix(m, &r, D, n, (RopePairing)pairing);
                form_apply(a, m, x, D);
                memcpy(b, x, sizeof b);
                rope_row64(&r, n, c, s);
                rope_rotate64(b, c, s, dims, (RopePairing)pairing);
                CHECK(form_apart(a, b, D) < 1e-15);
                form_complex(a, x, &r, D, n, (RopePairing)pairing);
                CHECK(form_apart(a, b, D) < 1e-15);
                form_generator(B, &r, D, (RopePairing)pairing);
                form_exponential(e, B, (double)n, D, scratch);
                CHECK(form_apart(m, e, D * D) < 1e-12);
                form_matrix(back, &r, D, -n, (RopePairing)pairing); /* R^T R = 1 */
                form_product(product, back, m, D);
                for (int i = 0; i < D * D; i++) NEAR(product[i], i % (D + 1) == 0, 1e-15, 0);
            }
}

/* Facts: 257 values of the bound, 12 decimals; f(0) = (d/2 + 1) / 2; 115 of 256 steps rise. */
static void decay(void) {
    Rope r;
    size_t n;
    int rises = 0, lines = 0;
    double before = INFINITY;
    frequencies(&r, 64, 10000);
    NEAR(decay_bound(&r, 0), 16.5, 1e-14, 0);
    NEAR(decay_bound(&r, 1), 15.947763798, 1e-9, 0);
    NEAR(decay_bound(&r, 256), 3.843563839, 1e-9, 0);
    frequencies(&r, 128, 10000);
    NEAR(decay_score(&r, NULL, NULL, 0), 128, 1e-12, 0);
    NEAR(decay_bound(&r, 16384), 5.110581944, 1e-9, 0);
    const char *path = test_data("vectors/decay_d128.tsv");
    char *text = path ? file_read(path, &n) : NULL;
    for (char *line = text; line && *line; line = strchr(line, '\n') + 1) {
        char *end;
        double m = strtod(line, &end), want = strtod(end, NULL);
        if (end == line) continue; /* its head */
        double bound = decay_bound(&r, m);
        NEAR(bound, want, 1e-11, 0);
        rises += bound > before;
        before = bound, lines++;
    }
    CHECK(!text || (lines == 257 && rises == 115));
    free(text);
}

/* The score of vectors is the rotated dot product. */
static void scores(void) {
    enum { D = 16 };
    Rope r;
    double q[D], k[D], c[D / 2], s[D / 2];
    frequencies(&r, D, 500);
    for (int64_t n = 0; n < 300; n += 13) {
        double turned[D], sum = 0;
        for (int i = 0; i < D; i++) q[i] = sin(i * 1.7), k[i] = turned[i] = cos(i * 0.3);
        rope_row64(&r, -n, c, s);
        rope_rotate64(turned, c, s, D, ROPE_INTERLEAVED);
        for (int i = 0; i < D; i++) sum += q[i] * turned[i];
        NEAR(decay_score(&r, q, k, (double)n), sum, 1e-12, 0);
    }
}

static void places(void) {
    Places p;
    char err[200];
    static const struct { const char *text, *line; } wrong[] = {
        {"", "holds no position"},  {"# only words\n", "holds no position"}, {"1\n2\nx\n", "line 3 is not one, two"},
        {"1 2\n1\n", "line 2 is not as many"}, {"1 2 3 4\n", "line 1"}, {"1e13", "line 1"}, {"nan", "line 1"},
        {"1;2", "line 1"}};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        CHECK(places_read(&p, wrong[i].text, strlen(wrong[i].text), "p.txt", NULL, err, sizeof err) == -EINVAL);
        CHECK(strstr(err, wrong[i].line) && !p.at);
    }
    CHECK(places_read(&p, "1\0", 2, "p", NULL, err, sizeof err) == -EINVAL);
    CHECK(places_read(&p, "0\n\n 1 # one\r\n2.5", 16, "p", NULL, err, sizeof err) == 0);
    CHECK(p.n == 3 && p.n_axes == 1 && p.at[2] == 2.5);
    places_free(&p);
    CHECK(places_read(&p, "0,0\n1,2\n", 8, "p", NULL, err, sizeof err) == 0);
    CHECK(p.n == 2 && p.n_axes == 2 && strcmp(p.kind->name, "tie") == 0);
    places_free(&p);
    CHECK(places_read(&p, "0 0 0", 5, "p", axes_kind("tie"), err, sizeof err) == -EINVAL && strstr(err, "tie has 2"));
}

/* T5's table of 32 buckets up to 128 (both ways: the one in Su's article), ALiBi's slopes, Su's extended table. */
static void encodings(void) {
    static const struct {
        int bucket, first;
    } both[] = {{8, 8}, {9, 12}, {10, 16}, {11, 23}, {12, 32}, {13, 46}, {14, 64}, {15, 91}},
      causal[] = {{16, 16}, {17, 19}, {18, 21}, {19, 24}, {20, 27}, {21, 31}, {22, 35}, {23, 40},
                  {24, 46}, {25, 52}, {26, 59}, {27, 67}, {28, 77}, {29, 87}, {30, 99}, {31, 113}},
      behind[] = {{17, 1}, {24, 8}, {25, 12}, {26, 16}, {27, 23}, {31, 128}};
    for (int i = 0; i < 8; i++) CHECK(position_bucket(i, 32, 128, 1) == i);
    for (int i = 0; i < 8; i++) {
        CHECK(position_bucket(both[i].first, 32, 128, 1) == both[i].bucket);
        CHECK(position_bucket(both[i].first - 1, 32, 128, 1) == both[i].bucket - 1);
    }
    for (int i = 0; i < 16; i++) {
        CHECK(position_bucket(i, 32, 128, 0) == i && position_bucket(-i, 32, 128, 0) == 0);
        CHECK(position_bucket(causal[i].first, 32, 128, 0) == causal[i].bucket);
        CHECK(position_bucket(causal[i].first - 1, 32, 128, 0) == causal[i].bucket - 1);
    }
    for (int i = 0; i < 6; i++) CHECK(position_bucket(-behind[i].first, 32, 128, 1) == behind[i].bucket);
    CHECK(position_bucket(1000000, 32, 128, 0) == 31 && position_bucket(1000000, 32, 128, 1) == 15);
    CHECK(position_slope(0, 8, 8) == 0.5 && position_slope(7, 8, 8) == 0.00390625);
    CHECK(position_slope(0, 6, 8) == 0.25 && position_slope(3, 6, 8) == 0.00390625);
    CHECK(position_slope(4, 6, 8) == 0.5 && position_slope(5, 6, 8) == 0.125);
    NEAR(position_slope(8, 12, 8), .70710678, 1e-8, 0);
    NEAR(position_slope(11, 12, 8), .088388348, 1e-8, 0);
    static const float e[4 * 2] = {1, 2, 3, 5, 7, 11, 13, 17};
    for (size_t k = 0; k < 4; k++) CHECK(position_hierarchical(e, 4, 2, 0.4, k, 0) == (double)e[2 * k]); /* stay */
    /* 0.4 u[2] + 0.6 u[3], u = (e - 0.4 e_0) / 0.6 */
    NEAR(position_hierarchical(e, 4, 2, 0.4, 11, 0), 0.4 * (7 - 0.4) / 0.6 + 0.6 * (13 - 0.4) / 0.6, 1e-13, 0);
    NEAR(position_sinusoid(3, 0, 8), sin(3), 1e-15, 0);
    NEAR(position_sinusoid(3, 5, 8), cos(0.03), 1e-15, 0);
}

const Test tests_lesson[] = {{"lesson/forms of the rotation", forms},
                             {"lesson/decay", decay},
                             {"lesson/scores by distance", scores},
                             {"lesson/places from a file", places},
                             {"lesson/other encodings", encodings},
                             {0}};
