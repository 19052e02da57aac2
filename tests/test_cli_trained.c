/* tests/test_cli_trained.c - the program on trained models: llama2.c's texts and likelihoods, the tales', and what a
 * smaller cache makes of these. */
#include "cli_files.h"
#include "base/json.h"
#include "program.h"
#include "test.h"

#include <stdlib.h>
#include <string.h>

static void llama2c_texts(void) {
    static const char *const files[] = {"llama2c/stories260K.bin", "llama2c/stories260K_v1.bin"};
    static const char *const tokenizers[] = {"llama2c/tok512.bin", "llama2c/tok512.model"};
    char golden[2][512];
    if (!test_data(files[0])) return;
    snprintf(golden[0], 512, "%s", test_data("llama2c/golden/stories260K_t0_n200.txt"));
    snprintf(golden[1], 512, "%s", test_data("llama2c/golden/stories260K_t0.8_p0.9_s42_n200.txt"));
    for (int f = 0; f < 2; f++)
        for (int t = 0; t < 2; t++) {
            CHECK(run("%s -z %s -t 0 -n 200", test_data(files[f]), test_data(tokenizers[t])) == 0);
            CHECK(text_is_of(out, golden[0]));
            CHECK(run("%s -z %s -t 0.8 -p 0.9 -s 42 -n 200 --kernels ref", test_data(files[f]),
                      test_data(tokenizers[t])) == 0);
            CHECK(text_is_of(out, golden[1]));
        }
}

/* Sums of llama2c/golden; q8 to 0.06, as one rounding tie alone moves it by 0.04. */
static void llama2c_likelihood(void) {
    static const struct { const char *file; double nll, tolerance; } rows[] = {
        {"stories260K.bin", 54.404, 0.001},
        {"stories260K_v1.bin", 54.404, 0.001},
        {"stories260K_q8_v2.bin", 54.31, 0.06},
    };
    const char *text = "One day, a clever fox found a shiny key under the old oak tree.";
    file_write(test_tmp("fox.txt"), text, strlen(text));
    for (int i = 0; i < 3; i++)
        for (int ref = 0; ref < 2; ref++) {
            char name[64];
            snprintf(name, sizeof name, "llama2c/%s", rows[i].file);
            if (!test_data(name)) return;
            CHECK(run("perplexity %s -z %s -f %s --json%s", test_data(name), test_data("llama2c/tok512.bin"),
                      test_tmp("fox.txt"), ref ? " --kernels ref" : "") == 0);
            NEAR(json_number("nll_sum"), rows[i].nll, rows[i].tolerance, 0);
            CHECK(json_number("tokens") == 34 && json_number("window") == 512);
            NEAR(json_number("perplexity"), exp(json_number("nll_mean")), 0, 1e-7);
        }
}

static void tales_model(const char *name) {
    enum { IDS = 201 };
    static double ids[IDS], want[16];
    char *golden, path[512], file[64], list[2000] = "";
    snprintf(file, sizeof file, "tales/%s.golden.json", name);
    if (!test_data(file)) return;
    golden = file_read(test_data(file), NULL);
    static const struct { const char *key, *suffix; double logits, mean; } rows[] = {
        {"\"f32\"", "-f32.gguf", 1e-4, 1e-4}, {"\"q8_0\"", ".gguf", 0.3, 1e-3},
    };
    for (int i = 0; i < 2; i++) {
        const char *part = strstr(golden, rows[i].key);
        snprintf(file, sizeof file, "tales/%s%s", name, rows[i].suffix);
        snprintf(path, sizeof path, "%s", test_data(file));
        CHECK(golden_list(part, "greedy_ids", ids, IDS) == IDS);
        CHECK(golden_list(part, "logits_after_33_tokens_first_16", want, 16) == 16);
        CHECK(run("%s -t 0 -n 200 --json", path) == 0);
        static double got[IDS];
        CHECK(golden_list(out, "\"tokens\"", got, IDS) == IDS - 1);
        for (int k = 1; k < IDS; k++) CHECK(got[k - 1] == ids[k]);
        list[0] = 0;
        for (int k = 0; k < 33; k++) sprintf(list + strlen(list), "%s%.0f", k ? "," : "", ids[k]);
        CHECK(run("logits %s --ids %s", path, list) == 0);
        char *p = out;
        for (int k = 0; k < 16; k++) NEAR(strtod(p, &p), want[k], rows[i].logits, 0);
        CHECK(run("perplexity %s -f %s --separator \"<|endoftext|>\" --json", path,
                  test_data("tales/heldout.txt")) == 0);
        NEAR(json_number("nll_mean"), strtod(strchr(strstr(part, "heldout_mean_nll"), ':') + 1, NULL), rows[i].mean, 0);
        CHECK(json_number("tokens") == 9087);
    }
    free(golden);
}

static void tales(void) { tales_model("tales-1m"); }

/* RoFormer eq. 19 on trained weights; and the golden text itself, byte for byte, by every row. */
static void tales_linear(void) {
    Json golden;
    char err[200];
    tales_model("tales-1m-linear");
    if (!test_data("tales/tales-1m-linear.golden.json")) return;
    CHECK(json_open(&golden, test_data("tales/tales-1m-linear.golden.json"), err, sizeof err) == 0);
    for (int q8 = 0; q8 < 2; q8++)
        for (int ref = 0; ref < 2; ref++) {
            const JsonValue *text = json_get(json_get(golden.root, q8 ? "q8_0" : "f32"), "text");
            CHECK(run("%s -t 0 -n 200 -q%s",
                      test_data(q8 ? "tales/tales-1m-linear.gguf" : "tales/tales-1m-linear-f32.gguf"),
                      ref ? " --kernels ref" : "") == 0);
            CHECK(text && strlen(out) == text->len + 1 && memcmp(out, text->str, text->len) == 0);
        }
    json_free(&golden);
}

/* --kv on trained weights. Half floats and bytes of keys and values move the mean likelihood by less than 1e-3; where
 * the weights are exact, no greedy id either (activations of 8 bits turn last bits into ties broken: README of
 * attention/). */
static void cache_types(void) {
    static const char *const types[] = {"f32", "f16", "q8_0", "auto"};
    static const char *const files[] = {"tales/tales-1m-f32.gguf", "tales/tales-1m.gguf"};
    char state[512];
    for (int f = test_sanitized; f < 2 && test_data(files[f]); f++) { /* 9,087 ids a run */
        char path[512], *text = NULL;
        double mean = 0;
        snprintf(path, sizeof path, "%s", test_data(files[f]));
        for (int t = 0; t < 4; t++) {
            CHECK(run("perplexity %s -f %s --separator \"<|endoftext|>\" --json --kv %s", path,
                      test_data("tales/heldout.txt"), types[t]) == 0);
            if (t == 0) mean = json_number("nll_mean");
            NEAR(json_number("nll_mean"), mean, t == 0 ? 0 : 1e-3, 0);
            CHECK(json_number("tokens") == 9087 && (types[t][0] == 'a' || t == 0 || json_number("nll_mean") != mean));
            CHECK(run("%s -t 0 -n 200 -q --kv %s", path, types[t]) == 0);
            if (t == 0) text = taken_out();
            else if (f == 0 || t == 3) CHECK(strcmp(out, text) == 0);
        }
        free(text);
    }
    CliModel m = cli_model();
    snprintf(state, sizeof state, "%s", test_tmp("kv.state"));
    CHECK(run("logits %s --ids 1,5 --save-state %s --kv q8_0 -q", m.gguf, state) == 0);
    CHECK(run("logits %s --ids 1,5,9 --kv q8_0", m.gguf) == 0);
    char *want = taken_out();
    CHECK(run("logits %s --ids 9 --load-state %s", m.gguf, state) == 0 && strcmp(out, want) == 0); /* as it was saved */
    CHECK(run("logits %s --ids 9 --load-state %s --kv f16", m.gguf, state) == 1 && strstr(said, "q8_0") &&
          strstr(said, "f16"));
    CHECK(run("logits %s --ids 1,5,9", m.gguf) == 0 && strcmp(out, want) != 0); /* f32 unless told */
    free(want);
    CHECK(run("%s -n 3 --kv f64", m.gguf) == 2 && strstr(said, "q8_0"));
    CHECK(run("%s -n 3 --kv f16 --attention linear", m.gguf) == 2 && strstr(said, "--kv"));
    CHECK(run("%s -n 3 -v --kv f16", m.gguf) == 0 && strstr(said, "as f16"));
}

const Test tests_cli_trained[] = {
    {"cli/llama2.c's texts", llama2c_texts},
    {"cli/llama2.c's likelihoods", llama2c_likelihood},
    {"cli/tales: ids, logits, likelihood", tales},
    {"cli/tales with linear attention: the same", tales_linear},
    {"cli/caches of f32, f16, q8_0", cache_types},
    {0},
};
