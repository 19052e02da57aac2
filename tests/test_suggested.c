/* tests/test_suggested.c - sampling as a model's files suggest it: which of their words count, what an option does to
 * them, and that convert hands them on. */
#include "build.h"
#include "decoder_cases.h"
#include "model/suggested.h"
#include "program.h"
#include "test.h"

#include <string.h>

static char err[300];

/* The number that path's files suggest; -1: none. */
static double suggests(const char *path, Suggestion what) {
    Weights w;
    double value = -1;
    if (weights_open(&w, path, err, sizeof err)) return -2;
    if (!suggested_number(&w, what, &value)) value = -1;
    weights_close(&w);
    return value;
}

static void test_words(void) {
    static const struct { const char *text; Suggestion what; double value; } rows[] = {
        {"{\"do_sample\": true, \"temperature\": 0.6}", SUGGEST_TEMPERATURE, 0.6},
        {"{\"do_sample\": true, \"top_p\": 0.95}", SUGGEST_TOP_P, 0.95},
        {"{\"do_sample\": true, \"top_k\": 20}", SUGGEST_TOP_K, 20},
        {"{\"do_sample\": true, \"min_p\": 0.05}", SUGGEST_MIN_P, 0.05},
        {"{\"do_sample\": true, \"repetition_penalty\": 1.05}", SUGGEST_REPETITION, 1.05},
        {"{\"temperature\": 0.6}", SUGGEST_TEMPERATURE, -1}, /* transformers' is greedy then, and does not read it */
        {"{\"do_sample\": false, \"temperature\": 0.6}", SUGGEST_TEMPERATURE, -1},
        {"{\"do_sample\": true, \"temperature\": null}", SUGGEST_TEMPERATURE, -1},
        {"{\"do_sample\": true, \"temperature\": \"0.6\"}", SUGGEST_TEMPERATURE, -1},
        {"{\"do_sample\": true, \"temperature\": -1}", SUGGEST_TEMPERATURE, -1},
        {"{\"do_sample\": true, \"top_k\": 1.5}", SUGGEST_TOP_K, -1},
        {"{\"do_sample\": true, \"top_p\": 1.5}", SUGGEST_TOP_P, -1},
        {"{\"do_sample\": true, \"top_p\": 0}", SUGGEST_TOP_P, -1},
        {"{\"do_sample\": true, \"repetition_penalty\": 0}", SUGGEST_REPETITION, -1},
    };
    const char *folder = hf_folder("gqa", "", TENSOR_F32, &sound);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        file_write(test_in(folder, "generation_config.json"), rows[i].text, strlen(rows[i].text));
        CHECK(suggests(folder, rows[i].what) == rows[i].value);
    }
    CHECK(suggests(gguf_file("gqa", TENSOR_F32, &sound), SUGGEST_TEMPERATURE) == -1);
}

/* What convert writes of a folder is what the folder suggests, of which a half is a float and all of it there. */
static void test_convert(void) {
    static const char text[] = "{\"do_sample\": true, \"temperature\": 0.5, \"top_k\": 7, \"min_p\": 0.25}";
    const char *folder = hf_folder("gqa", "", TENSOR_F32, &sound), *to = test_tmp("suggests.gguf");
    file_write(test_in(folder, "generation_config.json"), text, strlen(text));
    CHECK(tool("", "convert", "%s %s --no-tokenizer -q", folder, to) == 0);
    CHECK(suggests(to, SUGGEST_TEMPERATURE) == 0.5 && suggests(to, SUGGEST_TOP_K) == 7);
    CHECK(suggests(to, SUGGEST_MIN_P) == 0.25 && suggests(to, SUGGEST_TOP_P) == -1);
}

/* One candidate is what -t 0 takes, unless options say otherwise; they count one by one. */
static void test_options(void) {
    static const char prompt[] = "-i 'Once upon a time' -n 24 -s 7";
    char greedy[1000], warm[1000];
    const char *path = gguf_with_key("model/tales-1m.gguf", "general.sampling.top_k", META_U32, "\1\0\0\0", 4);
    CHECK(run("model/tales-1m.gguf %s -t 0 -q", prompt) == 0);
    snprintf(greedy, sizeof greedy, "%s", out);
    CHECK(run("model/tales-1m.gguf %s -q", prompt) == 0 && strcmp(out, greedy) != 0);
    snprintf(warm, sizeof warm, "%s", out);
    CHECK(run("%s %s", path, prompt) == 0 && strcmp(out, greedy) == 0);
    CHECK(strstr(said, "sampled as the model suggests: --top-k 1\n") != NULL);
    CHECK(run("%s %s -t 0.9", path, prompt) == 0 && strcmp(out, greedy) == 0 && strstr(said, "suggests: --top-k 1\n"));
    CHECK(run("%s %s --top-k 0", path, prompt) == 0 && strcmp(out, warm) == 0 && !strstr(said, "suggests"));
    CHECK(run("chat %s -i Hi --max-tokens 4 -s 1", path) == 0 && strstr(said, "suggests: --top-k 1\n"));
}

extern const Test tests_suggested[];
const Test tests_suggested[] = {
    {"suggested/words that count", test_words},
    {"suggested/convert", test_convert},
    {"suggested/options", test_options},
    {0},
};
