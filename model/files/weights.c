/* model/files/weights.c - opening a model file by its bytes; what formats build with; and looking things up in it. */
#include "weights.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* data [size]: the file, in memory; NULL: path is to be opened. */
static int open_any(Weights *w, const char *path, const uint8_t *data, size_t size, char *err, size_t errlen) {
    const WeightsReader *r = weights_readers;
    int is_folder = !data && file_is_folder(path), rc = 0;
    *w = (Weights){.path = strdup(path), .folder = is_folder ? strdup(path) : file_folder(path), .file_bytes = size};
    if (!w->path || !w->folder) return weights_no_memory(path, err, errlen);
    while (r->is && !(is_folder && r->open_folder)) r++;
    if (r->is) return r->open_folder(w, err, errlen);
    if (!data && (rc = weights_add_file(w, path, err, errlen)) != 0) return rc; /* this refuses a folder */
    if (!data) data = w->files->data, size = w->files->size;
    for (r = weights_readers; r->is; r++)
        if (r->is(data, size)) return r->open(w, data, size, err, errlen);
    return base_error(err, errlen, -EINVAL, "%s: not a model file that is known here", path);
}

int weights_open(Weights *w, const char *path, char *err, size_t errlen) {
    int rc = open_any(w, path, NULL, 0, err, errlen);
    if (rc) weights_close(w);
    return rc;
}

int weights_open_memory(Weights *w, const void *data, size_t size, const char *name, char *err, size_t errlen) {
    *w = (Weights){.path = NULL};
    if (size == 0) return base_error(err, errlen, -EINVAL, "%s: the file is empty", name);
    int rc = open_any(w, name, data, size, err, errlen);
    if (rc) weights_close(w);
    return rc;
}

/* ---- for the formats ---- */

struct Kept {
    struct Kept *next;
    _Alignas(double) char bytes[];
};

void *weights_alloc(Weights *w, size_t n) {
    struct Kept *kept = calloc(1, sizeof *kept + n);
    if (!kept) return NULL;
    kept->next = w->kept;
    w->kept = kept;
    return kept->bytes;
}

const char *weights_keep(Weights *w, const char *s, size_t n) { /* a file holds names without a NUL */
    char *text = weights_alloc(w, n + 1);
    return text ? memcpy(text, s, n) : NULL;
}

void weights_close(Weights *w) {
    for (size_t i = 0; i < w->n_files; i++) file_unmap(&w->files[i]);
    for (struct Kept *kept; (kept = w->kept); free(kept)) w->kept = kept->next;
    if (w->free_own) w->free_own(w->own);
    free(w->path);
    free(w->folder);
    free(w->tensors);
    free(w->meta);
    free(w->files);
    free(w->by_name);
    *w = (Weights){.path = NULL};
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

const char *weights_sort(const void **order, const void *rows, size_t n, size_t row_bytes) {
    for (size_t i = 0; i < n; i++) order[i] = (const char *)rows + i * row_bytes;
    qsort(order, n, sizeof *order, compare_names);
    for (size_t i = 1; i < n; i++)
        if (compare_names(&order[i - 1], &order[i]) == 0) return *(const char *const *)order[i];
    return NULL;
}

static int compare_places(const void *a, const void *b) {
    const Tensor *x = *(const void *const *)a, *y = *(const void *const *)b;
    uintptr_t p = (uintptr_t)x->data, q = (uintptr_t)y->data;
    return p != q ? (p < q ? -1 : 1) : x->size != y->size ? (x->size < y->size ? -1 : 1) : strcmp(x->name, y->name);
}

/* Sorted by place, a tensor that overlaps any other overlaps its neighbour too, once the empty ones are left out. */
int weights_finish(Weights *w, char *err, size_t errlen) {
    const Tensor *last = NULL;
    const void **order = w->by_name = malloc((w->n_tensors + 1) * sizeof *order);
    if (!order) return weights_no_memory(w->path, err, errlen);
    const char *twice = weights_sort(order, w->tensors, w->n_tensors, sizeof *w->tensors);
    if (twice) return base_error(err, errlen, -EINVAL, "%s: tensor %.80s stands twice", w->path, twice);
    qsort(order, w->n_tensors, sizeof *order, compare_places);
    for (size_t i = 0; i < w->n_tensors; i++) {
        const Tensor *t = order[i];
        if (t->size && last && (uintptr_t)t->data - (uintptr_t)last->data < last->size)
            return base_error(err, errlen, -EINVAL, "%s: tensors %.60s and %.60s share bytes", w->path, last->name,
                              t->name);
        if (t->size) last = t;
    }
    weights_sort(order, w->tensors, w->n_tensors, sizeof *w->tensors);
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

/* Bytes of a value, and what it is: an unsigned or a signed integer, a float. */
static const struct { uint8_t size; char kind; } types[] = {
    [META_U8] = {1, 'u'}, [META_I8] = {1, 'i'}, [META_U16] = {2, 'u'}, [META_I16] = {2, 'i'}, [META_U32] = {4, 'u'},
    [META_I32] = {4, 'i'}, [META_F32] = {4, 'f'}, [META_BOOL] = {1, 'u'}, [META_U64] = {8, 'u'}, [META_I64] = {8, 'i'},
    [META_F64] = {8, 'f'}};

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
    out->n = string ? load_u64(*cursor) : 1;
    *out = (MetaValue){.key = array->key, .type = array->elem, .n = out->n, .data = *cursor + (string ? 8 : 0)};
    *cursor = out->data + (string ? (size_t)out->n : meta_size(array->elem));
}
