/* weights-tools/checkpoint/tf.c - the entries of an index, and the bytes they stand for. */
#include "tf.h"
#include "model/files/weights.h"
#include "checksum.h"
#include "table.h"
#include "base/base.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { KEPT_MAX_GROWTH = 64 }; /* what is kept of an index, against its length: real ones, in Snappy, come to some 15 */

typedef struct {
    TfIndex *x;
    size_t budget; /* bytes that may still be kept */
    int header;    /* the header was met */
    const char *name;
    char *err;
    size_t errlen;
} TfReader;

/* A field of a protocol buffer: number, wire type, and the value (0, 5, 1) or the bytes (2). */
typedef struct {
    uint64_t number, value;
    const uint8_t *data;
    size_t size;
    int wire;
} Field;

static int bad(TfReader *r, const char *entry, const char *why) {
    return base_error(r->err, r->errlen, -EINVAL, "%s: entry %.80s: %s", r->name, *entry ? entry : "(header)", why);
}

/* ---- protocol buffers ---- */

/* The next field before end: 1, 0 where there is none, -1 where the bytes are no protocol buffer. */
static int next_field(const uint8_t **p, const uint8_t *end, Field *f) {
    uint64_t tag;
    if (*p == end) return 0;
    if (!varint_take(p, end, &tag)) return -1;
    *f = (Field){.number = tag >> 3, .wire = (int)(tag & 7)};
    if (f->wire == 0) return varint_take(p, end, &f->value) ? 1 : -1;
    size_t left = (size_t)(end - *p);
    if (f->wire == 2) {
        if (!varint_take(p, end, &f->value) || f->value > (size_t)(end - *p)) return -1;
        f->data = *p;
        f->size = (size_t)f->value;
        *p += f->size;
        return 1;
    }
    if (f->wire == 5 && left >= 4) f->value = load_u32(*p);
    else if (f->wire == 1 && left >= 8) f->value = load_u64(*p);
    else return -1;
    *p += f->wire == 5 ? 4 : 8;
    return 1;
}

/* Field `number` of the message, a varint; 0 where it is absent. */
static int read_number(const uint8_t *p, size_t n, uint64_t number, uint64_t *v) {
    const uint8_t *end = p + n;
    Field f;
    int more;
    *v = 0;
    while ((more = next_field(&p, end, &f)) > 0)
        if (f.number == number && f.wire == 0) *v = f.value;
    return more == 0;
}

/* ---- entries ---- */

static const struct { uint64_t dtype; ElemType type;
} dtypes[] = {
    {1, ELEM_F32}, {2, ELEM_F64}, {3, ELEM_I32},   {4, ELEM_U8},    {5, ELEM_I16},
    {6, ELEM_I8},  {9, ELEM_I64}, {10, ELEM_BOOL}, {14, ELEM_BF16}, {19, ELEM_F16},
};

static ElemType type_of(uint64_t dtype) {
    for (size_t i = 0; i < sizeof dtypes / sizeof *dtypes; i++)
        if (dtypes[i].dtype == dtype) return dtypes[i].type;
    return ELEM_OTHER;
}

/* TensorShapeProto: field 2, each a message with field 1, the size. */
static int read_shape(TfReader *r, TfEntry *e, const Field *shape) {
    const uint8_t *p = shape->data, *end = p + shape->size;
    Field f;
    int more;
    uint64_t size;
    e->n_dims = 0;
    while ((more = next_field(&p, end, &f)) > 0) {
        if (f.number == 3 && f.value != 0) return bad(r, e->name, "its shape is unknown");
        if (f.number != 2 || f.wire != 2) continue;
        if (e->n_dims == VIEW_MAX_DIMS) return bad(r, e->name, "more than 8 dimensions");
        if (!read_number(f.data, f.size, 1, &size)) return bad(r, e->name, "a damaged shape");
        if (size > INT64_MAX || size > SIZE_MAX) return bad(r, e->name, "a dimension that is no count");
        e->shape[e->n_dims++] = (size_t)size;
    }
    return more ? bad(r, e->name, "a damaged shape") : 0;
}

/* BundleEntryProto. */
static int read_entry(TfReader *r, TfEntry *e, const uint8_t *p, size_t n) {
    const uint8_t *end = p + n;
    uint64_t numbers[8] = {0};
    Field f;
    int more, rc;
    while ((more = next_field(&p, end, &f)) > 0) {
        if (f.number == 7) return bad(r, e->name, "is in slices (a partitioned variable), which is not read");
        if (f.number == 2 && f.wire == 2 && (rc = read_shape(r, e, &f)) != 0) return rc;
        if (f.number < 7 && f.number != 2 && f.wire == (f.number == 6 ? 5 : 0)) numbers[f.number] = f.value;
    }
    if (more) return bad(r, e->name, "its description is damaged");
    e->type = type_of(numbers[1]);
    e->crc = (uint32_t)numbers[6];
    if (numbers[3] >= r->x->n_shards) return bad(r, e->name, "lies in a data file that the header does not know");
    if (numbers[4] > INT64_MAX || numbers[5] > INT64_MAX || numbers[4] > SIZE_MAX || numbers[5] > SIZE_MAX)
        return bad(r, e->name, "lies outside any file");
    e->shard = (uint32_t)numbers[3];
    e->offset = (size_t)numbers[4];
    e->size = (size_t)numbers[5];
    View v = {.type = e->type, .n_dims = e->n_dims};
    memcpy(v.shape, e->shape, sizeof v.shape);
    if (!view_init(&v)) return bad(r, e->name, "its shape is larger than any file");
    if (e->type != ELEM_OTHER && v.values * elem_bytes(e->type) != e->size)
        return bad(r, e->name, "its length is not what its type and shape ask for");
    return 0;
}

/* BundleHeaderProto, under the empty key, which is the first: 1 num_shards, 2 endianness, 3 version
 * {2 min_consumer}. */
static int read_header(TfReader *r, const uint8_t *p, size_t n) {
    const uint8_t *end = p + n;
    uint64_t shards, order, consumer = 0;
    Field f;
    int more;
    if (!read_number(p, n, 1, &shards) || !read_number(p, n, 2, &order)) return bad(r, "", "it is damaged");
    while ((more = next_field(&p, end, &f)) > 0)
        if (f.number == 3 && f.wire == 2 && !read_number(f.data, f.size, 2, &consumer))
            return bad(r, "", "it is damaged");
    if (shards == 0 || shards > TF_MAX_SHARDS) return bad(r, "", "a number of data files that no checkpoint has");
    if (order != 0) return bad(r, "", "its byte order is not little-endian, which is not read");
    if (consumer > 1) return bad(r, "", "a version newer than 1, which is not known here");
    r->x->n_shards = (uint32_t)shards;
    r->header = 1;
    return 0;
}

static int visit(void *arg, const char *key, size_t key_len, const uint8_t *value, size_t value_len) {
    TfReader *r = arg;
    if (key_len == 0) return read_header(r, value, value_len);
    if (!r->header) return bad(r, "", "it is missing");
    if (!weights_is_name(key, key_len))
        return base_error(r->err, r->errlen, -EINVAL, "%s: a tensor's name is no text", r->name);
    size_t kept = key_len + 1 + sizeof(TfEntry);
    if (kept > r->budget)
        return base_error(r->err, r->errlen, -EINVAL, "%s: more entries than an honest index of its length", r->name);
    r->budget -= kept;
    TfEntry e = {.name = weights_keep(&r->x->names, key, key_len)};
    if (!e.name) return weights_no_memory(r->name, r->err, r->errlen);
    int rc = read_entry(r, &e, value, value_len);
    if (rc) return rc;
    if (array_reserve(&r->x->entries, &r->x->cap, r->x->n + 1, sizeof e))
        return weights_no_memory(r->name, r->err, r->errlen);
    r->x->entries[r->x->n++] = e;
    return 0;
}

/* ---- the index ---- */

static int compare_places(const void *a, const void *b) {
    const TfEntry *x = *(const TfEntry *const *)a, *y = *(const TfEntry *const *)b;
    if (x->shard != y->shard) return x->shard < y->shard ? -1 : 1;
    if (x->offset != y->offset) return x->offset < y->offset ? -1 : 1;
    return x->size < y->size ? -1 : x->size > y->size;
}

static int refuse_overlaps(TfReader *r) {
    const TfEntry **order = calloc(r->x->n + 1, sizeof *order), *last = NULL;
    if (!order) return weights_no_memory(r->name, r->err, r->errlen);
    for (size_t i = 0; i < r->x->n; i++) order[i] = &r->x->entries[i];
    qsort(order, r->x->n, sizeof *order, compare_places);
    int rc = 0;
    for (size_t i = 0; i < r->x->n && rc == 0; i++) {
        if (order[i]->size == 0) continue;
        if (last && last->shard == order[i]->shard && order[i]->offset - last->offset < last->size)
            rc = base_error(r->err, r->errlen, -EINVAL, "%s: entries %.60s and %.60s share bytes", r->name, last->name,
                            order[i]->name);
        last = order[i];
    }
    free(order);
    return rc;
}

int tf_index_read(TfIndex *x, const uint8_t *data, size_t size, const char *name, char *err, size_t errlen) {
    memset(x, 0, sizeof *x);
    TfReader r = {.x = x, .name = name, .err = err, .errlen = errlen};
    if (!size_mul(size, KEPT_MAX_GROWTH, &r.budget)) r.budget = SIZE_MAX;
    int rc = table_each(data, size, name, visit, &r, err, errlen);
    if (rc == 0 && !r.header) rc = bad(&r, "", "it is missing");
    if (rc == 0) rc = refuse_overlaps(&r);
    if (rc) tf_index_free(x);
    return rc;
}

void tf_index_free(TfIndex *x) {
    weights_close(&x->names);
    free(x->entries);
    memset(x, 0, sizeof *x);
}

/* ---- the data ---- */

int tf_place(Checkpoint *c, const TfIndex *x, const MappedFile *shards, const char *name, char *err, size_t errlen) {
    TfReader r = {.name = name, .err = err, .errlen = errlen};
    Crc crc;
    int rc = 0;
    crc_init(&crc, CRC32C_TF);
    for (size_t i = 0; i < x->n && rc == 0; i++) {
        const TfEntry *e = &x->entries[i];
        const MappedFile *s = &shards[e->shard];
        if (e->offset > s->size || e->size > s->size - e->offset)
            return bad(&r, e->name, "its bytes reach past the end of the data file: it is truncated, fetch it again");
        if (e->type == ELEM_OTHER) { /* text has a checksum of its own kind, over lengths and bytes */
            c->n_other++;
            continue;
        }
        View v = {.type = e->type, .n_dims = e->n_dims};
        memcpy(v.shape, e->shape, sizeof v.shape);
        v.data = s->data ? s->data + e->offset : NULL;
        if (!view_init(&v)) return bad(&r, e->name, "its shape is larger than any file"); /* read_entry saw to it */
        if (e->size > 0 && crc_of(&crc, v.data, e->size) != crc_unmask(e->crc))
            return bad(&r, e->name, "its bytes do not have its checksum: the data file is damaged, fetch it again");
        rc = checkpoint_add(c, &v, e->name, strlen(e->name), name, err, errlen);
    }
    return rc;
}

static char *with_tail(const char *prefix, const char *tail) {
    size_t a = strlen(prefix), b = strlen(tail);
    char *s = malloc(a + b + 1);
    if (!s) return NULL;
    memcpy(s, prefix, a);
    memcpy(s + a, tail, b + 1);
    return s;
}

/* Map the shards that entries lie in; c owns the mappings. An empty file cannot be mapped, and none needs one. */
static int map_shards(Checkpoint *c, const TfIndex *x, MappedFile *shards, const char *prefix, char *err,
                      size_t errlen) {
    int rc = 0;
    for (size_t i = 0; i < x->n && rc == 0; i++) {
        const TfEntry *e = &x->entries[i];
        char tail[40];
        if (e->size == 0 || shards[e->shard].data) continue;
        snprintf(tail, sizeof tail, ".data-%05u-of-%05u", (unsigned)e->shard, (unsigned)x->n_shards);
        char *path = with_tail(prefix, tail);
        rc = path ? weights_add_file(&c->weights, path, err, errlen) : weights_no_memory(prefix, err, errlen);
        if (rc == 0) shards[e->shard] = c->weights.files[c->weights.n_files - 1];
        free(path);
    }
    return rc;
}

int tf_open(Checkpoint *c, const char *prefix, char *err, size_t errlen) {
    MappedFile index = {0}, *shards = NULL;
    TfIndex x = {0};
    char *path = with_tail(prefix, ".index");
    int rc = path ? file_map(&index, path, err, errlen) : weights_no_memory(prefix, err, errlen);
    if (rc == 0) rc = tf_index_read(&x, index.data, index.size, path, err, errlen);
    if (rc == 0 && !(shards = calloc(x.n_shards, sizeof *shards))) rc = weights_no_memory(prefix, err, errlen);
    if (rc == 0) rc = map_shards(c, &x, shards, prefix, err, errlen);
    if (rc == 0) rc = tf_place(c, &x, shards, path, err, errlen);
    if (rc == 0) c->file_bytes = c->weights.file_bytes + index.size;
    free(shards);
    tf_index_free(&x);
    file_unmap(&index);
    free(path);
    return rc;
}
