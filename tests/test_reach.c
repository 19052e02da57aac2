/* tests/test_reach.c - lab/reach.c: turns, reach, and what a model has not seen. */
#include "lab/reach.h"
#include "build.h"
#include "test.h"

#include <string.h>

static const BuildShape shape = {.d = 64, .ff = 96, .layers = 2, .heads = 4, .kv_heads = 2, .n_ctx = 64};

static void turns_and_reach(void) {
    static const struct { const char *spec; double farthest; int64_t keys; int unseen; const char *name; } rows[] = {
        {"none", 255, 256, 5, "none"}, {"linear", 255, 256, 0, "linear"}, {"rerope:window=30", 30, 256, 0, "rerope"},
        {"window:size=10", 9, 10, 0, "window"}, {"sinks:keep=4:window=60", 63, 64, 0, "sinks"},
        {"dca:chunk=48:local=16", 48, 256, 0, "dca"}, {"linear:factor=4+log-n", 255, 256, 0, "linear+log-n"},
        {"longrope:long=1/1/1/1/1/1/1/1", 255, 256, 5, "longrope"}, {"yarn:factor=4", 255, 256, 0, "yarn"},
        {"ms-poe:skip=1", 255, 256, 5, "ms-poe"}, {"ms-poe:min=4:max=8:skip=0", 255 / 4.0, 256, 0, "ms-poe"},
        {"ms-poe:min=4:max=8:skip=1+nope:layers=0", 255 / 4.0, 256, 0, "nope+ms-poe"},
        {"none+nope", 0, 256, 0, "none+nope"}};
    Model m;
    Reach p;
    char err[300] = "";
    build_gguf(test_tmp("reach.gguf"), &shape, TENSOR_F32);
    CHECK(model_open(&m, test_tmp("reach.gguf"), NULL, err, sizeof err) == 0);
    CHECK(reach_init(&p, &m, 0, err, sizeof err) == 0 && p.context == 256 && p.trained == 64 && p.n_pairs == 8);
    /* 64 positions at 10000^(-i/8) radians each: 10.2, 3.2, 1.02, 0.32 .. turns */
    CHECK(p.n_full == 3 && fabs(reach_turns(&p, 0) - 64 / 6.283185307) < 1e-6);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        CHECK(reach_add(&p, &m, rows[i].spec, err, sizeof err) == 0);
        const ReachMethod *q = &p.methods[i];
        CHECK(fabs(q->farthest - rows[i].farthest) < 1e-9 && q->keys == rows[i].keys &&
              strcmp(q->name, rows[i].name) == 0);
        CHECK(q->unseen == rows[i].unseen); /* all pairs but the three that made a full turn */
    }
    CHECK(reach_add(&p, &m, "nonsense", err, sizeof err) < 0 && strstr(err, "nonsense"));
    PlotText svg = {0};
    CHECK(reach_svg(&svg, &p, "<a & b>", NULL, err, sizeof err) == 0 && strstr(svg.at, "&lt;a &amp; b&gt;") &&
          strcmp(svg.at + svg.n - 7, "</svg>\n") == 0 && !strstr(svg.at, "nan"));
    plot_text_free(&svg);
    reach_free(&p);
    model_close(&m);
}

extern const Test tests_reach[];
const Test tests_reach[] = {
    {"reach/turns, reach, what was not seen", turns_and_reach},
    {0},
};
