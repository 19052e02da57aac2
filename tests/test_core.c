/* tests/test_core.c - ./core writes the text of ./run --kernels ref. */
#include "base/paths.h"
#include "model/files/weights.h"
#include "build.h"
#include "program.h"
#include "test.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Both programs with these options, and as many positions; the core stands beside ./run. 1 where it is not there. */
static int same_text(const char *model, const char *options) {
    char core[1000], command[3000], *core_out = NULL, *core_err = NULL;
    const char *path = test_run_path();
    snprintf(core, sizeof core, "%.*score", (int)(strlen(path) - 3), path);
    if (!file_exists(core)) return 1;
    snprintf(command, sizeof command, "%s %s %s", core, model, options);
    CHECK(test_shell(command, &core_out, &core_err) == 0 && *core_err == 0);
    CHECK(run("%s -n 256 %s -q --kernels ref", model, options) == 0); /* the core's own; the last -n counts */
    CHECK(strlen(out) > 20 && core_out && strcmp(out, core_out) == 0);
    free(core_out);
    free(core_err);
    return 0;
}

static void built_in(void) {
    static const char *const options[] = {"-t 0", "-s 42", "-t 0.7 -p 0.8 -s 7 -i 'Tom had a dog'",
                                          "-n 40 -t 0 -i 'The'", "-p 1 -s 3 -n 300"};
    for (size_t i = 0; i < sizeof options / sizeof *options; i++)
        if (same_text("", options[i])) test_skip("there is no core beside ./run");
}

static void linear(void) { /* eq. 19; 0: without end, which its own end of text gives it */
    if (same_text("model/tales-1m-linear.gguf", "-s 5 -i 'Once'") ||
        same_text("model/tales-1m-linear.gguf", "-n 0 -t 0"))
        test_skip("there is no core beside ./run");
}

static void trained(void) { /* in a folder where its vocabulary is called tokenizer.bin */
    const char *stories = test_data("llama2c/stories260K.bin"), *vocabulary = test_data("llama2c/tok512.bin");
    if (!stories || !vocabulary) return;
    const char *folder = test_folder("core"), *model = test_in(folder, "m.bin");
    char command[3000], *said_out = NULL, *said_err = NULL;
    snprintf(command, sizeof command, "cp %s %s && cp %s %s/tokenizer.bin", stories, model, vocabulary, folder);
    CHECK(test_shell(command, &said_out, &said_err) == 0);
    free(said_out);
    free(said_err);
    if (same_text(model, "-s 11 -i 'One day'")) test_skip("there is no core beside ./run");
}

/* words: a model, options; with what exit code, and what line. */
static void refused(const char *words, int with, const char *why) {
    char command[1200], *said_out = NULL, *said_err = NULL;
    const char *path = test_run_path();
    snprintf(command, sizeof command, "(%.*score %s)", (int)(strlen(path) - 3), path, words);
    int code = test_shell(command, &said_out, &said_err);
    if (code == 127) test_skip("there is no core beside ./run");
    else CHECK(code == with && strstr(said_err, why));
    free(said_out);
    free(said_err);
}

static void refuses(void) {
    size_t n;
    char *file = file_read("model/tales-1m.gguf", &n);
    Bytes b = {0};
    refused("README.md", 1, "README.md: ");
    bytes_put(&b, file, 16); /* one key more, of 32 bytes, so that the tensors stay aligned */
    bytes_u64(&b, load_u64(file + 16) + 1);
    bytes_string(&b, "llama.expert_count"), bytes_u32(&b, META_U16), bytes_number(&b, 8, 2);
    bytes_put(&b, file + 24, n - 24);
    file_write(test_tmp("experts.gguf"), b.data, b.n);
    refused(test_tmp("experts.gguf"), 1, "expert_count: is not known to the core");
    CHECK(run("%s", test_tmp("experts.gguf")) == 1 && strstr(said, "expert_used_count"));
    b.n = 16; /* two more, of 64 bytes: run scales cos and sin by this */
    bytes_u64(&b, load_u64(file + 16) + 2);
    bytes_string(&b, "llama.rope.scaling.attn_factor"), bytes_u32(&b, META_F32), bytes_u32(&b, 0x40000000);
    bytes_string(&b, "a.b.c"), bytes_u32(&b, META_U8), bytes_number(&b, 1, 1);
    bytes_put(&b, file + 24, n - 24);
    file_write(test_tmp("factor.gguf"), b.data, b.n);
    refused(test_tmp("factor.gguf"), 1, "rope.scaling.attn_factor: is not known to the core");
    CHECK(run("%s -n 5", test_tmp("factor.gguf")) == 0);
    free(b.data);
    free(file);
}

/* What eq. 19 adds to a denominator: both programs say the same of one that is no small number. */
static void epsilon(void) {
    static const char key[] = "attention.denominator_epsilon", model[] = "model/tales-1m-linear.gguf";
    static const float wrong[] = {-1, 1, NAN};
    const char *path = test_tmp("epsilon.gguf");
    size_t n, at = 0, len = sizeof key - 1;
    char *file = file_read(model, &n);
    while (at + len < n && memcmp(file + at, key, len) != 0) at++;
    at += len + 4; /* behind the name and the type */
    for (size_t i = 0; at + 4 <= n && i < sizeof wrong / sizeof *wrong; i++) {
        memcpy(file + at, &wrong[i], 4);
        file_write(path, file, n);
        refused(path, 1, "denominator_epsilon");
        CHECK(run("%s -n 5", path) == 1 && strstr(said, "denominator_epsilon must be from 0 to below 1"));
    }
    CHECK(at + 4 <= n);
    free(file);
}

/* What is no file of its two formats, or a damaged one; and one whose words it cannot read. */
static void other_files(void) {
    size_t n, i = 0;
    char *file = file_read("model/tales-1m.gguf", &n);
    refused("model", 1, "model: is a folder");
    file_write(test_tmp("short"), "GGU", 3);
    refused(test_tmp("short"), 1, "short: not a model file that is known here");
    file_write(test_tmp("of-nothing"), "", 0);
    refused(test_tmp("of-nothing"), 1, "of-nothing: the file is empty");
    file_write(test_tmp("cut.gguf"), file, 40);
    refused(test_tmp("cut.gguf"), 1, "cut.gguf: the file ends inside its metadata");
    file_write(test_tmp("cut.gguf"), file, n - 1);
    refused(test_tmp("cut.gguf"), 1, "the file is truncated, fetch it again");
    while (i + 20 < n && memcmp(file + i, "tokenizer.ggml.model", 20) != 0) i++;
    file[i + 19] = '?';
    file_write(test_tmp("wordless.gguf"), file, n);
    refused(test_tmp("wordless.gguf"), 1, "wordless.gguf: its tokenizer is not SentencePiece's BPE");
    free(file);
}

static void wrong_use(void) {
    static const char *const words[] = {"-n x", "-n -1", "-s ''", "-s 3a", "-t 1e", "-p", "-x 1", "a b"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) refused(words[i], 2, "usage: ");
    refused("-t nan", 1, "temperature must be from 0");
    refused("-n 5 >&-", 1, "cannot write the output");
}

const Test tests_core[] = {
    {"core/the compiled-in model", built_in},
    {"core/linear attention", linear},
    {"core/a llama2.c model", trained},
    {"core/refuses", refuses},
    {"core/epsilon", epsilon},
    {"core/other files", other_files},
    {"core/wrong use", wrong_use},
    {0}};
