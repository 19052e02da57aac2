/* tests/test_cli_linear.c - the program's linear attention, and states saved and loaded of both kinds. */
#include "cli_files.h"
#include "attention/maps.h"
#include "program.h"
#include "test.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Linear attention on any model, said once; words that are not known, named. */
static void linear_options(void) {
    CliModel m = cli_model();
    CHECK(run("logits %s --ids 1,5,9", m.gguf) == 0);
    char *softmax = taken_out();
    for (int r = 0; linear_form_row(r); r++) {
        CHECK(run("logits %s --ids 1,5,9 --attention linear --form %s", m.gguf, linear_form_row(r)->name) == 0);
        CHECK(strcmp(out, softmax) != 0 && count_lines(said) == 1 && strstr(said, linear_form_row(r)->name));
    }
    for (int r = 0; feature_map_row(r); r++) {
        CHECK(run("logits %s --ids 1,5,9 --attention linear --phi %s", m.bin, feature_map_row(r)->name) == 0);
        CHECK(strcmp(out, softmax) != 0 && count_lines(said) == 1 && strstr(said, feature_map_row(r)->name));
    }
    CHECK(run("logits %s --ids 1,5,9 --attention softmax", m.gguf) == 0);
    CHECK(strcmp(out, softmax) == 0 && *said == 0);
    free(softmax);
    static const BuildShape s = {.d = 32, .ff = 64, .layers = 1, .heads = 4, .kv_heads = 2, .n_ctx = 64,
                                 .phi = "elu+1", .form = "numerator"};
    /* what the file says is what it was trained with */
    static const struct { const char *options; int told; } rows[] = {
        {"", 0}, {"--attention linear", 0}, {"--form numerator --phi elu+1", 0},
        {"--phi relu", 1}, {"--form both", 1}, {"--attention softmax", 1}};
    build_gguf(test_tmp("cli-linear.gguf"), &s, TENSOR_F32);
    for (size_t r = 0; r < sizeof rows / sizeof *rows; r++) {
        CHECK(run("%s -n 3 -t 0 %s", test_tmp("cli-linear.gguf"), rows[r].options) == 0);
        CHECK((strstr(said, "not trained") != NULL) == rows[r].told);
    }
    CHECK(run("%s -c 4 -n 100 -t 0 --attention linear --ignore-eos --json", m.gguf) == 0); /* -c is no limit */
    CHECK(strstr(out, "\"stop\":\"length\"") != NULL);
    CHECK(run("%s --attention cubic", m.gguf) == 2 && strstr(said, "cubic"));
    CHECK(run("%s --attention linear --phi elu", m.gguf) == 2 && strstr(said, "elu"));
    CHECK(run("%s --attention linear --form over", m.gguf) == 2 && strstr(said, "over"));
    CHECK(run("%s --attention linear --epsilon -1", m.gguf) == 2 && strstr(said, "epsilon"));
    CHECK(run("%s --phi relu", m.gguf) == 1 && strstr(said, "--attention linear"));
    CHECK(run("%s --chunk 8", m.gguf) == 2 && strstr(said, "linear"));
    CHECK(run("%s --attention linear --form cosine --phi relu", m.gguf) == 2 && strstr(said, "identity"));
    CHECK(run("%s --attention linear --phi favor+ --favor-features 7", m.gguf) == 2 &&
          strstr(said, "--favor-features"));
    CHECK(run("%s --attention linear --favor-features 8", m.gguf) == 1 && strstr(said, "favor+"));
    CHECK(run("%s --attention softmax --form both", m.gguf) == 2 && strstr(said, "--form"));
    CHECK(run("%s --attention linear -i a -t 0 -n 4 --favor-seed 0", m.gguf) == 1);
}

/* Whether n tokens can be written within so many kB of address space. */
static int fits(const char *model, int n, long kb) {
    char limit[60];
    snprintf(limit, sizeof limit, "ulimit -v %ld; exec ", kb);
    return run_behind(limit, "%s -n %d --ignore-eos -t 0 -q -j 1 --kernels ref", model, n) == 0;
}

/* A million tokens need no more than a few: the least that 2,000 need, found by halving, and 1 MB serve 60,000. */
static void linear_memory(void) {
    static const BuildShape s = {.d = 8, .ff = 8, .layers = 1, .heads = 2, .kv_heads = 1, .n_ctx = 64, .phi = "elu+1",
                                 .form = "numerator"};
    if (test_sanitized) {
        test_skip("the sanitizers take memory of their own");
        return;
    }
    long low = 1000, high = 1 << 20;
    build_gguf(test_tmp("endless.gguf"), &s, TENSOR_F32);
    CHECK(fits(test_tmp("endless.gguf"), 2000, high));
    while (high - low > 64) {
        long middle = (low + high) / 2;
        if (fits(test_tmp("endless.gguf"), 2000, middle)) high = middle;
        else low = middle;
    }
    CHECK(fits(test_tmp("endless.gguf"), 60000, high + 1024));
}

static void states(void) {
    char state[512];
    CliModel m = cli_model();
    snprintf(state, sizeof state, "%s", test_tmp("cli.state"));
    for (int linear = 0; linear < 2; linear++) {
        const char *kind = linear ? "--attention linear" : "";
        CHECK(run("%s -i 'the sand' -t 0 -n 40 --ignore-eos -q %s", m.gguf, kind) == 0);
        char *whole = taken_out();
        CHECK(run("%s -i 'the' --save-state %s --max-tokens 0 -q %s", m.gguf, state, kind) == 0);
        CHECK(strcmp(out, "the\n") == 0);
        CHECK(run("%s -i ' sand' --load-state %s -t 0 --max-tokens 200 -n 40 -c 60 --ignore-eos -q %s", m.gguf, state,
                  kind) == 0);
        /* without the last line's end */
        size_t n = strlen(out) < strlen(whole) - 3 ? strlen(out) - 1 : strlen(whole) - 4;
        CHECK(n > 10 && memcmp(out, whole + 3, n) == 0);
        free(whole);
        CHECK(run("logits %s --ids 1,5,9 %s", m.gguf, kind) == 0);
        whole = taken_out();
        CHECK(run("logits %s --ids 1,5 --save-state %s -q %s", m.gguf, state, kind) == 0);
        CHECK(run("logits %s --ids 9 --load-state %s %s", m.gguf, state, kind) == 0);
        CHECK(strcmp(out, whole) == 0);
        free(whole);
        CHECK(run("%s --load-state %s -n 3 %s", m.gguf, state, linear ? "" : "--attention linear") == 1 &&
              strstr(said, "softmax"));
        CHECK(run("%s --load-state %s -n 3 %s --rope-theta 5000", m.gguf, state, kind) == 1 &&
              strstr(said, "settings"));
    }
    CHECK(run("%s -i 'the' --save-state %s --max-tokens 0 -q", m.gguf, state) == 0);
    CHECK(run("%s -i ' sand' --load-state %s --max-tokens 9 -c 4", m.gguf, state) == 1 && *out == 0 &&
          said_line("behind the state's"));
    CHECK(run("%s --load-state %s -n 3", m.gguf, m.gguf) == 1 && strstr(said, "not a saved state"));
    CHECK(run("%s --load-state /nowhere/at.all -n 3", m.gguf) == 1 && strstr(said, "/nowhere/at.all"));
    CHECK(run("%s -n 3 --save-state /nowhere/at.all", m.gguf) == 1 && strstr(said, "/nowhere/at.all"));
    CHECK(run("%s -n 3 --save-state %s", m.gguf, m.folder) == 1 && strstr(said, "regular file"));
    /* never over something else */
    CHECK(run("%s -n 3 --save-state %s", m.bin, m.gguf) == 1 && strstr(said, "stays as it is"));
    char link[512];
    snprintf(link, sizeof link, "%s", test_tmp("link"));
    CHECK(symlink(state, link) == 0);
    CHECK(run("%s -n 3 --save-state %s -q", m.gguf, link) == 0); /* where the link leads to, and the link stays */
    struct stat st;
    CHECK(lstat(link, &st) == 0 && S_ISLNK(st.st_mode));
    CHECK(remove(state) == 0 && run("%s -n 3 --save-state %s", m.gguf, link) == 1 && strstr(said, "nowhere"));
}

const Test tests_cli_linear[] = {
    {"cli/linear attention on any model", linear_options},
    {"cli/linear attention without end takes no memory", linear_memory},
    {"cli/states saved and loaded", states},
    {0},
};
