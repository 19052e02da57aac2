/* weights-tools/gguf_write.c - a GGUF file, version 3: header, metadata, tensor list, data.
 *
 * Dimensions are listed from the contiguous one; data begins at, and every tensor takes, a multiple of 32 bytes. */
#include "gguf_write.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { ALIGNMENT = 32, MAX_DIMS = 4 };

static void pair(GgufMeta *m, const char *key, MetaType type) {
    gguf_text(m, key, strlen(key));
    buffer_u32(&m->bytes, (uint32_t)type);
    m->n++;
}

void gguf_text(GgufMeta *m, const char *s, size_t n) {
    buffer_u64(&m->bytes, n);
    buffer_bytes(&m->bytes, s, n);
}

void gguf_string(GgufMeta *m, const char *key, const char *value) {
    pair(m, key, META_STRING);
    gguf_text(m, value, strlen(value));
}

void gguf_u32(GgufMeta *m, const char *key, uint32_t value) {
    pair(m, key, META_U32);
    buffer_u32(&m->bytes, value);
}

void gguf_f32(GgufMeta *m, const char *key, float value) {
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    pair(m, key, META_F32);
    buffer_u32(&m->bytes, bits);
}

void gguf_bool(GgufMeta *m, const char *key, int value) {
    pair(m, key, META_BOOL);
    buffer_fill(&m->bytes, value != 0, 1);
}

void gguf_array(GgufMeta *m, const char *key, MetaType elem, uint64_t n) {
    pair(m, key, META_ARRAY);
    buffer_u32(&m->bytes, (uint32_t)elem);
    buffer_u64(&m->bytes, n);
}

static int type_id(ElemType type) {
    return type == ELEM_F32 ? TENSOR_F32 : type == ELEM_F16 ? TENSOR_F16 : type == ELEM_BF16 ? TENSOR_BF16 : -1;
}

static size_t padding(uint64_t at) { return (size_t)((ALIGNMENT - at % ALIGNMENT) % ALIGNMENT); }

static int list_tensor(Buffer *b, const Output *o, uint64_t offset, const char *path, char *err, size_t errlen) {
    if (o->view.n_dims > MAX_DIMS || o->view.values == 0 || type_id(o->type) < 0)
        return base_error(err, errlen, -EINVAL, "%s: tensor %.80s: its shape or its type is none that GGUF models have",
                          path, o->name);
    buffer_u64(b, strlen(o->name));
    buffer_bytes(b, o->name, strlen(o->name));
    buffer_u32(b, (uint32_t)o->view.n_dims);
    for (int d = o->view.n_dims - 1; d >= 0; d--) buffer_u64(b, o->view.shape[d]);
    buffer_u32(b, (uint32_t)type_id(o->type));
    buffer_u64(b, offset);
    return 0;
}

/* Everything before the data. */
static int make_head(Buffer *b, const Plan *p, const GgufMeta *m, const char *path, char *err, size_t errlen) {
    uint64_t offset = 0;
    int rc = 0;
    buffer_bytes(b, "GGUF", 4);
    buffer_u32(b, 3);
    buffer_u64(b, p->n);
    buffer_u64(b, m->n);
    buffer_bytes(b, m->bytes.data, m->bytes.n);
    for (size_t i = 0; i < p->n && rc == 0; i++) {
        size_t bytes = output_bytes(&p->items[i]);
        rc = list_tensor(b, &p->items[i], offset, path, err, errlen);
        offset += bytes + padding(bytes);
    }
    buffer_fill(b, 0, padding(b->n));
    if (rc == 0 && (b->failed || m->bytes.failed)) rc = base_error(err, errlen, -ENOMEM, "%s: out of memory", path);
    return rc;
}

int gguf_write(NewFile *f, const Plan *p, const GgufMeta *m, const Report *r, char *err, size_t errlen) {
    static const uint8_t zeros[ALIGNMENT];
    Buffer head = {0};
    uint64_t done = 0, total = plan_bytes(p);
    int rc = make_head(&head, p, m, f->path, err, errlen);
    if (rc == 0) newfile_write(f, head.data, head.n);
    for (size_t i = 0; i < p->n && rc == 0; i++) {
        rc = output_write(f, &p->items[i], r, &done, total, err, errlen);
        if (rc == 0) newfile_write(f, zeros, padding(output_bytes(&p->items[i])));
    }
    free(head.data);
    return rc;
}
