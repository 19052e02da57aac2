/* tests/test_axes.c - positions of several axes: the published examples, and what must hold of all kinds. */
#include "rope/axes.h"
#include "build.h"
#include "test.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { ROOM = 64 };

static int place(double *out, double *next, const char *kind, const char *text) {
    AxesLayout layout;
    char err[200] = "";
    int rc = axes_parse(&layout, text, err, sizeof err);
    if (rc == 0) rc = axes_place(out, next, axes_kind(kind), &layout, err, sizeof err);
    if (rc) printf("    %s: %s\n", text, err);
    CHECK(rc == 0);
    return rc ? 0 : (int)layout.n_tokens * axes_count(axes_kind(kind), &layout);
}

/* kexue.fm 10040, 10352; transformers' get_rope_index. Token by token, coordinate by coordinate. */
static void published(void) {
    static const struct { const char *kind, *layout; double next; int n; double at[ROOM];
    } rows[] = {
        {"tie", "text:3 image:2x3 text:2", 17, 22, {1,  1,  2, 2,  3, 3,  7,  6,  7,  9,  7,
                                                    12, 11, 6, 11, 9, 11, 12, 15, 15, 16, 16}},
        {"tie-real", "text:3 image:2x3 text:2", 12, 22, {1,       1,    2,       2,    3,       3,    16. / 3, 4.75,
                                                         16. / 3, 6.5,  16. / 3, 8.25, 23. / 3, 4.75, 23. / 3, 6.5,
                                                         23. / 3, 8.25, 10,      10,   11,      11}},
        {"tie-v2", "text:3 image:2x3 text:2", 12, 22, {1,   1, 2,   2, 3,   3, 6,   5.5, 6,  6.5, 6,
                                                       7.5, 7, 5.5, 7, 6.5, 7, 7.5, 10,  10, 11,  11}},
        {"tie-v2", "text:3 image:2x2 text:1", 9, 16, {1, 1, 2, 2, 3, 3, 5, 5, 5, 6, 6, 5, 6, 6, 8, 8}},
        {"tie-v2", "text:3 image:3x3 text:1", 14, 26, {1, 1, 2, 2, 3, 3, 7, 7, 7, 8, 7, 9,  8,
                                                       7, 8, 8, 8, 9, 9, 7, 9, 8, 9, 9, 13, 13}},
        {"tie-v2", "text:2 video:3x1x2 text:1", 10, 27, {1,   1,   1, 2,   2,   2, 5.5, 5,   4.5, 5.5, 6, 4.5, 5.5, 5,
                                                         5.5, 5.5, 6, 5.5, 5.5, 5, 6.5, 5.5, 6,   6.5, 9, 9,   9}},
        {"mrope", "video:3x2x2 text:5", 8, 51, {0, 0, 0, 0, 0, 1, 0, 1, 0, 0, 1, 1, 1, 0, 0, 1, 0,
                                                1, 1, 1, 0, 1, 1, 1, 2, 0, 0, 2, 0, 1, 2, 1, 0, 2,
                                                1, 1, 3, 3, 3, 4, 4, 4, 5, 5, 5, 6, 6, 6, 7, 7, 7}},
        {"mrope", "text:3 image:2x3 text:2", 8, 33, {0, 0, 0, 1, 1, 1, 2, 2, 2, 3, 3, 3, 3, 3, 4, 3, 3,
                                                     5, 3, 4, 3, 3, 4, 4, 3, 4, 5, 6, 6, 6, 7, 7, 7}},
        {"mrope-interleaved", "text:3 image:2x3 text:1 image:2x2 text:2", 11, 48, {0, 0, 0, 1, 1, 1,  2,  2, 2, 3,
                                                                                   3, 3, 3, 3, 4, 3,  3,  5, 3, 4,
                                                                                   3, 3, 4, 4, 3, 4,  5,  6, 6, 6,
                                                                                   7, 7, 7, 7, 7, 8,  7,  8, 7, 7,
                                                                                   8, 8, 9, 9, 9, 10, 10, 10}},
        {"2d", "image:2x2", 3, 8, {1, 1, 1, 2, 2, 1, 2, 2}}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        double out[ROOM], next = 0;
        int n = place(out, &next, rows[i].kind, rows[i].layout);
        CHECK(n == rows[i].n && next == rows[i].next);
        for (int k = 0; k < n && n == rows[i].n; k++) NEAR(out[k], rows[i].at[k], 1e-14, 0);
    }
}

static double score(const double *cq, const double *sq, const double *ck, const double *sk) {
    double q[8] = {.1, .2, .3, .4, .5, .6, .7, .8}, k[8] = {.8, .7, .6, .5, .4, .3, .2, .1}, sum = 0;
    rope_rotate64(q, cq, sq, 8, ROPE_INTERLEAVED);
    rope_rotate64(k, ck, sk, 8, ROPE_INTERLEAVED);
    for (int i = 0; i < 8; i++) sum += q[i] * k[i];
    return sum;
}

/* facts: d = 8, even pairs by the first coordinate, odd by the second. */
static void tie_scores(void) {
    RopeConfig c = {.scaling = &rope_none, .rotary_dim = 8, .theta = 10000};
    const AxesKind *tie = axes_kind("tie");
    static const struct { double q[2], k[2], want; } rows[] = {{{7, 7}, {2, 2}, 1.033616166162},
                                                               {{4, 4}, {4, 4}, 1.2},
                                                               {{3, 1}, {0, 0}, 0.735656733151},
                                                               {{10, 6}, {7, 5}, 0.735656733151}};
    Rope r;
    rope_init(&r, &c, 100);
    for (int i = 0; i < 4; i++) {
        double cq[4], sq[4], ck[4], sk[4];
        axes_row(&r, &c, tie, 2, rows[i].q, cq, sq);
        axes_row(&r, &c, tie, 2, rows[i].k, ck, sk);
        NEAR(score(cq, sq, ck, sk), rows[i].want, 1e-12, 0);
    }
}

/* All coordinates alike: RoPE, bit for bit. Which pairs turn by which: Qwen's sections of 64 pairs. */
static void one_axis(void) {
    RopeConfig c = {.scaling = &rope_none, .rotary_dim = 128, .theta = 10000};
    Rope r;
    rope_init(&r, &c, 100000);
    for (int i = 1; axes_row_of(i); i++) /* but 2d */
        for (int64_t n = 0; n < 100000; n += 777) {
            double pos[3] = {(double)n, (double)n, (double)n}, a[64], b[64], x[64], y[64];
            axes_row(&r, &c, axes_row_of(i), 3, pos, a, b);
            rope_row64(&r, n, x, y);
            CHECK(memcmp(a, x, sizeof a) == 0 && memcmp(b, y, sizeof b) == 0);
        }
    int sections[3] = {0}, dealt[3] = {0};
    for (int i = 0; i < 64; i++) {
        int s = axes_kind("mrope")->axis(i, 64, 3), d = axes_kind("mrope-interleaved")->axis(i, 64, 3);
        sections[s]++, dealt[d]++;
        CHECK(s == (i >= 16) + (i >= 40));
        CHECK(d == (i < 60 && i % 3 == 1 ? 1 : i < 60 && i % 3 == 2 ? 2 : 0));
    }
    CHECK(sections[0] == 16 && sections[1] == 24 && sections[2] == 24 && dealt[0] == 24 && dealt[1] == 20);
}

/* 2d: with one coordinate held, the other is 1-D RoPE of half the dimensions. */
static void two_axes(void) {
    RopeConfig c = {.scaling = &rope_none, .rotary_dim = 16, .theta = 10000},
               half = {.scaling = &rope_none, .rotary_dim = 8, .theta = 10000};
    Rope r, h;
    rope_init(&r, &c, 10);
    rope_init(&h, &half, 10);
    for (int64_t n = 0; n < 50; n++) {
        double pos[2] = {(double)n, 7}, a[8], b[8], x[4], y[4];
        axes_row(&r, &c, axes_kind("2d"), 2, pos, a, b);
        rope_row64(&h, n, x, y);
        for (int i = 0; i < 4; i++) NEAR(a[i], x[i], 1e-15, 0);
        for (int i = 0; i < 4; i++) NEAR(b[i], y[i], 1e-15, 0);
    }
}

static void refused(void) {
    static const char *const wrong[] = {"",
                                        "  ",
                                        "text",
                                        "text:",
                                        "text:0",
                                        "text:-1",
                                        "image:2",
                                        "image:2x",
                                        "image:2x3x4",
                                        "video:2x3",
                                        "text:1x2",
                                        "text:1image:2x3",
                                        "audio:3",
                                        "text:1000001",
                                        "image:1001x1001",
                                        "text:99999999999999999999"};
    AxesLayout layout;
    char err[200];
    double out[ROOM], next;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        CHECK(axes_parse(&layout, wrong[i], err, sizeof err) == -EINVAL);
    CHECK(axes_parse(&layout, "text:1,image:1x1", err, sizeof err) == 0 && layout.n == 2);
    CHECK(axes_place(out, &next, axes_kind("2d"), &layout, err, sizeof err) == -EINVAL && strstr(err, "no text"));
    CHECK(axes_parse(&layout, "video:1x1x1", err, sizeof err) == 0);
    CHECK(axes_place(out, &next, axes_kind("tie"), &layout, err, sizeof err) == -EINVAL && strstr(err, "no video"));
    CHECK(!axes_kind("3d") && !axes_row_of(6) && !axes_row_of(-1));
}

const Test tests_axes[] = {{"axes/published places", published},
                           {"axes/scores of RoPE-Tie", tie_scores},
                           {"axes/one axis", one_axis},
                           {"axes/two axes", two_axes},
                           {"axes/refused", refused},
                           {0}};
