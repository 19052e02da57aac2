/* tests/fuzz/fuzz_state.c - any bytes as a saved state: loaded, and read on from; or refused with a line.
 * The model's fingerprint and the checksum are put right first: a fuzzer would not find them. */
#include "../../model/session.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static Model models[2]; /* softmax, linear */

static void open_models(void) {
    char err[300];
    for (int linear = 0; linear < 2 && !models[linear].layers; linear++) {
        ModelOptions o = {.config.attention = {.kind = linear ? ATTENTION_LINEAR : ATTENTION_SOFTMAX}};
        if (model_open(&models[linear], "model/tales-1m.gguf", &o, err, sizeof err)) abort();
    }
}

static void put_u64(uint8_t *p, uint64_t v) {
    for (int i = 0; i < 8; i++) p[i] = (uint8_t)(v >> 8 * i);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    Session s;
    char err[300] = "";
    const float *logits;
    open_models();
    if (size < 48) return 0;
    uint8_t *file = malloc(size);
    if (!file) return 0;
    memcpy(file, data, size);
    const Model *m = &models[file[12] == 2];
    put_u64(file + 16, model_fingerprint(m));
    put_u64(file + size - 8, hash_bytes(HASH_START, file, size - 8));
    if (session_init(&s, m, &(SessionOptions){.n_ctx = 16, .threads = 1}, err, sizeof err)) abort();
    int rc = session_load_memory(&s, file, size, "fuzz", &logits, err, sizeof err);
    if (rc && (!*err || logits || s.pos)) abort();
    if (rc == 0 && s.pos < s.options.n_ctx) session_eval(&s, &(int){5}, 1, &logits, err, sizeof err);
    session_free(&s);
    free(file);
    return 0;
}
