/* tests/fuzz/fuzz_kept.c - any bytes as a file of repacked weights: refused or written again, and the model opens, or
 * is refused, in a line; and any bytes as panels, which a file with the right sum may hold: a model runs with them. */
#include "model/options.h"
#include "model/session.h"
#include "tests/build.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static char model[] = "/tmp/fuzz_kept.XXXXXX";
static char panels[] = "/tmp/fuzz_kept_panels.XXXXXX";

static void remove_files(void) { unlink(model), unlink(panels); }

static void make_model(void) {
    const BuildShape shape = {.d = 32, .ff = 32, .layers = 1, .heads = 2, .kv_heads = 1, .n_ctx = 16};
    int fd = mkstemp(model), other = mkstemp(panels);
    if (fd < 0 || other < 0) abort();
    close(fd), close(other);
    build_gguf(model, &shape, TENSOR_Q8_0);
    atexit(remove_files);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static int made;
    char err[300] = "";
    const float *logits;
    Model m;
    Session s;
    if (!made++) make_model();
    if (size < 2) return 0;
    ModelOptions o = {.threads = 1, .panels = data[0] % 2 ? panels : NULL};
    if (o.panels) { /* behind the word that says what it is, where the input's first byte is large */
        uint8_t *file = malloc(size + 8);
        if (!file) return 0;
        memcpy(file, "rfpanels", 8), memcpy(file + 8, data + 1, size - 1);
        file_write(panels, data[0] > 127 ? file : file + 8, data[0] > 127 ? size + 7 : size - 1);
        free(file);
    }
    if (model_open(&m, model, &o, err, sizeof err)) {
        if (!*err) abort();
        return 0;
    }
    for (size_t i = 0; !o.panels && m.panels && i < m.panels_size; i++) m.panels[i] = data[1 + i % (size - 1)];
    if (session_init(&s, &m, &(SessionOptions){.n_ctx = 4, .threads = 1}, err, sizeof err)) abort();
    session_eval(&s, (int[]){1, 77, 5}, 3, &logits, err, sizeof err);
    session_free(&s);
    model_close(&m);
    return 0;
}
