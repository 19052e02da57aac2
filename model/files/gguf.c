/* model/files/gguf.c - GGUF, versions 2 and 3, little-endian.
 *
 *     "GGUF"  u32 version  u64 n_tensors  u64 n_meta
 *     n_meta times     string key   u32 type   value          a string is u64 length + bytes, an array u32 type + u64 n
 * + elements n_tensors times  string name  u32 n_dims  u64 dims[]  u32 type  u64 offset       dims[0] is the contiguous
 * one padding to general.alignment (32 where the key is missing), then the tensors' bytes, each at its offset
 *
 * Every length is compared with the bytes that are left before it is believed: `n > size - pos`, never `pos + n >
 * size`. Source: docs/gguf.md of ggml. */
#include "gguf.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    KEY_MIN_BYTES = 13,    /* a metadata pair: length, type, one byte of value */
    COUNT_MAX = 1 << 17,   /* keys, and tensors, of a file */
    TENSOR_MIN_BYTES = 24, /* a tensor's entry: length, n_dims, type, offset */
    KEY_MAX = 65535,       /* the specification's longest key */
    GGUF_MAX_DIMS = 4,
    ALIGNMENT_DEFAULT = 32,
    ALIGNMENT_MAX = 65536,
};

typedef struct {
    const char *name; /* in the file, no NUL behind it */
    size_t name_len;
    uint32_t n_dims;
    uint64_t dims[GGUF_MAX_DIMS];
    const QuantFormat *format;
    uint64_t offset;
    size_t size;
} TensorInfo;

int gguf_is(const uint8_t *data, size_t size) { return size >= 4 && memcmp(data, "GGUF", 4) == 0; }

/* ---- cursor ---- */

static int take(Gguf *g, uint64_t n, const uint8_t **p) {
    if (n > g->size - g->pos) return 0;
    *p = g->data + g->pos;
    g->pos += (size_t)n;
    return 1;
}

static int take_u32(Gguf *g, uint32_t *out) {
    const uint8_t *p;
    if (!take(g, 4, &p)) return 0;
    *out = load_u32(p);
    return 1;
}

static int take_u64(Gguf *g, uint64_t *out) {
    const uint8_t *p;
    if (!take(g, 8, &p)) return 0;
    *out = load_u64(p);
    return 1;
}

static int take_string(Gguf *g, const uint8_t **s, uint64_t *n) { return take_u64(g, n) && take(g, *n, s); }

static int truncated(Gguf *g, const char *where) {
    return base_error(g->err, g->errlen, -EINVAL,
                      "%s: the file ends inside its %s: it is damaged or truncated, fetch it again", g->name, where);
}

static int bad_key(Gguf *g, const char *key, const char *why) {
    return base_error(g->err, g->errlen, -EINVAL, "%s: key %.80s: %s", g->name, key, why);
}

static int bad_tensor(Gguf *g, const TensorInfo *t, const char *why) {
    int shown = t->name_len < 80 ? (int)t->name_len : 80;
    return base_error(g->err, g->errlen, -EINVAL, "%s: tensor %.*s: %s", g->name, shown, t->name, why);
}

/* ---- header ---- */

static int read_counts(Gguf *g) {
    uint32_t magic, version;
    if (!take_u32(g, &magic) || !take_u32(g, &version)) return truncated(g, "header");
    if ((version & 0xffff) == 0 && version != 0)
        return base_error(g->err, g->errlen, -EINVAL, "%s: a big-endian GGUF file: convert it with gguf-convert-endian",
                          g->name);
    if (version != 2 && version != 3)
        return base_error(g->err, g->errlen, -EINVAL,
                          "%s: GGUF version %u, only 2 and 3 are read: convert the model again", g->name, version);
    if (!take_u64(g, &g->n_tensors) || !take_u64(g, &g->n_meta)) return truncated(g, "header");
    size_t left = g->size - g->pos;
    if (g->n_meta > left / KEY_MIN_BYTES) return truncated(g, "metadata (more keys are announced than fit)");
    if (g->n_tensors > left / TENSOR_MIN_BYTES)
        return truncated(g, "tensor list (more tensors are announced than fit)");
    if (g->n_meta > COUNT_MAX || g->n_tensors > COUNT_MAX) /* what is kept of each is more than its bytes in the file */
        return base_error(g->err, g->errlen, -EINVAL, "%s: more than %d keys or tensors: no model has so many", g->name,
                          COUNT_MAX);
    return 0;
}

/* ---- metadata ---- */

static int read_bools(Gguf *g, const char *key, const uint8_t *p, uint64_t n) {
    for (uint64_t i = 0; i < n; i++)
        if (p[i] > 1) return bad_key(g, key, "a bool that is neither 0 nor 1");
    return 0;
}

static int read_strings(Gguf *g, uint64_t n) {
    const uint8_t *s;
    uint64_t len;
    if (n > (g->size - g->pos) / 8) return truncated(g, "metadata (an array longer than the file)");
    for (uint64_t i = 0; i < n; i++)
        if (!take_string(g, &s, &len)) return truncated(g, "metadata (strings of an array)");
    return 0;
}

static int read_array(Gguf *g, MetaValue *m) {
    uint32_t elem;
    if (!take_u32(g, &elem) || !take_u64(g, &m->n)) return truncated(g, "metadata");
    if (elem == META_ARRAY) return bad_key(g, m->key, "an array of arrays, which is not read");
    if (elem > META_F64) return bad_key(g, m->key, "an array of a value type that GGUF does not have");
    m->elem = (MetaType)elem;
    m->data = g->data + g->pos;
    if (elem == META_STRING) return read_strings(g, m->n);
    if (m->n > (g->size - g->pos) / meta_size(m->elem)) return truncated(g, "metadata (an array longer than the file)");
    g->pos += (size_t)m->n * meta_size(m->elem);
    return elem == META_BOOL ? read_bools(g, m->key, m->data, m->n) : 0;
}

static int read_value(Gguf *g, MetaValue *m) {
    if (m->type == META_ARRAY) return read_array(g, m);
    m->n = 1;
    int there = m->type == META_STRING ? take_string(g, &m->data, &m->n) : take(g, meta_size(m->type), &m->data);
    if (!there) return truncated(g, "metadata");
    return m->type == META_BOOL ? read_bools(g, m->key, m->data, 1) : 0;
}

static int read_pair(Gguf *g) {
    const uint8_t *key;
    uint64_t len;
    uint32_t type;
    if (!take_string(g, &key, &len) || !take_u32(g, &type)) return truncated(g, "metadata");
    if (len > KEY_MAX || !weights_is_name((const char *)key, (size_t)len))
        return base_error(g->err, g->errlen, -EINVAL,
                          "%s: metadata key %zu is empty, too long or not text: the file is damaged", g->name,
                          g->w->n_meta - g->first_meta + 1);
    MetaValue m = {.key = weights_keep(g->w, (const char *)key, (size_t)len)};
    if (!m.key) return weights_no_memory(g->name, g->err, g->errlen);
    if (type > META_F64) return bad_key(g, m.key, "a value type that GGUF does not have");
    m.type = (MetaType)type;
    int rc = read_value(g, &m);
    if (rc) return rc;
    return weights_add_meta(g->w, &m) ? weights_no_memory(g->name, g->err, g->errlen) : 0;
}

static int compare_keys(const void *a, const void *b) {
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static int refuse_duplicate_keys(Gguf *g) {
    size_t n = g->w->n_meta - g->first_meta;
    if (n < 2) return 0;
    const char **keys = calloc(n, sizeof *keys);
    if (!keys) return weights_no_memory(g->name, g->err, g->errlen);
    for (size_t i = 0; i < n; i++) keys[i] = g->w->meta[g->first_meta + i].key;
    qsort(keys, n, sizeof *keys, compare_keys);
    int rc = 0;
    for (size_t i = 1; i < n && rc == 0; i++)
        if (strcmp(keys[i - 1], keys[i]) == 0) rc = bad_key(g, keys[i], "stands twice");
    free(keys);
    return rc;
}

const MetaValue *gguf_find(const Gguf *g, const char *key) {
    for (size_t i = g->first_meta; i < g->w->n_meta; i++)
        if (strcmp(g->w->meta[i].key, key) == 0) return &g->w->meta[i];
    return NULL;
}

static int read_alignment(Gguf *g) {
    const MetaValue *m = gguf_find(g, "general.alignment");
    int64_t a = ALIGNMENT_DEFAULT;
    if (m && (m->type != META_U32 || !meta_integer(m, &a) || a < 8 || a > ALIGNMENT_MAX || (a & (a - 1)) != 0))
        return bad_key(g, m->key, "must be a u32, a power of two from 8 to 65536");
    g->alignment = (size_t)a;
    return 0;
}

/* Everything before the tensor list; the keys stay in w->meta. */
int gguf_read_head(Gguf *g) {
    int rc = read_counts(g);
    for (uint64_t i = 0; rc == 0 && i < g->n_meta; i++) rc = read_pair(g);
    if (rc == 0) rc = refuse_duplicate_keys(g);
    return rc ? rc : read_alignment(g);
}

/* ---- tensors ---- */

/* t->size from shape and type; whole blocks in each row. */
static int measure(Gguf *g, TensorInfo *t) {
    size_t values = 1, block = (size_t)t->format->block;
    for (uint32_t i = 0; i < t->n_dims; i++) {
        if (t->dims[i] == 0) return bad_tensor(g, t, "a dimension is 0");
        if (t->dims[i] > SIZE_MAX || !size_mul(values, (size_t)t->dims[i], &values))
            return bad_tensor(g, t, "its shape is larger than any file");
    }
    if ((t->n_dims ? t->dims[0] : 1) % block != 0) return bad_tensor(g, t, "its rows are not whole blocks of its type");
    if (!size_mul(values / block, (size_t)t->format->bytes, &t->size))
        return bad_tensor(g, t, "its shape is larger than any file");
    return 0;
}

static int unknown_type(Gguf *g, const TensorInfo *t, uint32_t type) {
    char why[80];
    snprintf(why, sizeof why, "type %u is not known here: convert the model to Q8_0 or F16", type);
    return bad_tensor(g, t, why);
}

static int read_tensor_info(Gguf *g, TensorInfo *t) {
    const uint8_t *name;
    uint64_t len;
    uint32_t type;
    *t = (TensorInfo){.name = ""};
    if (!take_string(g, &name, &len) || !take_u32(g, &t->n_dims)) return truncated(g, "tensor list");
    if (!weights_is_name((const char *)name, (size_t)len))
        return base_error(g->err, g->errlen, -EINVAL, "%s: a tensor's name is empty or not text: the file is damaged",
                          g->name);
    t->name = (const char *)name;
    t->name_len = (size_t)len;
    if (t->n_dims > GGUF_MAX_DIMS) return bad_tensor(g, t, "more than 4 dimensions");
    for (uint32_t i = 0; i < t->n_dims; i++)
        if (!take_u64(g, &t->dims[i])) return truncated(g, "tensor list");
    if (!take_u32(g, &type) || !take_u64(g, &t->offset)) return truncated(g, "tensor list");
    t->format = type < TENSOR_I8_GROUPS ? quant_format((int)type) : NULL;
    if (!t->format) return unknown_type(g, t, type);
    if (t->offset % g->alignment != 0) return bad_tensor(g, t, "its offset is not a multiple of the file's alignment");
    return measure(g, t);
}

/* Bytes from `at` to the next multiple of the file's alignment. */
static size_t padding_of(const Gguf *g, size_t at) { return (g->alignment - at % g->alignment) % g->alignment; }

/* Append the tensor to w; start is where the file's tensor bytes begin. *end grows to the furthest byte used. */
static int place_tensor(Gguf *g, const TensorInfo *t, size_t start, size_t *end) {
    size_t room = g->size - start;
    if (t->offset > room || t->size > room - (size_t)t->offset)
        return bad_tensor(g, t, "its bytes reach past the end of the file: the file is truncated, fetch it again");
    Tensor out = {.type = t->format->id, .type_name = t->format->name, .n_dims = (int)t->n_dims, .size = t->size};
    for (uint32_t i = 0; i < t->n_dims; i++)
        out.shape[i] = t->dims[t->n_dims - 1 - i]; /* the file counts from the contiguous one */
    out.data = g->data + start + t->offset;
    out.name = weights_keep(g->w, t->name, t->name_len);
    if (!out.name || weights_add_tensor(g->w, &out)) return weights_no_memory(g->name, g->err, g->errlen);
    size_t padded = t->size + padding_of(g, t->size); /* behind the last tensor too: so a cut there is seen */
    if (padded > room - (size_t)t->offset)
        return bad_tensor(g, t, "the padding behind its bytes is missing: the file is truncated, fetch it again");
    size_t last = start + (size_t)t->offset + padded;
    if (last > *end) *end = last;
    return 0;
}

/* The tensor list is walked twice: where the bytes begin is known only behind it. */
int gguf_read_tensors(Gguf *g) {
    TensorInfo t;
    size_t list = g->pos;
    int rc = 0;
    for (uint64_t i = 0; rc == 0 && i < g->n_tensors; i++) rc = read_tensor_info(g, &t);
    if (rc) return rc;
    size_t end = g->pos, padding = padding_of(g, g->pos);
    if (g->n_tensors > 0 && padding > g->size - g->pos) return truncated(g, "padding before the tensors");
    size_t start = g->pos + padding;
    g->pos = list;
    for (uint64_t i = 0; rc == 0 && i < g->n_tensors; i++)
        if ((rc = read_tensor_info(g, &t)) == 0) rc = place_tensor(g, &t, start, &end);
    if (rc == 0 && g->size - end >= (g->n_tensors ? 1 : g->alignment))
        rc = base_error(g->err, g->errlen, -EINVAL,
                        "%s: %zu bytes stand behind the last tensor: not the file its header describes", g->name,
                        g->size - end);
    return rc;
}

int gguf_open(Weights *w, const uint8_t *data, size_t size, const char *name, char *err, size_t errlen) {
    Gguf g = {.w = w, .data = data, .size = size, .name = name, .err = err, .errlen = errlen};
    w->format = FORMAT_GGUF;
    int rc = gguf_read_head(&g);
    if (rc == 0) rc = gguf_read_tensors(&g);
    return rc ? rc : weights_finish(w, err, errlen);
}
