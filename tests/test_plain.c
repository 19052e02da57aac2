/* tests/test_plain.c - attention_plain (model/plain.c), which ./core has, against the tiles and strips of ./run: with
 * the reference row the same bits, for it does the same operations in the same order. */
#include "attention/maps.h"
#include "base/base.h"
#include "kernels/rows.h"
#include "model/options.h"
#include "model/scratch.h"
#include "model/timeline.h"
#include "build.h"
#include "test.h"

#include <errno.h>
#include <string.h>

enum { N = 150 }; /* two blocks of keys and a part of one */

typedef struct {
    float *at; /* [n, vocabulary] */
    size_t n;
} Rows;

static void keep(void *arg, size_t i, const float *logits) {
    Rows *r = arg;
    memcpy(r->at + (r->n + i) * BUILD_VOCAB, logits, BUILD_VOCAB * sizeof *logits);
}

/* The logits of all ids, handed over `piece` at a time. */
static void read_all(float *out, const Model *m, const Attention *a, CacheType cache, size_t piece, int threads) {
    char err[300] = "";
    Session s;
    Rows rows = {.at = out};
    int ids[N];
    for (int i = 0; i < N; i++) ids[i] = build_id(i);
    SessionOptions o = {.n_ctx = N, .attention = a, .cache = cache, .threads = threads, .grain = 1, .n_batch = 64};
    CHECK(session_init(&s, m, &o, err, sizeof err) == 0);
    for (size_t n; rows.n < N; rows.n += n) {
        n = N - rows.n < piece ? N - rows.n : piece;
        CHECK(session_eval_each(&s, ids + rows.n, n, keep, &rows, err, sizeof err) == 0);
    }
    session_free(&s);
}

static void same_bits(const char *path) {
    static float want[N * BUILD_VOCAB], got[N * BUILD_VOCAB];
    char err[300] = "";
    Model m;
    CHECK(model_open(&m, path, &(ModelOptions){.kernels = &kernels_ref}, err, sizeof err) == 0);
    for (CacheType cache = CACHE_F32; cache <= CACHE_F16; cache++) {
        read_all(want, &m, NULL, cache, N, 1);
        CHECK(want[N * BUILD_VOCAB - 1] != 0);
        for (int threads = 1; threads <= 3; threads += 2)
            for (size_t piece = 1; piece <= N; piece += 149) {
                memset(got, 0x7f, sizeof got);
                read_all(got, &m, &attention_plain, cache, piece, threads);
                CHECK(memcmp(got, want, sizeof got) == 0);
            }
    }
    model_close(&m);
}

static void softmax(void) {
    static const BuildShape shapes[] = {{.d = 64, .ff = 96, .layers = 2, .heads = 4, .kv_heads = 2, .n_ctx = N},
                                        {.d = 96, .ff = 32, .layers = 1, .heads = 16, .kv_heads = 1, .n_ctx = N},
                                        {.d = 64, .ff = 64, .layers = 3, .heads = 1, .kv_heads = 1, .n_ctx = N}};
    static const TensorType types[] = {TENSOR_F32, TENSOR_Q8_0, TENSOR_F16};
    for (int i = 0; i < 3; i++) {
        build_gguf(test_tmp("plain.gguf"), &shapes[i], types[i]);
        same_bits(test_tmp("plain.gguf"));
    }
}

static void eq_19(void) {
    BuildShape shape = {.d = 96, .ff = 64, .layers = 2, .heads = 4, .kv_heads = 2, .n_ctx = N, .phi = "elu+1",
                        .form = "numerator"};
    build_gguf(test_tmp("plain.gguf"), &shape, TENSOR_F32);
    same_bits(test_tmp("plain.gguf"));
    shape.kv_heads = 4;
    build_gguf(test_tmp("plain.gguf"), &shape, TENSOR_Q8_0);
    same_bits(test_tmp("plain.gguf"));
}

static void refuses(void) {
    const BuildShape shape = {.d = 64, .ff = 96, .layers = 2, .heads = 4, .kv_heads = 2, .n_ctx = N};
    const ModelOptions both = {.attention = {.kind = ATTENTION_LINEAR, .form = linear_form("both")}};
    SessionOptions o = {.n_ctx = N, .attention = &attention_plain, .cache = CACHE_Q8_0};
    char err[300] = "";
    Model m;
    Session s;
    build_gguf(test_tmp("plain.gguf"), &shape, TENSOR_F32);
    CHECK(model_open(&m, test_tmp("plain.gguf"), NULL, err, sizeof err) == 0);
    CHECK(session_init(&s, &m, &o, err, sizeof err) == -EINVAL && strstr(err, "plain attention knows no"));
    model_close(&m);
    o.cache = CACHE_F32;
    CHECK(model_open(&m, test_tmp("plain.gguf"), &both, err, sizeof err) == 0);
    CHECK(session_init(&s, &m, &o, err, sizeof err) == -EINVAL && s.past == NULL);
    model_close(&m);
}

const Test tests_plain[] = {
    {"plain/softmax", softmax},
    {"plain/eq. 19", eq_19},
    {"plain/refuses", refuses},
    {0}};
