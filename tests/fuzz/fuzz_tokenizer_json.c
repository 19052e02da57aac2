/* tests/fuzz/fuzz_tokenizer_json.c - libFuzzer target for tokenizer.json: what opens must encode any bytes, with every
 * flag, within the bounds that the headers promise; and where a GGUF vocabulary can say it, that gives the same ids.
 * The text is the file's end, behind a NUL. */
#include "mutate.h"
#include "tokens.h"

#include "base/base.h"
#include "tokenizer/open.h"
#include "tokenizer/pipeline/pipeline.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static char err[200];

static void use(const Tokenizer *t, const char *text, size_t n_text) {
    for (int flags = 0; flags < 16; flags += 5) {
        int *ids, *types;
        size_t n, len;
        int rc = tokenizer_encode_pair(t, text, n_text, flags & 1 ? text : NULL, n_text / 2, flags, &ids, &types, &n,
                                       err, sizeof err);
        if (rc && rc != -12 && rc != -22) abort();
        if (rc) continue;
        for (size_t i = 0; i < n; i++)
            if (ids[i] < 0 || (size_t)ids[i] >= tokenizer_size(t)) abort();
        free(tokens_text(t, ids, n, &len));
        free(ids);
        free(types);
        tokens_hold(t, text, n_text, flags, NULL, NULL);
        tokens_in_gguf(t, text, n_text, flags);
    }
}

static int read_json(Tokenizer *t, const void *from, char *e, size_t e_len) {
    const MappedFile *f = from;
    int rc = tokenizer_json_open(t, f->data, f->size, e, e_len);
    return rc ? rc : pipeline_finish_added(t, e, e_len);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    const uint8_t *nul = memchr(data, 0, size);
    size_t n = nul ? (size_t)(nul - data) : size;
    const MappedFile f = {data, n};
    Tokenizer *t;
    int rc = tokenizer_make(&t, "fuzz", read_json, &f, err, sizeof err);
    if (rc && rc != -12 && rc != -22) abort();
    if (rc == 0) {
        use(t, nul ? (const char *)nul : (const char *)data, nul ? size - n : n < 500 ? n : 500);
        use(t, "ab \xe4\xb8\xad\xff 12<x>ab aab", 20);
    }
    tokenizer_free(t);
    return 0;
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t most, unsigned seed) {
    return mutate(mutate_json, data, size, most, seed);
}
