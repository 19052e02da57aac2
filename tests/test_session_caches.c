/* tests/test_session_caches.c - caches of f32, f16 and q8_0: each exact in itself, and near the exact one. */
#include "kernels/rows.h"
#include "model/options.h"
#include "model/session.h"
#include "build.h"
#include "test.h"

#include <string.h>

enum { LONG = 150 };
static const BuildShape shape = {.d = 64, .ff = 96, .layers = 2, .heads = 4, .kv_heads = 2, .n_ctx = 64};

/* LONG ids, more than two blocks of keys, in pieces of `step`. */
static void read_long(float *out, const Model *m, SessionOptions options, size_t step) {
    Session s;
    char err[300] = "";
    const float *logits = NULL;
    int ids[LONG], rc;
    for (int i = 0; i < LONG; i++) ids[i] = build_id(i);
    options.n_ctx = LONG, options.grain = 1;
    rc = session_init(&s, m, &options, err, sizeof err);
    for (size_t at = 0; at < LONG && rc == 0; at += step)
        rc = session_eval(&s, ids + at, LONG - at < step ? LONG - at : step, &logits, err, sizeof err);
    if (rc) printf("    %s\n", err);
    CHECK(rc == 0);
    memset(out, 0, BUILD_VOCAB * sizeof *out);
    if (logits) memcpy(out, logits, BUILD_VOCAB * sizeof *out);
    session_free(&s);
}

/* Every cache, many query heads or few, more threads than key heads: the same bits. Against f32: these random
 * weights, whose scores are steep, make of f16's roundings (2^-12 of a number) up to 2.3e-3 of the largest logit, of
 * q8_0's (1/254 of the largest of 32) 8e-2; a wrong scale or entry makes a whole one. */
static void exact_caches(void) {
    static const int heads[][2] = {{4, 1}, {4, 2}, {4, 4}};
    static const struct { int threads; size_t batch, step; } ways[] = {
        {1, 7, LONG}, {2, 0, 70}, {3, 64, LONG}, {3, 0, 1},
    };
    static float exact[BUILD_VOCAB], want[BUILD_VOCAB], got[BUILD_VOCAB];
    const Kernels *k;
    for (int z = 0; z < 3; z++) {
        BuildShape b = shape;
        b.heads = heads[z][0], b.kv_heads = heads[z][1];
        build_gguf(test_tmp("exact.gguf"), &b, TENSOR_F32);
        for (int row = 0; (k = kernels_row(row)); row++) {
            Model m;
            char err[300];
            CHECK(model_open(&m, test_tmp("exact.gguf"), &(ModelOptions){.kernels = k}, err, sizeof err) == 0);
            for (int type = CACHE_F32; type <= CACHE_Q8_0; type++) {
                double size = 0, off = 0;
                read_long(want, &m, (SessionOptions){.cache = (CacheType)type, .threads = 1}, LONG);
                if (type == CACHE_F32) memcpy(exact, want, sizeof exact);
                /* no fmax: gcc 12 for arm64 would stop with an internal error */
                for (int i = 0; i < BUILD_VOCAB; i++) {
                    double magnitude = fabs((double)exact[i]), by = fabs((double)exact[i] - (double)want[i]);
                    size = magnitude > size ? magnitude : size;
                    off = by > off ? by : off;
                }
                CHECK(size > 0.1 && off <= size * (type == CACHE_F32 ? 0 : type == CACHE_F16 ? 1e-2 : 0.3) &&
                      (off > 0) == (type != CACHE_F32));
                for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
                    read_long(got, &m, (SessionOptions){.cache = (CacheType)type, .threads = ways[i].threads,
                                                        .n_batch = ways[i].batch}, ways[i].step);
                    CHECK(memcmp(got, want, sizeof got) == 0);
                }
            }
            model_close(&m);
        }
    }
}

/* auto: f16 for decoders of 16 bits or fewer a weight, unless all of the cache is small. */
static void usual_cache(void) {
    static const struct { TensorType type; int n_ctx; CacheType want; } rows[] = {
        {TENSOR_F32, 1 << 20, CACHE_F32}, {TENSOR_F16, 1 << 20, CACHE_F16}, {TENSOR_Q8_0, 1 << 20, CACHE_F16},
        {TENSOR_Q4_0, 64, CACHE_F32}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        BuildShape b = shape;
        Model m;
        char err[300];
        b.n_ctx = rows[i].n_ctx;
        build_gguf(test_tmp("usual.gguf"), &b, rows[i].type);
        CHECK(model_open(&m, test_tmp("usual.gguf"), NULL, err, sizeof err) == 0);
        CHECK(session_usual_cache(&m) == rows[i].want);
        model_close(&m);
    }
}

const Test tests_session_caches[] = {
    {"session/exact caches of f32, f16, q8_0", exact_caches},
    {"session/the usual cache", usual_cache},
    {0},
};
