/* tests/test_state.c - a session's past saved and loaded: the same bits as if it had been read; damaged files
 * refused. */
#include "attention/maps.h"
#include "model/timeline.h"
#include "attention/cache.h"
#include "model/fingerprint.h"
#include "model/options.h"
#include "model/state.h"
#include "build.h"
#include "test.h"
#include "base/hash.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static BuildShape tiny_shape(int linear) {
    BuildShape s = {.d = 8, .ff = 8, .layers = 2, .heads = 2, .kv_heads = 1, .n_ctx = 32};
    if (linear) s.phi = "elu+1", s.form = "numerator";
    return s;
}

/* The model of that kind, opened; a session on it that has read n ids and saved them as "x.state". */
static void make(Model *m, Session *s, int linear, size_t n) {
    char err[300];
    BuildShape shape = tiny_shape(linear);
    int ids[30];
    const float *logits;
    build_gguf(test_tmp("state.gguf"), &shape, TENSOR_F32);
    CHECK(model_open(m, test_tmp("state.gguf"), NULL, err, sizeof err) == 0);
    CHECK(session_init(s, m, &(SessionOptions){.n_ctx = 30, .threads = 1}, err, sizeof err) == 0);
    CHECK(session_save(s, test_tmp("x.state"), err, sizeof err) == -EINVAL); /* nothing read yet */
    for (size_t i = 0; i < n; i++) ids[i] = build_id((int)i);
    CHECK(session_eval(s, ids, n, &logits, err, sizeof err) == 0);
    CHECK(session_save(s, test_tmp("x.state"), err, sizeof err) == 0);
}

static void round_trip(int linear) {
    Model m;
    Session a, b;
    char err[300] = "";
    const float *la, *lb, *saved;
    size_t n, sizes[2];
    for (int i = 0; i < 2; i++) {
        make(&m, &a, linear, i ? 20 : 10);
        free(file_read(test_tmp("x.state"), &sizes[i]));
        CHECK(session_saved_ids(test_tmp("x.state"), &n, NULL, err, sizeof err) == 0 && n == a.pos);
        CHECK(session_init(&b, &m, &(SessionOptions){.n_ctx = 25, .threads = 1}, err, sizeof err) == 0);
        CHECK(session_eval(&b, (const int[]){9, 8, 7}, 3, NULL, err, sizeof err) == 0); /* forgotten by loading */
        CHECK(session_load(&b, test_tmp("x.state"), &saved, err, sizeof err) == 0 && b.pos == a.pos);
        CHECK(memcmp(saved, a.logits, BUILD_VOCAB * sizeof *saved) == 0);
        CHECK(session_save(&b, test_tmp("y.state"), err, sizeof err) == 0); /* and what was loaded can be saved */
        for (int t = 0; t < 5; t++) {
            int id = build_id(100 + t);
            CHECK(session_eval(&a, &id, 1, &la, err, sizeof err) == 0);
            CHECK(session_eval(&b, &id, 1, &lb, err, sizeof err) == 0);
            CHECK(memcmp(la, lb, BUILD_VOCAB * sizeof *la) == 0);
        }
        size_t nx, ny;
        char *x = file_read(test_tmp("x.state"), &nx), *y = file_read(test_tmp("y.state"), &ny);
        CHECK(nx == ny && memcmp(x, y, nx) == 0);
        free(x), free(y);
        session_free(&a), session_free(&b), model_close(&m);
    }
    if (linear) CHECK(sizes[0] == sizes[1]);                                    /* 10 ids or 20 */
    else
        CHECK(sizes[1] - sizes[0] ==
              10 * (sizeof(int) + 2 * 2 * 4 * sizeof(float))); /* an id, and 2 layers of k and v, 1 head of 4 */
}
static void round_trip_softmax(void) { round_trip(0); }
static void round_trip_linear(void) { round_trip(1); }

/* A cache of another type: the same bits from a state of its own, a line for one of another; how large they are; and
 * what they are, told without a session. */
static void cache_types(void) {
    static const size_t slot[] = {2 * 4 * 4, 2 * 4 * 2, 2 * (4 + 2)}; /* a key and a value of 4 */
    Model m;
    Session a, b;
    char err[300] = "";
    const float *la, *lb;
    int ids[20], id = 7;
    make(&m, &a, 0, 1);
    session_free(&a);
    for (int i = 0; i < 20; i++) ids[i] = build_id(i);
    for (int type = CACHE_F32; type <= CACHE_Q8_0; type++)
        for (int other = CACHE_F32; other <= CACHE_Q8_0; other++) {
            CacheType said = CACHE_F32;
            size_t n, size;
            CHECK(session_init(&a, &m, &(SessionOptions){.n_ctx = 30, .cache = (CacheType)type}, err, sizeof err) == 0);
            CHECK(session_init(&b, &m, &(SessionOptions){.n_ctx = 30, .cache = (CacheType)other}, err,
                               sizeof err) == 0);
            CHECK(session_eval(&a, ids, 20, &la, err, sizeof err) == 0 &&
                  session_save(&a, test_tmp("t.state"), err, sizeof err) == 0);
            CHECK(session_saved_ids(test_tmp("t.state"), &n, &said, err, sizeof err) == 0 && n == 20 &&
                  said == (CacheType)type);
            free(file_read(test_tmp("t.state"), &size));
            CHECK(size == 40 + BUILD_VOCAB * 4 + 20 * (4 + 2 * slot[type]) + 8); /* 2 layers, 1 head */
            int rc = session_load(&b, test_tmp("t.state"), &lb, err, sizeof err);
            if (type != other) {
                CHECK(rc == -EINVAL && b.pos == 0 && strstr(err, cache_formats[type].name) &&
                      strstr(err, cache_formats[other].name) && strstr(err, "--kv"));
            } else {
                CHECK(rc == 0 && memcmp(la, lb, BUILD_VOCAB * sizeof *la) == 0);
                CHECK(session_eval(&a, &id, 1, &la, err, sizeof err) == 0 &&
                      session_eval(&b, &id, 1, &lb, err, sizeof err) == 0);
                CHECK(memcmp(la, lb, BUILD_VOCAB * sizeof *la) == 0);
            }
            session_free(&a), session_free(&b);
        }
    model_close(&m);
}

/* Every length and every byte of a state: refused in a line, the session empty and still good. */
static void damaged(void) {
    for (int linear = 0; linear < 2; linear++) {
        Model m;
        Session s;
        make(&m, &s, linear, 4);
        size_t size;
        char *file = file_read(test_tmp("x.state"), &size), err[300];
        const float *logits;
        for (size_t n = 0; n < size; n++) {
            char *cut = malloc(n + 1); /* of exactly its size: ASan sees a byte read too many */
            memcpy(cut, file, n);
            *err = 0;
            CHECK(session_load_memory(&s, cut, n, "cut", &logits, err, sizeof err) != 0 && *err &&
                  !strchr(err, '\n') && !logits && s.pos == 0);
            free(cut);
        }
        for (size_t i = 0; i < size; i++) {
            file[i] ^= (char)(1 << i % 8);
            *err = 0;
            CHECK(session_load_memory(&s, file, size, "bad", &logits, err, sizeof err) != 0 && *err && s.pos == 0);
            file[i] ^= (char)(1 << i % 8);
        }
        CHECK(session_load_memory(&s, file, size, "good", &logits, err, sizeof err) == 0 && s.pos == 4 && logits);
        free(file);
        session_free(&s), model_close(&m);
    }
}

/* With its sum put right: lengths, ids and models that do not fit. */
static void does_not_fit(void) {
    Model m, other;
    Session s, t;
    char err[300] = "";
    const float *logits;
    make(&m, &s, 0, 8);
    size_t size;
    char *file = file_read(test_tmp("x.state"), &size);
    CHECK(session_init(&t, &m, &(SessionOptions){.n_ctx = 7}, err, sizeof err) == 0);
    CHECK(session_load_memory(&t, file, size, "x", &logits, err, sizeof err) == -ENOSPC && strstr(err, "-c"));
    session_free(&t);
    static const struct { size_t at; const char *bytes, *says; } rows[] = {
        {0, "R", "not a saved state"}, {8, "\3", "version 3"}, {12, "\2", "linear"}, {12, "\3", "f16"},
        {12, "\5", "kind"}, {16, "\1", "another model"}, {24, "\377", "does not fit"},
        {24, "\7", "longer"}, {31, "\377", "damaged"}, {40 + BUILD_VOCAB * 4 + 3, "\1", "vocabulary"}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char *bad = malloc(size);
        memcpy(bad, file, size);
        bad[rows[i].at] = bad[rows[i].at] == rows[i].bytes[0] ? (char)(rows[i].bytes[0] + 1) : rows[i].bytes[0];
        uint64_t sum = hash_bytes(HASH_START, bad, size - 8);
        for (int b = 0; b < 8; b++) bad[size - 8 + (size_t)b] = (char)(sum >> 8 * b);
        CHECK(session_load_memory(&s, bad, size, "x", &logits, err, sizeof err) < 0 && s.pos == 0);
        CHECK(strstr(err, rows[i].says) != NULL);
        if (!strstr(err, rows[i].says)) printf("    %s\n", err);
        free(bad);
    }
    size_t n;
    char *gguf = file_read(test_tmp("state.gguf"), &n);
    gguf[n - 40] ^= 1; /* one weight */
    file_write(test_tmp("other.gguf"), gguf, n);
    CHECK(model_open(&other, test_tmp("other.gguf"), NULL, err, sizeof err) == 0);
    CHECK(model_fingerprint(&other) != model_fingerprint(&m));
    free(gguf), free(file);
    model_close(&other), session_free(&s), model_close(&m);
}

/* ---- of another kind of session ---- */

/* A session whose context is full may shift: keys are kept otherwise, and a state says so. One of a text that does not
 * begin at 0 has no place for that. */
static void other_options(void) {
    Model m;
    Session a, b;
    char err[300] = "";
    const float *logits;
    static const SessionOptions plain = {.n_ctx = 30, .threads = 1}, shifts = {.n_ctx = 30, .threads = 1, .shifts = 1},
                                behind = {.n_ctx = 30, .threads = 1, .origin = 100};
    const int id = build_id(7);
    make(&m, &a, 0, 9);
    CHECK(session_init(&b, &m, &shifts, err, sizeof err) == 0);
    CHECK(session_load(&b, test_tmp("x.state"), NULL, err, sizeof err) == -EINVAL && b.pos == 0);
    CHECK(strstr(err, "was read with --rope none, and this session has none+shift: give the same") != NULL);
    CHECK(session_eval(&b, &id, 1, &logits, err, sizeof err) == 0);
    CHECK(session_save(&b, test_tmp("y.state"), err, sizeof err) == 0);
    CHECK(session_load(&b, test_tmp("y.state"), NULL, err, sizeof err) == 0 && b.pos == 1);
    CHECK(session_load(&a, test_tmp("y.state"), NULL, err, sizeof err) == -EINVAL && a.pos == 0);
    CHECK(strstr(err, "was read with --rope none+shift, and this session has none: give the same") != NULL);
    session_free(&a), session_free(&b);
    CHECK(session_init(&b, &m, &behind, err, sizeof err) == 0);
    CHECK(session_eval(&b, &id, 1, &logits, err, sizeof err) == 0);
    CHECK(session_save(&b, test_tmp("z.state"), err, sizeof err) == -EINVAL && !file_read(test_tmp("z.state"), NULL));
    CHECK(strstr(err, "a state holds a text from position 0, and this begins at 100") != NULL);
    session_free(&b);
    CHECK(session_init(&a, &m, &plain, err, sizeof err) == 0);
    CHECK(session_load(&a, test_tmp("x.state"), NULL, err, sizeof err) == 0 && a.pos == 9);
    session_free(&a), model_close(&m);
}

/* A state of softmax before a session of linear attention. */
static void other_attention(void) {
    Model softmax, linear;
    Session a, b;
    char err[300] = "";
    make(&softmax, &a, 0, 5);
    CHECK(rename(test_tmp("x.state"), test_tmp("softmax.state")) == 0);
    make(&linear, &b, 1, 5);
    CHECK(session_load(&b, test_tmp("softmax.state"), NULL, err, sizeof err) == -EINVAL && b.pos == 0);
    CHECK(strstr(err, "a state of softmax attention; this session's is linear") != NULL);
    session_free(&a), session_free(&b), model_close(&softmax), model_close(&linear);
}

/* The state that `from` makes of a text before a session stretched as `to`: what is said, or that it is taken. */
static void stretched(const char *from, const char *to, const char *line) {
    char err[600] = "";
    const char *const specs[] = {from, to};
    const int ids[] = {build_id(1), build_id(2), build_id(3)};
    for (int i = 0; i < 2; i++) {
        const float *logits;
        Model m;
        Session s;
        const ModelOptions o = {.rope = {.spec = specs[i], .n_ctx = 30}};
        CHECK(model_open(&m, test_tmp("state.gguf"), &o, err, sizeof err) == 0);
        CHECK(session_init(&s, &m, &(SessionOptions){.n_ctx = 30, .threads = 1}, err, sizeof err) == 0);
        if (i == 0) {
            CHECK(session_eval(&s, ids, 3, &logits, err, sizeof err) == 0);
            CHECK(session_save(&s, test_tmp("spec.state"), err, sizeof err) == 0);
        } else {
            int rc = session_load(&s, test_tmp("spec.state"), NULL, err, sizeof err);
            if (line ? rc != -EINVAL || !strstr(err, line) : rc != 0) printf("    %s, %s: %s\n", from, to, err);
            CHECK(line ? rc == -EINVAL && strstr(err, line) && s.pos == 0 : rc == 0 && s.pos == 3);
        }
        session_free(&s), model_close(&m);
    }
}

static void other_stretch(void) {
    static const char *const plain[] = {"rerope:window=20", "nope:layers=0", "log-n", "dynamic-each:factor=4"};
    BuildShape shape = tiny_shape(0);
    char line[300];
    shape.d = 64;
    build_gguf(test_tmp("state.gguf"), &shape, TENSOR_F32);
    for (size_t i = 0; i < sizeof plain / sizeof *plain; i++) {
        snprintf(line, sizeof line, "was read with --rope none, and this session has %.5s", plain[i]);
        stretched("none", plain[i], line);
        stretched(plain[i], plain[i], NULL);
        snprintf(line, sizeof line, "was read with --rope %.5s", plain[i]);
        stretched(plain[i], "none", line);
    }
    stretched("none", "linear:factor=4", "a state of another model, or of other rope or attention settings");
    stretched("rerope:window=20", "rerope:window=21", "was read with --rope rerope:window=20, and this session has "
              "rerope:window=21: give the same");
    stretched("leaky:window=20:factor=4+nope:layers=0+llama4:floor=16", "leaky:window=20:factor=4+nope:layers=0+"
              "llama4:floor=17", "was read with --rope nope:layers=0+leaky:window=20"); /* short: whole */
    /* numbers that differ far behind the beginning are shown from there on */
    stretched("longrope:factor=4:long=1/2/3/4/5/6/7/8/9/10/11/12/13/14/15/16:short=1/1/1/1/1/1/1/1/1/1/1/1/1/1/1/1",
              "longrope:factor=4:long=1/2/3/4/5/6/7/8/9/10/11/12/13/14/15/16:short=1/1/1/1/1/1/1/1/1/1/1/1/1/1/1/2",
              "was read with --rope ..");
}

/* A length of a stretch that no text of one has; a number of ids that no machine holds. */
static void other_lengths(void) {
    static uint8_t file[40000];
    const uint32_t version = 2, kind[2] = {1, 2}, length = 30008;
    const double one = 1;
    Model m;
    Session s;
    char err[300] = "";
    size_t n = 0;
    make(&m, &s, 0, 3);
    memcpy(file, "roformer", 8), memcpy(file + 8, &version, 4), memcpy(file + 12, &kind[0], 4);
    memcpy(file + 24, &(uint64_t){3}, 8), memcpy(file + 32, &one, 8), memcpy(file + 40, &length, 4);
    CHECK(session_load_memory(&s, file, sizeof file, "long", NULL, err, sizeof err) == -EINVAL);
    CHECK(strcmp(err, "long: the state is damaged") == 0);
    memcpy(file + 12, &kind[1], 4), memset(file + 24, 255, 8);
    file_write(test_tmp("many.state"), file, sizeof file);
    CHECK(session_saved_ids(test_tmp("many.state"), &n, NULL, err, sizeof err) == 0 && n == SIZE_MAX / 2);
    session_free(&s), model_close(&m);
}

/* Whatever changes attention, each in its own way. favor_features stands beside before-phi, where it changes no
 * frequencies. */
enum { SETTINGS = 13 };

static void make_settings(ModelOptions o[SETTINGS], const double *half, const uint64_t *seed) {
    const FeatureMap *relu = feature_map("relu"), *favor = feature_map("favor+");
    const LinearForm *both = linear_form("both"), *before = linear_form("before-phi");
    const ModelOptions rows[SETTINGS] = {
        {.rope = {.theta = 0}}, /* as the file says */
        {.rope = {.theta = 500}},
        {.rope = {.spec = "linear:factor=2"}},
        {.rope = {.spec = "linear", .factor = 4}},
        {.rope = {.spec = "yarn:factor=4:original=8"}},
        {.rope = {.spec = "yarn", .factor = 4, .n_ctx_original = 16}},
        {.attention = {.kind = ATTENTION_LINEAR}},
        {.attention = {.kind = ATTENTION_LINEAR, .form = both}},
        {.attention = {.kind = ATTENTION_LINEAR, .phi = relu}},
        {.attention = {.kind = ATTENTION_LINEAR, .epsilon = half}},
        {.attention = {.kind = ATTENTION_LINEAR, .phi = favor, .form = before}},
        {.attention = {.kind = ATTENTION_LINEAR, .phi = favor, .form = before, .favor_features = 8}},
        {.attention = {.kind = ATTENTION_LINEAR, .phi = favor, .form = before, .favor_seed = seed}},
    };
    memcpy(o, rows, sizeof rows);
}

/* A byte of a tensor that is only sampled changes the fingerprint, too. */
static void samples_count(const char *path, uint64_t fingerprint) {
    char err[300] = "";
    Model m;
    size_t size, big = 0;
    char *file = file_read(path, &size);
    CHECK(model_open_memory(&m, file, size, "memory", NULL, err, sizeof err) == 0);
    for (size_t i = 0; i < m.weights.n_tensors; i++) {
        const Tensor *t = &m.weights.tensors[i];
        if (t->size <= 4096) continue;
        big++;
        /* of 16 samples of 256 bytes */
        const size_t at[] = {0, (t->size - 256) / 15 * 7 + 100, (t->size - 256) / 15 * 15 + 255};
        for (int k = 0; k < 3; k++) {
            char *byte = file + (t->data - (const uint8_t *)file) + at[k];
            *byte ^= 1;
            CHECK(model_fingerprint(&m) != fingerprint);
            *byte ^= 1;
        }
    }
    CHECK(big > 0 && model_fingerprint(&m) == fingerprint);
    model_close(&m), free(file);
}

static void fingerprints(void) {
    const BuildShape shape = {.d = 64, .ff = 32, .layers = 1, .heads = 2, .kv_heads = 1, .n_ctx = 32};
    const double half = 0.5;
    const uint64_t favor_seed = 7;
    ModelOptions settings[SETTINGS];
    uint64_t seen[SETTINGS] = {0};
    char err[300] = "";
    Model m;
    make_settings(settings, &half, &favor_seed);
    build_gguf(test_tmp("print.gguf"), &shape, TENSOR_F32);
    for (size_t i = 0; i < SETTINGS; i++) {
        CHECK(model_open(&m, test_tmp("print.gguf"), &settings[i], err, sizeof err) == 0);
        seen[i] = model_fingerprint(&m);
        CHECK(model_fingerprint(&m) == seen[i]);
        for (size_t j = 0; j < i; j++)
            if (seen[i] == seen[j]) {
                printf("    settings %zu and %zu\n", j, i);
                CHECK(!"fingerprints differ");
            }
        model_close(&m);
    }
    samples_count(test_tmp("print.gguf"), seen[0]);
}

static void ignore_logits(void *arg, size_t i, const float *logits) { (void)arg, (void)i, (void)logits; }

/* Only what has the logits after its last id is saved; and session_eval_each has them as session_eval does. */
static void has_logits(void) {
    for (int linear = 0; linear < 2; linear++) {
        Model m;
        Session s, each;
        char err[300];
        const float *logits;
        int ids[11];
        size_t nx, ny;
        make(&m, &s, linear, 11);
        for (int i = 0; i < 11; i++) ids[i] = build_id(i);
        const SessionOptions options = {.n_ctx = 30, .threads = 1, .n_batch = 4, .n_logits = 3};
        CHECK(session_init(&each, &m, &options, err, sizeof err) == 0);
        CHECK(session_eval_each(&each, ids, 11, ignore_logits, NULL, err, sizeof err) == 0);
        CHECK(session_save(&each, test_tmp("y.state"), err, sizeof err) == 0);
        char *x = file_read(test_tmp("x.state"), &nx), *y = file_read(test_tmp("y.state"), &ny);
        CHECK(nx == ny && memcmp(x, y, nx) == 0);
        free(x), free(y);
        CHECK(session_eval(&s, ids, 2, NULL, err, sizeof err) == 0);
        CHECK(session_save(&s, test_tmp("z.state"), err, sizeof err) == -EINVAL &&
              !file_read(test_tmp("z.state"), NULL));
        CHECK(session_eval(&s, ids, 1, &logits, err, sizeof err) == 0);
        CHECK(session_save(&s, test_tmp("y.state"), err, sizeof err) == 0);
        CHECK(session_rewind(&s, linear ? 0 : 5) == 0);
        CHECK(session_save(&s, test_tmp("z.state"), err, sizeof err) == -EINVAL &&
              !file_read(test_tmp("z.state"), NULL));
        session_free(&each), session_free(&s), model_close(&m);
    }
}

const Test tests_state[] = {
    {"state/softmax: the same bits, growing", round_trip_softmax},
    {"state/linear: the same bits, one size", round_trip_linear},
    {"state/caches of f32, f16, q8_0", cache_types},
    {"state/every length, every byte", damaged},
    {"state/other lengths, ids, models", does_not_fit},
    {"state/other options", other_options},
    {"state/another attention", other_attention},
    {"state/another stretch", other_stretch},
    {"state/lengths that none has", other_lengths},
    {"state/fingerprints", fingerprints},
    {"state/only with logits", has_logits},
    {0},
};
