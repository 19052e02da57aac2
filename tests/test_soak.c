/* tests/test_soak.c - nothing grows, and nothing changes: the program of tests/soak/, on small models of every format.
 *
 * `make test` goes on for seconds; `make soak` for 10,000 turns of each conversation, 10^7 ids, 1,000 opens. */
#include "build.h"
#include "convert_files.h"
#include "decoder_files.h"
#include "program.h"
#include "test.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int campaign(void) { return getenv("SOAK") != NULL; }

/* soak ARGS; what it prints is shown where it is asked for, or something is wrong. */
static void soak(const char *fmt, const char *model, const char *few, const char *many) {
    const char *u = test_sanitized ? "-u" : "";
    char args[1500], line[2500];
    snprintf(args, sizeof args, fmt, model, campaign() ? many : few);
    snprintf(line, sizeof line, "%s %s %s", test_beside("soak"), u, args);
    int code;
    if (campaign()) {
        printf("%s\n", strrchr(model, '/') ? strrchr(model, '/') + 1 : model);
        fflush(stdout);
        code = system(line);
    } else if ((code = shell("%s", line))) printf("%s%s", out, said);
    CHECK(code == 0);
}

static const BuildShape tiny = {.d = 8, .ff = 8, .layers = 1, .heads = 2, .kv_heads = 1, .n_ctx = 64};

static const char *small_model(const char *name, const char *phi) {
    BuildShape shape = tiny;
    if (phi) shape.phi = phi, shape.form = "numerator";
    build_gguf(test_tmp(name), &shape, TENSOR_F32);
    return test_tmp(name);
}

static const char *fmt_in_folder(const char *words, const char *behind) {
    static char fmt[1200];
    snprintf(fmt, sizeof fmt, "%s %s %s", words, test_folder("soak"), behind);
    return fmt;
}

/* The context is full again and again; with linear attention a conversation is given up now and then, for it would be
 * kept whole. */
static void chats(void) {
    char words[700];
    snprintf(words, sizeof words, "chat %s %%s", test_run_path());
    soak(fmt_in_folder(words, "%s 0"), small_model("chat.gguf", NULL), "1000", "10000");
    soak(fmt_in_folder(words, "%s 50"), small_model("chat-linear.gguf", "elu+1"), "1000", "10000");
    soak(fmt_in_folder(words, "%s 0"), delta_folder(), "1000", "10000");
}

static void tokens(void) {
    soak(fmt_in_folder("tokens %s", "%s"), small_model("linear.gguf", "elu+1"), "4500000", "10000000");
    if (campaign()) soak(fmt_in_folder("tokens %s", "%s"), small_model("favor.gguf", "favor+"), "", "10000000");
}

static void opens(void) {
    static const char *const bins[] = {"v0/m.bin", "v1/m.bin", "v2/m.bin"};
    static const char fmt[] = "opens %s %s", few[] = "60", many[] = "1000";
    BuildShape wide = tiny;
    wide.d = wide.ff = 32;
    soak(fmt, small_model("m.gguf", NULL), few, many);
    soak(fmt, small_model("linear.gguf", "elu+1"), few, many);
    build_gguf(test_tmp("q8_0.gguf"), &wide, TENSOR_Q8_0);
    soak(fmt, test_tmp("q8_0.gguf"), few, many);
    build_hf(test_tmp("soak-hf"), &tiny, TENSOR_BF16, 2);
    soak(fmt, test_tmp("soak-hf"), few, many);
    for (int i = 0; i < 3; i++) {
        char folder[16], path[600];
        snprintf(folder, sizeof folder, "v%d", i);
        snprintf(path, sizeof path, "%s/tokenizer.bin", test_folder(folder));
        build_tokenizer_bin(path);
        build_llama2c(test_tmp(bins[i]), &tiny, i, 4);
        soak(fmt, test_tmp(bins[i]), few, many);
    }
    soak(fmt, delta_folder(), few, many); /* with tokenizer.json */
    soak(fmt, "model/words-1m.gguf", few, many);
    soak(fmt, "built-in", few, many);
}

extern const Test tests_soak[];
const Test tests_soak[] = {{"soak/chats", chats}, {"soak/tokens", tokens}, {"soak/opens", opens}, {0}};
