/* tests/fuzz/fuzz_tfindex.c - any bytes as the index of a TensorFlow checkpoint where they end as one. Otherwise the
 * first byte chooses, since a fuzzer finds no crc32c by itself: 0, 1   the bytes are a data block (1: in Snappy), put
 * into a table with the right checksums 2      they are the index block behind a data block that holds the header 3
 * they are Snappy data */
#include "weights-tools/buffer.h"
#include "weights-tools/checkpoint/checksum.h"
#include "weights-tools/checkpoint/snappy.h"
#include "weights-tools/checkpoint/table.h"
#include "weights-tools/checkpoint/tf.h"
#include "base/base.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static uint8_t shard[4096];
static char err[256];

static void read_index(const uint8_t *data, size_t size) {
    TfIndex x;
    Checkpoint c = {.file_bytes = size + sizeof shard};
    err[0] = 0;
    int rc = tf_index_read(&x, data, size, "fuzz", err, sizeof err);
    if (rc == 0) {
        if (x.n_shards == 0 || x.n_shards > TF_MAX_SHARDS) abort();
        MappedFile *shards = calloc(x.n_shards, sizeof *shards);
        if (!shards) abort();
        for (uint32_t i = 0; i < x.n_shards; i++) shards[i] = (MappedFile){shard, sizeof shard};
        rc = tf_place(&c, &x, shards, "fuzz", err, sizeof err);
        free(shards);
        tf_index_free(&x);
    }
    if (rc == 0) rc = checkpoint_finish(&c, "fuzz", err, sizeof err);
    if (rc && (!err[0] || strchr(err, '\n'))) abort();
    for (size_t i = 0; rc == 0 && i < c.n_views; i++)
        if (!view_equal(&c.views[i], &c.views[i])) abort();
    checkpoint_close(&c);
}

/* ---- a table around a block ---- */

static void varint(Buffer *b, size_t v) {
    for (; v > 127; v >>= 7) buffer_fill(b, (int)(v & 127) | 128, 1);
    buffer_fill(b, (int)v, 1);
}

/* The block with its trailer; its handle into *handle. */
static void put_block(Buffer *f, const uint8_t *data, size_t n, int type, Buffer *handle) {
    static Crc crc;
    if (!crc.table[0][1]) crc_init(&crc, CRC32C_TF);
    size_t at = f->n;
    varint(handle, at);
    varint(handle, n);
    buffer_bytes(f, data, n);
    buffer_fill(f, type, 1);
    uint32_t c = crc_of(&crc, f->data + at, n + 1);
    buffer_u32(f, (c >> 15 | c << 17) + 0xa282ead8u);
}

static void read_block(int how, const uint8_t *data, size_t size) {
    static const uint8_t header[] = "\0\0\6\10\1\32\2\10\1\0\0\0\0\1\0\0\0"; /* one entry: one shard */
    Buffer f = {0}, handle = {0}, index = {0}, footer = {0};
    if (how == 2) {
        put_block(&f, header, sizeof header - 1, 0, &handle);
        put_block(&f, data, size, 0, &footer);
    } else {
        put_block(&f, data, size, how, &handle);
        buffer_bytes(&index, "\0\1", 2);
        varint(&index, handle.n);
        buffer_bytes(&index, "\xff", 1);
        buffer_bytes(&index, handle.data, handle.n);
        buffer_bytes(&index, "\0\0\0\0\1\0\0\0", 8);
        put_block(&f, index.data, index.n, 0, &footer);
    }
    buffer_bytes(&f, "\0\0", 2); /* the metaindex, which is not read */
    buffer_bytes(&f, footer.data, footer.n);
    buffer_fill(&f, 0, 38 - footer.n);
    buffer_bytes(&f, "\x57\xfb\x80\x8b\x24\x75\x47\xdb", 8);
    if (f.failed || !table_is(f.data, f.n)) abort();
    read_index(f.data, f.n);
    free(f.data), free(handle.data), free(index.data), free(footer.data);
}

static void read_snappy(const uint8_t *data, size_t size) {
    size_t n;
    if (!snappy_length(data, size, &n)) return;
    if (n > 22 * size) abort();
    uint8_t *out = malloc(n ? n : 1);
    if (!out) abort();
    snappy_decode(data, size, out, n);
    free(out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (table_is(data, size)) read_index(data, size);
    else if (size > 0 && data[0] == 3) read_snappy(data + 1, size - 1);
    else if (size > 0 && data[0] < 3) read_block(data[0], data + 1, size - 1);
    return 0;
}
