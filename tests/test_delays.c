/* tests/test_delays.c - threads that are held up at random wherever they wait: the program of tests/delays/, on small
 * models of every kind.
 *
 * `make test` does some rounds, always the same; `make delays` 10,000, from a seed that it prints. */
#include "build.h"
#include "decoder_files.h"
#include "program.h"
#include "roformer_files.h"
#include "test.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The model at path, which the next one would take the place of, into a folder of models. */
static void keep_model(const char *folder, const char *name, const char *path) {
    CHECK(path && rename(path, test_in(folder, name)) == 0);
}

static void build_models(const char *folder) {
    const BuildShape small = {.d = 64, .ff = 96, .layers = 2, .heads = 4, .kv_heads = 2, .n_ctx = 64};
    const BuildShape wide = {.d = 1024, .ff = 1024, .layers = 1, .heads = 16, .kv_heads = 16, .n_ctx = 64};
    build_gguf(test_in(folder, "f32.gguf"), &small, TENSOR_F32);
    build_gguf(test_in(folder, "q8_0.gguf"), &small, TENSOR_Q8_0);
    build_gguf(test_in(folder, "q4_0.gguf"), &small, TENSOR_Q4_0);
    build_hf(test_in(folder, "bf16"), &small, TENSOR_BF16, 2);
    build_gguf(test_in(test_in(folder, "wide"), "q8_0.gguf"), &wide, TENSOR_Q8_0); /* worth a team when it is opened */
    build_gguf(test_in(test_in(folder, "wide"), "f32.gguf"), &wide, TENSOR_F32);
}

/* Every `step`-th of the models whose configurations are in a folder of goldens. */
static void take_goldens(const char *folder, const char *goldens, int roformer, int step) {
    char from[100], name[100];
    struct dirent **names;
    snprintf(from, sizeof from, "tests/golden/%s", goldens);
    int n = scandir(from, &names, NULL, alphasort), at = 0;
    CHECK(n > 0);
    for (int i = 0; i < n; i++) {
        char *end = strstr(names[i]->d_name, ".config.json");
        if (end) *end = 0;
        snprintf(name, sizeof name, "%s-%.60s", goldens, names[i]->d_name);
        if (end && !strchr(names[i]->d_name, '.') && at++ % step == 0)
            keep_model(folder, name, roformer ? roformer_folder(names[i]->d_name, TENSOR_F32, NULL)
                                                : hf_folder(names[i]->d_name, "", TENSOR_F32, &sound));
        free(names[i]);
    }
    if (n > 0) free(names);
}

static void rounds(void) {
    const char *options = getenv("DELAYS"), *delays = test_beside("delays"), *folder = test_folder("delays");
    int step = options ? 1 : 9, code;
    char line[1500];
    if (access(delays, X_OK) != 0) {
        test_skip("this linker cannot wrap calls");
        return;
    }
    test_folder("delays/wide");
    build_models(folder);
    take_goldens(folder, "decoders", 0, step);
    take_goldens(folder, "architectures", 0, step);
    take_goldens(folder, "encoders", 0, step);
    take_goldens(folder, "roformer", 1, step);
    snprintf(line, sizeof line, "%s %s %s", delays, options ? options : "-r 60", folder);
    fflush(stdout); /* what a campaign prints is seen as it comes */
    if (options) code = system(line);
    else if ((code = shell("%s", line))) printf("%s%s", out, said);
    CHECK(code == 0);
}

extern const Test tests_delays[];
const Test tests_delays[] = {{"delays/rounds", rounds}, {0}};
