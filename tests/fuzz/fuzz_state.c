/* tests/fuzz/fuzz_state.c - any bytes as a saved state: loaded, and read on from; or refused with a line.
 * The model's fingerprint and the checksum are put right first: a fuzzer would not find them. The models are so small
 * that whole states of both kinds are within its reach: 1,800 bytes with linear attention, 1,248 and 36 an id with
 * softmax. */
#include "model/fingerprint.h"
#include "model/state.h"
#include "tests/build.h"
#include "base/hash.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static Model models[2]; /* softmax, linear */

static void open_models(void) {
    char err[300];
    for (int linear = 0; linear < 2 && !models[linear].layers; linear++) {
        const BuildShape shape = {.d = 8, .ff = 8, .layers = 1, .heads = 2, .kv_heads = 1, .n_ctx = 16,
                                  .phi = linear ? "elu+1" : NULL, .form = linear ? "numerator" : NULL};
        char path[] = "/tmp/fuzz_state.XXXXXX";
        int fd = mkstemp(path);
        if (fd < 0) abort();
        close(fd);
        build_gguf(path, &shape, TENSOR_F32);
        if (model_open(&models[linear], path, NULL, err, sizeof err)) abort();
        unlink(path); /* it stays mapped */
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
