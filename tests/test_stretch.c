/* tests/test_stretch.c - stretched RoPE: specs read and printed, and sessions whose logits do not depend on how the ids
 * came in. Whether they are the right ones: test_stretch_oracle.c. */
#include "kernels/rows.h"
#include "model/options.h"
#include "model/shift.h"
#include "model/state.h"
#include "model/timeline.h"
#include "rope/spec.h"
#include "build.h"
#include "test.h"

#include <stdlib.h>
#include <string.h>

enum { LONG = 150, TRAINED = 64 };
static const BuildShape shape = {.d = 64, .ff = 96, .layers = 3, .heads = 4, .kv_heads = 2, .n_ctx = TRAINED};

/* Borders within LONG for each of them. */
static const char *const specs[] = {"rerope:window=20",
                                    "leaky:window=20:factor=4",
                                    "self-extend:group=3:window=20",
                                    "self-extend-llamacpp:group=4:window=20",
                                    "dca:chunk=48:local=16",
                                    "dca:chunk=20:local=4:magnitude=1.1",
                                    "string:shift=30:window=7",
                                    "power:c=50",
                                    "sinks:keep=3:window=29",
                                    "sinks:keep=70:window=2",
                                    "window:size=33",
                                    "lm-infinite:keep=5:window=40",
                                    "nope:layers=1",
                                    "nope",
                                    "dynamic:factor=4",
                                    "dynamic-each:factor=4",
                                    "dynamic-yarn",
                                    "qwen-dynamic",
                                    "longrope:factor=4:long=4/4/4/4/4/4/4/4",
                                    "yarn:factor=4",
                                    "resonance:factor=4",
                                    "ntk:factor=4+log-n",
                                    "yarn:factor=4+rerope:window=20+log-n",
                                    "dynamic-each:factor=2+self-extend:group=4:window=17",
                                    "dynamic:factor=2+dca:chunk=48:local=16+eabf",
                                    "nope:layers=0/2+llama4:floor=16+leaky:window=9:factor=3",
                                    "window:size=33+ministral:original=32+temperature:t=0.8",
                                    "infllm:init=2:local=20:block=5:top=3:representatives=2:every=13",
                                    "ms-poe:at=50:skip=1",
                                    "infllm:init=0:local=9:block=1:top=4:representatives=1:every=9+nope:layers=1",
                                    "yarn:factor=2+ms-poe:at=64:skip=0+log-n"};
enum { N_SPECS = sizeof specs / sizeof *specs };

static int open_model(Model *m, const char *spec, const Kernels *k) {
    char err[400] = "";
    ModelOptions o = {.rope = {.spec = spec, .n_ctx = LONG}, .kernels = k};
    int rc = model_open(m, test_tmp("stretch.gguf"), &o, err, sizeof err);
    if (rc) printf("    %s: %s\n", spec ? spec : "as the file says", err);
    CHECK(rc == 0);
    return rc;
}

static void build_model(void) { build_gguf(test_tmp("stretch.gguf"), &shape, TENSOR_F32); }

/* n ids from the session's position on, in pieces of `step`; the logits behind the last, or zeroes. */
static void go_on(float *out, Session *s, size_t n, size_t step) {
    char err[300] = "";
    const float *logits = NULL;
    int ids[LONG], rc = 0;
    size_t from = s->pos;
    for (int i = 0; i < LONG; i++) ids[i] = build_id(i);
    for (size_t at = from; at < n && rc == 0; at += step)
        rc = session_eval(s, ids + at, n - at < step ? n - at : step, &logits, err, sizeof err);
    if (rc) printf("    %s\n", err);
    CHECK(rc == 0);
    memset(out, 0, BUILD_VOCAB * sizeof *out);
    if (logits) memcpy(out, logits, BUILD_VOCAB * sizeof *out);
}

static void start(Session *s, const Model *m, SessionOptions o) {
    char err[300] = "";
    o.n_ctx = LONG, o.grain = 1;
    CHECK(session_init(s, m, &o, err, sizeof err) == 0);
}

static void read_all(float *out, const Model *m, SessionOptions o, size_t n, size_t step) {
    Session s;
    start(&s, m, o);
    go_on(out, &s, n, step);
    session_free(&s);
}

/* In one call, in pieces, one by one; 1 to 3 threads; every cache: the same bits, at lengths before, at and behind
 * borders. */
static void exact_calls(void) {
    static const struct { int threads; size_t batch, step; } ways[] = {{2, 0, 50}, {3, 7, LONG}, {3, 64, 1}};
    static const struct { int ref; CacheType cache; size_t length, ways; } rows[] = {
        {0, CACHE_F32, LONG, 3}, {0, CACHE_F32, 65, 1}, {0, CACHE_F32, 31, 1}, {0, CACHE_F16, LONG, 1},
        {0, CACHE_Q8_0, LONG, 1}, {1, CACHE_F32, 70, 1}};
    static float want[BUILD_VOCAB], got[BUILD_VOCAB];
    build_model();
    for (int i = 0; i < N_SPECS; i++)
        for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
            Model m;
            size_t n = rows[k].length;
            if (open_model(&m, specs[i], rows[k].ref ? kernels_row(0) : NULL)) continue;
            read_all(want, &m, (SessionOptions){.cache = rows[k].cache, .threads = 1}, n, LONG);
            for (size_t w = 0; w < rows[k].ways; w++) {
                read_all(got, &m, (SessionOptions){.cache = rows[k].cache, .threads = ways[w].threads,
                                                   .n_batch = ways[w].batch}, n, ways[w].step);
                if (memcmp(got, want, sizeof got) != 0) printf("    %s, row %zu, way %zu\n", specs[i], k, w);
                CHECK(memcmp(got, want, sizeof got) == 0);
            }
            model_close(&m);
        }
}

static void keep_row(void *arg, size_t i, const float *logits) {
    memcpy((float *)arg + i * BUILD_VOCAB, logits, BUILD_VOCAB * sizeof *logits);
}

/* Every row of a call, not only the last: what methods that follow the length of the text (and ms-poe, whose heads are
 * ranked once it has become long) cannot have. */
static void exact_rows(void) {
    static const char *const following[] = {"dynamic:", "dynamic-yarn", "qwen-dynamic", "longrope", "ms-poe"};
    static float want[LONG * BUILD_VOCAB], got[LONG * BUILD_VOCAB];
    char err[300] = "";
    int ids[LONG];
    for (int i = 0; i < LONG; i++) ids[i] = build_id(i);
    build_model();
    for (int i = 0; i < N_SPECS; i++) {
        Model m;
        Session s;
        int follows = 0;
        for (int k = 0; k < 5; k++) follows |= strstr(specs[i], following[k]) != NULL;
        if (open_model(&m, specs[i], NULL)) continue;
        start(&s, &m, (SessionOptions){.threads = 2, .n_logits = 4});
        CHECK(session_eval_each(&s, ids, LONG, keep_row, want, err, sizeof err) == 0);
        session_rewind(&s, 0);
        for (size_t at = 0, n; at < LONG; at += n) {
            n = LONG - at < 37 ? LONG - at : 37;
            CHECK(session_eval_each(&s, ids + at, n, keep_row, got + at * BUILD_VOCAB, err, sizeof err) == 0);
        }
        if ((memcmp(got, want, sizeof got) == 0) == follows) printf("    %s\n", specs[i]);
        CHECK((memcmp(got, want, sizeof got) == 0) == !follows);
        session_free(&s);
        model_close(&m);
    }
}

/* Back to a length before, at and behind borders, and on again; saved and loaded. */
static void exact_returns(void) {
    static const size_t back[] = {0, 19, 20, 63, 64, 65, 100, 149};
    static float want[BUILD_VOCAB], got[BUILD_VOCAB];
    char err[300] = "";
    build_model();
    for (int i = 0; i < N_SPECS; i++) {
        Model m;
        Session s, other;
        if (open_model(&m, specs[i], NULL)) continue;
        start(&s, &m, (SessionOptions){.threads = 2});
        go_on(want, &s, LONG, LONG);
        for (size_t z = 0; z < sizeof back / sizeof *back; z++) {
            session_rewind(&s, back[z]);
            go_on(got, &s, LONG, 40);
            CHECK(memcmp(got, want, sizeof got) == 0);
        }
        session_rewind(&s, 70);
        go_on(got, &s, 90, 13);
        CHECK(session_save(&s, test_tmp("stretch.state"), err, sizeof err) == 0);
        start(&other, &m, (SessionOptions){.threads = 1});
        CHECK(session_load(&other, test_tmp("stretch.state"), NULL, err, sizeof err) == 0);
        go_on(got, &other, LONG, 9);
        if (memcmp(got, want, sizeof got) != 0) printf("    %s: after loading\n", specs[i]);
        CHECK(memcmp(got, want, sizeof got) == 0);
        session_free(&other);
        session_free(&s);
        model_close(&m);
    }
}

/* Within what each method leaves alone it is plain RoPE: the same to rounding; and beyond it is not. */
static void plain_when_near(void) {
    static const struct { const char *spec; size_t same; } rows[] = {
        {"rerope:window=20", 21}, {"leaky:window=20:factor=4", 21}, {"self-extend:group=3:window=20", 21},
        {"self-extend-llamacpp:group=4:window=20", 20}, {"dca:chunk=48:local=16", 49}, {"string:shift=30:window=7", 30},
        {"sinks:keep=3:window=29", 32}, {"window:size=33", 33}, {"lm-infinite:keep=5:window=40", 41},
        {"dynamic:factor=4", 64}, {"dynamic-each:factor=4", 64}, {"dynamic-yarn", 64}, {"qwen-dynamic", 64},
        {"leaky:window=20:factor=1", LONG}, {"self-extend:group=1:window=20", LONG}, {"log-n", 64}, {"none", LONG},
        {"dca:chunk=140:local=0", 141},
        {"infllm:init=2:local=20:block=5:top=1:every=10", 20}, {"ms-poe:at=50:skip=1", 50}, {"file", LONG}};
    static float want[BUILD_VOCAB], got[BUILD_VOCAB];
    Model plain, m;
    build_model();
    if (open_model(&plain, NULL, NULL)) return;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        if (open_model(&m, rows[i].spec, NULL)) continue;
        for (size_t n = rows[i].same; n <= rows[i].same + 1 && n <= LONG; n++) {
            double off = 0;
            read_all(want, &plain, (SessionOptions){.threads = 1}, n, LONG);
            read_all(got, &m, (SessionOptions){.threads = 1}, n, LONG);
            for (int v = 0; v < BUILD_VOCAB; v++) {
                double by = fabs((double)want[v] - (double)got[v]);
                off = by > off ? by : off; /* with fmax gcc 12 for arm64 stops: "internal compiler error" */
            }
            if ((n == rows[i].same) != (off < 1e-4)) printf("    %s at %zu: off by %g\n", rows[i].spec, n, off);
            CHECK((n == rows[i].same) == (off < 1e-4)); /* rounding: 1e-5 and less; one distance: 1e-3 and more */
        }
        model_close(&m);
    }
    model_close(&plain);
}

/* A context that shifts: the same bits in any pieces, and after saving; a plain context reads no such state. */
static void shifts(void) {
    static const char *const shifted[] = {"none", "yarn:factor=4", "rerope:window=9", "sinks:keep=2:window=9+log-n"};
    enum { SMALL = 29, KEEP = 3 };
    static float want[BUILD_VOCAB];
    char err[300] = "";
    int ids[LONG];
    for (int i = 0; i < LONG; i++) ids[i] = build_id(i);
    build_model();
    for (size_t i = 0; i < sizeof shifted / sizeof *shifted; i++) {
        Model m;
        const float *logits = NULL;
        if (open_model(&m, shifted[i], NULL)) continue;
        CHECK(session_can_shift(&m, KEEP, SMALL, err, sizeof err) == 0);
        for (size_t step = 1; step <= LONG; step = step == 1 ? 7 : step == 7 ? 50 : step + 100) {
            Session s, t;
            SessionOptions o = {.n_ctx = SMALL, .shifts = 1, .threads = (int)(step % 3) + 1, .grain = 1};
            CHECK(session_init(&s, &m, &o, err, sizeof err) == 0 && session_init(&t, &m, &o, err, sizeof err) == 0);
            for (size_t at = 0; at < 100; at += step)
                CHECK(session_eval_shifting(&s, KEEP, ids + at, 100 - at < step ? 100 - at : step, &logits, err,
                                            sizeof err) == 0);
            CHECK(session_save(&s, test_tmp("shift.state"), err, sizeof err) == 0);
            CHECK(session_load(&t, test_tmp("shift.state"), NULL, err, sizeof err) == 0);
            CHECK(session_eval_shifting(&t, KEEP, ids + 100, LONG - 100, &logits, err, sizeof err) == 0);
            if (step == 1) memcpy(want, logits, sizeof want);
            CHECK(memcmp(want, logits, sizeof want) == 0);
            session_free(&t);
            o.shifts = 0;
            CHECK(session_init(&t, &m, &o, err, sizeof err) == 0);
            CHECK(session_load(&t, test_tmp("shift.state"), NULL, err, sizeof err) < 0 && strstr(err, "shift"));
            session_free(&t);
            session_free(&s);
        }
        CHECK(session_can_shift(&m, SMALL - 1, SMALL, err, sizeof err) < 0);
        model_close(&m);
    }
}

/* A state that names its stretch: cut at every length, and with every byte of its head changed, it is refused. */
static void broken_states(void) {
    char err[300] = "";
    float out[BUILD_VOCAB];
    Model m;
    Session s;
    size_t size;
    build_model();
    if (open_model(&m, "yarn:factor=4+rerope:window=20", NULL)) return;
    start(&s, &m, (SessionOptions){.threads = 1});
    go_on(out, &s, 5, 5);
    CHECK(session_save(&s, test_tmp("whole.state"), err, sizeof err) == 0);
    char *file = file_read(test_tmp("whole.state"), &size);
    CHECK(file && session_load_memory(&s, file, size, "x", NULL, err, sizeof err) == 0);
    for (size_t n = 0; file && n < size; n++)
        CHECK(session_load_memory(&s, file, n, "x", NULL, err, sizeof err) < 0 && s.pos == 0);
    for (size_t at = 0; file && at < 140; at++) {
        file[at] ^= 4;
        CHECK(session_load_memory(&s, file, size, "x", NULL, err, sizeof err) < 0 && s.pos == 0 && !strchr(err, '\n'));
        file[at] ^= 4;
    }
    free(file);
    session_free(&s);
    model_close(&m);
}

/* Another text behind a rewind, and a way back behind what a file brought: heads are ranked anew. */
static void ranks_are_the_texts(void) {
    char err[300] = "";
    static float want[BUILD_VOCAB];
    const float *logits = NULL;
    int a[LONG], b[LONG];
    Model m;
    Session s;
    build_model();
    if (open_model(&m, "ms-poe:at=16:skip=0", NULL)) return;
    for (int i = 0; i < LONG; i++) a[i] = build_id(i), b[i] = build_id(7 * i + 3);
    start(&s, &m, (SessionOptions){.threads = 1});
    CHECK(session_eval(&s, b, 30, &logits, err, sizeof err) == 0);
    memcpy(want, logits, sizeof want);
    session_free(&s);
    for (size_t first = 15; first < 20; first++) /* before, at and behind the border */
        for (int way = 0; way < 3; way++) {
            start(&s, &m, (SessionOptions){.threads = 1});
            CHECK(session_eval(&s, a, first, &logits, err, sizeof err) == 0);
            if (way > 0) CHECK(session_save(&s, test_tmp("ranks"), err, sizeof err) == 0);
            if (way > 0) {
                session_free(&s);
                start(&s, &m, (SessionOptions){.threads = 2});
                CHECK(session_load(&s, test_tmp("ranks"), NULL, err, sizeof err) == 0);
            }
            if (way == 2) CHECK(session_eval(&s, a + first, 5, NULL, err, sizeof err) == 0);
            CHECK(session_rewind(&s, 0) == 0);
            CHECK(session_eval(&s, b, 9, NULL, err, sizeof err) == 0);
            CHECK(session_eval(&s, b + 9, 21, &logits, err, sizeof err) == 0);
            CHECK(memcmp(logits, want, sizeof want) == 0);
            session_free(&s);
        }
    model_close(&m);
}

/* A model opened under one spec and stretched by another is what the other says: nothing of the first stays. */
static void nothing_stays(void) {
    static const struct { const char *first, *second;
    } rows[] = {{"nope:layers=0", "rerope:window=20"},
                {"dca:chunk=48:local=16:magnitude=3", "rerope:window=20"},
                {"log-n+temperature:t=2", "ministral:original=32"},
                {"self-extend:group=3:window=20", "leaky:window=20:factor=4"}};
    static float want[BUILD_VOCAB], got[BUILD_VOCAB];
    char err[300];
    RopeNumbers *numbers = calloc(1, sizeof *numbers);
    build_model();
    for (size_t i = 0; numbers && i < sizeof rows / sizeof *rows; i++) {
        Model m, view, fresh;
        RopeOverride o = {.spec = rows[i].second, .n_ctx = LONG};
        if (open_model(&m, rows[i].first, NULL) || open_model(&fresh, rows[i].second, NULL)) break;
        CHECK(model_stretch(&view, numbers, &m, &o, err, sizeof err) == 0);
        read_all(want, &fresh, (SessionOptions){.threads = 1}, LONG, LONG);
        read_all(got, &view, (SessionOptions){.threads = 1}, LONG, LONG);
        if (memcmp(want, got, sizeof want) != 0) printf("    %s, then %s\n", rows[i].first, rows[i].second);
        CHECK(memcmp(want, got, sizeof want) == 0);
        model_close(&m);
        model_close(&fresh);
    }
    free(numbers);
}

/* ---- specs ---- */

static int apply(const char *spec, char *printed, char *err) {
    RopeNumbers *n = calloc(1, sizeof *n);
    RopeConfig c = {.scaling = &rope_none, .rotary_dim = 16, .theta = 10000, .numbers = n};
    *n = (RopeNumbers){.n_ctx_train = 256, .n_layers = 12, .n_pairs = 8, .n_ctx = 1024};
    int rc = rope_spec_apply(&c, spec, err, 300);
    if (rc == 0) rc = rope_check(&c, err, 300);
    if (rc == 0) rope_spec_print(&c, printed, ROPE_SPEC_MOST);
    free(n);
    return rc;
}

/* As printed it parses to itself; every name alone, with all its defaults, too. */
static void prints_itself(void) {
    static const char *const more[] = {
        "yarn:factor=1e+1+log-n", "nope:layers=0-3/7/11", "linear:factor=3.3333333333333335", "file+window",
        "none+window:size=4", "longrope:long=1/2/3/4/5/6/7/8:short=1/1/1/1/1/1/1/1.5"};
    char once[ROPE_SPEC_MOST], twice[ROPE_SPEC_MOST], err[300];
    const char *name;
    for (int i = 0; (name = i < N_SPECS ? specs[i] : rope_spec_name(i - N_SPECS)); i++) {
        if (strcmp(name, "xpos") == 0 || strcmp(name, "longrope") == 0) continue; /* need what a file says */
        int rc = apply(name, once, err);
        if (rc) printf("    %s: %s\n", name, err);
        CHECK(rc == 0 && apply(once, twice, err) == 0 && strcmp(once, twice) == 0);
    }
    for (size_t i = 0; i < sizeof more / sizeof *more; i++)
        CHECK(apply(more[i], once, err) == 0 && apply(once, twice, err) == 0 && strcmp(once, twice) == 0);
    CHECK(apply("yarn:factor=1e+1+log-n", once, err) == 0 && strstr(once, "factor=10:") && strstr(once, "+log-n:"));
    CHECK(apply("nope:layers=7/0-2/3/11", once, err) == 0 && strcmp(once, "nope:layers=0-3/7/11") == 0);
    CHECK(apply("linear", once, err) == 0 && strcmp(once, "linear:factor=4") == 0); /* 1024 / 256 */
    /* the smallest groups that keep the farthest key within 170: floor(1023/9) + 64 - floor(64/9); by 8 it is 183 */
    CHECK(apply("self-extend", once, err) == 0 && strcmp(once, "self-extend:window=64:group=9") == 0);
    CHECK(apply("self-extend:window=32", once, err) == 0 && strcmp(once, "self-extend:window=32:group=8") == 0);
    CHECK(apply("rerope+yarn:original=64", once, err) == 0 && apply("yarn:original=64+rerope", twice, err) == 0 &&
          strcmp(once, twice) == 0 && strstr(once, "+rerope:window=32"));
    file_write(test_tmp("a list+1.txt"), "1, 2\n3 4\t5 [6] 7 8\n", 19);
    char spec[400];
    snprintf(spec, sizeof spec, "longrope:long=\"%s\"", test_tmp("a list+1.txt"));
    CHECK(apply(spec, once, err) == 0 && strstr(once, "a list+1.txt\"") && apply(once, twice, err) == 0 &&
          strcmp(once, twice) == 0);
}

static const struct { const char *spec, *says;
} hostile[] = {{"", "missing"},
               {"+", "missing"},
               {"yarn+", "missing"},
               {"nonsense", "no method"},
               {"yarn:", "no key"},
               {"yarn:beta=3", "beta_fast"},
               {"yarn:factor", "no value"},
               {"yarn:factor=", "not a number"},
               {"yarn:factor=nan", "out of range"},
               {"yarn:factor=inf", "out of range"},
               {"yarn:factor=0", "out of range"},
               {"yarn:factor=-2", "out of range"},
               {"yarn:factor=2:factor=3", "twice"},
               {"yarn:factor=2x", "not a number"},
               {"rerope:window=0", "out of range"},
               {"rerope:window=1.5", "whole"},
               {"rerope:window=1e30", "out of range"},
               {"self-extend:group=9:window=8", "larger"},
               {"self-extend-llamacpp:group=3:window=8", "multiple"},
               {"dca:chunk=8:local=8", "smaller"},
               {"string:shift=8:window=9", "larger"},
               {"sinks:window=0", "out of range"},
               {"yarn+ntk", "second"},
               {"rerope+dca", "second"},
               {"log-n+log-n", "twice"},
               {"nope+nope", "twice"},
               {"file+yarn", "second"},
               {"nope:layers=12", "layers 0 to 11"},
               {"nope:layers=3-1", "list of layers"},
               {"nope:layers=x", "list of layers"},
               {"nope:layers=-1", "list of layers"},
               {"nope:layers= -7", "list of layers"},
               {"window:size=4,", "does not belong"},
               {"longrope:long=1/2", "8 pairs"},
               {"longrope:long=/nowhere/list", "nowhere"},
               {"log-n:original=1", "out of range"},
               {"clip:pairs=9", "more pairs"},
               {"by-parts:beta_0=1:beta_1=2", "not below"},
               {"xpos", "not trained"},
               {"yarn:beta_fast=1:beta_slow=2", "beta_fast"},
               {"temperature:t=0", "out of range"},
               {"yarn:FACTOR=2", "no key"},
               {"proportional:share=0", "out of range"},
               {"\"yarn", "not closed"}};

static void refuses(void) {
    char printed[ROPE_SPEC_MOST], err[300];
    for (size_t i = 0; i < sizeof hostile / sizeof *hostile; i++) {
        int rc = apply(hostile[i].spec, printed, err);
        if (rc == 0 || !strstr(err, hostile[i].says))
            printf("    \"%s\": %d %s\n", hostile[i].spec, rc, rc ? err : printed);
        CHECK(rc != 0 && strstr(err, hostile[i].says) && !strchr(err, '\n'));
    }
}

/* A list is cut at its commas, but not in quotes. */
static void lists(void) {
    const char *list = "none,yarn:factor=2+log-n,longrope:long=\"a,b\"";
    char spec[40];
    CHECK(rope_spec_next(&list, spec, sizeof spec) == 1 && strcmp(spec, "none") == 0);
    CHECK(rope_spec_next(&list, spec, sizeof spec) == 1 && strcmp(spec, "yarn:factor=2+log-n") == 0);
    CHECK(rope_spec_next(&list, spec, sizeof spec) == 1 && strcmp(spec, "longrope:long=\"a,b\"") == 0);
    CHECK(rope_spec_next(&list, spec, sizeof spec) == 0);
    list = "a-name-that-does-not-fit-into-so-few-bytes-as-are-here";
    CHECK(rope_spec_next(&list, spec, sizeof spec) < 0);
}

extern const Test tests_stretch[];
const Test tests_stretch[] = {{"stretch/ranks are the text's", ranks_are_the_texts},
                              {"stretch/nothing stays of another spec", nothing_stays},
                              
    {"stretch/one call, pieces, one by one", exact_calls},
    {"stretch/every row of a call", exact_rows},
    {"stretch/after rewind, after loading", exact_returns},
    {"stretch/plain within its borders", plain_when_near},
    {"stretch/a context that shifts", shifts},
    {"stretch/broken states", broken_states},
    {"stretch/a spec prints what it parses to", prints_itself},
    {"stretch/refuses", refuses},
    {"stretch/lists", lists},
    {0},
};
