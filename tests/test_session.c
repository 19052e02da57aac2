/* tests/test_session.c - a session is exact: the same bits for any number of threads and any way of handing the ids
 * over. */
#include "attention/maps.h"
#include "attention/softmax.h"
#include "kernels/rows.h"
#include "model/timeline.h"
#include "model/family.h"
#include "model/options.h"
#include "model/past.h"
#include "model/steps.h"
#include "build.h"
#include "test.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { N = 33, MAX_VOCAB = 1024 };
static const BuildShape shape = {.d = 64, .ff = 96, .layers = 2, .heads = 4, .kv_heads = 2, .n_ctx = 64};

/* The logits after N ids, handed over in pieces of the given sizes (cut[] ends with 0: the rest in one). */
static int logits_of(float *out, const Model *m, int threads, size_t n_batch, const int *cut) {
    char err[300];
    Session s;
    int ids[N], rc = session_init(&s, m,
                                  &(SessionOptions){.n_ctx = N, .threads = threads, .n_batch = n_batch,
                                                    .grain = 1}, err, sizeof err);
    for (int i = 0; i < N; i++) ids[i] = build_id(i);
    const float *logits = NULL;
    for (size_t at = 0; at < N && rc == 0;) {
        size_t n = *cut && at + (size_t)*cut < N ? (size_t)*cut : N - at;
        rc = session_eval(&s, ids + at, n, &logits, err, sizeof err);
        at += n;
        if (cut[0] && cut[1] >= 0) cut++; /* -1 repeats the last size */
    }
    if (rc == 0) memcpy(out, logits, (size_t)m->config.vocab_size * sizeof *out);
    session_free(&s);
    return rc;
}

static void check_exact(const char *path, size_t n_cuts, size_t most_batch) {
    static const int cuts[][4] = {{0}, {1, -1}, {7, 26, 0}, {16, 16, 1, 0}, {32, 1, 0}, {5, -1}, {1, 31, 1, 0}};
    static float want[MAX_VOCAB], got[MAX_VOCAB];
    const Kernels *k;
    for (int row = 0; (k = kernels_row(row)); row++) {
        Model m;
        char err[300] = "";
        int rc = model_open(&m, path, &(ModelOptions){.kernels = k}, err, sizeof err);
        if (rc) printf("    %s\n", err);
        CHECK(rc == 0);
        if (rc) return;
        CHECK(logits_of(want, &m, 1, 0, cuts[0]) == 0);
        double size = 0;
        for (int i = 0; i < m.config.vocab_size; i++) size += fabs((double)want[i]);
        CHECK(size > 1); /* not all zero, no NaN */
        for (int threads = 1; threads <= 3; threads++)
            for (size_t c = 0; c < n_cuts; c++)
                for (size_t batch = 0; batch <= most_batch; batch += 4) {
                    CHECK(logits_of(got, &m, threads, batch, cuts[c]) == 0);
                    CHECK(memcmp(got, want, (size_t)m.config.vocab_size * sizeof *got) == 0);
                }
        model_close(&m);
    }
}

static void exact_gguf(TensorType type) {
    build_gguf(test_tmp("exact.gguf"), &shape, type);
    check_exact(test_tmp("exact.gguf"), 7, 8);
}
static void exact_f32(void) { exact_gguf(TENSOR_F32); }
static void exact_f16(void) { exact_gguf(TENSOR_F16); }
static void exact_bf16(void) { exact_gguf(TENSOR_BF16); }
static void exact_q8_0(void) { exact_gguf(TENSOR_Q8_0); }
static void exact_q4_0(void) { exact_gguf(TENSOR_Q4_0); }

static void exact_llama2c(void) {
    for (int version = 0; version < 3; version++)
        for (int group = 4; group <= 32; group += 28) {
            build_llama2c(test_tmp("exact.bin"), &shape, version, group);
            check_exact(test_tmp("exact.bin"), 7, 8);
        }
}

static void exact_hf(void) {
    build_hf(test_tmp("exact-hf"), &shape, TENSOR_F32, 1);
    check_exact(test_tmp("exact-hf"), 7, 8);
    build_hf(test_tmp("exact-hf-sharded"), &shape, TENSOR_BF16, 3);
    check_exact(test_tmp("exact-hf-sharded"), 7, 8);
}

/* Linear attention: every form, every feature map, two file types; favor+ has more features than the head has
 * entries. */
static void exact_linear(void) {
    BuildShape linear = shape;
    for (int i = 0; linear_form_row(i) || feature_map_row(i); i++)
        for (int type = 0; type < 2; type++) {
            linear.form = linear_form_row(i) ? linear_form_row(i)->name : "numerator";
            linear.phi = linear_form(linear.form)->cosine ? "identity" : "elu+1";
            build_gguf(test_tmp("exact.gguf"), &linear, type ? TENSOR_Q8_0 : TENSOR_F32);
            if (linear_form_row(i)) check_exact(test_tmp("exact.gguf"), 4, 4);
            if (!feature_map_row(i)) continue;
            linear.form = "none"; /* identity's denominators are as safe here as anywhere: sums of many products */
            linear.phi = feature_map_row(i)->name;
            build_gguf(test_tmp("exact.gguf"), &linear, type ? TENSOR_Q8_0 : TENSOR_F32);
            check_exact(test_tmp("exact.gguf"), 4, 4);
        }
}

/* Behind a past that threads share by parts (attention/softmax.h), for two key heads are no shares for 3 or 4 of them.
 * A prompt, then nine tokens at once, which end in the second and in the third part and, by the first layer's window,
 * begin in the first and in the second; then tokens alone. Last two threads that became three: no room was made. */
static void exact_parts(void) {
    enum { LONG = 2 * ATTENTION_PART + 6 };
    static float want[MAX_VOCAB];
    static int ids[LONG];
    build_gguf(test_tmp("exact.gguf"), &shape, TENSOR_F32);
    for (int i = 0; i < LONG; i++) ids[i] = build_id(i);
    const Kernels *k;
    for (int row = 0; (k = kernels_row(row)); row++)
        for (int z = 0; z < 4 * 3; z++) {
            Model m;
            char err[300];
            CHECK(model_open(&m, test_tmp("exact.gguf"), &(ModelOptions){.kernels = k}, err, sizeof err) == 0);
            m.layers[0].window = ATTENTION_PART;
            Session s;
            const SessionOptions o = {.n_ctx = LONG, .threads = (const int[]){1, 3, 4, 2}[z % 4], .grain = 1,
                                      .cache = (CacheType)(z / 4)};
            CHECK(session_init(&s, &m, &o, err, sizeof err) == 0);
            size_t room = s.past->bytes - (size_t)((char *)s.past->sums - (char *)s.past->block);
            size_t nine = 9 * (size_t)shape.heads * 3 * attention_sums(&s.past->cache) * sizeof(float);
            CHECK((room >= nine) == (o.threads > 2)); /* for nine tokens in three parts */
            if (o.threads == 2) s.options.threads = 3;
            const float *logits;
            size_t at = o.threads > 1 ? LONG - 12 : LONG;
            CHECK(session_eval(&s, ids, at, &logits, err, sizeof err) == 0);
            for (size_t n = 9; at < LONG; at += n, n = 1)
                CHECK(session_eval(&s, ids + at, n, &logits, err, sizeof err) == 0);
            if (o.threads == 1) memcpy(want, logits, BUILD_VOCAB * sizeof *want);
            CHECK(fabsf(want[0]) > 0 && memcmp(want, logits, BUILD_VOCAB * sizeof *want) == 0);
            session_free(&s), model_close(&m);
        }
}

/* RoPE knows distances alone: a text has the same logits wherever it stands, to 1e-4 of some units (angles are off by
 * 5e-7 at 2^32). The places begin within the text of one before 2^8, 2^16, 2^31 and 2^32: a position kept in less
 * breaks it in two. */
static void far_positions(void) {
    static const uint64_t borders[] = {1 << 8, 1 << 16, (uint64_t)1 << 31, (uint64_t)1 << 32};
    BuildShape linear = shape;
    static float want[MAX_VOCAB];
    linear.form = "numerator", linear.phi = "elu+1";
    build_gguf(test_tmp("far.gguf"), &linear, TENSOR_F32);
    Model m;
    Session s;
    char err[300];
    const float *logits;
    int ids[300];
    CHECK(model_open(&m, test_tmp("far.gguf"), NULL, err, sizeof err) == 0);
    CHECK(logits_of(want, &m, 1, 0, (const int[]){0}) == 0);
    for (int i = 0; i < N; i++) ids[i] = build_id(i);
    for (size_t i = 0; i < sizeof borders / sizeof *borders && borders[i] < SIZE_MAX / 2; i++) {
        CHECK(session_init(&s, &m, NULL, err, sizeof err) == 0);
        s.pos = (size_t)borders[i] - N / 2;
        CHECK(session_eval(&s, ids, N, &logits, err, sizeof err) == 0 && s.pos == borders[i] + N - N / 2);
        for (int v = 0; v < BUILD_VOCAB; v++) NEAR(logits[v], want[v], 1e-4, 0);
        session_free(&s);
    }
    model_close(&m);

    /* Softmax: through two layers with a window of 8 the last id sees no more than the last 15. */
    build_gguf(test_tmp("far.gguf"), &shape, TENSOR_F32);
    CHECK(model_open(&m, test_tmp("far.gguf"), NULL, err, sizeof err) == 0);
    for (int l = 0; l < shape.layers; l++) m.layers[l].window = 8;
    CHECK(logits_of(want, &m, 1, 0, (const int[]){0}) == 0);
    for (int i = 0; i < 260; i++) ids[i] = build_id(i < 260 - N ? i + 7 : i - (260 - N));
    CHECK(session_init(&s, &m, &(SessionOptions){.n_ctx = 260}, err, sizeof err) == 0);
    CHECK(session_eval(&s, ids, 260, &logits, err, sizeof err) == 0);
    for (int v = 0; v < BUILD_VOCAB; v++) NEAR(logits[v], want[v], 1e-4, 0);
    session_free(&s), model_close(&m);
}

static void exact_trained(void) {
    static const char *const names[] = {"tales/tales-1m.gguf", "tales/tales-1m-f32.gguf", "llama2c/stories260K.bin",
                                        "llama2c/stories260K_v1.bin", "llama2c/stories260K_q8_v2.bin",
                                        "tales/tales-1m-linear.gguf", "tales/tales-1m-linear-f32.gguf"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (test_data(names[i])) check_exact(test_data(names[i]), 4, 0);
}

/* One set of weights in eight files: float files agree to rounding (3e-5 of logits of some units: a folder's
 * rows of q and k stand in another order, and so do the scores' sums). Q8_0 and int8 groups of
 * 32 hold the same weights too, but meet activations of 8 bits: near each other (one rounding tie may fall the other
 * way), and within a fifth of the float logits' size, where a wrong scale or layout would be off by more than all of
 * it. */
static void formats_agree(void) {
    static float want[MAX_VOCAB], got[MAX_VOCAB];
    build_gguf(test_tmp("a.gguf"), &shape, TENSOR_F32);
    build_gguf(test_tmp("b.gguf"), &shape, TENSOR_F16);
    build_gguf(test_tmp("c.gguf"), &shape, TENSOR_Q8_0);
    build_llama2c(test_tmp("d.bin"), &shape, 0, 0);
    static const struct { const char *name; double tolerance; } files[] = {
        {"a.gguf", 0}, {"b.gguf", 0}, {"d.bin", 0}, {"e.bin", 0}, {"g", 3e-5}, {"h", 3e-5}, {"c.gguf", 1},
        {"f.bin", 0.02}};
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        if (i == 3) build_llama2c(test_tmp("e.bin"), &shape, 1, 0), build_llama2c(test_tmp("f.bin"), &shape, 2, 32);
        if (i == 4) build_hf(test_tmp("g"), &shape, TENSOR_F16, 1), build_hf(test_tmp("h"), &shape, TENSOR_BF16, 2);
        Model m;
        char err[300] = "";
        CHECK(model_open(&m, test_tmp(files[i].name), NULL, err, sizeof err) == 0);
        if (*err) printf("    %s\n", err);
        CHECK(logits_of(i ? got : want, &m, 1, 0, (const int[]){0}) == 0);
        double error = 0, size = 0;
        for (int v = 0; v < BUILD_VOCAB && i; v++) {
            NEAR(got[v], want[v], files[i].tolerance, 0);
            error += (double)(got[v] - want[v]) * (double)(got[v] - want[v]), size += (double)want[v] * (double)want[v];
        }
        CHECK(error <= 0.04 * size);
        if (i == 6) memcpy(want, got, sizeof want); /* from here on the quantized ones among themselves */
        model_close(&m);
    }
}

/* Weights copied to memory of our own give the same bits, with every row, tied or not. */
static void copied_weights(void) {
    static float want[MAX_VOCAB], got[MAX_VOCAB];
    build_gguf(test_tmp("m.gguf"), &shape, TENSOR_F32);
    build_gguf(test_tmp("n.gguf"), &shape, TENSOR_Q8_0);
    build_hf(test_tmp("p"), &shape, TENSOR_BF16, 2);
    build_llama2c(test_tmp("q.bin"), &shape, 1, 0);
    static const char *const files[] = {"m.gguf", "n.gguf", "p", "q.bin"};
    const Kernels *k;
    for (int row = 0; (k = kernels_row(row)); row++)
        for (size_t i = 0; i < sizeof files / sizeof *files; i++)
            for (int copy = 0; copy < 2; copy++) {
                Model m;
                char err[300] = "";
                int rc = model_open(&m, test_tmp(files[i]), &(ModelOptions){.kernels = k, .copy = copy, .threads = 2},
                                    err, sizeof err);
                if (rc) printf("    %s\n", err);
                CHECK(rc == 0);
                if (rc) return;
                const uint8_t *w = m.layers[0].w_down.data;
                if (i != 1) CHECK((m.panels != NULL) == copy &&
                                  (!copy || (w >= m.panels && w < m.panels + m.panels_size)));
                CHECK(logits_of(copy ? got : want, &m, 2, 0, (const int[]){7, 26, 0}) == 0);
                if (copy) CHECK(memcmp(got, want, (size_t)m.config.vocab_size * sizeof *got) == 0);
                model_close(&m);
            }
}

static void logits_of_none(void *arg) {
    Session *s = ((Batch *)arg)->s;
    Packed a = step_pack(s, s->scratch->xn, 0, (size_t)s->model->config.d_model, &s->model->lm_head);
    step_linear_nowait(s, s->logits, &a, &s->model->lm_head, NULL);
}

/* A batch may be empty, whatever its weights are: nothing is computed, and nothing is divided by it. */
static void no_tokens(void) {
    for (int quantized = 0; quantized < 2; quantized++) {
        Model m;
        Session s;
        char err[300] = "";
        build_gguf(test_tmp("none.gguf"), &shape, quantized ? TENSOR_Q8_0 : TENSOR_F32);
        CHECK(model_open(&m, test_tmp("none.gguf"), NULL, err, sizeof err) == 0);
        CHECK(session_init(&s, &m, NULL, err, sizeof err) == 0);
        memset(s.logits, 0x55, BUILD_VOCAB * sizeof *s.logits);
        step_run(&s, 0, logits_of_none, (Batch){.n = 0});
        for (size_t i = 0; i < BUILD_VOCAB * sizeof *s.logits; i++) CHECK(((const unsigned char *)s.logits)[i] == 0x55);
        session_free(&s), model_close(&m);
    }
}

static void rewind_and_share(void) {
    Model m;
    Session a, b;
    char err[300];
    const float *la, *lb;
    build_gguf(test_tmp("s.gguf"), &shape, TENSOR_F32);
    CHECK(model_open(&m, test_tmp("s.gguf"), NULL, err, sizeof err) == 0);
    CHECK(session_init(&a, &m, &(SessionOptions){.n_ctx = 20}, err, sizeof err) == 0);
    CHECK(session_init(&b, &m, NULL, err, sizeof err) == 0);
    CHECK(b.options.n_ctx == (size_t)shape.n_ctx);
    static const int text[] = {5, 6, 7, 8, 9, 10}, other[] = {50, 60, 70};
    CHECK(session_eval(&a, text, 6, NULL, err, sizeof err) == 0); /* two timelines on one model, in turns */
    CHECK(session_eval(&b, text, 3, NULL, err, sizeof err) == 0);
    session_rewind(&a, 3);
    CHECK(a.pos == 3);
    CHECK(session_eval(&a, other, 3, &la, err, sizeof err) == 0);
    CHECK(session_eval(&b, other, 3, &lb, err, sizeof err) == 0);
    CHECK(memcmp(la, lb, BUILD_VOCAB * sizeof *la) == 0);
    session_rewind(&a, 100); /* not forward */
    CHECK(a.pos == 6);
    session_free(&a), session_free(&b), model_close(&m);
}

static int stop_at_once(void *arg, size_t done, size_t total) {
    *(size_t *)arg = done;
    return total == 12;
}

static void keep(void *arg, size_t i, const float *logits) {
    memcpy((float *)arg + i * BUILD_VOCAB, logits, BUILD_VOCAB * sizeof *logits);
}

static void limits(void) {
    Model m;
    Session s;
    char err[300];
    size_t seen = 0;
    int ids[21] = {3};
    build_gguf(test_tmp("s.gguf"), &shape, TENSOR_F32);
    CHECK(model_open(&m, test_tmp("s.gguf"), NULL, err, sizeof err) == 0);
    CHECK(session_init(&s, &m,
                       &(SessionOptions){.n_ctx = 20, .n_batch = 4, .n_logits = 3, .progress = stop_at_once,
                                         .progress_arg = &seen}, err, sizeof err) == 0);
    CHECK(session_eval(&s, ids, 21, NULL, err, sizeof err) == -ENOSPC && s.pos == 0);
    CHECK(session_eval(&s, ids, 0, NULL, err, sizeof err) == -EINVAL);
    CHECK(session_eval(&s, &(int){BUILD_VOCAB}, 1, NULL, err, sizeof err) == -EINVAL && s.pos == 0);
    CHECK(session_eval(&s, &(int){-1}, 1, NULL, err, sizeof err) == -EINVAL);
    CHECK(session_eval(&s, ids, 12, NULL, err, sizeof err) == -EINTR && s.pos == 4 && seen == 4);
    session_rewind(&s, 0);
    float *each = malloc(11 * BUILD_VOCAB * sizeof *each); /* logits of every id: those of shorter calls */
    for (int i = 0; i < 11; i++) ids[i] = build_id(i);
    CHECK(session_eval_each(&s, ids, 11, keep, each, err, sizeof err) == 0);
    for (size_t n = 1; n <= 11; n++) {
        const float *logits;
        session_rewind(&s, 0);
        CHECK(session_eval(&s, ids, n, &logits, err, sizeof err) == 0);
        CHECK(memcmp(logits, each + (n - 1) * BUILD_VOCAB, BUILD_VOCAB * sizeof *logits) == 0);
    }
    free(each), session_free(&s), model_close(&m);
}

static void refuses_shapes(void) {
    Model m;
    char err[300];
    size_t n;
    build_gguf(test_tmp("s.gguf"), &shape, TENSOR_F32);
    char *file = file_read(test_tmp("s.gguf"), &n);
    static const struct { const char *key; unsigned char value; const char *says; } rows[] = {
        {"llama.embedding_length", 72, "shape"}, {"llama.block_count", 3, "missing"},
        {"llama.attention.head_count", 3, "head_dim"},
        {"llama.attention.head_count_kv", 4, "shape"}, {"llama.feed_forward_length", 95, "shape"},
        {"llama.rope.dimension_count", 15, "rotary_dim"}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char *at = file, *copy = malloc(n), *bad;
        memcpy(copy, file, n);
        while (memcmp(at, rows[i].key, strlen(rows[i].key)) != 0) at++;
        bad = copy + (at - file) + strlen(rows[i].key) + 4;
        *bad = (char)rows[i].value;
        file_write(test_tmp("bad.gguf"), copy, n);
        CHECK(model_open(&m, test_tmp("bad.gguf"), NULL, err, sizeof err) != 0);
        CHECK(strstr(err, rows[i].says) != NULL);
        if (!strstr(err, rows[i].says)) printf("    %s\n", err);
        free(copy);
    }
    free(file);
}

typedef struct { size_t calls, last, total, stop_at; int backwards; } Watched;

static int watch(void *arg, size_t done, size_t total) {
    Watched *w = arg;
    w->backwards |= done <= w->last || done > total || (w->total && total != w->total);
    w->last = done;
    w->total = total;
    return ++w->calls == w->stop_at;
}

/* Opening tells how far it is, to the end, and stops when it is asked to; then nothing is held. */
static void opening(void) {
    Model m;
    char err[300];
    Watched w = {0}, stopped = {.stop_at = 2};
    ModelOptions o = {.copy = 1, .progress = watch, .progress_arg = &w};
    if (!kernels_best()->lanes) {
        test_skip("the fastest row of this processor repacks nothing");
        return;
    }
    CHECK(model_open(&m, "model/tales-1m.gguf", &o, err, sizeof err) == 0);
    CHECK(w.calls > 2 && !w.backwards && w.last == m.panels_size && w.total == m.panels_size);
    model_close(&m);
    o.progress_arg = &stopped;
    CHECK(model_open(&m, "model/tales-1m.gguf", &o, err, sizeof err) == -EINTR && strstr(err, "tales-1m.gguf"));
    CHECK(stopped.calls == 2 && m.panels == NULL);
}

const Test tests_session[] = {{"session/opening tells", opening}, 
    {"session/exact F32", exact_f32},
    {"session/exact F16", exact_f16},
    {"session/exact BF16", exact_bf16},
    {"session/exact Q8_0", exact_q8_0},
    {"session/exact Q4_0", exact_q4_0},
    {"session/exact llama2.c v0, v1, v2", exact_llama2c},
    {"session/exact Hugging Face, sharded too", exact_hf},
    {"session/exact behind a past in parts", exact_parts},
    {"session/exact linear attention", exact_linear},
    {"session/exact trained models", exact_trained},
    {"session/a text has its logits wherever it stands", far_positions},
    {"session/one set of weights in eight files", formats_agree},
    {"session/copied weights", copied_weights},
    {"session/no tokens", no_tokens},
    {"session/rewind, two sessions on one model", rewind_and_share},
    {"session/limits, progress, logits of every id", limits},
    {"session/refuses shapes that do not fit", refuses_shapes},
    {0},
};
