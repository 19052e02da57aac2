/* tests/test_several.c - texts that share a read of the weights have the logits that they have alone, bit for bit,
 * whoever they are read with, and whenever one joins or leaves. */
#define _GNU_SOURCE /* sched_setaffinity */
#include "decoder_files.h"
#include "program.h"
#include "test.h"

#include "base/hash.h"
#include "base/team.h"
#include "model/options.h"
#include "model/scratch.h"
#include "model/several.h"
#include "model/timeline.h"

#include <errno.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TEXTS = 5, STEPS = 40, LONGEST = 24 };

static int some_id(const Model *m, uint64_t x) { return (int)(hash_mix(x) % (uint64_t)m->config.vocab_size); }

/* Texts join with prompts of all lengths, go on in groups of any size, and leave; beside each a session of its own
 * reads the same ids one by one. */
static void check_shared(const char *name, const Model *m, SessionOptions o) {
    Several v = {0};
    Session alone[TEXTS] = {0};
    char err[300];
    size_t vocab = (size_t)m->config.vocab_size, left[TEXTS] = {0};
    uint64_t seed = 7;
    if (several_init(&v, m, &o, TEXTS, err, sizeof err)) decoder_fail(name, "several_init", err);
    for (int i = 0; i < TEXTS; i++) CHECK(session_init(&alone[i], m, &o, err, sizeof err) == 0);
    for (int step = 0; v.sessions && step < STEPS; step++) {
        size_t texts[TEXTS], n = 0;
        int ids[TEXTS];
        const float *mine, *theirs;
        for (size_t i = 0; i < TEXTS; i++) {
            if (left[i] == 0) {
                int prompt[LONGEST];
                size_t k = 1 + hash_mix(++seed) % LONGEST;
                left[i] = 1 + hash_mix(++seed) % 12;
                for (size_t j = 0; j < k; j++) prompt[j] = some_id(m, ++seed);
                session_rewind(&v.sessions[i], 0);
                session_rewind(&alone[i], 0);
                CHECK(session_eval(&v.sessions[i], prompt, k, &mine, err, sizeof err) == 0);
                CHECK(session_eval(&alone[i], prompt, k, &theirs, err, sizeof err) == 0);
                CHECK(memcmp(mine, theirs, vocab * sizeof *mine) == 0);
            } else if (hash_mix(++seed) % 4) {
                left[i]--;
                texts[n] = i, ids[n++] = some_id(m, ++seed);
            }
        }
        for (size_t k = n; k > 1; k--) { /* in any order */
            size_t at = hash_mix(++seed) % k, text = texts[at];
            int id = ids[at];
            texts[at] = texts[k - 1], ids[at] = ids[k - 1];
            texts[k - 1] = text, ids[k - 1] = id;
        }
        if (n == 0) continue;
        CHECK(several_eval(&v, texts, ids, n, err, sizeof err) == 0);
        for (size_t k = 0; k < n; k++) {
            CHECK(session_eval(&alone[texts[k]], &ids[k], 1, &theirs, err, sizeof err) == 0);
            int same = memcmp(several_logits(&v, k), theirs, vocab * sizeof *theirs) == 0;
            if (!same) decoder_fail(name, "logits differ", "");
            CHECK(v.sessions[texts[k]].pos == alone[texts[k]].pos);
        }
    }
    for (int i = 0; i < TEXTS; i++) session_free(&alone[i]);
    several_free(&v);
}

/* By threads that share each product, grain being small, and as small models are read usually: by one of them. */
static void check_texts(const char *name, const Model *m, SessionOptions o) {
    check_shared(name, m, o);
    if (o.threads == 1) return;
    o.grain = 0;
    check_shared(name, m, o);
}

static void check_built_in(const char *spec, SessionOptions o) {
    Model m;
    char err[300];
    ModelOptions mo = {.rope = {.spec = spec, .n_ctx_original = spec && strncmp(spec, "dyn", 3) == 0 ? 20 : 0}};
    CHECK(model_open_memory(&m, builtin_model, builtin_model_size, "built in", &mo, err, sizeof err) == 0);
    check_texts(spec ? spec : "built in", &m, o);
    model_close(&m);
}

static void bits(void) {
    for (int threads = 1; threads <= 3; threads++)
        for (int cache = CACHE_F32; cache <= CACHE_Q8_0; cache++) /* grain: threads have work with small models, too */
            check_built_in(NULL, (SessionOptions){.n_ctx = 64, .threads = threads, .cache = (CacheType)cache,
                                                  .grain = 10000});
    check_built_in(NULL, (SessionOptions){.n_ctx = 64, .threads = 8, .grain = 1000}); /* more than texts */
    check_built_in(NULL, (SessionOptions){.n_ctx = 64, .threads = 2, .grain = 10000, .n_batch = 3});
    check_built_in(NULL, (SessionOptions){.n_ctx = 64, .threads = 2, .grain = 10000, .origin = 1000});
}

static void stretched(void) {
    static const char *const specs[] = {"dynamic", "yarn:factor=4", "rerope:window=16", "self-extend:group=4:window=16",
                                        "sinks:window=16", "infllm:local=32:block=8:top=2", "power", "log-n"};
    for (size_t i = 0; i < sizeof specs / sizeof *specs; i++)
        check_built_in(specs[i], (SessionOptions){.n_ctx = 64, .threads = 2, .grain = 10000});
}

static void kinds(void) {
    static const char *const names[] = {"gqa", "linear", "linear_favor", "linear_both", "qwen2_window", "qwen3",
                                        "gemma2", "gemma3", "gpt_oss", "qwen3moe", "olmo2", "phi3", "glm4", "smollm3",
                                        "mixtral", "exaone4", "stablelm_par", "deepseek_v2_groups", "minicpm3",
                                        "gemma4", "gemma4_moe"};
    char err[300];
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        Model m;
        const char *path = hf_folder(names[i], "", TENSOR_F32, &sound);
        CHECK(path != NULL);
        if (!path) continue;
        if (model_open(&m, path, NULL, err, sizeof err)) {
            decoder_fail(names[i], "cannot be opened:", err);
            continue;
        }
        check_texts(names[i], &m, (SessionOptions){.n_ctx = 64, .threads = 2, .grain = 1000});
        model_close(&m);
    }
}

/* Each token goes into its own text's states. */
static void check_states(const char *name, const char *path) {
    Model m;
    char err[300];
    CHECK(path != NULL);
    if (!path) return;
    if (model_open(&m, path, NULL, err, sizeof err)) {
        decoder_fail(name, "cannot be opened:", err);
        return;
    }
    for (int threads = 1; threads <= 3; threads++)
        check_texts(name, &m, (SessionOptions){.n_ctx = 64, .threads = threads, .grain = 1000});
    model_close(&m);
}

static void deltas(void) {
    check_states("delta nets", delta_folder());
    check_states("convolutions", convolution_folder());
}

/* What cannot share says so, and nothing is read where one of the ids cannot be. */
static void refused(void) {
    Model m;
    Several v;
    char err[300];
    SessionOptions o = {.n_ctx = 4, .threads = 1};
    CHECK(model_open(&m, "model/words-1m.gguf", NULL, err, sizeof err) == 0);
    CHECK(several_init(&v, &m, &o, 2, err, sizeof err) == -EINVAL && strstr(err, "whole"));
    model_close(&m);
    CHECK(model_open_memory(&m, builtin_model, builtin_model_size, "built in", NULL, err, sizeof err) == 0);
    CHECK(several_init(&v, &m, &o, 2, err, sizeof err) == 0);
    CHECK(session_eval(&v.sessions[1], (int[]){5, 6, 7, 8}, 4, NULL, err, sizeof err) == 0);
    CHECK(several_eval(&v, (size_t[]){0, 1}, (int[]){5, 6}, 2, err, sizeof err) == -ENOSPC);
    CHECK(v.sessions[0].pos == 0 && v.sessions[1].pos == 4);
    CHECK(several_eval(&v, (size_t[]){0}, (int[]){-1}, 1, err, sizeof err) == -EINVAL);
    several_free(&v);
    model_close(&m);
}

static void draw_nothing(void *arg, size_t k) { (void)arg, (void)k; }

/* Two threads of one core do not wait for each other for good: draws between the reads hide nothing from the team. */
static void one_core(void) {
    enum { MANY = 3000 };
    const SessionOptions o = {.n_ctx = MANY, .threads = 2, .grain = 10000};
    cpu_set_t all, one;
    Model m;
    Several v;
    char err[300];
    int runs = 0;
    CPU_ZERO(&one);
    CPU_SET((size_t)sched_getcpu(), &one);
    if (sched_getaffinity(0, sizeof all, &all) || sched_setaffinity(0, sizeof one, &one)) {
        test_skip("threads cannot be kept on one core here");
        return;
    }
    CHECK(model_open_memory(&m, builtin_model, builtin_model_size, "built in", NULL, err, sizeof err) == 0);
    CHECK(several_init(&v, &m, &o, 2, err, sizeof err) == 0);
    for (; runs < MANY && v.host.scratch->team.inside->worth == 2; runs++) {
        CHECK(several_eval(&v, (size_t[]){0, 1}, (int[]){5, 6}, 2, err, sizeof err) == 0);
        several_each(&v, 2, draw_nothing, NULL);
    }
    CHECK(runs < MANY);
    several_free(&v);
    model_close(&m);
    CHECK(sched_setaffinity(0, sizeof all, &all) == 0);
}

/* One line of many is long: who writes the others waits for it, for so many may be done before they are printed. */
static void long_line(void) {
    char text[2000] = "Lily had\n";
    while (strlen(text) < 1500) strcat(text, "She said\n");
    CHECK(piped(text, "--lines - -q -t 0 --stop '\"' --parallel 1") == 0);
    char *one = taken_out();
    for (int threads = 1; threads <= 3; threads++) {
        CHECK(piped(text, "--lines - -q -t 0 --stop '\"' --parallel 3 -j %d", threads) == 0);
        CHECK(strcmp(out, one) == 0);
    }
    free(one);
}

/* Ctrl-C while nobody reads what is written ends the program, whichever thread's line it is. */
static void unread(void) {
    char pipe[600], text[600];
    snprintf(pipe, sizeof pipe, "%s", test_tmp("unread"));
    snprintf(text, sizeof text, "%s", test_tmp("unread-lines"));
    CHECK(shell("rm -f %s; mkfifo %s && yes A | head -3000 > %s", pipe, pipe, text) == 0);
    CHECK(shell("sleep 20 < %s & reader=$!; " INTERRUPT_AFTER "-k 9 1 %s --lines %s -q -t 0 --max-tokens 40 -j 4 > %s; "
                "code=$?; kill $reader; exit $code", pipe, test_run_path(), text, pipe) == 130);
}

/* generate --lines: each line has what it has alone, in order, however many are written at once. */
static void lines(void) {
    static const char text[] = "Once upon a time\nLily\n\nThe dog ran\nTom had a red ball and\nA\nB\n"
                               "One day, in the\nX\nEnd";
    static const char *const options[] = {"-t 0 --max-tokens 30", "-s 5", "-s 5 --kv q8_0", "-s 5 --logprobs 2 -n 40",
                                          "-s 5 --attention linear --max-tokens 40", "-s 5 --rope dynamic -c 300",
                                          "-s 5 --stop . --repetition-penalty 1.2 --dry-multiplier 1", "--max-tokens 0",
                                          "-s 5 --draft lookup"};
    for (size_t i = 0; i < sizeof options / sizeof *options; i++) {
        CHECK(piped(text, "--lines - -q --parallel 1 %s", options[i]) == 0);
        char *one = taken_out();
        CHECK(count_lines(one) == 10);
        for (int n = 2; n <= 12; n += 5) {
            CHECK(piped(text, "--lines - -q --parallel %d %s", n, options[i]) == 0);
            CHECK(strcmp(out, one) == 0);
        }
        free(one);
    }
    CHECK(piped("Tom had\nLily\n", "--lines - -q -t 0 --max-tokens 5") == 0);
    char *plain = taken_out();
    CHECK(piped("Tom had\r\nLily\r\n", "--lines - -q -t 0 --max-tokens 5") == 0 && strcmp(out, plain) == 0);
    free(plain);
    CHECK(piped(text, "--lines - -v --max-tokens 3") == 0 && strstr(said, "8 texts at once"));
    CHECK(piped(text, "--lines - --draft lookup --max-tokens 3") == 0 && strstr(said, "8 texts at once fill"));
    CHECK(piped(text, "--lines - --draft lookup --max-tokens 3 --parallel 1") == 0 && !strstr(said, "--draft"));
    CHECK(piped("A", "--lines - --draft lookup --max-tokens 3") == 0 && !strstr(said, "--draft"));
    CHECK(piped(text, "--lines - --draft nosuch") == 1 && said_line("there is no file nosuch"));
    CHECK(run("--lines /dev/null -q") == 0 && *out == 0);
    CHECK(piped("A\nOnce upon a time there was\nB", "--lines - -n 3") == 1 && said_line("stdin:2: the prompt's"));
    CHECK(run("--lines nosuch") == 1 && said_line("nosuch"));
    CHECK(run("--lines nosuch --parallel 0") == 2 && said_line("--parallel"));
    CHECK(run("-i A --parallel 2") == 2 && said_line("--parallel goes with --lines"));
}

const Test tests_several[] = {
    {"several/bits", bits},
    {"several/stretched", stretched},
    {"several/kinds of models", kinds},
    {"several/delta nets", deltas},
    {"several/refused", refused},
    {"several/one core", one_core},
    {"several/generate --lines", lines},
    {"several/a long line", long_line},
    {"several/unread", unread},
    {0}};
