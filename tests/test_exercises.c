/* tests/test_exercises.c - the answers that rope/README.md prints to its exercises. */
#include "lab/lesson/decay.h"
#include "rope/axes.h"
#include "rope/scaling.h"
#include "build.h"
#include "test.h"

#include <stdlib.h>
#include <string.h>

static char *chapter;

/* Exercise n ends in **answer**. */
static void answer(int n, const char *fmt, double a, double b) {
    char begin[10], want[100];
    snprintf(begin, sizeof begin, "\n%d. ", n);
    snprintf(want, sizeof want, fmt, a, b);
    const char *at = chapter ? strstr(strstr(chapter, "\n## Exercises"), begin) : NULL,
               *bold = at ? strstr(at, "**") : NULL;
    int right = bold && strncmp(bold + 2, want, strlen(want)) == 0 && strncmp(bold + 2 + strlen(want), "**", 2) == 0;
    if (!right) printf("    exercise %d: %s\n", n, want);
    CHECK(right);
}

static void turned(double x, double y, double theta, int64_t pos, double out[2]) {
    Rope r = {.rotary_dim = 2, .scale = 1, .inv_freq = {theta}};
    double c, s;
    out[0] = x, out[1] = y;
    rope_row64(&r, pos, &c, &s);
    rope_rotate64(out, &c, &s, 2, ROPE_INTERLEAVED);
}

static void answers(void) {
    RopeConfig eight = {.scaling = &rope_none, .rotary_dim = 8, .theta = 10000}, four = eight, wide = eight;
    RopeNumbers numbers = {.factor = 4};
    Rope r;
    double v[2], w[2];
    size_t n;
    chapter = file_read("rope/README.md", &n);
    rope_init(&r, &eight, 10);
    answer(1, "%.2f", r.inv_freq[2], 0);
    wide.rotary_dim = 128;
    rope_init(&r, &wide, 10);
    answer(2, "%.0f", 6.283185307179586 / r.inv_freq[63], 0);
    answer(5, "%.1f", decay_bound(&r, 0), 0);
    turned(1, 0, 1, 3, v);
    answer(3, "(%.5f, %.5f)", v[0], v[1]);
    four.rotary_dim = 4;
    rope_init(&r, &four, 10);
    answer(4, "%.5f", decay_score(&r, (double[]){1, 0, 1, 0}, (double[]){1, 0, 1, 0}, 5), 0);
    turned(1, 0, 1, 5, v);  /* R_5, then R_2^T, which is R_-2 */
    turned(v[0], v[1], 1, -2, w);
    answer(6, "%.5f, R_(n-m)", w[1], 0);
    turned(1, 0, 1, -1, v);
    answer(7, "(%.5f, %.5f)", v[0], v[1]);
    wide.scaling = rope_scaling("ntk"), wide.numbers = &numbers;
    rope_init(&r, &wide, 10);
    answer(8, "%.2f", pow(r.inv_freq[1], -64), 0);
    float x[8] = {0}, c[4] = {1, 0, 1, 1}, s[4] = {0, 1, 0, 0}; /* pair 1 turns a quarter */
    for (int pairing = 0; pairing < 2; pairing++) {
        int moved[2] = {-1, -1};
        for (int i = 0; i < 8; i++) {
            memset(x, 0, sizeof x);
            x[i] = 1;
            rope_rotate(x, c, s, 8, (RopePairing)pairing);
            if (x[i] != 1) moved[moved[0] >= 0] = i;
        }
        CHECK(pairing ? moved[0] == 1 && moved[1] == 5 : moved[0] == 2 && moved[1] == 3);
    }
    answer(9, "(%.0f, 3) and (%.0f, 5)", 2, 1);
    AxesLayout layout;
    char err[100];
    double pos[27], next = 0;
    CHECK(axes_parse(&layout, "text:3 image:2x3", err, sizeof err) == 0);
    CHECK(axes_place(pos, &next, axes_kind("mrope"), &layout, err, sizeof err) == 0);
    answer(10, "%.0f", next, 0);
    free(chapter);
    chapter = NULL;
}

const Test tests_exercises[] = {{"exercises/answers", answers}, {0}};
