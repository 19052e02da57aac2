/* tests/fuzz/fuzz_model.c - the head of a GGUF file, any of it changed, before data of the size that its tensors ask
 * for. What opens as a model must agree with itself:
 *
 *   inspect = run           the inspection has the same tensors, and refuses with the same line
 *   cached = recomputed     a text in one call, one by one and after going back: the same bits
 *   row = ref               the fastest row of kernels is near the reference
 *   written = read          written as GGUF again: the same tensors, and the same bits */
#include "mutate.h"

#include "base/json.h"
#include "kernels/rows.h"
#include "model/options.h"
#include "model/timeline.h"
#include "tests/build.h"
#include "weights-tools/inspection.h"
#include "weights-tools/model_write.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { HEAD = 1 << 16, DATA = 1 << 20, IDS = 9, BACK = 4 };

static char path[64], copy[64], err[600], said[600];

static void remove_files(void) { unlink(path), unlink(copy); }

static void name_files(void) {
    const char *folder = access("/dev/shm", W_OK) ? "/tmp" : "/dev/shm";
    snprintf(path, sizeof path, "%s/fuzz-model-%ld.gguf", folder, (long)getpid());
    snprintf(copy, sizeof copy, "%s/fuzz-model-%ld-copy.gguf", folder, (long)getpid());
    atexit(remove_files);
}

/* ---- a file ---- */

/* Numbers as trained models have them: floats between 1/16 and 1/4, of vectors around 1; bytes of blocks whose scales,
 * half floats, are small numbers, too. */
static void fill(uint8_t *to, const Tensor *t, uint64_t state) {
    for (size_t i = 0; i < t->size; i++) {
        state = state * 6364136223846793005u + 1442695040888963407u;
        to[i] = (uint8_t)(state >> 56) & 0x2f;
    }
    for (size_t i = 3; t->type == TENSOR_F32 && i < t->size; i += 4) {
        int negative = t->n_dims > 1 && to[i] & 1;
        to[i] = (uint8_t)((t->n_dims > 1 ? 0x3d : 0x3f) | negative << 7), to[i - 1] |= 0x80;
    }
    for (size_t i = 1; t->type == TENSOR_BF16 && i < t->size; i += 2)
        to[i] = (uint8_t)(0x3d | (to[i] & 1) << 7), to[i - 1] |= 0x80;
}

/* The file of this head, malloc'ed, its data as numbers; NULL where it does not open as weights. */
static uint8_t *file_of(const uint8_t *head, size_t size, size_t *n) {
    Weights w;
    size_t begin, bytes;
    uint8_t *file = calloc(1, HEAD + DATA + 65536);
    if (!file || size > HEAD) return free(file), NULL;
    memcpy(file, head, size);
    if (!gguf_layout(file, size, DATA, &begin, &bytes)) return free(file), NULL;
    if (begin < size) memset(file + begin, 0, size - begin);
    *n = begin + bytes;
    if (weights_open_memory(&w, file, *n, "fuzz", err, sizeof err)) return free(file), NULL;
    for (size_t i = 0; i < w.n_tensors; i++) fill(file + (w.tensors[i].data - file), &w.tensors[i], i);
    weights_close(&w);
    return file;
}

/* ---- logits ---- */

/* The same number, or both none. */
static int equal(const float *a, const float *b, int n) {
    for (int i = 0; i < n; i++)
        if (memcmp(&a[i], &b[i], sizeof *a) != 0 && !(isnan(a[i]) && isnan(b[i]))) return 0;
    return 1;
}

/* Logits after IDS ids, malloc'ed, the same in one call, in pieces and after going back; NULL: it reads no text. */
static float *logits_of(const Model *m) {
    int ids[IDS], n = m->config.vocab_size;
    Session s;
    const float *logits;
    float *kept = NULL;
    for (int i = 0; i < IDS; i++) ids[i] = (i * 7 + 1) % n;
    if (session_init(&s, m, &(SessionOptions){.n_ctx = IDS, .threads = 1}, err, sizeof err)) return NULL;
    if (session_eval(&s, ids, IDS, &logits, err, sizeof err) == 0) {
        kept = malloc((size_t)n * sizeof *kept);
        if (!kept) abort();
        memcpy(kept, logits, (size_t)n * sizeof *kept);
    }
    if (kept && !m->encoder) {
        if (session_rewind(&s, BACK) && session_rewind(&s, 0)) abort();
        for (size_t i = s.pos; i < IDS; i++)
            if (session_eval(&s, &ids[i], 1, &logits, err, sizeof err)) abort();
        if (!equal(kept, logits, n)) abort();
    }
    session_free(&s);
    return kept;
}

/* Rows differ in the last bits of sums, which settings may make larger; experts may be others then. */
static void near(const float *a, const float *b, const Config *c) {
    double most = 1, off = 0;
    for (int i = 0; i < c->vocab_size; i++) {
        double size = fabs((double)a[i]), by = fabs((double)a[i] - (double)b[i]);
        if (!isfinite(size) || !isfinite((double)b[i])) return;
        most = size > most ? size : most, off = by > off ? by : off;
    }
    if (off > 1e-3 * most) fprintf(stderr, "off by %g of %g\n", off, most), abort();
}

/* ---- the file's other readers ---- */

static void inspect(const Model *m, int refused) {
    Inspection i;
    Json j;
    Buffer text = {0};
    char line[400];
    if (inspection_open(&i, path, err, sizeof err)) abort();
    if (refused && !i.has_config && strcmp(i.refused, said) != 0) abort();
    if (!refused && (!i.has_config || i.n_tensors != m->weights.n_tensors)) abort();
    for (size_t t = 0; !refused && t < i.n_tensors; t++)
        if (strcmp(i.tensors[t].name, m->weights.tensors[t].name) != 0) abort();
    inspection_text(&i, &text, 1, 1);
    text.n = 0;
    inspection_json(&i, &text);
    if (json_parse(&j, (const char *)text.data, text.n, "inspection", line, sizeof line)) abort();
    json_free(&j);
    free(text.data);
    inspection_close(&i);
}

/* 1: path is written again as copy. */
static int write_again(void) {
    const Report quiet = {0};
    Source s;
    NewFile f;
    if (source_open(&s, path, &(SourceWish){0}, &quiet, err, sizeof err)) return 0;
    int rc = newfile_open(&f, copy, err, sizeof err);
    if (rc) abort();
    source_file_type(&s, -1);
    rc = model_write(&f, &s, 1, &quiet, err, sizeof err);
    newfile_close(&f, rc == 0, err, sizeof err);
    source_close(&s);
    return rc == 0;
}

static void again(const Model *m, const float *logits) {
    Model n;
    if (!write_again()) abort();
    if (model_open(&n, copy, &(ModelOptions){.threads = 1}, err, sizeof err)) abort();
    if (n.weights.n_tensors != m->weights.n_tensors) abort();
    for (size_t i = 0; i < n.weights.n_tensors; i++) {
        const Tensor *a = &n.weights.tensors[i], *b = weights_find(&m->weights, a->name);
        if (!b || a->size != b->size || memcmp(a->data, b->data, a->size) != 0) abort();
    }
    float *other = logits_of(&n);
    if (!other != !logits || (logits && !equal(other, logits, m->config.vocab_size))) abort();
    free(other);
    model_close(&n);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    Model m, ref;
    size_t n;
    if (!*path) name_files();
    uint8_t *file = file_of(data, size, &n);
    if (!file) return -1;
    file_write(path, file, n);
    free(file);
    *said = 0;
    int refused = model_open(&m, path, &(ModelOptions){.threads = 1}, said, sizeof said) != 0;
    if (refused && (!*said || strchr(said, '\n'))) abort();
    inspect(&m, refused);
    if (refused) return 0;
    if (model_open(&ref, path, &(ModelOptions){.threads = 1, .kernels = kernels_row(0)}, err, sizeof err)) abort();
    float *logits = logits_of(&m), *by_ref = logits_of(&ref);
    if (!logits != !by_ref) abort();
    if (logits) near(by_ref, logits, &m.config);
    again(&m, logits);
    free(logits), free(by_ref);
    model_close(&m);
    model_close(&ref);
    return 0;
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t most, unsigned seed) {
    return mutate(mutate_gguf, data, size, most, seed);
}
