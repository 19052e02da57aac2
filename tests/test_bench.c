/* tests/test_bench.c - run bench: that what it divides by is counted right, that its ceilings are of work really done,
 * and that the command says all it measured. How fast anything is here no test can know. */
#include "base/json.h"
#include "kernels/rows.h"
#include "bench/bench.h"
#include "model/past.h"
#include "build.h"
#include "program.h"
#include "roformer_files.h"
#include "test.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static const BuildShape shape = {.d = 64, .ff = 96, .layers = 2, .heads = 4, .kv_heads = 2, .n_ctx = 200};

/* ---- peaks and ceilings ---- */

/* A changed word changes the sum by as much, wherever it stands: every byte is read, and once. */
static void reads(const Peaks *p) {
    enum { BYTES = 5 * PEAK_READ };
    uint64_t *w = aligned_alloc(64, BYTES), sum = 0;
    for (size_t i = 0; i < BYTES / 8; i++) sum += w[i] = name_hash("reads", i);
    for (int streams = 1; streams <= 4; streams += 3) {
        CHECK(p->read(w, BYTES, streams) == sum);
        for (size_t i = 0; i < BYTES / 8; i += 7) {
            w[i] += 1000;
            CHECK(p->read(w, BYTES, streams) == sum + 1000);
            w[i] -= 1000;
        }
    }
    free(w);
}

/* A loop's integer result grows by the same for each round more: no round is left out. (Sums are below 2^24: exact as
 * floats.) */
static void rounds(const PeakLoop *loop) {
    float one = loop->run(1), two = loop->run(2), many = loop->run(101);
    CHECK(two != one && many - one == 100 * (two - one));
}

static void peaks(void) {
    for (int i = 0; kernels_row(i); i++) {
        const Peaks *p = peaks_of(kernels_row(i)->name);
        /* a row without loops of its own would be measured against ref's */
        CHECK(strcmp(p->row, kernels_row(i)->name) == 0);
        reads(p);
        rounds(&p->int8);
        rounds(&p->int4);
        CHECK(p->fma.run(1) != p->fma.run(2) && isfinite(p->fma.run(1000)) && p->fma.ops >= 32);
    }
    CHECK(peaks_of("no such row") == &peaks_ref);
}

static void ceilings(void) {
    Ceilings c;
    char err[200];
    CHECK(ceilings_init(&c, "ref", 2, 3, 5000, err, sizeof err) == 0);
    CHECK(c.reread >= 5000 && c.reread % PEAK_READ == 0 && c.bytes >= PEAK_READ);
    for (int i = 0; i < 4; i++) ceilings_sample(&c); /* one more than there is room for */
    for (int i = 0; i < N_CEILINGS; i++)
        for (int all = 0; all < 2; all++) {
            Spread s = ceilings_rate(&c, (Ceiling)i, all);
            CHECK(s.n == 3 && s.least > 0 && s.least <= s.median && s.median <= s.most && isfinite(s.most));
            CHECK(*ceilings_name(&c, (Ceiling)i));
        }
    CHECK(ceilings_read(&c) >= ceilings_rate(&c, CEILING_REREAD_1, 1).median);
    ceilings_free(&c);
    ceilings_free(&c);
    CHECK(ceilings_init(&c, "ref", 1, 1, 1e12, err, sizeof err) == 0 && c.reread == 0);
    CHECK(ceilings_rate(&c, CEILING_REREAD_4, 1).n == 0);
    ceilings_free(&c);
    double v[] = {3, 1, 2, 10};
    CHECK(spread_of(v, 3).median == 2 && spread_of(v, 4).median == 2.5 && spread_of(v, 4).most == 10 &&
          spread_of(v, 0).n == 0);
}

/* ---- work ---- */

static Matrix matrix(TensorType type, size_t rows, size_t cols) {
    static const char data[1];
    const void *scales = type == TENSOR_I8_GROUPS ? data : NULL;
    return (Matrix){.type = type, .rows = rows, .cols = cols, .data = data, .group = 64, .scales = scales};
}

/* TinyLlama-1.1B's shape: 969 million weights in the layers, and the MB a token that issue 6 lists for each format. */
static void tinyllama(void) {
    static const struct { TensorType type, head; double mb, f32, int8; } rows[] = {
        {TENSOR_F32, TENSOR_F32, 4138, 1, 0}, {TENSOR_F16, TENSOR_F16, 2069, 1, 0},
        {TENSOR_Q8_0, TENSOR_Q8_0, 1099, 0, 1},
        {TENSOR_Q4_0, TENSOR_Q6_K, 599, 0, 0}, /* llama.cpp keeps the output of a Q4_0 file in Q6_K */
        {TENSOR_I8_GROUPS, TENSOR_I8_GROUPS, 1034.42 * (1 + 4 / 64.), 0, 1}}; /* a byte, and a float for each 64 */
    enum { LAYERS = 22, EACH = 7 };
    static const size_t shapes[EACH][2] = {{2048, 2048}, {256, 2048}, {256, 2048}, {2048, 2048}, {5632, 2048},
                                           {5632, 2048}, {2048, 5632}};
    static Model m;
    static Layer layers[LAYERS];
    m = (Model){.config.n_layers = LAYERS, .layers = layers};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        TensorType t = rows[i].type;
        for (Layer *l = layers; l < layers + LAYERS; l++) {
            Matrix *const w[EACH] = {&l->wq, &l->wk, &l->wv, &l->wo, &l->w_gate, &l->w_up, &l->w_down};
            for (int k = 0; k < EACH; k++) *w[k] = matrix(t, shapes[k][0], shapes[k][1]);
        }
        m.tok_emb = matrix(t, 32000, 2048);
        m.lm_head = matrix(rows[i].head, 32000, 2048);
        Work w = work_matrices(&m, 1, 1), prompt = work_matrices(&m, 512, 0);
        NEAR(w.bytes / 1e6, rows[i].mb, 0.6, 0); /* listed in whole MB; a row of the embedding is 0.008 of them */
        NEAR(work_ops(w), 2 * (968884224. + 65536000), 0, 0);
        NEAR(work_ops(prompt), 2 * 512 * 968884224., 0, 0);
        /* Q6_K's are bytes too */
        CHECK(w.int8 - prompt.int8 / 512 == (rows[i].head == TENSOR_Q8_0 || i > 2 ? 2 * 65536000 : 0));
        CHECK(prompt.f32 == rows[i].f32 * work_ops(prompt) && prompt.int8 == rows[i].int8 * work_ops(prompt));
        CHECK(prompt.bytes < w.bytes); /* a prompt reads each matrix once */
    }
}

static int open_model(Model *m, Session *s, const BuildShape *sh, TensorType type, size_t n_ctx) {
    char err[300];
    build_gguf(test_tmp("bench.gguf"), sh, type);
    int rc = model_open(m, test_tmp("bench.gguf"), NULL, err, sizeof err);
    if (rc == 0) rc = session_init(s, m, &(SessionOptions){.n_ctx = n_ctx, .threads = 1}, err, sizeof err);
    return rc;
}

/* By hand: 4 heads of 16, 2 of keys and values; a position's keys and values are 2 x 2 x 16 numbers. Heads of 8 have
 * values of 16. */
static void attention_counted(void) {
    Model m;
    Session s;
    CHECK(open_model(&m, &s, &shape, TENSOR_F32, 100) == 0);
    const double slot = 2 * 2 * 16 * 4;
    Work one = work_attention(&s, 9, 1), prompt = work_attention(&s, 0, 10);
    NEAR(one.bytes, 2 * 10 * slot, 0, 0);           /* two layers, ten positions */
    NEAR(one.f32, 2 * 4 * 10 * (2 * 16 + 2 * 16), 0, 0); /* layers, heads, positions, q.k and p.v */
    NEAR(prompt.bytes, 2 * 10 * slot, 0, 0);
    NEAR(prompt.f32, 2 * 4 * 55 * 64., 0, 0);       /* 1 + 2 + .. + 10 pairs */
    m.layers[1].window = 3;
    one = work_attention(&s, 9, 1);
    prompt = work_attention(&s, 0, 10);
    NEAR(one.bytes, (10 + 3) * slot, 0, 0);
    NEAR(one.f32, 4 * (10 + 3) * 64., 0, 0);
    NEAR(prompt.f32, 4 * (55 + 1 + 2 + 8 * 3) * 64., 0, 0);
    m.layers[1].window = 0;
    m.config.mask = MASK_PADDING;
    NEAR(work_attention(&s, 0, 10).f32, 2 * 4 * 100 * 64., 0, 0);
    session_free(&s);
    model_close(&m);
    BuildShape small = shape;
    small.heads = 8, small.kv_heads = 4;
    CHECK(open_model(&m, &s, &small, TENSOR_F32, 100) == 0);
    NEAR(work_attention(&s, 9, 1).bytes, 2 * 10 * 4 * (8 + 16) * 4, 0, 0);
    session_free(&s);
    model_close(&m);
    BuildShape linear = shape;
    linear.phi = "elu+1", linear.form = "numerator";
    CHECK(open_model(&m, &s, &linear, TENSOR_F32, 100) == 0);
    Work near = work_attention(&s, 1, 1), far = work_attention(&s, 90, 1);
    CHECK(near.bytes == far.bytes && near.f32 == far.f32 && near.bytes == (double)s.past->state.n * 8);
    NEAR(near.f32, 2 * 2 * (2 + 4) * 16 * 16., 0, 0); /* layers; multiply and add; keys go in, queries read; S */
    session_free(&s);
    model_close(&m);
}

/* ---- bench_run ---- */

typedef struct {
    Model m;
    Session s;
    int opened, calls, stop_at;
} Mine;

static int my_open(void *arg, Session **s, char *err, size_t errlen) {
    Mine *mine = arg;
    session_free(&mine->s);
    model_close(&mine->m);
    mine->opened++;
    *s = &mine->s;
    if (model_open(&mine->m, test_tmp("bench.gguf"), NULL, err, errlen)) return -EINVAL;
    return session_init(&mine->s, &mine->m, &(SessionOptions){.n_ctx = 60, .threads = 1, .n_logits = 7}, err, errlen);
}

static int my_progress(void *arg, const char *what, double left_s) {
    Mine *mine = arg;
    CHECK(what && *what && left_s >= 0);
    return mine->stop_at && ++mine->calls >= mine->stop_at;
}

static void too_long(Mine *mine, BenchOptions o, const char *says) {
    static Bench b;
    char err[200] = "";
    o.open = my_open, o.progress = my_progress, o.arg = mine;
    CHECK(bench_run(&b, &o, err, sizeof err) == -EINVAL && strstr(err, says));
    bench_free(&b);
}

static void bench_rows(void) {
    static Bench b;
    Mine mine = {0};
    char err[200] = "";
    BenchList contexts = {2, {0, 28}}, prompts = {2, {7, 60}}, at_once = {2, {1, 7}};
    BenchOptions o = {.open = my_open, .progress = my_progress, .arg = &mine, .contexts = &contexts,
                      .prompts = &prompts, .at_once = &at_once, .runs = 2};
    build_gguf(test_tmp("bench.gguf"), &shape, TENSOR_Q8_0);
    too_long(&mine, (BenchOptions){.contexts = &(BenchList){1, {29}}},
             "29 positions and 32 more do not fit a context of 60");
    too_long(&mine, (BenchOptions){.prompts = &(BenchList){1, {61}}}, "a prompt of 61 does not fit");
    too_long(&mine, (BenchOptions){.at_once = &(BenchList){1, {8}}}, "8 tokens at once are more than");
    mine.opened = mine.calls = 0;
    CHECK(bench_run(&b, &o, err, sizeof err) == 0);
    CHECK(mine.opened == 3 && b.load.n == 2 && b.load.least > 0); /* the first warms up */
    static const struct {
        BenchKind kind;
        size_t context, tokens, each;
    } wanted[] = {{BENCH_DECODING, 0, 32, 1}, {BENCH_DECODING, 28, 32, 1}, {BENCH_AT_ONCE, 0, 32, 1},
                  {BENCH_AT_ONCE, 0, 28, 7},  {BENCH_PREFILL, 0, 7, 7},    {BENCH_PREFILL, 0, 60, 60}};
    CHECK(b.n_rows == 6);
    for (size_t i = 0; i < b.n_rows && i < 6; i++) {
        const BenchRow *r = &b.rows[i];
        CHECK(r->kind == wanted[i].kind && r->context == wanted[i].context);
        CHECK(r->tokens == wanted[i].tokens && r->each == wanted[i].each);
        CHECK(r->rate.n == 2 && r->rate.least > 0 && r->rate.most >= r->rate.least && r->limit > 0 &&
              isfinite(r->limit));
    }
    /* decoded from position 28 on: 29 .. 60 positions read, in two layers of 2 x 2 x 16 floats */
    NEAR(b.rows[1].work.bytes - work_matrices(&mine.m, 1, 1).bytes, 2 * 44.5 * 2 * 2 * 16 * 4, 1e-6, 0);
    Work whole = work_sum(work_matrices(&mine.m, 60, 1), work_attention(&mine.s, 0, 60));
    NEAR(work_ops(b.rows[5].work) * 60, work_ops(whole), 0, 1e-12);
    /* one at once is decoding; seven read every matrix once and have logits each */
    NEAR(work_ops(b.rows[2].work), work_ops(b.rows[0].work), 0, 1e-12);
    NEAR(b.rows[3].work.int8 * 7, work_matrices(&mine.m, 7, 7).int8, 0, 1e-12);
    CHECK(b.rows[3].work.bytes < b.rows[0].work.bytes / 4);
    CHECK(b.peak_context == 60 && b.peak_bytes > 100000);
    bench_free(&b);
    for (mine.stop_at = 1; mine.stop_at < 40; mine.stop_at += 6) { /* stopped anywhere: what is there is whole */
        mine.calls = 0;
        int rc = bench_run(&b, &o, err, sizeof err);
        CHECK(rc == -EINTR && mine.calls >= mine.stop_at);
        for (size_t i = 0; i < b.n_rows; i++)
            CHECK(b.rows[i].rate.n == 0 || (b.rows[i].rate.n <= 2 && b.rows[i].limit > 0));
        bench_free(&b);
    }
    session_free(&mine.s);
    model_close(&mine.m);
}

/* ---- the command ---- */

static double number(const JsonValue *v, const char *key) {
    const JsonValue *n = json_get(v, key);
    return n && n->type == JSON_NUMBER ? n->number : NAN;
}

static void spread_ok(const JsonValue *v, const char *unit) {
    CHECK(number(v, "runs") >= 1 && number(v, "least") > 0 && number(v, "least") <= number(v, "median"));
    CHECK(number(v, "median") <= number(v, "most"));
    CHECK(json_is(json_get(v, "unit"), unit));
}

static void rows_ok(const JsonValue *list, const char *key, double at) {
    CHECK(list && list->type == JSON_ARRAY && list->len == 1);
    for (const JsonValue *r = list ? list->child : NULL; r; r = r->next) {
        spread_ok(r, "tok/s");
        CHECK(number(r, key) == at && number(r, "limit") > 0 && number(r, "runs") == 1);
        NEAR(number(r, "gb_per_s"), number(r, "median") * number(r, "bytes_per_token") / 1e9, 0, 1e-7);
        NEAR(number(r, "gop_per_s"), number(r, "median") * number(r, "ops_per_token") / 1e9, 0, 1e-7);
        NEAR(number(r, "share"), number(r, "median") / number(r, "limit"), 0, 1e-7);
    }
}

static void json_output(void) {
    Json j;
    char err[200];
    build_gguf(test_tmp("bench.gguf"), &shape, TENSOR_Q4_0);
    CHECK(run("bench %s --runs 1 --contexts 5 --prompts 33 --at-once 3 -j 2 -c 100 --kernels ref --json",
              test_tmp("bench.gguf")) == 0);
    CHECK(json_parse(&j, out, strlen(out), "bench", err, sizeof err) == 0);
    const JsonValue *r = j.root;
    CHECK(r && strstr(json_get(r, "model")->str, "bench.gguf") && json_is(json_get(r, "architecture"), "llama"));
    CHECK(json_is(json_get(r, "weights"), "Q4_0") && json_is(json_get(r, "kernels"), "ref") &&
          number(r, "context") == 100);
    CHECK(number(r, "parameters") > 1000 && number(r, "file_bytes") > 1000);
    double threads = number(r, "threads"); /* 1 where it is built without OpenMP */
    CHECK(threads == 1 || threads == 2);
    const JsonValue *list = json_get(r, "ceilings");
    CHECK(list && list->len == (threads == 2 ? 2 : 1) * N_CEILINGS);
    for (const JsonValue *c = list ? list->child : NULL; c; c = c->next) {
        CHECK(json_get(c, "what")->len > 5 && number(c, "threads") >= 1 && number(c, "threads") <= threads);
        spread_ok(c, strstr(json_get(c, "what")->str, "read") ? "GB/s" : "Gop/s");
    }
    spread_ok(json_get(r, "load"), "s");
    CHECK(number(json_get(r, "peak_memory"), "bytes") > 100000 &&
          number(json_get(r, "peak_memory"), "context") == 33 + 67);
    rows_ok(json_get(r, "decode"), "context", 5);
    rows_ok(json_get(r, "at_once"), "tokens", 3);
    rows_ok(json_get(r, "prefill"), "tokens", 33);
    json_free(&j);
}

static int count(const char *s, char c, size_t n) {
    int found = 0;
    for (size_t i = 0; i < n && s[i]; i++) found += s[i] == c;
    return found;
}

static void csv_and_text(void) {
    build_gguf(test_tmp("bench.gguf"), &shape, TENSOR_F32);
    CHECK(run("bench %s --runs 1 --contexts none --prompts 20,30 -j 1 --csv -q", test_tmp("bench.gguf")) == 0 &&
          *said == 0);
    int lines = 0, rows = 0;
    for (char *p = out, *end; *p && (end = strchr(p, '\n')); p = end + 1, lines++) {
        CHECK(count(p, ',', (size_t)(end - p)) == 11);
        rows += strncmp(p, "prefill,", 8) == 0;
    }
    CHECK(rows == 2 && lines == 1 + N_CEILINGS + 2 + 2 && !strstr(out, "decode"));
    CHECK(run("bench %s --runs 1 --prompts 20 --contexts 0", test_tmp("bench.gguf")) == 0);
    static const char *const words[] = {"decode at 0 ", "prefill 20 ", "memory read, 4 streams", "load to first token"};
    for (int i = 0; i < 4; i++) CHECK(strstr(out, words[i]));
    CHECK(strstr(out, "context 200") && !strstr(out, "nan") && !strstr(out, "inf"));
    CHECK(run("bench %s --runs 1 --prompts none --contexts 0 --at-once 1,5", test_tmp("bench.gguf")) == 0);
    CHECK(strstr(out, "\n1 at once ") && strstr(out, "\n5 at once ") && strstr(out, " share  time\n"));
    for (const char *line = strchr(out, '\n') + 1; *line; line += strcspn(line, "\n") + 1) /* behind the file's */
        CHECK(strcspn(line, "\n") <= 80);
}

/* What has no past to decode from. */
static void other_attention(void) {
    BuildShape linear = shape;
    linear.phi = "elu+1", linear.form = "numerator";
    build_gguf(test_tmp("bench.gguf"), &linear, TENSOR_F32);
    CHECK(run("bench %s --runs 1 --contexts 0,40 --prompts none --csv", test_tmp("bench.gguf")) == 0);
    CHECK(strstr(out, "\ndecode,0,") && !strstr(out, "\ndecode,40,"));
    CHECK(run("bench %s --runs 1 --csv --prompts 20", roformer_gguf("unilm", TENSOR_F32, NULL)) == 0);
    CHECK(strstr(out, "\nprefill,20,") && !strstr(out, "\ndecode,"));
    CHECK(run("bench %s --runs 1 --csv --prompts 20 --at-once 2", roformer_gguf("body", TENSOR_F32, NULL)) == 0 &&
          !strstr(out, "at_once,"));
}

static void wrong_use(void) {
    static const char *const bad[] = {
        "--runs 0", "--runs 101", "--runs x", "--contexts -1", "--contexts 1,x",
        "--contexts 1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17",
        "--prompts 0", "--prompts ''", "--at-once 0", "--at-once 34",
        "--json --csv", "--csv=1", "--kernels best", "one.gguf two.gguf", "--ids 1",
        "-i text", "-f x"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        CHECK(run("bench %s", bad[i]) == 2);
        CHECK(*out == 0 && strncmp(said, "run: ", 5) == 0);
    }
    CHECK(run("bench /nowhere/at.all") == 1 && *out == 0 && strstr(said, "/nowhere/at.all"));
    CHECK(run("bench --help") == 0 && strstr(out, "--runs") && strstr(out, "examples:") && strstr(out, "share") &&
          !strstr(out, "--stop"));
}

/* ---- bench/peers.sh ---- */

static void script(const char *path, const char *text) {
    char cmd[600];
    file_write(path, text, strlen(text));
    snprintf(cmd, sizeof cmd, "chmod +x %s", path);
    CHECK(test_shell(cmd, &out, &said) == 0);
}

/* With stand-ins that write what the other programs write. */
static void peers(void) {
    char llama[512], llama2c[512], gguf[512], bin[512], cmd[4000];
    snprintf(llama, sizeof llama, "%s", test_tmp("llama-bench"));
    snprintf(llama2c, sizeof llama2c, "%s", test_tmp("llama2c"));
    script(llama,
           "#!/bin/sh\necho \"$@\" >&2\n"
           "cat << END\n"
           "[\n  {\n    \"n_prompt\": 20,\n    \"n_gen\": 0,\n    \"avg_ts\": 0.25,\n    \"stddev_ts\": 0.0\n  },\n"
           "  {\n    \"n_prompt\": 0,\n    \"n_gen\": 32,\n    \"avg_ts\": 0.125\n  }\n]\nEND\n");
    script(llama2c, "#!/bin/sh\necho a story\necho 'achieved tok/s: 0.500000' >&2\n");
    snprintf(gguf, sizeof gguf, "%s", test_tmp("peers.gguf"));
    snprintf(bin, sizeof bin, "%s", test_tmp("peers.bin"));
    build_gguf(gguf, &shape, TENSOR_F32);
    build_llama2c(bin, &shape, 0, 0);
    snprintf(cmd, sizeof cmd, "LLAMA2C=%s sh bench/peers.sh RUN=%s RUNS=2 PROMPT=20 THREADS=1 LLAMA_BENCH=%s %s+%s %s",
             llama2c, test_run_path(), llama, gguf, bin, bin);
    CHECK(test_shell(cmd, &out, &said) == 0);
    const char *rows[] = {"| peers.gguf | decode |", "| peers.gguf | prefill 20 |", "| peers.bin | decode |"};
    /* llama.cpp's; llama2.c's is 0.5 */
    const char *cells[] = {"| 0.1 (0.1 to 0.1), **", "| 0.2 (0.2 to 0.2), **", "| – | – |"};
    for (int i = 0; i < 3; i++) {
        const char *at = strstr(out, rows[i]), *end = at ? strchr(at, '\n') : NULL;
        const char *llama2c_cell = end ? strstr(at, "| 0.5 (0.5 to 0.5), **") : NULL,
                   *llama_cell = end ? strstr(at, cells[i]) : NULL;
        CHECK(llama2c_cell && llama2c_cell < end && llama_cell && llama_cell < end);
        if (!llama2c_cell) continue;
        double ours = strtod(at + strlen(rows[i]), NULL), ratio = strtod(strstr(llama2c_cell, "**") + 2, NULL);
        /* both are printed with one digit or two behind the point */
        NEAR(ratio, ours / 0.5, 0.1 + ours * 0.001, 0.001);
    }
    CHECK(strstr(out, "| memory read, 4 streams, GB/s | ") && strstr(out, "2 rounds") &&
          strstr(out, "load to first token"));
    CHECK(test_shell("sh bench/peers.sh", &out, &said) == 2 && strstr(said, "no model"));
    snprintf(cmd, sizeof cmd, "sh bench/peers.sh RUN=%s LLAMA_BENCH=/nowhere/at.all x.gguf", test_run_path());
    CHECK(test_shell(cmd, &out, &said) == 1 && strstr(said, "/nowhere/at.all"));
    snprintf(cmd, sizeof cmd, "sh bench/peers.sh RUN=%s /nowhere/at.all", test_run_path());
    CHECK(test_shell(cmd, &out, &said) == 1 && strstr(said, "/nowhere/at.all"));
}

extern const Test tests_bench[];
const Test tests_bench[] = {
    {"bench/peaks: every byte, every round", peaks},
    {"bench/ceilings", ceilings},
    {"bench/work: TinyLlama's shape", tinyllama},
    {"bench/work: attention", attention_counted},
    {"bench/rows, and stopped anywhere", bench_rows},
    {"bench/json", json_output},
    {"bench/csv, text", csv_and_text},
    {"bench/linear attention, RoFormer", other_attention},
    {"bench/wrong use", wrong_use},
    {"bench/peers.sh", peers},
    {0},
};
