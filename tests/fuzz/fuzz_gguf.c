/* tests/fuzz/fuzz_gguf.c - any bytes as a GGUF file: opened and read to the last promised byte, or refused with a
 * line. */
#include "mutate.h"

#include "model/files/gguf.h"
#include "model/files/weights.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static volatile uint8_t sink;

static void touch(const uint8_t *p, size_t n) {
    for (size_t i = 0; i < n; i++) sink = p[i];
}

static void touch_meta(const MetaValue *m) {
    const uint8_t *cursor = m->data;
    MetaValue v = *m;
    int64_t i;
    double d;
    for (uint64_t k = 0; k < (m->type == META_ARRAY ? m->n : 1); k++) {
        if (m->type == META_ARRAY) meta_next(m, &cursor, &v);
        if (v.type == META_STRING) touch(v.data, (size_t)v.n);
        else if (meta_number(&v, &d)) meta_integer(&v, &i);
    }
}

/* As models want them: numbers beside matrices, matrices taken apart. */
static void expand(Weights *w) {
    char err[256] = "";
    if (weights_expand(w, err, sizeof err)) {
        if (!err[0]) abort();
        return;
    }
    for (size_t i = 0; i < w->n_tensors; i++) {
        const Tensor *t = &w->tensors[i];
        touch(t->data, t->size);
        if (t->scales) touch(t->scales, 4 * (t->n_dims == 3 ? (size_t)t->shape[0] : 1));
        if (weights_find(w, t->name) != t) abort();
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    Weights w;
    char err[256] = "";
    if (!gguf_is(data, size)) return 0;
    if (weights_open_memory(&w, data, size, "fuzz", err, sizeof err)) {
        if (!err[0]) abort();
        return 0;
    }
    for (size_t i = 0; i < w.n_tensors; i++) {
        touch(w.tensors[i].data, w.tensors[i].size);
        if (weights_find(&w, w.tensors[i].name) != &w.tensors[i]) abort();
    }
    for (size_t i = 0; i < w.n_meta; i++) touch_meta(&w.meta[i]);
    expand(&w);
    weights_close(&w);
    return 0;
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t most, unsigned seed) {
    return mutate(mutate_gguf, data, size, most, seed);
}
