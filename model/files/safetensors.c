/* model/files/safetensors.c - one safetensors file.
 *
 *     u64 n   n bytes of JSON   the tensors' bytes, to the end of the file
 *     {"__metadata__": {"format": "pt"}, "name": {"dtype": "F32", "shape": [2, 3], "data_offsets": [0, 24]}, ...}
 *
 * The rules are those of the reference reader (safetensors/src/tensor.rs): sorted by offset the tensors cover the data
 * exactly, no hole, no overlap, nothing behind the last one; each has the bytes its dtype and shape ask for. Tensor
 * data has no alignment. */
#include "safetensors.h"

#include "base/json.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { HEADER_MAX = 100000000 };

typedef struct {
    const char *name;
    int bits;
    int type; /* GGML type id of those we compute with, else -1 */
} Dtype;

static const Dtype dtypes[] = {
    {"F32", 32, TENSOR_F32}, {"F16", 16, TENSOR_F16}, {"BF16", 16, TENSOR_BF16}, {"F64", 64, -1},
    {"C64", 64, -1},         {"I64", 64, -1},         {"U64", 64, -1},           {"I32", 32, -1},
    {"U32", 32, -1},         {"I16", 16, -1},         {"U16", 16, -1},           {"I8", 8, -1},
    {"U8", 8, -1},           {"BOOL", 8, -1},         {"F8_E4M3", 8, -1},        {"F8_E5M2", 8, -1},
    {"F8_E8M0", 8, -1},      {"F8_E4M3FNUZ", 8, -1},  {"F8_E5M2FNUZ", 8, -1},    {"F6_E2M3", 6, -1},
    {"F6_E3M2", 6, -1},      {"F4", 4, -1},
};

/* One file that is being read. */
typedef struct {
    Weights *w;
    const uint8_t *data; /* the tensors' bytes */
    size_t size;
    const char *name;
    char *err;
    size_t errlen;
} SafetensorsFile;

/* n, and the JSON behind it; 0 where data cannot be a safetensors file. */
static int header_span(const uint8_t *data, size_t size, size_t *n) {
    if (size < 8 || load_u64(data) > HEADER_MAX || load_u64(data) > size - 8) return 0;
    *n = (size_t)load_u64(data);
    return 1;
}

int safetensors_is(const uint8_t *data, size_t size) {
    size_t n, i = 0;
    if (!header_span(data, size, &n)) return 0;
    while (i < n && strchr(" \t\r\n", data[8 + i]) && data[8 + i]) i++;
    return i < n && data[8 + i] == '{';
}

/* ---- one tensor ---- */

static int bad_tensor(SafetensorsFile *r, const char *tensor, const char *why) {
    return base_error(r->err, r->errlen, -EINVAL, "%s: tensor %.80s: %s", r->name, tensor, why);
}

/* A JSON number that is a count: doubles hold every integer up to 2^53. */
static int count(const JsonValue *v, uint64_t *out) {
    if (v->type != JSON_NUMBER || !(v->number >= 0 && v->number <= 9007199254740991.0)) return 0;
    *out = (uint64_t)v->number;
    return (double)*out == v->number;
}

static const Dtype *find_dtype(const JsonValue *v) {
    for (size_t i = 0; i < sizeof dtypes / sizeof *dtypes; i++)
        if (json_is(v, dtypes[i].name)) return &dtypes[i];
    return NULL;
}

static int read_dtype(SafetensorsFile *r, const JsonValue *entry, const Dtype **out) {
    const JsonValue *v = json_typed(entry, "dtype", JSON_STRING);
    if (!v) return bad_tensor(r, entry->key, "has no dtype");
    *out = find_dtype(v);
    if (*out) return 0;
    char why[80];
    base_error(why, sizeof why, 0, "dtype %.30s is not known here", v->str);
    return bad_tensor(r, entry->key, why);
}

static int read_shape(SafetensorsFile *r, const JsonValue *entry, Tensor *t, size_t *values) {
    const JsonValue *shape = json_typed(entry, "shape", JSON_ARRAY);
    if (!shape) return bad_tensor(r, entry->key, "has no shape");
    if (shape->len > TENSOR_MAX_DIMS) return bad_tensor(r, entry->key, "more than 8 dimensions");
    *values = 1;
    for (const JsonValue *d = shape->child; d; d = d->next) {
        if (!count(d, &t->shape[t->n_dims])) return bad_tensor(r, entry->key, "a dimension that is no count");
        if (t->shape[t->n_dims] > SIZE_MAX || !size_mul(*values, (size_t)t->shape[t->n_dims], values))
            return bad_tensor(r, entry->key, "its shape is larger than any file");
        t->n_dims++;
    }
    return 0;
}

static int read_span(SafetensorsFile *r, const JsonValue *entry, uint64_t *begin, uint64_t *end) {
    const JsonValue *v = json_typed(entry, "data_offsets", JSON_ARRAY);
    if (!v || v->len != 2 || !count(v->child, begin) || !count(v->child->next, end))
        return bad_tensor(r, entry->key, "data_offsets must be two counts");
    if (*begin > *end) return bad_tensor(r, entry->key, "its data_offsets run backwards");
    if (*end > r->size)
        return bad_tensor(r, entry->key,
                          "its bytes reach past the end of the file: the file is truncated, fetch it again");
    return 0;
}

static int read_tensor(SafetensorsFile *r, const JsonValue *entry) {
    const Dtype *dtype;
    Tensor t = {0};
    size_t values;
    uint64_t begin = 0, end = 0;
    if (!weights_is_name(entry->key, entry->key_len))
        return base_error(r->err, r->errlen, -EINVAL,
                          "%s: a tensor's name is empty or holds a NUL: the file is damaged", r->name);
    if (entry->type != JSON_OBJECT || entry->len != 3)
        return bad_tensor(r, entry->key, "must have dtype, shape and data_offsets, and nothing else");
    int rc = read_dtype(r, entry, &dtype);
    if (rc == 0) rc = read_shape(r, entry, &t, &values);
    if (rc == 0) rc = read_span(r, entry, &begin, &end);
    if (rc) return rc;
    if (values > UINT64_MAX / (uint64_t)dtype->bits || (uint64_t)values * (uint64_t)dtype->bits != 8 * (end - begin))
        return bad_tensor(r, entry->key, "its data_offsets do not span the bytes of its dtype and shape");
    t.type = dtype->type;
    t.type_name = dtype->name;
    t.data = r->data + begin;
    t.size = (size_t)(end - begin);
    t.name = weights_keep(r->w, entry->key, entry->key_len);
    if (!t.name || weights_add_tensor(r->w, &t)) return weights_no_memory(r->name, r->err, r->errlen);
    return 0;
}

/* ---- one file ---- */

static int check_metadata(SafetensorsFile *r, const JsonValue *v) {
    int strings = v->type == JSON_OBJECT;
    for (const JsonValue *c = v->child; c && strings; c = c->next) strings = c->type == JSON_STRING;
    return strings ? 0
                   : base_error(r->err, r->errlen, -EINVAL, "%s: __metadata__ must be an object of strings", r->name);
}

static int compare_places(const void *a, const void *b) {
    const Tensor *x = *(const Tensor *const *)a, *y = *(const Tensor *const *)b;
    return x->data < y->data   ? -1
           : x->data > y->data ? 1
           : x->size < y->size ? -1
                               : x->size > y->size; /* empty ones first */
}

/* Sorted by place, the tensors from `first` on must follow one another from the first byte of the data to the last. */
static int check_cover(SafetensorsFile *r, size_t first) {
    size_t n = r->w->n_tensors - first;
    const Tensor **order = calloc(n + 1, sizeof *order);
    if (!order) return weights_no_memory(r->name, r->err, r->errlen);
    for (size_t i = 0; i < n; i++) order[i] = &r->w->tensors[first + i];
    qsort(order, n, sizeof *order, compare_places);
    const uint8_t *next = r->data;
    int rc = 0;
    for (size_t i = 0; i < n && rc == 0; i++) {
        if (order[i]->data > next)
            rc =
                bad_tensor(r, order[i]->name, "bytes before it belong to no tensor: the file is not valid safetensors");
        if (order[i]->data < next)
            rc = bad_tensor(r, order[i]->name, "shares bytes with another tensor: the file is not valid safetensors");
        next = order[i]->data + order[i]->size;
    }
    size_t behind = r->size - (size_t)(next - r->data);
    if (rc == 0 && behind > 0)
        rc = base_error(r->err, r->errlen, -EINVAL,
                        "%s: %zu bytes stand behind the last tensor: not the file its header describes", r->name,
                        behind);
    free(order);
    return rc;
}

static int read_entries(SafetensorsFile *r, const JsonValue *root) {
    size_t first = r->w->n_tensors;
    int rc = 0;
    if (root->type != JSON_OBJECT)
        return base_error(r->err, r->errlen, -EINVAL, "%s: the safetensors header is not a JSON object", r->name);
    for (const JsonValue *e = root->child; e && rc == 0; e = e->next) {
        int is_metadata = e->key_len == 12 && memcmp(e->key, "__metadata__", 12) == 0;
        rc = is_metadata ? check_metadata(r, e) : read_tensor(r, e);
    }
    return rc ? rc : check_cover(r, first);
}

int safetensors_read(Weights *w, const uint8_t *data, size_t size, const char *name, char *err, size_t errlen) {
    size_t n;
    if (!header_span(data, size, &n))
        return base_error(
            err, errlen, -EINVAL,
            "%s: its safetensors header is longer than the file or than 100,000,000 bytes: it is damaged or truncated",
            name);
    Json header;
    char label[300];
    snprintf(label, sizeof label, "%s: header", name);
    int rc = json_parse(&header, (const char *)data + 8, n, label, err, errlen);
    if (rc) return rc;
    SafetensorsFile r = {
        .w = w, .data = data + 8 + n, .size = size - 8 - n, .name = name, .err = err, .errlen = errlen};
    rc = read_entries(&r, header.root);
    json_free(&header);
    return rc;
}
