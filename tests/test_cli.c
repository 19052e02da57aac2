/* tests/test_cli.c - the program as its users meet it: what comes out, where, and the exit code. */
#include "attention/linear.h"
#include "base/json.h"
#include "build.h"
#include "test.h"

#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static char *out, *err_text; /* of the last command; err_text without OpenMP's own words */

/* Run "before ./run args" in a shell (so that redirections work); its exit code, 128 + signal where it was killed. */
static int run_args(const char *before, const char *args) {
    char cmd[5000];
    snprintf(cmd, sizeof cmd, "%s %s %s < /dev/null", before, test_run_path(), args);
    return test_shell(cmd, &out, &err_text);
}

static int run(const char *fmt, ...) {
    char args[3000];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(args, sizeof args, fmt, ap);
    va_end(ap);
    return run_args("", args);
}

static int lines(const char *s) {
    int n = 0;
    for (; *s; s++) n += *s == '\n';
    return n;
}

static int equals_file(const char *text, const char *path) {
    char *want = file_read(path, NULL);
    int same = want && strcmp(text, want) == 0;
    free(want);
    return same;
}

/* The number after "key": in JSON of one line. */
static double json_number(const char *key) {
    char quoted[64];
    snprintf(quoted, sizeof quoted, "\"%s\":", key);
    const char *at = strstr(out, quoted);
    return at ? strtod(at + strlen(quoted), NULL) : NAN;
}

static void story(void) {
    CHECK(run("-s 7 -q") == 0);
    CHECK(strlen(out) > 200 && *err_text == 0 && out[strlen(out) - 1] == '\n');
    char *first = out;
    out = NULL;
    CHECK(run("-s 7 --seed=7 --threads 2") == 0);
    CHECK(strcmp(first, out) == 0);
    CHECK(strstr(err_text, "tok/s") && lines(err_text) <= 2); /* timings, and perhaps that the context is used up */
    free(first);
}

static void llama2c_texts(void) {
    const char *const files[] = {"llama2c/stories260K.bin", "llama2c/stories260K_v1.bin"}, *const tokenizers[] = {"llama2c/tok512.bin", "llama2c/tok512.model"};
    char golden[2][512];
    if (!test_data(files[0])) return;
    snprintf(golden[0], 512, "%s", test_data("llama2c/golden/stories260K_t0_n200.txt"));
    snprintf(golden[1], 512, "%s", test_data("llama2c/golden/stories260K_t0.8_p0.9_s42_n200.txt"));
    for (int f = 0; f < 2; f++)
        for (int t = 0; t < 2; t++) {
            CHECK(run("%s -z %s -t 0 -n 200", test_data(files[f]), test_data(tokenizers[t])) == 0);
            CHECK(equals_file(out, golden[0]));
            CHECK(run("%s -z %s -t 0.8 -p 0.9 -s 42 -n 200 --kernels ref", test_data(files[f]), test_data(tokenizers[t])) == 0);
            CHECK(equals_file(out, golden[1]));
        }
}

/* Sums of llama2c/golden; q8 to 0.06, as one rounding tie alone moves it by 0.04. */
static void llama2c_likelihood(void) {
    static const struct { const char *file; double nll, tolerance; } rows[] = {{"stories260K.bin", 54.404, 0.001}, {"stories260K_v1.bin", 54.404, 0.001}, {"stories260K_q8_v2.bin", 54.31, 0.06}};
    const char *text = "One day, a clever fox found a shiny key under the old oak tree.";
    file_write(test_tmp("fox.txt"), text, strlen(text));
    for (int i = 0; i < 3; i++)
        for (int ref = 0; ref < 2; ref++) {
            char name[64];
            snprintf(name, sizeof name, "llama2c/%s", rows[i].file);
            if (!test_data(name)) return;
            CHECK(run("perplexity %s -z %s -f %s --json%s", test_data(name), test_data("llama2c/tok512.bin"), test_tmp("fox.txt"), ref ? " --kernels ref" : "") == 0);
            NEAR(json_number("nll_sum"), rows[i].nll, rows[i].tolerance, 0);
            CHECK(json_number("tokens") == 34 && json_number("window") == 512);
            NEAR(json_number("perplexity"), exp(json_number("nll_mean")), 0, 1e-7);
        }
}

/* Numbers of a JSON list after key, whitespace or not; the count. */
static int golden_list(const char *json, const char *key, double *x, int max) {
    const char *at = strstr(json, key);
    int n = 0;
    if (!at) return 0;
    char *p = strchr(at, '[') + 1;
    while (p && n < max && *p != ']') {
        x[n++] = strtod(p, &p);
        p += strspn(p, " ,\n");
    }
    return n;
}

static void tales_model(const char *name) {
    enum { IDS = 201 };
    static double ids[IDS], want[16];
    char *golden, path[512], file[64], list[2000] = "";
    snprintf(file, sizeof file, "tales/%s.golden.json", name);
    if (!test_data(file)) return;
    golden = file_read(test_data(file), NULL);
    static const struct { const char *key, *suffix; double logits, mean; } rows[] = {{"\"f32\"", "-f32.gguf", 1e-4, 1e-4}, {"\"q8_0\"", ".gguf", 0.3, 1e-3}};
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
        CHECK(run("perplexity %s -f %s --separator \"<|endoftext|>\" --json", path, test_data("tales/heldout.txt")) == 0);
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
            CHECK(run("%s -t 0 -n 200 -q%s", test_data(q8 ? "tales/tales-1m-linear.gguf" : "tales/tales-1m-linear-f32.gguf"), ref ? " --kernels ref" : "") == 0);
        CHECK(text && strlen(out) == text->len + 1 && memcmp(out, text->str, text->len) == 0);
        }
    json_free(&golden);
}

static void builds(char *gguf, char *bin, char *folder) {
    static const BuildShape s = {.d = 32, .ff = 64, .layers = 1, .heads = 4, .kv_heads = 2, .n_ctx = 64};
    snprintf(gguf, 512, "%s", test_tmp("cli.gguf"));
    snprintf(bin, 512, "%s", test_tmp("cli.bin"));
    snprintf(folder, 512, "%s", test_tmp("cli-hf"));
    build_gguf(gguf, &s, TENSOR_F32);
    build_llama2c(bin, &s, 0, 0);
    build_hf(folder, &s, TENSOR_F32, 1);
    build_tokenizer_bin(test_tmp("tokenizer.bin")); /* beside cli.bin */
}

static void one_text_from_three_formats(void) {
    char gguf[512], bin[512], folder[512];
    builds(gguf, bin, folder);
    CHECK(run("%s -t 0 -n 30 -i 'the sand' --ignore-eos", gguf) == 0);
    char *first = out;
    out = NULL;
    CHECK(strncmp(first, "the sand", 8) == 0);
    CHECK(run("generate %s -t 0 -n 30 -i 'the sand' --ignore-eos", folder) == 0);
    CHECK(strcmp(first, out) == 0);
    CHECK(run("%s -t 0 -n 30 -i 'the sand' --ignore-eos", bin) == 0);
    CHECK(strcmp(first, out) == 0);
    CHECK(run("%s/model.safetensors -t 0 -n 30 -i 'the sand' --ignore-eos", folder) == 0);
    CHECK(strcmp(first, out) == 0);
    file_write(test_tmp("p.txt"), "the sand", 8);
    CHECK(run("%s -t 0 -n 30 -f %s --ignore-eos", gguf, test_tmp("p.txt")) == 0);
    CHECK(strcmp(first, out) == 0);
    CHECK(run("%s -t 0 -n 30 -i 'the sand' --ignore-eos --no-echo", gguf) == 0);
    CHECK(strcmp(first + 8, out) == 0);
    free(first);
}

/* run() gives every command /dev/null as stdin; this one gets a file through a pipe. */
static void from_stdin(void) {
    char gguf[512], bin[512], folder[512], cmd[2500];
    builds(gguf, bin, folder);
    snprintf(cmd, sizeof cmd, "printf 'the sand' | %s %s -t 0 -n 20 -f - --ignore-eos -q > %s", test_run_path(), gguf, test_tmp("a.txt"));
    CHECK(system(cmd) == 0);
    CHECK(run("%s -t 0 -n 20 -i 'the sand' --ignore-eos", gguf) == 0);
    CHECK(equals_file(out, test_tmp("a.txt")));
    snprintf(cmd, sizeof cmd, "printf 'the sand' | %s tokenize %s > %s", test_run_path(), gguf, test_tmp("a.txt"));
    CHECK(system(cmd) == 0);
    CHECK(run("tokenize %s 'the sand'", gguf) == 0);
    CHECK(equals_file(out, test_tmp("a.txt")));
}

static void lengths_and_json(void) {
    char gguf[512], bin[512], folder[512];
    double ids[100];
    builds(gguf, bin, folder);
    CHECK(run("%s -t 0 -n 10 -i 'the sand' --ignore-eos --json -q", gguf) == 0 && *err_text == 0);
    int prompt = golden_list(out, "\"prompt_tokens\"", ids, 100), fresh = golden_list(out, "\"tokens\"", ids, 100);
    CHECK(prompt + fresh == 11); /* ten positions; the last token takes none */
    CHECK(strstr(out, "\"stop\":\"length\"") && strstr(out, "\"load_s\":") && strstr(out, "\"generation_tokens_per_s\":") && lines(out) == 1);
    CHECK(run("%s -t 0 --max-tokens 5 -i 'the sand' --ignore-eos --json", gguf) == 0);
    CHECK(golden_list(out, "\"tokens\"", ids, 100) == 5);
    CHECK(run("%s -t 0 --max-tokens 0 -i 'the sand'", gguf) == 0 && strcmp(out, "the sand\n") == 0);
    CHECK(run("%s -t 0 -n 0 --ignore-eos --json", gguf) == 0);
    CHECK(golden_list(out, "\"tokens\"", ids, 100) == 64 && strstr(out, "\"stop\":\"context\"") && strstr(err_text, "context"));
    CHECK(run("%s -t 0 -n 80 -c 80 --ignore-eos --json", gguf) == 0); /* beyond the trained context: said in one line */
    CHECK(golden_list(out, "\"tokens\"", ids, 100) == 80 && strstr(err_text, "beyond"));
    CHECK(run("%s -n 1 -i 'a long prompt and the sand' --json", gguf) == 0); /* longer than -n: nothing new */
    CHECK(golden_list(out, "\"tokens\"", ids, 100) == 0 && strstr(out, "\"stop\":\"length\""));
    CHECK(run("%s -i '%0200d'", gguf, 0) == 1 && strstr(err_text, "-c") && lines(err_text) == 1);
}

/* JSON has every id of a text that is longer than what the penalties look back on; without it old ids are dropped (keep_id),
 * and yet the penalties see the same. */
static void ids_kept(void) {
    enum { IDS = 400, FIRST = 60 }; /* FIRST: before anything could be dropped */
    static double ids[IDS + 10], first[IDS];
    static const char prompt[] = "abcdefghijklmnopqrstuvwxyzabcdefghijklmno";
    char gguf[512], bin[512], folder[512], err[200];
    const char *const penalties[] = {"", "--repetition-penalty 1.3", "--repetition-penalty 1.3 --penalty-window 7"};
    Json json;
    char *texts[3];
    size_t n;
    builds(gguf, bin, folder);
    for (int i = 0; i < 3; i++) {
        CHECK(run("%s -i %s -t 0 --max-tokens %d -c 500 --ignore-eos --json -q %s", gguf, prompt, FIRST, penalties[i]) == 0);
        CHECK(golden_list(out, "\"tokens\"", first, IDS) == FIRST);
        CHECK(run("%s -i %s -t 0 --max-tokens %d -c 500 --ignore-eos --json -q %s", gguf, prompt, IDS, penalties[i]) == 0);
        CHECK(golden_list(out, "\"tokens\"", ids, IDS + 10) == IDS && memcmp(ids, first, FIRST * sizeof *ids) == 0);
        CHECK(json_parse(&json, out, strlen(out), "out", err, sizeof err) == 0);
        const JsonValue *text = json_get(json.root, "text");
        CHECK(run("%s -i %s -t 0 --max-tokens %d -c 500 --ignore-eos -q %s", gguf, prompt, IDS, penalties[i]) == 0);
        texts[i] = file_read(test_tmp("stdout"), &n); /* a NUL may stand in it */
        CHECK(text && n == text->len + 1 && memcmp(texts[i], text->str, text->len) == 0); /* and a line's end */
        json_free(&json);
    }
    CHECK(strcmp(texts[0], texts[1]) != 0 && strcmp(texts[1], texts[2]) != 0); /* the penalties bear on the text */
    for (int i = 0; i < 3; i++) free(texts[i]);
}

static void stop_strings(void) {
    char gguf[512], bin[512], folder[512];
    builds(gguf, bin, folder);
    CHECK(run("%s -t 0 -n 40 --ignore-eos --no-echo -i the", gguf) == 0);
    size_t n = strlen(out);
    CHECK(n > 12);
    if (n <= 12) return;
    char whole[2000], stop[8], *quote;
    snprintf(whole, sizeof whole, "%.1900s", out);
    for (size_t at = 3; at + 4 < n && at < 12; at++) { /* any three bytes of plain text that stand there: the text ends before they first come */
        snprintf(stop, sizeof stop, "%.3s", whole + at);
        if (strpbrk(stop, "'\n\\") || (stop[0] & 128) || (stop[1] & 128) || (stop[2] & 128)) continue;
        CHECK(run("%s -t 0 -n 40 --ignore-eos --no-echo -i the --stop '%s' --stop 'never there'", gguf, stop) == 0);
        quote = strstr(whole, stop);
        CHECK(strlen(out) == (size_t)(quote - whole) + 1 && strncmp(out, whole, (size_t)(quote - whole)) == 0);
    }
}

/* Two stop strings that stand in each other's way, in both orders: the earlier complete one ends the text; --json says the
 * same text. The compiled-in model's greedy text from this prompt has "little girl named Lily". */
static void stop_strings_overlap(void) {
    static const char *const pairs[][2] = {{"girl", " little girl named Bob"}, {"rl na", "girl named Bob"}, {"girl", "irl"}};
    for (int i = 0; i < 3; i++)
        for (int swap = 0; swap < 2; swap++)
            for (int json = 0; json < 2; json++) {
                CHECK(run("-t 0 -q --no-echo -i 'Once upon a time' -n 60 --stop '%s' --stop '%s' %s", pairs[i][swap], pairs[i][!swap], json ? "--json" : "") == 0);
                const char *want = i == 1 ? ", there was a little gi" : ", there was a little ";
                char line[100];
                snprintf(line, sizeof line, json ? "\"text\":\"%s\",\"stop\":\"stop\"" : "%s\n", want);
                CHECK(json ? strstr(out, line) != NULL : strcmp(out, line) == 0);
            }
    for (int n = 5; n < 30; n++) { /* wherever -n ends the text: cut there or at the string, and said so */
        CHECK(run("-t 0 --no-echo -i 'Once upon a time' -n %d --json --stop ' little girl named Bob' --stop named", n) == 0);
        CHECK((strstr(out, "girl \"") != NULL) == (strstr(out, "\"stop\":\"stop\"") != NULL));
    }
}

static void logits_lines(void) {
    char gguf[512], bin[512], folder[512];
    builds(gguf, bin, folder);
    CHECK(run("logits %s --ids 1,15,7", gguf) == 0 && *err_text == 0);
    CHECK(lines(out) == 1);
    int spaces = 0;
    for (char *p = out; *p; p++) spaces += *p == ' ';
    CHECK(spaces == BUILD_VOCAB - 1);
    char *one = out;
    out = NULL;
    CHECK(run("logits %s --ids '1 15 7' --all -j 3", bin) == 0); /* another format, no tokenizer needed */
    CHECK(lines(out) == 3 && strcmp(strchr(strchr(out, '\n') + 1, '\n') + 1, one) == 0);
    CHECK(run("logits %s --ids 1,15,7 --json", gguf) == 0 && strncmp(out, "{\"logits\":[[", 12) == 0);
    CHECK(strtod(out + 12, NULL) == strtod(one, NULL));
    CHECK(run("logits %s --ids 1,300", gguf) == 1 && strstr(err_text, "300") && *out == 0);
    CHECK(run("logits %s --ids 1,300 --json", gguf) == 1 && *out == 0);
    CHECK(run("logits %s --ids 1,2,3 -c 2 --all --json", gguf) == 1 && *out == 0);
    CHECK(run("logits %s --ids 1,x", gguf) == 2);
    CHECK(run("logits %s --ids ''", gguf) == 2);
    CHECK(run("logits %s", gguf) == 2);
    free(one);
}

static void tokenize(void) {
    char gguf[512], bin[512], folder[512], vocabulary[512], tokenizer_bin[512];
    builds(gguf, bin, folder);
    snprintf(tokenizer_bin, sizeof tokenizer_bin, "%s", test_tmp("tokenizer.bin"));
    snprintf(vocabulary, sizeof vocabulary, "%s", test_tmp("vocab.gguf"));
    build_gguf_vocabulary(vocabulary);
    CHECK(run("tokenize %s 'the sand'", gguf) == 0);
    CHECK(strncmp(out, "1 ", 2) == 0 && lines(out) == 1);
    char *ids = out;
    out = NULL;
    const char *const same[] = {bin, folder, vocabulary, tokenizer_bin};
    for (int i = 0; i < 4; i++) {
        CHECK(run("tokenize %s 'the sand'", same[i]) == 0);
        CHECK(strcmp(ids, out) == 0);
    }
    CHECK(run("tokenize %s/tokenizer.model 'the sand' --no-bos", folder) == 0);
    CHECK(strcmp(ids + 2, out) == 0);
    CHECK(run("tokenize -z %s/tokenizer.model 'the sand'", folder) == 0 && strcmp(ids, out) == 0); /* one word beside -z is the text */
    CHECK(run("tokenize %s/tokenizer.model 'the sand' --pre qwen2", folder) == 1 && run("tokenize %s x --pre qwen0", gguf) == 2);
    CHECK(run("tokenize %s 'the' --pieces --no-bos", gguf) == 0);
    CHECK(strcmp(out, "\xe2\x96\x81the\n") == 0);
    CHECK(run("tokenize %s '</s>' --no-bos --special", gguf) == 0 && strcmp(out, "2\n") == 0);
    CHECK(run("tokenize %s '</s>' --no-bos", gguf) == 0 && strcmp(out, "2\n") != 0);
    CHECK(run("tokenize %s '' --no-bos", gguf) == 0 && strcmp(out, "\n") == 0);
    CHECK(run("tokenize %s a b", gguf) == 2);
    CHECK(run("tokenize %s -f /nowhere", gguf) == 1);
    free(ids);
}

/* Documents are cut as lab/README.md says; each is the same alone. */
static void perplexity_documents(void) {
    char gguf[512], bin[512], folder[512];
    builds(gguf, bin, folder);
    const char *text = "the sand\n===\n\n===\nand a\nhat\n===\n";
    file_write(test_tmp("docs.txt"), text, strlen(text));
    file_write(test_tmp("d1.txt"), "the sand", 8);
    file_write(test_tmp("d2.txt"), "and a\nhat", 9);
    CHECK(run("perplexity %s -f %s --separator === --json", gguf, test_tmp("docs.txt")) == 0);
    double sum = json_number("nll_sum"), tokens = json_number("tokens");
    CHECK(run("perplexity %s -f %s --json", gguf, test_tmp("d1.txt")) == 0);
    sum -= json_number("nll_sum"), tokens -= json_number("tokens");
    CHECK(run("perplexity %s -f %s --json", gguf, test_tmp("d2.txt")) == 0);
    NEAR(json_number("nll_sum"), sum, 2e-7, 0); /* three numbers of nine digits: half of the last, 5e-8, from each */
    CHECK(json_number("tokens") == tokens);
    CHECK(run("perplexity %s -f %s -c 4", gguf, test_tmp("d2.txt")) == 0); /* windows of BOS and three ids */
    CHECK(strstr(out, "window      4 positions") && strstr(out, "one stream"));
    file_write(test_tmp("empty.txt"), "\n===\n", 5);
    CHECK(run("perplexity %s -f %s --separator ===", gguf, test_tmp("empty.txt")) == 1);
    CHECK(run("perplexity %s -f /nowhere", gguf) == 1);
    CHECK(run("perplexity %s", gguf) == 2);
}

static void wrong_use(void) {
    char gguf[512], bin[512], folder[512];
    builds(gguf, bin, folder);
    mkdir(test_tmp("empty"), 0700);
    static const char *const usage[] = {"-t abc", "-t nan", "-t inf", "-t -1", "-t", "-n -5", "-n 1.5", "-n 99999999999999999999", "-p 2", "--nonsense", "-Q", "--top-k x", "-s -1",
                                        "--quiet=1", "--kernels none", "--rope nonsense", "--rope-factor 0.5", "--stop ''", "-j 0", "-m talk", "-y hello", "a b", "-i a -f b",
                                        "logits", "tokenize", "perplexity", "logits --ids 1", "--rope-factor", "-c 0", "\"$(printf '%b' '--no\\npe\\033[31m')\"", "\"$(printf 'a\\nb')\" c d"};
    for (size_t i = 0; i < sizeof usage / sizeof *usage; i++) {
        CHECK(run("%s", usage[i]) == 2);
        CHECK(lines(err_text) == 1 && *out == 0 && !strchr(err_text, 27));
        if (lines(err_text) != 1) printf("    %s: %s", usage[i], err_text);
    }
    const char *const failed[] = {"/nowhere/model.gguf", test_tmp("empty"), "/dev/null", "run.c", "-z /nowhere/tokenizer.bin", "--rope linear", "--rope-factor 4", "--rope longrope", "-f /nowhere"};
    for (size_t i = 0; i < sizeof failed / sizeof *failed; i++) {
        CHECK(run("%s", failed[i]) == 1);
        CHECK(lines(err_text) == 1 && *out == 0);
        if (lines(err_text) != 1) printf("    %s: %s", failed[i], err_text);
    }
    char path[1200];
    snprintf(path, sizeof path, "%0200d/%0200d/%0200d/model.gguf", 0, 0, 0); /* a long name does not push the reason out */
    CHECK(run("%s", path) == 1 && strstr(err_text, "No such file"));
    CHECK(run("perplexity %s -f %s -c 1", gguf, gguf) == 2);
}

static void another_models_tokenizer(void) {
    char gguf[512], bin[512], folder[512];
    builds(gguf, bin, folder);
    if (test_data("llama2c/tok512.bin")) CHECK(run("%s -z %s", bin, test_data("llama2c/tok512.bin")) == 1 && strstr(err_text, "512")); /* pieces; the model has 300 ids */
}

static void helps(void) {
    static const char *const rows[] = {"", "logits ", "tokenize ", "perplexity "};
    for (int i = 0; i < 4; i++) {
        CHECK(run("%s--help", rows[i]) == 0);
        CHECK(strstr(out, "examples:") && strstr(out, "usage:") && *err_text == 0);
    }
    CHECK(run("-q --version") == 0 && strstr(out, "roformer.c") && strstr(out, "ref"));
}

static void streams(void) {
    char cmd[1000];
    snprintf(cmd, sizeof cmd, "%s -n 200 -s 1 2> %s | head -c 10 > /dev/null", test_run_path(), test_tmp("stderr"));
    CHECK(system(cmd) == 0);
    CHECK(run("-n 200 -s 1 --ignore-eos -q") == 0);
    snprintf(cmd, sizeof cmd, "%s -n 100 -s 1 -q > /dev/full 2> %s", test_run_path(), test_tmp("stderr"));
    int status = system(cmd);
    char *said = file_read(test_tmp("stderr"), NULL);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 1 && lines(said) == 1);
    free(said);
    /* a terminal that is closed ends it like Ctrl-C, unless nohup was said */
    static const int codes[] = {130, 0};
    for (int nohup = 0; nohup < 2; nohup++) {
        snprintf(cmd, sizeof cmd, "trap '%s' HUP; %s -n 4000 -c 4000 --ignore-eos -q -s 1 > %s & p=$!; sleep 0.3; kill -HUP $p; wait $p",
                 nohup ? "" : "-", test_run_path(), test_tmp("stdout"));
        status = system(cmd);
        CHECK(WIFEXITED(status) && WEXITSTATUS(status) == codes[nohup]);
    }
    /* Ctrl-C: the text so far, timings, 130 */
    snprintf(cmd, sizeof cmd, "%s -n 0 -c 100000 --ignore-eos -s 1 > %s 2> %s & p=$!; sleep 0.5; kill -INT $p; wait $p", test_run_path(), test_tmp("stdout"), test_tmp("stderr"));
    status = system(cmd);
    said = file_read(test_tmp("stderr"), NULL);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 130 && strstr(said, "tok/s"));
    free(said);
    said = file_read(test_tmp("stdout"), NULL);
    CHECK(strlen(said) > 20 && said[strlen(said) - 1] == '\n');
    free(said);
}

/* Linear attention on any model, said once; words that are not known, named. */
static void linear_options(void) {
    char gguf[512], bin[512], folder[512];
    builds(gguf, bin, folder);
    CHECK(run("logits %s --ids 1,5,9", gguf) == 0);
    char *softmax = out;
    out = NULL;
    for (int r = 0; linear_form_row(r); r++) {
        CHECK(run("logits %s --ids 1,5,9 --attention linear --form %s", gguf, linear_form_row(r)->name) == 0);
        CHECK(strcmp(out, softmax) != 0 && lines(err_text) == 1 && strstr(err_text, linear_form_row(r)->name));
    }
    for (int r = 0; feature_map_row(r); r++) {
        CHECK(run("logits %s --ids 1,5,9 --attention linear --phi %s", bin, feature_map_row(r)->name) == 0);
        CHECK(strcmp(out, softmax) != 0 && lines(err_text) == 1 && strstr(err_text, feature_map_row(r)->name));
    }
    CHECK(run("logits %s --ids 1,5,9 --attention softmax", gguf) == 0);
    CHECK(strcmp(out, softmax) == 0 && *err_text == 0);
    free(softmax);
    static const BuildShape s = {.d = 32, .ff = 64, .layers = 1, .heads = 4, .kv_heads = 2, .n_ctx = 64,
                                 .phi = "elu+1", .form = "numerator"};
    static const struct { const char *options; int told; } rows[] = { /* what the file says is what it was trained with */
        {"", 0}, {"--attention linear", 0}, {"--form numerator --phi elu+1", 0},
        {"--phi relu", 1}, {"--form both", 1}, {"--attention softmax", 1}};
    build_gguf(test_tmp("cli-linear.gguf"), &s, TENSOR_F32);
    for (size_t r = 0; r < sizeof rows / sizeof *rows; r++) {
        CHECK(run("%s -n 3 -t 0 %s", test_tmp("cli-linear.gguf"), rows[r].options) == 0);
        CHECK((strstr(err_text, "not trained") != NULL) == rows[r].told);
    }
    CHECK(run("%s -c 4 -n 100 -t 0 --attention linear --ignore-eos --json", gguf) == 0); /* -c is no limit */
    CHECK(strstr(out, "\"stop\":\"length\"") != NULL);
    CHECK(run("%s --attention cubic", gguf) == 2 && strstr(err_text, "cubic"));
    CHECK(run("%s --attention linear --phi elu", gguf) == 2 && strstr(err_text, "elu"));
    CHECK(run("%s --attention linear --form over", gguf) == 2 && strstr(err_text, "over"));
    CHECK(run("%s --attention linear --epsilon -1", gguf) == 2 && strstr(err_text, "epsilon"));
    CHECK(run("%s --phi relu", gguf) == 1 && strstr(err_text, "--attention linear"));
    CHECK(run("%s --chunk 8", gguf) == 2 && strstr(err_text, "linear"));
    CHECK(run("%s --attention linear --form cosine --phi relu", gguf) == 2 && strstr(err_text, "identity"));
    CHECK(run("%s --attention linear --phi favor+ --favor-features 7", gguf) == 2 && strstr(err_text, "--favor-features"));
    CHECK(run("%s --attention linear --favor-features 8", gguf) == 1 && strstr(err_text, "favor+"));
    CHECK(run("%s --attention softmax --form both", gguf) == 2 && strstr(err_text, "--form"));
    CHECK(run("%s --attention linear -i a -t 0 -n 4 --favor-seed 0", gguf) == 1);
}

/* Whether n tokens can be written within so many kB of address space. */
static int fits(const char *model, int n, long kb) {
    char args[700];
    snprintf(args, sizeof args, "%s -n %d --ignore-eos -t 0 -q -j 1 --kernels ref", model, n);
    char limit[60];
    snprintf(limit, sizeof limit, "ulimit -v %ld; exec", kb);
    return run_args(limit, args) == 0;
}

/* A million tokens need no more than a few: the least that 2,000 need, found by halving, and 1 MB serve 60,000. */
static void linear_memory(void) {
    static const BuildShape s = {.d = 8, .ff = 8, .layers = 1, .heads = 2, .kv_heads = 1, .n_ctx = 64, .phi = "elu+1", .form = "numerator"};
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
    char gguf[512], bin[512], folder[512], state[512];
    builds(gguf, bin, folder);
    snprintf(state, sizeof state, "%s", test_tmp("cli.state"));
    for (int linear = 0; linear < 2; linear++) {
        const char *kind = linear ? "--attention linear" : "";
        CHECK(run("%s -i 'the sand' -t 0 -n 40 --ignore-eos -q %s", gguf, kind) == 0);
        char *whole = out;
        out = NULL;
        CHECK(run("%s -i 'the' --save-state %s --max-tokens 0 -q %s", gguf, state, kind) == 0);
        CHECK(strcmp(out, "the\n") == 0);
        CHECK(run("%s -i ' sand' --load-state %s -t 0 --max-tokens 200 -n 40 -c 60 --ignore-eos -q %s", gguf, state, kind) == 0);
        size_t n = strlen(out) < strlen(whole) - 3 ? strlen(out) - 1 : strlen(whole) - 4; /* without the last line's end */
        CHECK(n > 10 && memcmp(out, whole + 3, n) == 0);
        free(whole);
        CHECK(run("logits %s --ids 1,5,9 %s", gguf, kind) == 0);
        whole = out;
        out = NULL;
        CHECK(run("logits %s --ids 1,5 --save-state %s -q %s", gguf, state, kind) == 0);
        CHECK(run("logits %s --ids 9 --load-state %s %s", gguf, state, kind) == 0);
        CHECK(strcmp(out, whole) == 0);
        free(whole);
        CHECK(run("%s --load-state %s -n 3 %s", gguf, state, linear ? "" : "--attention linear") == 1 && strstr(err_text, "softmax"));
        CHECK(run("%s --load-state %s -n 3 %s --rope-theta 5000", gguf, state, kind) == 1 && strstr(err_text, "settings"));
    }
    CHECK(run("%s --load-state %s -n 3", gguf, gguf) == 1 && strstr(err_text, "not a saved state"));
    CHECK(run("%s --load-state /nowhere/at.all -n 3", gguf) == 1 && strstr(err_text, "/nowhere/at.all"));
    CHECK(run("%s -n 3 --save-state /nowhere/at.all", gguf) == 1 && strstr(err_text, "/nowhere/at.all"));
    CHECK(run("%s -n 3 --save-state %s", gguf, folder) == 1 && strstr(err_text, "regular file"));
    CHECK(run("%s -n 3 --save-state %s", bin, gguf) == 1 && strstr(err_text, "stays as it is")); /* never over something else */
    char link[512];
    snprintf(link, sizeof link, "%s", test_tmp("link"));
    CHECK(symlink(state, link) == 0);
    CHECK(run("%s -n 3 --save-state %s -q", gguf, link) == 0); /* where the link leads to, and the link stays */
    struct stat st;
    CHECK(lstat(link, &st) == 0 && S_ISLNK(st.st_mode));
    CHECK(remove(state) == 0 && run("%s -n 3 --save-state %s", gguf, link) == 1 && strstr(err_text, "nowhere"));
}

/* --kv on trained weights. Half floats and bytes of keys and values move the mean likelihood by less than 1e-3; where the weights
 * are exact, no greedy id either (activations of 8 bits turn last bits into ties broken: README of attention/). */
static void cache_types(void) {
    static const char *const types[] = {"f32", "f16", "q8_0", "auto"}, *const files[] = {"tales/tales-1m-f32.gguf", "tales/tales-1m.gguf"};
    char gguf[512], bin[512], folder[512], state[512];
    for (int f = 0; f < 2 && test_data(files[f]); f++) {
        char path[512], *text = NULL;
        double mean = 0;
        snprintf(path, sizeof path, "%s", test_data(files[f]));
        for (int t = 0; t < 4; t++) {
            CHECK(run("perplexity %s -f %s --separator \"<|endoftext|>\" --json --kv %s", path, test_data("tales/heldout.txt"), types[t]) == 0);
            if (t == 0) mean = json_number("nll_mean");
            NEAR(json_number("nll_mean"), mean, t == 0 ? 0 : 1e-3, 0);
            CHECK(json_number("tokens") == 9087 && (types[t][0] == 'a' || t == 0 || json_number("nll_mean") != mean));
            CHECK(run("%s -t 0 -n 200 -q --kv %s", path, types[t]) == 0);
            if (t == 0) text = out, out = NULL;
            else if (f == 0 || t == 3) CHECK(strcmp(out, text) == 0);
        }
        free(text);
    }
    builds(gguf, bin, folder);
    snprintf(state, sizeof state, "%s", test_tmp("kv.state"));
    CHECK(run("logits %s --ids 1,5 --save-state %s --kv q8_0 -q", gguf, state) == 0);
    CHECK(run("logits %s --ids 1,5,9 --kv q8_0", gguf) == 0);
    char *want = out;
    out = NULL;
    CHECK(run("logits %s --ids 9 --load-state %s", gguf, state) == 0 && strcmp(out, want) == 0); /* as it was saved */
    CHECK(run("logits %s --ids 9 --load-state %s --kv f16", gguf, state) == 1 && strstr(err_text, "q8_0") && strstr(err_text, "f16"));
    CHECK(run("logits %s --ids 1,5,9", gguf) == 0 && strcmp(out, want) != 0); /* f32 unless told */
    free(want);
    CHECK(run("%s -n 3 --kv f64", gguf) == 2 && strstr(err_text, "q8_0"));
    CHECK(run("%s -n 3 --kv f16 --attention linear", gguf) == 2 && strstr(err_text, "--kv"));
    CHECK(run("%s -n 3 -v --kv f16", gguf) == 0 && strstr(err_text, "as f16"));
}

extern const Test tests_cli[];
const Test tests_cli[] = {
    {"cli/a story from nothing", story},
    {"cli/llama2.c's texts", llama2c_texts},
    {"cli/llama2.c's likelihoods", llama2c_likelihood},
    {"cli/tales: ids, logits, likelihood", tales},
    {"cli/tales with linear attention: the same", tales_linear},
    {"cli/linear attention on any model", linear_options},
    {"cli/linear attention without end takes no memory", linear_memory},
    {"cli/states saved and loaded", states},
    {"cli/caches of f32, f16, q8_0", cache_types},
    {"cli/one text from three formats", one_text_from_three_formats},
    {"cli/text from stdin", from_stdin},
    {"cli/lengths, json", lengths_and_json},
    {"cli/ids kept and dropped", ids_kept},
    {"cli/stop strings", stop_strings},
    {"cli/stop strings that overlap", stop_strings_overlap},
    {"cli/logits", logits_lines},
    {"cli/tokenize", tokenize},
    {"cli/perplexity of documents", perplexity_documents},
    {"cli/wrong use", wrong_use},
    {"cli/another model's tokenizer", another_models_tokenizer},
    {"cli/help and version", helps},
    {"cli/closed pipe, full disk, Ctrl-C", streams},
    {0},
};
