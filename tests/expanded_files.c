/* tests/expanded_files.c - see expanded_files.h. */
#include "expanded_files.h"
#include "decoder_files.h"
#include "reader_files.h"
#include "test.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

int expanded_open(Weights *w, const char *path, char *err, size_t errlen) {
    int rc = weights_open(w, path, err, errlen);
    return rc ? rc : weights_expand(w, err, errlen);
}

void expanded_as_expected(const char *golden, const char *layout) {
    char err[300] = "";
    Weights w;
    int rc = expanded_open(&w, test_in(golden, layout), err, sizeof err);
    const Tensor *a = rc ? NULL : weights_find(&w, "a.weight"), *b = rc ? NULL : weights_find(&w, "a.expected");
    int same = a && b && a->type >= 0 && a->type == b->type && a->n_dims == 2 && a->shape[0] == b->shape[0] &&
               a->shape[1] == b->shape[1] && a->size == b->size && memcmp(a->data, b->data, a->size) == 0;
    if (!same || w.n_tensors != 2) decoder_fail(layout, "is not what was expected", err);
    weights_close(&w);
}

const char *expanded_copy(const char *golden, const char *layout, const char *name) {
    const char *folder = test_folder(name);
    CHECK(file_copy(test_in(test_in(golden, layout), "config.json"), test_in(folder, "config.json")));
    CHECK(file_copy(test_in(test_in(golden, layout), "model.safetensors"), test_in(folder, "model.safetensors")));
    return folder;
}

void expanded_refused(const char *golden, const ExpandRefusal *row) {
    const char *folder = expanded_copy(golden, row->layout, "expand-refused");
    folder_change(folder, row->file, row->from, row->to);
    char err[300] = "";
    Weights w;
    if (expanded_open(&w, folder, err, sizeof err) != -EINVAL || !strstr(err, row->line) || strchr(err, '\n'))
        decoder_fail(row->layout, row->to, err);
    weights_close(&w);
}

void expanded_not_read(const char *golden, const char *layout, const char *from, const char *to, const char *codes) {
    const char *folder = expanded_copy(golden, layout, "expand-other");
    char err[300];
    Weights w;
    folder_change(folder, "config.json", from, to);
    CHECK(expanded_open(&w, folder, err, sizeof err) == 0);
    const Tensor *t = weights_find(&w, codes);
    if (!t || t->type >= 0) decoder_fail(layout, "is read all the same:", to);
    weights_close(&w);
}

void expanded_cut(const char *golden, const char *layout) {
    const char *folder = expanded_copy(golden, layout, "expand-cut"), *path = test_in(folder, "model.safetensors");
    size_t size = 0;
    char *bytes = file_read(path, &size);
    for (size_t n = 0; bytes && n < size; n++) {
        file_write(path, bytes, n);
        if (!refused_path(folder, "model.safetensors")) decoder_fail(layout, "opens", "though it was cut");
    }
    free(bytes);
}

void expanded_entry(Bytes *header, const char *name, const char *dtype, const Tensor *t, size_t begin, size_t bytes) {
    char entry[400], shape[40] = "";
    for (int d = 0; d < t->n_dims; d++)
        snprintf(shape + strlen(shape), 20, "%s%d", d ? "," : "", (int)t->shape[d]);
    snprintf(entry, sizeof entry, "%s\"%s\":{\"dtype\":\"%s\",\"shape\":[%s],\"data_offsets\":[%zu,%zu]}",
             header->n ? "," : "{", name, dtype, shape, begin, begin + bytes);
    bytes_put(header, entry, strlen(entry));
}

void expanded_write(const char *path, Bytes *header, Bytes *data) {
    Bytes file = {0};
    bytes_put(header, "}", 1);
    bytes_u64(&file, header->n), bytes_put(&file, header->data, header->n), bytes_put(&file, data->data, data->n);
    file_write(path, file.data, file.n);
    free(header->data), free(data->data), free(file.data);
}
