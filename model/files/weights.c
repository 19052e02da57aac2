/* model/files/weights.c - what formats build with, and looking things up in it.
 *
 * Names are copied, because a file holds them without a NUL: into a chain of chunks whose newest w->names points at.
 * After weights_finish index[] lists the tensors by name. */
#include "weights.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

typedef struct Chunk {
    struct Chunk *next;
    size_t size, used;
    char text[];
} Chunk;

const char *weights_keep(Weights *w, const char *s, size_t n) {
    Chunk *c = w->names;
    if (!c || c->size - c->used <= n) {
        size_t size = n < 4096 ? 4096 : n + 1;
        Chunk *fresh = malloc(sizeof *fresh + size);
        if (!fresh) return NULL;
        *fresh = (Chunk){.next = c, .size = size};
        w->names = c = fresh;
    }
    char *copy = c->text + c->used;
    memcpy(copy, s, n);
    copy[n] = 0;
    c->used += n + 1;
    return copy;
}

int weights_add_tensor(Weights *w, const Tensor *t) {
    if (array_reserve(&w->tensors, &w->cap_tensors, w->n_tensors + 1, sizeof *t)) return -ENOMEM;
    w->tensors[w->n_tensors++] = *t;
    return 0;
}

int weights_add_meta(Weights *w, const MetaValue *m) {
    if (array_reserve(&w->meta, &w->cap_meta, w->n_meta + 1, sizeof *m)) return -ENOMEM;
    w->meta[w->n_meta++] = *m;
    return 0;
}

int weights_add_file(Weights *w, const char *path, char *err, size_t errlen) {
    if (array_reserve(&w->files, &w->cap_files, w->n_files + 1, sizeof *w->files))
        return weights_no_memory(path, err, errlen);
    int rc = file_map(&w->files[w->n_files], path, err, errlen);
    if (rc) return rc;
    w->file_bytes += w->files[w->n_files++].size;
    return 0;
}

int weights_is_name(const char *s, size_t n) {
    uint32_t cp = 0;
    int bytes = 0;
    for (size_t i = 0; i < n; i += (size_t)bytes)
        if ((bytes = utf8_decode(s + i, n - i, &cp)) == 0 || cp == 0) return 0;
    return n > 0;
}

int weights_no_memory(const char *name, char *err, size_t errlen) {
    return base_error(err, errlen, -ENOMEM, "%s: out of memory while opening it", name);
}

/* ---- the end of opening ---- */

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
            return base_error(err, errlen, -EINVAL, "%s: tensors %.60s and %.60s share bytes", w->path, last->name,
                              t->name);
        last = t;
    }
    return 0;
}

int weights_finish(Weights *w, char *err, size_t errlen) {
    if (w->n_tensors == 0) return 0;
    const Tensor **order = calloc(w->n_tensors, sizeof *order);
    w->index = calloc(w->n_tensors, sizeof *w->index);
    int rc = order && w->index ? 0 : weights_no_memory(w->path, err, errlen);
    for (size_t i = 0; rc == 0 && i < w->n_tensors; i++) order[i] = &w->tensors[i];
    if (rc == 0) rc = index_names(w, order, err, errlen);
    if (rc == 0) rc = refuse_overlaps(w, order, err, errlen);
    free(order);
    return rc;
}

void weights_close(Weights *w) {
    for (size_t i = 0; i < w->n_files; i++) file_unmap(&w->files[i]);
    for (Chunk *c = w->names, *next; c; c = next) {
        next = c->next;
        free(c);
    }
    if (w->free_own) w->free_own(w->own);
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
    case META_U64: *out = (int64_t)load_u64(v->data); return *out >= 0;
    case META_I64: *out = (int64_t)load_u64(v->data); return 1;
    default: return 0;
    }
}

int meta_number(const MetaValue *v, double *out) {
    int64_t i;
    if (meta_integer(v, &i)) *out = (double)i;
    else if (v && v->type == META_F32) *out = load_f32(v->data);
    else if (v && v->type == META_F64) memcpy(out, &(uint64_t){load_u64(v->data)}, sizeof *out);
    else return 0;
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
