/* tests/quantize_files.c - one model in seven containers. */
#include "quantize_files.h"
#include "test.h"

#include <dirent.h>
#include <string.h>

const BuildShape quantize_wide = {.d = 256, .ff = 256, .layers = 3, .heads = 4, .kv_heads = 2, .n_ctx = 32};
const BuildShape quantize_narrow = {.d = 64, .ff = 96, .layers = 2, .heads = 4, .kv_heads = 2, .n_ctx = 32};

const char *at(const char *name) { return test_in(test_folder("quantize"), name); }

int leftovers(void) {
    int n = 0;
    DIR *d = opendir(test_folder("quantize"));
    for (struct dirent *e = d ? readdir(d) : NULL; e; e = readdir(d)) n += strstr(e->d_name, ".part") != NULL;
    if (d) closedir(d);
    return n;
}

int model_opened(Model *m, const char *path) {
    char err[400];
    int rc = model_open(m, path, NULL, err, sizeof err);
    if (rc) printf("    %s\n", err);
    CHECK(rc == 0);
    return rc == 0;
}

const char *const inputs[N_INPUTS] = {"m-f32.gguf", "m-q8_0.gguf", "m.v0.bin", "m.v1.bin", "m.v2.bin", "hf-f32",
                                      "hf-bf16"};

void build_inputs(const BuildShape *s) {
    build_gguf(at(inputs[0]), s, TENSOR_F32);
    build_gguf(at(inputs[1]), s, TENSOR_Q8_0);
    for (int v = 0; v < 3; v++) build_llama2c(at(inputs[2 + v]), s, v, v == 2 ? 32 : 0);
    build_hf(at(inputs[5]), s, TENSOR_F32, 1);
    build_hf(at(inputs[6]), s, TENSOR_BF16, 2);
    build_tokenizer_bin(at("tok.bin"));
}

const char *tokenizer_of(int input) {
    static char words[600];
    snprintf(words, sizeof words, "-z %s", at("tok.bin"));
    return input >= 2 && input <= 4 ? words : "";
}

int same_tensors(const Weights *a, const Weights *b) {
    int same = a->n_tensors == b->n_tensors;
    for (size_t i = 0; i < a->n_tensors && same; i++) {
        const Tensor *x = &a->tensors[i], *y = weights_find(b, x->name);
        same = y && x->type == y->type && x->size == y->size && memcmp(x->data, y->data, x->size) == 0;
        if (!same) printf("    %s differs\n", x->name);
    }
    return same;
}
