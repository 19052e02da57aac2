/* tests/cli_files.c - small models for the program. */
#include "cli_files.h"
#include "program.h"
#include "test.h"

#include <stdlib.h>
#include <string.h>

CliModel cli_model(void) {
    static const BuildShape s = {.d = 32, .ff = 64, .layers = 1, .heads = 4, .kv_heads = 2, .n_ctx = 64};
    CliModel m;
    const char *place = test_folder("cli"); /* tokenizer.bin is nobody else's */
    snprintf(m.gguf, sizeof m.gguf, "%s", test_in(place, "m.gguf"));
    snprintf(m.bin, sizeof m.bin, "%s", test_in(place, "m.bin"));
    snprintf(m.folder, sizeof m.folder, "%s", test_in(place, "hf"));
    snprintf(m.tokenizer, sizeof m.tokenizer, "%s", test_in(place, "tokenizer.bin"));
    build_gguf(m.gguf, &s, TENSOR_F32);
    build_llama2c(m.bin, &s, 0, 0);
    build_hf(m.folder, &s, TENSOR_F32, 1);
    build_tokenizer_bin(m.tokenizer);
    return m;
}

int text_is_of(const char *text, const char *path) {
    char *want = file_read(path, NULL);
    int same = want && strcmp(text, want) == 0;
    free(want);
    return same;
}

double json_number(const char *key) {
    char quoted[64];
    snprintf(quoted, sizeof quoted, "\"%s\":", key);
    const char *at = strstr(out, quoted);
    return at ? strtod(at + strlen(quoted), NULL) : NAN;
}

int golden_list(const char *json, const char *key, double *x, int max) {
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
