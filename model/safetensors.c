/* model/safetensors.c - Hugging Face models: config.json and safetensors, one file or several shards.
 *
 *     u64 n   n bytes of JSON   the tensors' bytes, to the end of the file
 *     {"__metadata__": {"format": "pt"}, "name": {"dtype": "F32", "shape": [2, 3], "data_offsets": [0, 24]}, ...}
 *
 * The rules are those of the reference reader (safetensors/src/tensor.rs): sorted by offset the tensors cover the data
 * exactly, no hole, no overlap, nothing behind the last one; each has the bytes its dtype and shape ask for. Tensor data
 * has no alignment. A folder's shards are those that model.safetensors.index.json names. */
#include "reader.h"

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
    {"F32", 32, TENSOR_F32}, {"F16", 16, TENSOR_F16}, {"BF16", 16, TENSOR_BF16},
    {"F64", 64, -1}, {"C64", 64, -1}, {"I64", 64, -1}, {"U64", 64, -1}, {"I32", 32, -1}, {"U32", 32, -1}, {"I16", 16, -1}, {"U16", 16, -1},
    {"I8", 8, -1}, {"U8", 8, -1}, {"BOOL", 8, -1}, {"F8_E4M3", 8, -1}, {"F8_E5M2", 8, -1}, {"F8_E8M0", 8, -1},
    {"F8_E4M3FNUZ", 8, -1}, {"F8_E5M2FNUZ", 8, -1}, {"F6_E2M3", 6, -1}, {"F6_E3M2", 6, -1}, {"F4", 4, -1},
};

/* One file that is being read. */
typedef struct {
    Weights *w;
    const uint8_t *data; /* the tensors' bytes */
    size_t size;
    const char *name;
    char *err;
    size_t errlen;
} Reader;

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

static int bad_tensor(Reader *r, const char *tensor, const char *why) {
    return base_error(r->err, r->errlen, -EINVAL, "%s: tensor %.80s: %s", r->name, tensor, why);
}

/* A JSON number that is a count: doubles hold every integer up to 2^53. */
static int count(const JsonValue *v, uint64_t *out) {
    if (!v || v->type != JSON_NUMBER || !(v->number >= 0 && v->number <= 9007199254740991.0)) return 0;
    *out = (uint64_t)v->number;
    return (double)*out == v->number;
}

static const Dtype *find_dtype(const JsonValue *v) {
    for (size_t i = 0; i < sizeof dtypes / sizeof *dtypes; i++)
        if (json_is(v, dtypes[i].name)) return &dtypes[i];
    return NULL;
}

static int read_dtype(Reader *r, const JsonValue *entry, const Dtype **out) {
    const JsonValue *v = json_get(entry, "dtype");
    if (!v || v->type != JSON_STRING) return bad_tensor(r, entry->key, "has no dtype");
    *out = find_dtype(v);
    if (*out) return 0;
    char why[80];
    base_error(why, sizeof why, 0, "dtype %.30s is not known here", v->str);
    return bad_tensor(r, entry->key, why);
}

static int read_shape(Reader *r, const JsonValue *entry, Tensor *t, size_t *values) {
    const JsonValue *shape = json_get(entry, "shape");
    if (!shape || shape->type != JSON_ARRAY) return bad_tensor(r, entry->key, "has no shape");
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

static int read_span(Reader *r, const JsonValue *entry, uint64_t *begin, uint64_t *end) {
    const JsonValue *v = json_get(entry, "data_offsets");
    if (!v || v->type != JSON_ARRAY || v->len != 2 || !count(v->child, begin) || !count(v->child->next, end))
        return bad_tensor(r, entry->key, "data_offsets must be two counts");
    if (*begin > *end) return bad_tensor(r, entry->key, "its data_offsets run backwards");
    if (*end > r->size) return bad_tensor(r, entry->key, "its bytes reach past the end of the file: the file is truncated, fetch it again");
    return 0;
}

static int read_tensor(Reader *r, const JsonValue *entry) {
    const Dtype *dtype;
    Tensor t = {0};
    size_t values, bits;
    uint64_t begin = 0, end = 0;
    if (!reader_is_name(entry->key, entry->key_len))
        return base_error(r->err, r->errlen, -EINVAL, "%s: a tensor's name is empty or holds a NUL: the file is damaged", r->name);
    if (entry->type != JSON_OBJECT || entry->len != 3)
        return bad_tensor(r, entry->key, "must have dtype, shape and data_offsets, and nothing else");
    int rc = read_dtype(r, entry, &dtype);
    if (rc == 0) rc = read_shape(r, entry, &t, &values);
    if (rc == 0) rc = read_span(r, entry, &begin, &end);
    if (rc) return rc;
    if (!size_mul(values, (size_t)dtype->bits, &bits) || bits % 8 != 0 || bits / 8 != end - begin)
        return bad_tensor(r, entry->key, "its data_offsets do not span the bytes of its dtype and shape");
    t.type = dtype->type;
    t.type_name = dtype->name;
    t.data = r->data + begin;
    t.size = (size_t)(end - begin);
    t.name = weights_keep(r->w, entry->key, entry->key_len);
    if (!t.name || weights_add_tensor(r->w, &t)) return reader_no_memory(r->name, r->err, r->errlen);
    return 0;
}

/* ---- one file ---- */

static int check_metadata(Reader *r, const JsonValue *v) {
    int strings = v->type == JSON_OBJECT;
    for (const JsonValue *c = v->child; c && strings; c = c->next) strings = c->type == JSON_STRING;
    return strings ? 0 : base_error(r->err, r->errlen, -EINVAL, "%s: __metadata__ must be an object of strings", r->name);
}

static int compare_places(const void *a, const void *b) {
    const Tensor *x = *(const Tensor *const *)a, *y = *(const Tensor *const *)b;
    return x->data < y->data ? -1 : x->data > y->data ? 1 : x->size < y->size ? -1 : x->size > y->size; /* empty ones first */
}

/* Sorted by place, the tensors from `first` on must follow one another from the first byte of the data to the last. */
static int check_cover(Reader *r, size_t first) {
    size_t n = r->w->n_tensors - first;
    const Tensor **order = calloc(n + 1, sizeof *order);
    if (!order) return reader_no_memory(r->name, r->err, r->errlen);
    for (size_t i = 0; i < n; i++) order[i] = &r->w->tensors[first + i];
    qsort(order, n, sizeof *order, compare_places);
    const uint8_t *next = r->data;
    int rc = 0;
    for (size_t i = 0; i < n && rc == 0; i++) {
        if (order[i]->data > next)
            rc = bad_tensor(r, order[i]->name, "bytes before it belong to no tensor: the file is not valid safetensors");
        if (order[i]->data < next)
            rc = bad_tensor(r, order[i]->name, "shares bytes with another tensor: the file is not valid safetensors");
        next = order[i]->data + order[i]->size;
    }
    size_t behind = r->size - (size_t)(next - r->data);
    if (rc == 0 && behind > 0)
        rc = base_error(r->err, r->errlen, -EINVAL,
                        "%s: %zu bytes stand behind the last tensor: not the file its header describes", r->name, behind);
    free(order);
    return rc;
}

static int read_entries(Reader *r, const JsonValue *root) {
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
            "%s: its safetensors header is longer than the file or than 100,000,000 bytes: it is damaged or truncated", name);
    Json header;
    char label[300];
    snprintf(label, sizeof label, "%s: header", name);
    int rc = json_parse(&header, (const char *)data + 8, n, label, err, errlen);
    if (rc) return rc;
    Reader r = {.w = w, .data = data + 8 + n, .size = size - 8 - n, .name = name, .err = err, .errlen = errlen};
    rc = read_entries(&r, header.root);
    json_free(&header);
    return rc;
}

/* ---- folders ---- */

static int read_path(Weights *w, const char *path, char *err, size_t errlen) {
    int rc = weights_add_file(w, path, err, errlen);
    if (rc) return rc;
    const MappedFile *f = &w->files[w->n_files - 1];
    return safetensors_read(w, f->data, f->size, path, err, errlen);
}

static int is_plain_name(const JsonValue *v) {
    return v->type == JSON_STRING && reader_is_name(v->str, v->len) && !strchr(v->str, '/') && !strchr(v->str, '\\') &&
           !strstr(v->str, "..");
}

static int compare_shards(const void *a, const void *b) {
    return strcmp((*(const JsonValue *const *)a)->str, (*(const JsonValue *const *)b)->str);
}

/* weight_map's entries sorted by shard, in malloc'ed memory (*n of them). */
static int sort_entries(const Json *index, const char *name, const JsonValue ***out, size_t *n, char *err, size_t errlen) {
    const JsonValue *map = json_get(index->root, "weight_map");
    if (!map || map->type != JSON_OBJECT || map->len == 0)
        return base_error(err, errlen, -EINVAL, "%s: has no weight_map that names shards", name);
    const JsonValue **order = calloc(map->len, sizeof *order);
    if (!order) return reader_no_memory(name, err, errlen);
    *out = order;
    *n = 0;
    for (const JsonValue *e = map->child; e; e = e->next) {
        if (!reader_is_name(e->key, e->key_len) || !is_plain_name(e))
            return base_error(err, errlen, -EINVAL,
                              "%s: weight_map entry %.60s: a shard must be the plain name of a file in this folder", name,
                              e->key);
        order[(*n)++] = e;
    }
    qsort(order, *n, sizeof *order, compare_shards);
    return 0;
}

static int open_shard(Weights *w, const JsonValue *entry, const char *index_name, char *err, size_t errlen) {
    char *path = file_join(w->folder, entry->str);
    if (!path) return reader_no_memory(index_name, err, errlen);
    int rc = file_exists(path) ? read_path(w, path, err, errlen)
                               : base_error(err, errlen, -ENOENT, "%s: is missing, but %s names it (for tensor %.60s)", path,
                                            index_name, entry->key);
    free(path);
    return rc;
}

/* The tensors from `first` on came from the shard of these n entries: the same names, no more and no fewer. */
static int check_entries(const Weights *w, const JsonValue **entries, size_t n, size_t first, size_t end, const char *name,
                         char *err, size_t errlen) {
    for (size_t i = 0; i < n; i++) {
        const Tensor *t = weights_find(w, entries[i]->key);
        size_t at = t ? (size_t)(t - w->tensors) : end;
        if (at < first || at >= end)
            return base_error(err, errlen, -EINVAL, "%s: tensor %.80s is not in %.60s, where weight_map has it", name,
                              entries[i]->key, entries[i]->str);
    }
    if (end - first == n) return 0;
    return base_error(err, errlen, -EINVAL, "%s: %.60s holds %zu tensors, weight_map has %zu there", name, entries[0]->str, end - first, n);
}

/* All shards in the order of their names; then, with the index of names sorted, every entry of weight_map. */
static int open_shards(Weights *w, const JsonValue **entries, size_t n, const char *name, char *err, size_t errlen) {
    size_t *ends = calloc(n, sizeof *ends); /* ends[k]: tensors after shard k */
    if (!ends) return reader_no_memory(name, err, errlen);
    int rc = 0;
    size_t shards = 0;
    for (size_t i = 0; i < n && rc == 0; i++) {
        if (i > 0 && strcmp(entries[i - 1]->str, entries[i]->str) == 0) continue;
        rc = open_shard(w, entries[i], name, err, errlen);
        ends[shards++] = w->n_tensors;
    }
    if (rc == 0) rc = weights_finish(w, err, errlen);
    for (size_t k = 0, i = 0, j; k < shards && rc == 0; k++, i = j) {
        for (j = i + 1; j < n && strcmp(entries[i]->str, entries[j]->str) == 0; j++) {}
        rc = check_entries(w, entries + i, j - i, k ? ends[k - 1] : 0, ends[k], name, err, errlen);
    }
    free(ends);
    return rc;
}

/* Open the set that index_path lists. `file` is the one that was asked for by name, or NULL: where the index does not
 * know it, *listed is 0 and nothing is opened. */
static int open_indexed(Weights *w, const char *index_path, const char *file, int *listed, char *err, size_t errlen) {
    Json index;
    const JsonValue **entries = NULL;
    size_t n = 0;
    int rc = json_open(&index, index_path, err, errlen);
    if (rc) return rc;
    rc = sort_entries(&index, index_path, &entries, &n, err, errlen);
    *listed = file == NULL;
    for (size_t i = 0; i < n && !*listed; i++) *listed = json_is(entries[i], file);
    if (rc == 0 && *listed) rc = open_shards(w, entries, n, index_path, err, errlen);
    free(entries);
    json_free(&index);
    return rc;
}

static int open_single(Weights *w, const char *path, char *err, size_t errlen) {
    int rc = read_path(w, path, err, errlen);
    return rc ? rc : weights_finish(w, err, errlen);
}

static int refuse_folder(const Weights *w, char *err, size_t errlen) {
    char *bin = file_join(w->folder, "pytorch_model.bin"), *index = file_join(w->folder, "pytorch_model.bin.index.json");
    int pickles = (bin && file_exists(bin)) || (index && file_exists(index));
    free(bin);
    free(index);
    return base_error(err, errlen, -ENOENT, "%s: %s", w->folder,
                      pickles ? "only pytorch_model.bin, a pickle, which can run code: convert it to safetensors first"
                              : "no model.safetensors and no model.safetensors.index.json in this folder");
}

/* The weights of w->folder, or of `path` in it where it is not NULL. */
static int open_weights(Weights *w, const char *path, const char *single, const char *index, char *err, size_t errlen) {
    const char *slash = path ? strrchr(path, '/') : NULL;
    int listed = 0, rc = 0;
    if (path && file_exists(index)) rc = open_indexed(w, index, slash ? slash + 1 : path, &listed, err, errlen);
    if (rc || listed) return rc;
    if (path) return open_single(w, path, err, errlen);
    if (file_exists(single)) return open_single(w, single, err, errlen);
    if (file_exists(index)) return open_indexed(w, index, NULL, &listed, err, errlen);
    return refuse_folder(w, err, errlen);
}

static int open_configs(Weights *w, const char *config, const char *generation, char *err, size_t errlen) {
    if (!file_exists(config))
        return base_error(err, errlen, -ENOENT, "%s: is missing: a safetensors model needs its config.json beside it", config);
    int rc = json_open(&w->config, config, err, errlen);
    if (rc == 0 && w->config.root->type != JSON_OBJECT) rc = base_error(err, errlen, -EINVAL, "%s: is not a JSON object", config);
    if (rc || !file_exists(generation)) return rc;
    rc = json_open(&w->generation, generation, err, errlen);
    if (rc == 0 && w->generation.root->type != JSON_OBJECT) rc = base_error(err, errlen, -EINVAL, "%s: is not a JSON object", generation);
    return rc;
}

int safetensors_open(Weights *w, const char *path, char *err, size_t errlen) {
    static const char *const names[] = {"model.safetensors", "model.safetensors.index.json", "config.json", "generation_config.json"};
    char *paths[4];
    int rc = 0;
    w->format = FORMAT_HF;
    for (int i = 0; i < 4; i++)
        if (!(paths[i] = file_join(w->folder, names[i]))) rc = reader_no_memory(path, err, errlen);
    if (rc == 0) rc = open_weights(w, file_is_folder(path) ? NULL : path, paths[0], paths[1], err, errlen);
    if (rc == 0) rc = open_configs(w, paths[2], paths[3], err, errlen);
    for (int i = 0; i < 4; i++) free(paths[i]);
    return rc;
}
