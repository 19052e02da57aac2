/* tests/fuzz/fuzz_pickle.c - any bytes as a PyTorch file: a zip archive or the legacy format where they begin as one;
 * everything else is the pickle of a state dict, without the checksums that keep a fuzzer out of an archive, its
 * storages a page of bytes. */
#include "weights-tools/checkpoint/pickle_read.h"
#include "weights-tools/checkpoint/statedict.h"
#include "weights-tools/checkpoint/torch.h"
#include "weights-tools/checkpoint/zip.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { PAGE = 4096 };
static uint8_t page[PAGE];
static char err[256];

static int find_storage(StorageFinder *f, const char *key, size_t n, ElemType elem, size_t numel,
                        const uint8_t **data) {
    size_t bytes;
    (void)key, (void)n;
    if (!size_mul(numel, elem_bytes(elem), &bytes) || bytes > PAGE)
        return base_error(f->err, f->errlen, -22, "%s: longer than the page", f->name);
    *data = page + PAGE - bytes; /* its end is the end of what may be read */
    return 0;
}

static int read_pickle(Checkpoint *c, const uint8_t *data, size_t size) {
    StorageFinder f = {find_storage, "fuzz", err, sizeof err};
    Pickle p;
    size_t used;
    int rc = pickle_read(&p, data, size, &used, "fuzz", err, sizeof err);
    if (rc) return rc;
    if (used > size || p.n_values > size + 1 || p.n_cells > 2 * size) abort(); /* no opcode makes more */
    rc = state_dict_read(c, &p, &f);
    pickle_free(&p);
    return rc;
}

/* Every element is read, as it is and as half-precision. */
static void read_all(const View *v) {
    uint8_t out[1024];
    for (size_t i = 0; i < v->values; i += 128) {
        size_t n = v->values - i < 128 ? v->values - i : 128;
        view_read(v, i, n, v->type, out);
        if (elem_is_float(v->type)) view_read(v, i, n, ELEM_F16, out);
    }
    if (!view_equal(v, v)) abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    Checkpoint c = {.file_bytes = size};
    err[0] = 0;
    int rc = zip_is(data, size) ? torch_zip_read(&c, data, size, "fuzz", err, sizeof err)
             : torch_legacy_is(data, size) ? torch_legacy_read(&c, data, size, "fuzz", err, sizeof err)
             : read_pickle(&c, data, size);
    if (rc == 0) rc = checkpoint_finish(&c, "fuzz", err, sizeof err);
    if (rc && (!err[0] || strchr(err, '\n'))) abort();
    for (size_t i = 0; rc == 0 && i < c.n_views; i++) read_all(&c.views[i]);
    checkpoint_close(&c);
    return 0;
}
