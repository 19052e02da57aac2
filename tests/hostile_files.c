/* tests/hostile_files.c - archives and pickles, byte by byte. */
#include "hostile_files.h"
#include "weights-tools/checkpoint/checksum.h"
#include "weights-tools/checkpoint/tf.h"
#include "weights-tools/checkpoint/torch.h"
#include "test.h"
#include "base/base.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* ---- reading from memory, and judging ---- */

uint8_t *exactly(const void *data, size_t n) {
    uint8_t *copy = malloc(n ? n : 1);
    if (n) memcpy(copy, data, n);
    return copy;
}

/* A TensorFlow index, all of whose shards are the same bytes. */
static int read_tf(Read *r, size_t n, size_t shard_n) {
    TfIndex x;
    int rc = tf_index_read(&x, r->bytes, n, "mem", r->err, sizeof r->err);
    if (rc) return rc;
    MappedFile *shards = calloc(x.n_shards, sizeof *shards);
    for (uint32_t i = 0; i < x.n_shards; i++) shards[i] = (MappedFile){r->shard, shard_n};
    rc = tf_place(&r->c, &x, shards, "mem", r->err, sizeof r->err);
    free(shards);
    tf_index_free(&x);
    return rc;
}

/* 0 where it was read, and then to its last element; otherwise an error and its line. */
int read_memory(Read *r, ReadAs as, const void *data, size_t n, const void *shard, size_t shard_n) {
    *r = (Read){.bytes = exactly(data, n), .shard = exactly(shard, shard_n)};
    r->c.file_bytes = n + shard_n;
    r->rc = as == AS_ZIP      ? torch_zip_read(&r->c, r->bytes, n, "mem", r->err, sizeof r->err)
            : as == AS_LEGACY ? torch_legacy_read(&r->c, r->bytes, n, "mem", r->err, sizeof r->err)
                              : read_tf(r, n, shard_n);
    if (r->rc == 0) r->rc = checkpoint_finish(&r->c, "mem", r->err, sizeof r->err);
    for (size_t i = 0; r->rc == 0 && i < r->c.n_views; i++) CHECK(view_equal(&r->c.views[i], &r->c.views[i]));
    CHECK(r->rc == 0 || (*r->err && !strchr(r->err, '\n')));
    return r->rc;
}

void read_done(Read *r) {
    checkpoint_close(&r->c);
    free(r->bytes);
    free(r->shard);
}

int refused_bytes(ReadAs as, const void *data, size_t n, const void *shard, size_t shard_n, const char *expected) {
    Read r;
    int rc = read_memory(&r, as, data, n, shard, shard_n), good = rc == -EINVAL && strstr(r.err, expected);
    if (!good) printf("    expected \"%s\", got %d \"%s\"\n", expected, rc, r.err);
    read_done(&r);
    return good;
}

int refused_file(ReadAs as, Buffer f, const char *expected) {
    int good = refused_bytes(as, f.data, f.n, NULL, 0, expected);
    free(f.data);
    return good;
}

/* ---- zip ---- */

static void u16(Buffer *b, uint32_t v) {
    buffer_fill(b, (int)(v & 255), 1);
    buffer_fill(b, (int)(v >> 8 & 255), 1);
}

/* The fields both headers share: flags .. extra length. */
static void zip_fields(Buffer *b, const Entry *e, const char *name, uint32_t crc, int extra) {
    u16(b, e->flags);
    u16(b, e->method);
    buffer_u32(b, 0);
    buffer_u32(b, crc + e->crc_change);
    buffer_u32(b, extra ? 0xffffffff : (uint32_t)e->n + e->packed_change);
    buffer_u32(b, extra ? 0xffffffff : (uint32_t)e->n + e->size_change);
    u16(b, (uint32_t)strlen(name));
    u16(b, extra ? 28 : 0);
}

Buffer zip_build(const Entry *e, size_t n, int end64) {
    Buffer f = {0}, dir = {0};
    Crc crc;
    crc_init(&crc, CRC32_ZIP);
    for (size_t i = 0; i < n; i++) {
        uint32_t sum = crc_of(&crc, e[i].data, e[i].n);
        size_t at = f.n;
        const char *local = e[i].local_name ? e[i].local_name : e[i].name;
        buffer_bytes(&f, "PK\3\4\x14\0", 6);
        zip_fields(&f, &e[i], local, sum, 0);
        buffer_bytes(&f, local, strlen(local));
        buffer_bytes(&f, e[i].data, e[i].n);
        buffer_bytes(&dir, "PK\1\2\x14\0\x14\0", 8);
        zip_fields(&dir, &e[i], e[i].name, sum, e[i].zip64);
        buffer_fill(&dir, 0, 10);
        buffer_u32(&dir, e[i].zip64 ? 0xffffffff : (uint32_t)(at + e[i].at_change));
        buffer_bytes(&dir, e[i].name, strlen(e[i].name));
        if (e[i].zip64) {
            buffer_bytes(&dir, "\1\0\x18\0", 4);
            buffer_u64(&dir, e[i].n);
            buffer_u64(&dir, e[i].n);
            buffer_u64(&dir, at);
        }
    }
    size_t at = f.n, length = dir.n, end = at + length;
    buffer_bytes(&f, dir.data, dir.n);
    free(dir.data);
    if (end64) {
        buffer_bytes(&f, "PK\6\6", 4);
        buffer_u64(&f, 44);
        buffer_fill(&f, 0, 12);
        for (int i = 0; i < 2; i++) buffer_u64(&f, n);
        buffer_u64(&f, length);
        buffer_u64(&f, at);
        buffer_bytes(&f, "PK\6\7\0\0\0\0", 8);
        buffer_u64(&f, end);
        buffer_u32(&f, 1);
    }
    buffer_bytes(&f, "PK\5\6\0\0\0\0", 8);
    for (int i = 0; i < 2; i++) u16(&f, end64 ? 0xffff : (uint32_t)n);
    buffer_u32(&f, end64 ? 0xffffffff : (uint32_t)length);
    buffer_u32(&f, end64 ? 0xffffffff : (uint32_t)at);
    u16(&f, 0);
    return f;
}

/* Text to bytes: %HH is the byte of that hexadecimal number. */
Buffer bytes_of(const char *text) {
    Buffer b = {0};
    for (; *text; text++) {
        char hex[3] = {text[0] == '%' ? text[1] : 0, text[0] == '%' ? text[2] : 0, 0};
        buffer_fill(&b, *text == '%' ? (int)strtol(hex, NULL, 16) : (unsigned char)*text, 1);
        if (*text == '%') text += 2;
    }
    return b;
}

/* A file whose data.pkl is that text, with storages "0" and "1" of 64 bytes each. */
Buffer zip_of_pickle(const char *text) {
    static const uint8_t storage[64] = {1, 2, 3};
    Buffer p = bytes_of(text);
    Entry e[] = {{.name = "m/data.pkl", .data = p.data, .n = p.n}, {.name = "m/data/0", .data = storage, .n = 64},
                 {.name = "m/data/1", .data = storage, .n = 64}, {.name = "m/byteorder", .data = "little", .n = 6}};
    Buffer f = zip_build(e, 4, 0);
    free(p.data);
    return f;
}

/* ---- pickles ---- */

/* A state dict with one tensor: name, storage class, storage key, numel, more of the storage, then offset, size,
 * stride. */
const char *tensor_text(const char *name, const char *class, const char *key, const char *numel, const char *more,
                        const char *window) {
    static char text[2000];
    snprintf(text, sizeof text,
             "%%80%%02}(%sctorch._utils%%0A_rebuild_tensor_v2%%0A("
             "(U%%07storagectorch%%0A%s%%0A%sU%%03cpu%s%stQ%s%%89}tRu.", name, class, key, numel, more, window);
    return text;
}

const char *with_tensor(const char *key, const char *window) {
    return tensor_text("U%01w", "FloatStorage", key, "K%10", "", window);
}
