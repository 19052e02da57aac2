/* model/weights.c - opening a model file by its bytes, and looking things up in it.
 *
 * The readers append; weights_finish sorts. After it, index[] lists the tensors by name, and no two tensors share a byte.
 * Names are copied, because a file holds them without a NUL: into a chain of chunks whose newest w->names points at. */
#include "reader.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* ---- what the readers build with ---- */

typedef struct Chunk {
    struct Chunk *next;
    size_t size, used;
    char text[];
} Chunk;

const char *weights_keep(Weights *w, const char *s, size_t n) {
    Chunk *c = (void *)w->names;
    if (!c || c->size - c->used <= n) {
        size_t size = n < 4096 ? 4096 : n + 1;
        Chunk *fresh = malloc(sizeof *fresh + size);
        if (!fresh) return NULL;
        *fresh = (Chunk){.next = c, .size = size};
        w->names = (void *)fresh;
        c = fresh;
    }
    char *copy = c->text + c->used;
    memcpy(copy, s, n);
    copy[n] = 0;
    c->used += n + 1;
    return copy;
}

/* Room for one more element in an array of n: it doubles whenever n is a power of two, so no capacity is stored. */
static int room_for_one(void **array, size_t n, size_t element) {
    if (n != 0 && (n & (n - 1)) != 0) return 0;
    size_t bytes;
    if (!size_mul(n ? 2 * n : 1, element, &bytes)) return -ENOMEM;
    void *p = realloc(*array, bytes);
    if (!p) return -ENOMEM;
    *array = p;
    return 0;
}

int weights_add_tensor(Weights *w, const Tensor *t) {
    void *p = w->tensors;
    if (room_for_one(&p, w->n_tensors, sizeof *t)) return -ENOMEM;
    w->tensors = p;
    w->tensors[w->n_tensors++] = *t;
    return 0;
}

int weights_add_meta(Weights *w, const MetaValue *m) {
    void *p = w->meta;
    if (room_for_one(&p, w->n_meta, sizeof *m)) return -ENOMEM;
    w->meta = p;
    w->meta[w->n_meta++] = *m;
    return 0;
}

int weights_add_file(Weights *w, const char *path, char *err, size_t errlen) {
    void *p = w->files;
    if (room_for_one(&p, w->n_files, sizeof *w->files)) return reader_no_memory(path, err, errlen);
    w->files = p;
    int rc = file_map(&w->files[w->n_files], path, err, errlen);
    if (rc) return rc;
    w->file_bytes += w->files[w->n_files++].size;
    return 0;
}

int reader_is_name(const char *s, size_t n) {
    uint32_t cp = 0;
    int bytes = 0;
    for (size_t i = 0; i < n; i += (size_t)bytes)
        if ((bytes = utf8_decode(s + i, n - i, &cp)) == 0 || cp == 0) return 0;
    return n > 0;
}

int reader_no_memory(const char *name, char *err, size_t errlen) {
    return base_error(err, errlen, -ENOMEM, "%s: out of memory while opening it", name);
}

/* ---- weights_finish ---- */

static int compare_names(const void *a, const void *b) {
    const Tensor *x = *(const Tensor *const *)a, *y = *(const Tensor *const *)b;
    return strcmp(x->name, y->name);
}

static int compare_places(const void *a, const void *b) {
    const Tensor *x = *(const Tensor *const *)a, *y = *(const Tensor *const *)b;
    uintptr_t p = (uintptr_t)x->data, q = (uintptr_t)y->data;
    return p < q ? -1 : p > q ? 1 : x->size < y->size ? -1 : x->size > y->size;
}

static int index_names(Weights *w, const Tensor **order, char *err, size_t errlen) {
    qsort(order, w->n_tensors, sizeof *order, compare_names);
    for (size_t i = 0; i < w->n_tensors; i++) {
        w->index[i] = (size_t)(order[i] - w->tensors);
        if (i > 0 && strcmp(order[i - 1]->name, order[i]->name) == 0)
            return base_error(err, errlen, -EINVAL, "%s: tensor %.80s stands twice", w->path, order[i]->name);
    }
    return 0;
}

/* Sorted by place, a tensor that overlaps any other overlaps its neighbour too, once the empty ones are left out. */
static int refuse_overlaps(const Weights *w, const Tensor **order, char *err, size_t errlen) {
    qsort(order, w->n_tensors, sizeof *order, compare_places);
    const Tensor *last = NULL;
    for (size_t i = 0; i < w->n_tensors; i++) {
        const Tensor *t = order[i];
        if (t->size == 0) continue;
        if (last && (uintptr_t)t->data - (uintptr_t)last->data < last->size)
            return base_error(err, errlen, -EINVAL, "%s: tensors %.60s and %.60s share bytes", w->path, last->name, t->name);
        last = t;
    }
    return 0;
}

int weights_finish(Weights *w, char *err, size_t errlen) {
    if (w->n_tensors == 0) return 0;
    const Tensor **order = calloc(w->n_tensors, sizeof *order);
    w->index = calloc(w->n_tensors, sizeof *w->index);
    int rc = 0;
    if (!order || !w->index) rc = reader_no_memory(w->path, err, errlen);
    for (size_t i = 0; rc == 0 && i < w->n_tensors; i++) order[i] = &w->tensors[i];
    if (rc == 0) rc = index_names(w, order, err, errlen);
    if (rc == 0) rc = refuse_overlaps(w, order, err, errlen);
    free(order);
    return rc;
}

/* ---- opening ---- */

static int starts_with(const uint8_t *data, size_t size, const char *what, size_t len) {
    return size >= len && memcmp(data, what, len) == 0;
}

/* Nothing we read: say what it looks like, where that helps. */
static int refuse_unknown(const uint8_t *data, size_t size, const char *name, char *err, size_t errlen) {
    const char *what = "not a model file: it is neither GGUF, nor safetensors, nor llama2.c .bin (v0, v1, v2)";
    if (starts_with(data, size, "PK\3\4", 4) || (size > 1 && data[0] == 0x80 && data[1] >= 1 && data[1] <= 5))
        what = "a PyTorch pickle, which can run code and is never read here: convert it to safetensors or GGUF first";
    else if (starts_with(data, size, "version https://git-lfs", 23))
        what = "a Git LFS pointer, not the file itself: fetch it with `git lfs pull`";
    else if (starts_with(data, size, "ggjt", 4) || starts_with(data, size, "tjgg", 4) || starts_with(data, size, "lmgg", 4) ||
             starts_with(data, size, "fmgg", 4))
        what = "a GGML file from before GGUF: convert the original model again";
    else if (starts_with(data, size, "FUGG", 4))
        what = "a GGUF file with its magic turned round (big-endian): convert it with gguf-convert-endian";
    else if (size > 8 && data[8] == '{')
        what = "looks like safetensors, but its header is longer than the file or than 100,000,000 bytes: it is damaged or truncated";
    else if (data[0] == '{')
        what = "a JSON file: give the folder it stands in";
    return base_error(err, errlen, -EINVAL, "%s: %s", name, what);
}

static int open_bytes(Weights *w, const uint8_t *data, size_t size, const char *name, char *err, size_t errlen) {
    if (gguf_is(data, size)) return gguf_open(w, data, size, name, err, errlen);
    if (llama2c_is(data, size)) return llama2c_open(w, data, size, name, err, errlen);
    return refuse_unknown(data, size, name, err, errlen);
}

static int open_file(Weights *w, const char *path, char *err, size_t errlen) {
    int rc = weights_add_file(w, path, err, errlen);
    if (rc) return rc;
    if (!safetensors_is(w->files[0].data, w->files[0].size)) return open_bytes(w, w->files[0].data, w->files[0].size, path, err, errlen);
    file_unmap(&w->files[0]); /* its reader maps it again, maybe as one of several */
    w->n_files = 0;
    w->file_bytes = 0;
    return safetensors_open(w, path, err, errlen);
}

/* What every way of opening starts with. */
static int begin(Weights *w, const char *path, int is_folder, char *err, size_t errlen) {
    memset(w, 0, sizeof *w);
    size_t n = strlen(path) + 1;
    w->path = malloc(n);
    if (w->path) memcpy(w->path, path, n);
    w->folder = is_folder ? malloc(n) : file_folder(path);
    if (w->folder && is_folder) memcpy(w->folder, path, n);
    return w->path && w->folder ? 0 : reader_no_memory(path, err, errlen);
}

int weights_open(Weights *w, const char *path, char *err, size_t errlen) {
    int is_folder = file_is_folder(path);
    int rc = begin(w, path, is_folder, err, errlen);
    if (rc == 0) rc = is_folder ? safetensors_open(w, path, err, errlen) : open_file(w, path, err, errlen);
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

void weights_close(Weights *w) {
    for (size_t i = 0; i < w->n_files; i++) file_unmap(&w->files[i]);
    for (Chunk *c = (void *)w->names, *next; c; c = next) {
        next = c->next;
        free(c);
    }
    json_free(&w->config);
    json_free(&w->generation);
    free(w->path);
    free(w->folder);
    free(w->tensors);
    free(w->meta);
    free(w->files);
    free(w->index);
    memset(w, 0, sizeof *w);
}

/* ---- looking things up ---- */

const Tensor *weights_find(const Weights *w, const char *name) {
    size_t low = 0, high = w->index ? w->n_tensors : 0;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        const Tensor *t = &w->tensors[w->index[middle]];
        int d = strcmp(name, t->name);
        if (d == 0) return t;
        if (d < 0) high = middle;
        else low = middle + 1;
    }
    return NULL;
}

const MetaValue *weights_meta(const Weights *w, const char *key) {
    for (size_t i = 0; i < w->n_meta; i++)
        if (strcmp(w->meta[i].key, key) == 0) return &w->meta[i];
    return NULL;
}

int meta_integer(const MetaValue *v, int64_t *out) {
    if (!v) return 0;
    switch (v->type) {
    case META_U8:
    case META_BOOL: *out = v->data[0]; return 1;
    case META_I8: *out = (int8_t)v->data[0]; return 1;
    case META_U16: *out = load_u16(v->data); return 1;
    case META_I16: *out = (int16_t)load_u16(v->data); return 1;
    case META_U32: *out = load_u32(v->data); return 1;
    case META_I32: *out = (int32_t)load_u32(v->data); return 1;
    case META_U64:
        if (load_u64(v->data) > INT64_MAX) return 0;
        *out = (int64_t)load_u64(v->data);
        return 1;
    case META_I64: *out = (int64_t)load_u64(v->data); return 1;
    default: return 0;
    }
}

int meta_number(const MetaValue *v, double *out) {
    int64_t i;
    if (meta_integer(v, &i)) {
        *out = (double)i;
        return 1;
    }
    if (!v || (v->type != META_F32 && v->type != META_F64)) return 0;
    if (v->type == META_F32) {
        *out = load_f32(v->data);
        return 1;
    }
    uint64_t bits = load_u64(v->data);
    memcpy(out, &bits, sizeof *out);
    return 1;
}

size_t meta_size(MetaType type) {
    static const uint8_t sizes[] = {1, 1, 2, 2, 4, 4, 4, 1, 0, 0, 8, 8, 8};
    return sizes[type];
}

void meta_next(const MetaValue *array, const uint8_t **cursor, MetaValue *out) {
    *out = (MetaValue){.key = array->key, .type = array->elem, .n = 1, .data = *cursor};
    if (array->elem == META_STRING) {
        out->n = load_u64(*cursor);
        out->data += 8;
        *cursor = out->data + out->n;
    } else {
        *cursor += meta_size(array->elem);
    }
}

int meta_element(const MetaValue *array, uint64_t i, MetaValue *out) {
    if (!array || array->type != META_ARRAY || i >= array->n) return 0;
    const uint8_t *cursor = array->data;
    if (array->elem != META_STRING) cursor += i * meta_size(array->elem);
    else
        for (; i > 0; i--) cursor += 8 + load_u64(cursor);
    meta_next(array, &cursor, out);
    return 1;
}
