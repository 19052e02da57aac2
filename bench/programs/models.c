/* bench/programs/models.c - random models of two known shapes, for measuring where no trained ones are.
 *     build/release/bench-models FOLDER
 * writes stories15M and stories110M (llama2.c's shapes, with a small vocabulary) as .bin and as GGUF, and llama2.c's
 * tokenizer.bin; prints their names as bench/peers.sh takes them. */
#include "tests/build.h"

#include <stdio.h>

int main(int argc, char **argv) {
    static const struct { const char *name; BuildShape s; } shapes[] = {
        {"stories15M", {.d = 288, .ff = 768, .layers = 6, .heads = 6, .kv_heads = 6, .n_ctx = 1024}},
        {"stories110M", {.d = 768, .ff = 2048, .layers = 12, .heads = 12, .kv_heads = 12, .n_ctx = 1024}}};
    static const struct { const char *name; TensorType type; } types[] = {
        {"f32", TENSOR_F32}, {"q8_0", TENSOR_Q8_0}, {"q4_0", TENSOR_Q4_0}};
    char path[500];
    if (argc != 2) return fprintf(stderr, "usage: bench-models FOLDER\n"), 2;
    snprintf(path, sizeof path, "%s/tokenizer.bin", argv[1]);
    build_tokenizer_bin(path);
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        snprintf(path, sizeof path, "%s/%s-shape.bin", argv[1], shapes[i].name);
        build_llama2c(path, &shapes[i].s, 0, 0);
        for (size_t t = 0; t < sizeof types / sizeof *types; t++) {
            snprintf(path, sizeof path, "%s/%s-shape-%s.gguf", argv[1], shapes[i].name, types[t].name);
            build_gguf(path, &shapes[i].s, types[t].type);
            printf("%s", path);
            if (t == 0) printf("+%s/%s-shape.bin", argv[1], shapes[i].name);
            putchar('\n');
        }
    }
    return 0;
}
