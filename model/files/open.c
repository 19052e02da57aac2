/* model/files/open.c - opening a model file by its bytes. */
#include "open.h"
#include "base/file.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static int open_bytes(Weights *w, const uint8_t *data, size_t size, const char *name, char *err, size_t errlen) {
    for (const WeightsReader *r = weights_readers; r->is; r++)
        if (r->is(data, size)) return r->open(w, data, size, name, err, errlen);
    return base_error(err, errlen, -EINVAL, "%s: not a model file that is known here", name);
}

static int open_folder(Weights *w, char *err, size_t errlen) {
    for (const WeightsReader *r = weights_readers; r->is; r++)
        if (r->open_folder) return r->open_folder(w, err, errlen);
    return base_error(err, errlen, -EISDIR, "%s: is a folder, not a file", w->path);
}

static int begin(Weights *w, const char *path, int is_folder, char *err, size_t errlen) {
    memset(w, 0, sizeof *w);
    w->path = strdup(path);
    w->folder = is_folder ? strdup(path) : file_folder(path);
    return w->path && w->folder ? 0 : weights_no_memory(path, err, errlen);
}

int weights_open(Weights *w, const char *path, char *err, size_t errlen) {
    int is_folder = file_is_folder(path), rc = begin(w, path, is_folder, err, errlen);
    if (rc == 0 && is_folder) rc = open_folder(w, err, errlen);
    if (rc == 0 && !is_folder) rc = weights_add_file(w, path, err, errlen);
    if (rc == 0 && !is_folder) rc = open_bytes(w, w->files[0].data, w->files[0].size, path, err, errlen);
    if (rc) weights_close(w);
    return rc;
}

int weights_open_memory(Weights *w, const void *data, size_t size, const char *name, char *err, size_t errlen) {
    int rc = begin(w, name, 0, err, errlen);
    w->file_bytes = size;
    if (rc == 0 && size == 0) rc = base_error(err, errlen, -EINVAL, "%s: the file is empty", name);
    if (rc == 0) rc = open_bytes(w, data, size, name, err, errlen);
    if (rc) weights_close(w);
    return rc;
}
