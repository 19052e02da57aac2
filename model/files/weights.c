/* model/files/weights.c - opening a model file by its bytes; what formats build with; and looking things up in it. */
#include "weights.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct Owned {
    struct Owned *next;
    void *memory;
    void (*let_go)(void *memory);
};

int weights_open_memory(Weights *w, const void *data, size_t size, const char *name, char *err, size_t errlen) {
    const WeightsReader *r = weights_readers;
    int is_folder = !data && file_is_folder(name), rc = 0;
    *w = (Weights){.file_bytes = data ? size : 0};
    w->path = weights_own(w, strdup(name), free);
    w->folder = weights_own(w, is_folder ? strdup(name) : file_folder(name), free);
    if (!w->path || !w->folder) rc = weights_no_memory(name, err, errlen);
    else if (data && size == 0) rc = base_error(err, errlen, -EINVAL, "%s: the file is empty", name);
    else if (!data && !is_folder) rc = weights_add_file(w, name, err, errlen);
    if (w->n_files) data = w->files->data, size = w->files->size;
    while (r->is && !r->is(data, data ? size : 0)) r++;
    if (rc == 0 && r->is) rc = r->open(w, data, data ? size : 0, err, errlen);
    else if (rc == 0 && is_folder) rc = weights_add_file(w, name, err, errlen); /* it says that it is one */
    else if (rc == 0) rc = base_error(err, errlen, -ENOEXEC, "%s: not a model file that is known here", name);
    if (rc) weights_close(w);
    return rc;
}

void weights_close(Weights *w) {
    for (size_t i = 0; i < w->n_files; i++) file_unmap(&w->files[i]);
    for (struct Owned *o; (o = w->owned); free(o)) {
        w->owned = o->next;
        o->let_go(o->memory);
    }
    free(w->tensors);
    free(w->meta);
    free(w->files);
    *w = (Weights){.path = NULL};
}

/* ---- for the formats ---- */

void *weights_own(Weights *w, void *memory, void (*let_go)(void *memory)) {
    if (!memory) return NULL;
    struct Owned *o = malloc(sizeof *o);
    if (!o) {
        let_go(memory);
        return NULL;
    }
    *o = (struct Owned){w->owned, memory, let_go};
    w->owned = o;
    return memory;
}

const char *weights_keep(Weights *w, const char *s, size_t n) { /* copied, because a file holds names without a NUL */
    char *copy = weights_own(w, calloc(n + 1, 1), free);
    return copy ? memcpy(copy, s, n) : NULL;
}

void weights_layer_name(char *out, const char *name, int layer) {
    const char *hash = strchr(name, '#');
    if (!hash) snprintf(out, TENSOR_NAME, "%s", name);
    else snprintf(out, TENSOR_NAME, "%.*s%d%s", (int)(hash - name), name, layer, hash + 1);
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
    if (rc == 0) w->file_bytes += w->files[w->n_files++].size;
    return rc;
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

/* a and b point to the addresses of rows, which begin with their names. */
static int compare_names(const void *a, const void *b) {
    const char *const *x = *(const void *const *)a, *const *y = *(const void *const *)b;
    return strcmp(*x, *y);
}

const void **weights_sort(Weights *w, const void *rows, size_t n, size_t row_bytes, const char **twice) {
    const void **order = weights_own(w, calloc(n + 1, sizeof *order), free);
    *twice = NULL;
    if (!order) return NULL;
    for (size_t i = 0; i < n; i++) order[i] = (const char *)rows + i * row_bytes;
    qsort(order, n, sizeof *order, compare_names);
    for (size_t i = 1; i < n; i++)
        if (!*twice && compare_names(&order[i - 1], &order[i]) == 0) *twice = *(const char *const *)order[i];
    return order;
}

static int compare_places(const void *a, const void *b) {
    const Tensor *x = *(const void *const *)a, *y = *(const void *const *)b;
    uintptr_t p = (uintptr_t)x->data, q = (uintptr_t)y->data;
    if (p != q) return p < q ? -1 : 1;
    if (x->size != y->size) return x->size < y->size ? -1 : 1;
    return strcmp(x->name, y->name);
}

/* Sorted by place, a tensor that overlaps any other overlaps its neighbour too, once the empty ones are left out. */
int weights_finish(Weights *w, char *err, size_t errlen) {
    ErrorLine line = {w->path, err, errlen, 0};
    const Tensor *last = NULL;
    const char *twice;
    const void **order = weights_sort(w, w->tensors, w->n_tensors, sizeof *w->tensors, &twice);
    w->by_name = weights_sort(w, w->tensors, w->n_tensors, sizeof *w->tensors, &twice);
    if (!order || !w->by_name) return weights_no_memory(w->path, err, errlen);
    if (twice) return base_complain(&line, "tensor %.80s stands twice", twice);
    qsort(order, w->n_tensors, sizeof *order, compare_places);
    for (size_t i = 0; i < w->n_tensors; i++) {
        const Tensor *t = order[i];
        if (t->size && last && (uintptr_t)t->data - (uintptr_t)last->data < last->size)
            return base_complain(&line, "tensors %.60s and %.60s share bytes", last->name, t->name);
        if (t->size) last = t;
    }
    return 0;
}

/* ---- looking things up ---- */

const Tensor *weights_find(const Weights *w, const char *name) {
    const void *key = &name, **found = NULL;
    if (w->by_name) found = bsearch(&key, w->by_name, w->n_tensors, sizeof key, compare_names);
    return found ? *found : NULL;
}

const MetaValue *weights_meta(const Weights *w, const char *key) {
    for (size_t i = 0; i < w->n_meta; i++)
        if (strcmp(w->meta[i].key, key) == 0) return &w->meta[i];
    return NULL;
}

/* In the order of MetaType: a value's bytes, and what it is: an unsigned or a signed integer, a float. */
static const struct { uint8_t size; char kind; } types[] = {{1, 'u'}, {1, 'i'}, {2, 'u'}, {2, 'i'}, {4, 'u'}, {4, 'i'},
    {4, 'f'}, {1, 'u'}, {0, 0}, {0, 0}, {8, 'u'}, {8, 'i'}, {8, 'f'}};

size_t meta_size(MetaType type) { return types[type].size; }

int meta_integer(const MetaValue *v, int64_t *out) {
    int size = v ? types[v->type].size : 0, is_signed = size && types[v->type].kind == 'i';
    if (size == 0 || types[v->type].kind == 'f') return 0;
    uint64_t bits = is_signed && v->data[size - 1] >> 7 ? UINT64_MAX : 0;
    for (int i = size; i-- > 0;) bits = bits << 8 | v->data[i];
    *out = (int64_t)bits;
    return is_signed || *out >= 0;
}

int meta_number(const MetaValue *v, double *out) {
    int64_t i;
    if (meta_integer(v, &i)) *out = (double)i;
    else if (v && v->type == META_F32) *out = load_f32(v->data);
    else if (v && v->type == META_F64) memcpy(out, &(uint64_t){load_u64(v->data)}, sizeof *out);
    else return 0;
    return 1;
}

void meta_next(const MetaValue *array, const uint8_t **cursor, MetaValue *out) {
    int string = array->elem == META_STRING;
    uint64_t n = string ? load_u64(*cursor) : 1;
    *out = (MetaValue){.key = array->key, .type = array->elem, .n = n, .data = *cursor + (string ? 8 : 0)};
    *cursor = out->data + (string ? (size_t)n : meta_size(array->elem));
}
