/* tests/test_session_linear.c - sessions with linear attention: in chunks, without limits, and what a file may say of
 * it. */
#include "model/attend_texts.h"
#include "base/threads.h"
#include "model/timeline.h"
#include "model/options.h"
#include "build.h"
#include "test.h"

#include <errno.h>
#include <string.h>

static const BuildShape shape = {.d = 64, .ff = 96, .layers = 2, .heads = 4, .kv_heads = 2, .n_ctx = 64};

/* What the chunked form alone asks of state_step: queries against a matrix that takes no key in. An entry a thread: how
 * often, and the part of the scratch that the answers went to. */
static struct {
    size_t n;
    const double *from, *to;
} asked[2];

static void asking_step(double *out, double *S, size_t rows, const double *b, const float *v, const double *a, size_t n,
                        size_t lda) {
    int t = team_member();
    kernels_best()->att->state_step(out, S, rows, b, v, a, n, lda);
    if (!out || b) return;
    asked[t].n++;
    if (!asked[t].from || out < asked[t].from) asked[t].from = out;
    if (!asked[t].to || out + n * STATE_COLUMNS > asked[t].to) asked[t].to = out + n * STATE_COLUMNS;
}

/* How often chunks of C tokens of a call of n make it ask: for each query head of a strip's group once about what came
 * before the chunk, and twice (weights, values) about every 16 of its keys. */
static size_t asks(size_t n, size_t C, size_t group) {
    size_t sum = 0;
    for (size_t from = 0, m; from < n && C > 1; from += m) {
        m = n - from < C ? n - from : C;
        sum += group * (1 + 2 * ((m + STATE_COLUMNS - 1) / STATE_COLUMNS));
    }
    return sum;
}

enum { LONG = 150 };

static void read_in_chunks(float *out, const Model *m, size_t chunk) {
    Session s;
    char err[300];
    const float *logits;
    int ids[LONG];
    for (int j = 0; j < LONG; j++) ids[j] = build_id(j);
    memset(asked, 0, sizeof asked);
    const SessionOptions options = {
        .chunk = chunk, .linear = &linear_texts, .n_batch = LONG, .threads = 2, .grain = 1};
    CHECK(session_init(&s, m, &options, err, sizeof err) == 0);
    CHECK(session_eval(&s, ids, LONG, &logits, err, sizeof err) == 0);
    memcpy(out, logits, BUILD_VOCAB * sizeof *out);
    session_free(&s);
}

/* In chunks: other sums, so other last bits, but the same logits to 1e-5 of some units, however large the chunk. Two
 * threads have two strips each of every layer (heads of 32, two key heads), and a scratch each. */
static void chunks(void) {
    static const BuildShape linear = {.d = 128, .ff = 64, .layers = 2, .heads = 4, .kv_heads = 2, .n_ctx = 64,
                                      .phi = "elu+1", .form = "numerator"};
    static const size_t sizes[] = {0, 1, 2, 5, 16, 33, 1000};
    static float want[BUILD_VOCAB], got[BUILD_VOCAB];
    build_gguf(test_tmp("chunk.gguf"), &linear, TENSOR_F32);
    Kernels asking = *kernels_best();
    Model m;
    char err[300];
    AttentionKernels attention = *asking.att;
    attention.state_step = asking_step;
    asking.att = &attention;
    CHECK(model_open(&m, test_tmp("chunk.gguf"), &(ModelOptions){.kernels = &asking}, err, sizeof err) == 0);
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        read_in_chunks(i ? got : want, &m, sizes[i]);
        CHECK(asked[0].n + asked[1].n == 2 * 4 * asks(LONG, sizes[i], 2)); /* layers, strips, query heads of a group */
        if (asked[0].n && asked[1].n) CHECK(asked[0].to <= asked[1].from || asked[1].to <= asked[0].from);
        else CHECK(sizes[i] <= 1);
        for (int v = 0; v < BUILD_VOCAB && i; v++) NEAR(got[v], want[v], 1e-5, 0);
    }
    model_close(&m);
}

/* No context to fill, no past to go back to, no room taken for it. */
static void linear_limits(void) {
    BuildShape linear = shape;
    linear.form = "numerator", linear.phi = "relu";
    build_gguf(test_tmp("s.gguf"), &linear, TENSOR_F32);
    Model m;
    Session a, b;
    char err[300];
    int ids[200] = {3};
    const float *la, *lb;
    CHECK(model_open(&m, test_tmp("s.gguf"), NULL, err, sizeof err) == 0);
    CHECK(session_init(&a, &m, &(SessionOptions){.n_ctx = 8}, err, sizeof err) == 0);
    CHECK(session_init(&b, &m, &(SessionOptions){.n_ctx = SIZE_MAX / 4}, err, sizeof err) == 0);
    CHECK(session_bytes(&a) == session_bytes(&b));
    for (int i = 0; i < 200; i++) ids[i] = build_id(i);
    CHECK(session_eval(&a, ids, 200, NULL, err, sizeof err) == 0 && a.pos == 200);
    CHECK(session_rewind(&a, 100) == -EINVAL && a.pos == 200);
    CHECK(session_rewind(&a, 200) == 0 && session_rewind(&a, 0) == 0 && a.pos == 0);
    CHECK(session_eval(&a, ids, 7, &la, err, sizeof err) == 0);
    CHECK(session_eval(&b, ids, 7, &lb, err, sizeof err) == 0);
    CHECK(memcmp(la, lb, BUILD_VOCAB * sizeof *la) == 0);
    session_free(&a), session_free(&b), model_close(&m);
}

/* A form that turns nothing has no use for RoPE's frequencies: where they change with the text's length, there is
 * nothing to read again, and no ids to do it with. */
static void linear_unturned(void) {
    static const char *const specs[] = {NULL, "dynamic:original=8", "dynamic-yarn:original=8",
                                        "qwen-dynamic:original=8"};
    static float want[BUILD_VOCAB];
    BuildShape linear = shape;
    linear.form = "none", linear.phi = "elu+1";
    build_gguf(test_tmp("unturned.gguf"), &linear, TENSOR_F32);
    for (size_t i = 0; i < sizeof specs / sizeof *specs; i++)
        for (size_t piece = 1; piece <= 40; piece += 39) {
            Model m;
            Session s;
            char err[300];
            int ids[40];
            const float *logits = NULL;
            const ModelOptions options = {.rope.spec = specs[i], .rope.n_ctx = 64};
            CHECK(model_open(&m, test_tmp("unturned.gguf"), &options, err, sizeof err) == 0);
            CHECK(session_init(&s, &m, NULL, err, sizeof err) == 0);
            for (int k = 0; k < 40; k++) ids[k] = build_id(k);
            for (size_t k = 0; k < 40; k += piece)
                CHECK(session_eval(&s, ids + k, piece, &logits, err, sizeof err) == 0);
            if (i == 0 && piece == 1) memcpy(want, logits, sizeof want);
            CHECK(logits && memcmp(logits, want, sizeof want) == 0);
            session_free(&s);
            model_close(&m);
        }
}

/* Words that are not known are refused by name, in both kinds of file. */
static void linear_words(void) {
    static const struct { const char *phi, *form, *says; } rows[] = {
        {"elu", "numerator", "\"elu\""}, {"elu+1", "over", "\"over\""}, {"relu", "cosine", "identity"}, {"", "", ""}};
    for (size_t i = 0; i < 4; i++)
        for (int hf = 0; hf < 2; hf++) {
            BuildShape linear = shape;
            Model m;
            char err[300] = "";
            linear.phi = rows[i].phi, linear.form = rows[i].form;
            if (hf) build_hf(test_tmp("words"), &linear, TENSOR_F32, 1);
            else build_gguf(test_tmp("words.gguf"), &linear, TENSOR_F32);
            int rc = model_open(&m, test_tmp(hf ? "words" : "words.gguf"), NULL, err, sizeof err);
            if (*rows[i].says) CHECK(rc == -EINVAL && strstr(err, rows[i].says));
            else CHECK(rc == 0 && strcmp(m.config.linear.phi->name, "elu+1") == 0 &&
                       strcmp(m.config.linear.form->name, "numerator") == 0);
            if (rc == 0) model_close(&m);
        }
}

const Test tests_session_linear[] = {
    {"session/linear attention in chunks", chunks},
    {"session/linear attention has no limits", linear_limits},
    {"session/linear attention that turns nothing", linear_unturned},
    {"session/linear attention's words", linear_words},
    {0},
};
