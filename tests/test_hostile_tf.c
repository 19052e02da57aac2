/* tests/test_hostile_tf.c - TensorFlow's tables that mean harm: each is refused with a line. */
#include "hostile_files.h"
#include "weights-tools/checkpoint/checksum.h"
#include "test.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* One entry of a table; value is text as bytes_of reads it. */
typedef struct { const char *key, *value; } Row;

typedef struct {
    int snappy;           /* the data block's type byte 1; its bytes are `raw` */
    const char *raw;      /* the data block's bytes instead of rows, as bytes_of reads them */
    uint32_t crc_change;  /* of the data block */
    const char *handle;   /* the index entry's value instead of the right one */
    const char *index_key;
    int blocks;           /* 2: the index lists the same block twice */
    const char *footer;   /* instead of the footer's first 40 bytes; zeros follow */
} Spoil;

static uint32_t masked(const uint8_t *data, size_t n) {
    Crc crc;
    crc_init(&crc, CRC32C_TF);
    uint32_t c = crc_of(&crc, data, n);
    return (c >> 15 | c << 17) + 0xa282ead8u;
}

static void varint(Buffer *b, size_t v) {
    for (; v > 127; v >>= 7) buffer_fill(b, (int)(v & 127) | 128, 1);
    buffer_fill(b, (int)v, 1);
}

static void table_entry(Buffer *b, const char *key, const uint8_t *value, size_t n) {
    varint(b, 0);
    varint(b, strlen(key));
    varint(b, n);
    buffer_bytes(b, key, strlen(key));
    buffer_bytes(b, value, n);
}

/* Append block + type + checksum to f; its handle into *handle. */
static void put_block(Buffer *f, const Buffer *block, int type, uint32_t crc_change, Buffer *handle) {
    size_t at = f->n;
    buffer_bytes(f, block->data, block->n);
    buffer_fill(f, type, 1);
    buffer_u32(f, masked(f->data + at, block->n + 1) + crc_change);
    varint(handle, at);
    varint(handle, block->n);
}

/* A table with one data block of whole keys, each a restart. */
static Buffer table_build(const Row *rows, size_t n, Spoil s) {
    Buffer f = {0}, block = {0}, restarts = {0}, index = {0}, handle = {0}, footer = {0};
    for (size_t i = 0; i < n && !s.raw; i++) {
        Buffer value = bytes_of(rows[i].value);
        buffer_u32(&restarts, (uint32_t)block.n);
        table_entry(&block, rows[i].key, value.data, value.n);
        free(value.data);
    }
    buffer_bytes(&block, restarts.data, restarts.n);
    if (s.raw) block = bytes_of(s.raw);
    else buffer_u32(&block, (uint32_t)n);
    put_block(&f, &block, s.snappy, s.crc_change, &handle);
    Buffer given = bytes_of(s.handle ? s.handle : "");
    buffer_bytes(&footer, "\0\0", 2); /* the metaindex, which is not read */
    for (int i = 0; i < (s.blocks ? s.blocks : 1); i++)
        table_entry(&index, s.index_key ? s.index_key : i ? "~~" : "~", s.handle ? given.data : handle.data,
                    s.handle ? given.n : handle.n);
    buffer_u32(&index, 0);
    if (s.blocks == 2) buffer_u32(&index, (uint32_t)(index.n - 4) / 2);
    buffer_u32(&index, s.blocks == 2 ? 2 : 1);
    put_block(&f, &index, 0, 0, &footer);
    buffer_fill(&footer, 0, 40 - footer.n);
    Buffer other = bytes_of(s.footer ? s.footer : "");
    buffer_fill(&other, 0, 40 - other.n);
    buffer_bytes(&f, s.footer ? other.data : footer.data, 40);
    buffer_bytes(&f, "\x57\xfb\x80\x8b\x24\x75\x47\xdb", 8);
    Buffer *const all[] = {&block, &restarts, &index, &handle, &footer, &given, &other};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) free(all[i]->data);
    return f;
}

/* Entries of 8 bytes each: two floats, and the checksum of 8 zeros. */
static const char *entry_text(const char *more) {
    static char text[4][300];
    static int turn;
    char *p = text[turn++ & 3];
    uint32_t crc = masked((const uint8_t[8]){0}, 8);
    snprintf(p, 300, "%%08%%01%%12%%04%%12%%02%%08%%02%%28%%085%%%02x%%%02x%%%02x%%%02x%s", crc & 255, crc >> 8 & 255,
             crc >> 16 & 255, crc >> 24, more);
    return p;
}

static int tf_refused(const Row *rows, size_t n, Spoil s, const char *expected) {
    static const uint8_t shard[64];
    Buffer f = table_build(rows, n, s);
    int good = refused_bytes(AS_TF, f.data, f.n, shard, sizeof shard, expected);
    free(f.data);
    return good;
}

/* A table with one thing wrong, and the words that refuse it. */
static const struct { Spoil spoil; const char *expected; } spoils[] = {
    {{.crc_change = 1}, "a block does not have its checksum"},
    {{.handle = "%00%ff%7f"}, "outside the file"},
    {{.handle = "%ff%ff%ff%ff%ff%ff%ff%ff%ff%01%01"}, "outside the file"},
    {{.handle = "%00%ff%ff%ff%ff%ff%ff%ff%ff%ff%01"}, "outside the file"},
    {{.handle = "%00"}, "not two numbers"},
    {{.handle = "%00%ff%ff%ff%ff%ff%ff%ff%ff%ff%02"}, "not two numbers"},
    {{.handle = ""}, "not two numbers"},
    {{.blocks = 2}, "its blocks overlap"},
    {{.index_key = "a"}, "wrong block"},
    {{.footer = "%00%00%00%ff%ff%ff%ff%ff%ff%ff%ff%7f"}, "outside the file"},
    {{.footer = "%ff%ff%ff%ff%ff%ff%ff%ff%ff%ff"}, "footer"},
    {{.footer = "%00%00%00%04%01"}, "footer"},
    /* Snappy: a bomb, and data that is none */
    {{.snappy = 1, .raw = "%ff%ff%ff%ff%0f%00a"}, "22 times"},
    {{.snappy = 1, .raw = "%80%80%80%80%08%fe%01%00%fe%01%00%fe%01%00"}, "22 times"},
    {{.snappy = 1, .raw = "%08%04ab"}, "Snappy data"},
    {{.snappy = 2}, "other than Snappy"},
    /* entries: shared, unshared, length */
    {{.raw = "%00%00%00%00%00%00%00"}, "list of restarts"},
    {{.raw = "%00%00%00"}, "list of restarts"},
    {{.raw = "%ff%ff%ff%ff"}, "list of restarts"},
    {{.raw = "%01%00%00%00%01%00%00%00"}, "do not ascend"},
    {{.raw = "%00%00%00%00%00%00%00%00%00%00%00%02%00%00%00"}, "do not ascend"},
    {{.raw = "%00%00%00%00%00%00%00%09%00%00%00%02%00%00%00"}, "do not ascend"},
    {{.raw = "%01%01%00a%00%00%00%00%01%00%00%00"}, "shares more than there is"},
    {{.raw = "%00%7f%00a%00%00%00%00%01%00%00%00"}, "entry ends too early"},
    {{.raw = "%00%01%7fa%00%00%00%00%01%00%00%00"}, "entry ends too early"},
    {{.raw = "%00%ff%ff%ff%ff%ff%ff%ff%ff%ff%01%00a%00%00%00%00%01%00%00%00"}, "entry ends too early"},
    {{.raw = "%00%00%06%08%01%1a%02%08%01%00%00%00%00%00%00%00%02%00%00%00%02%00%00%00"}, "keys do not ascend"},
    {{.raw = "%00%00%06%08%01%1a%02%08%01%00%00%00%00%02%00%00%00%02%00%00%00"}, "restart point lies inside"},
    {{.raw = "%00%01%00a%00%00%00%00%01%00%00%00"}, "(header): it is missing"},
    {{.raw = "%00%00%00%00%01%00%00%00"}, "(header): it is missing"},
    {{.raw = "%00%00%00%00%00%00%00%01%00%00%00"}, "number of data files"},
    {{.raw = "%00%00%00%00%00%00%01%00%00%00"}, "entry ends too early"},
};

static void tables_refused(void) {
    const char *header = "%08%01%1a%02%08%01";
    Row rows[3] = {{"", header}, {"a", entry_text("")}, {"b", entry_text("%20%08")}};
    static const uint8_t shard[64];
    Buffer f = table_build(rows, 3, (Spoil){0});
    Read r;
    CHECK(read_memory(&r, AS_TF, f.data, f.n, shard, 64) == 0 && r.c.n_views == 2 && r.c.views[1].data == r.shard + 8);
    if (r.rc) printf("    %s\n", r.err);
    read_done(&r);
    CHECK(refused_bytes(AS_TF, f.data, f.n, shard, 15, "b: its bytes reach past the end of the data file"));
    CHECK(refused_bytes(AS_TF, f.data, f.n, "1234567890123456", 16, "a: its bytes do not have its checksum"));
    for (size_t n = 0; n < f.n; n++) CHECK(refused_bytes(AS_TF, f.data, n, shard, 64, "mem: "));
    free(f.data);
    for (size_t i = 0; i < sizeof spoils / sizeof *spoils; i++) {
        int good = tf_refused(rows, 3, spoils[i].spoil, spoils[i].expected);
        if (!good) printf("    spoil %zu\n", i);
        CHECK(good);
    }
}

static void entries_refused(void) {
    static const char header[] = "%08%01%1a%02%08%01";
    static const char *const headers[][2] = {
        {"%08%00", "number of data files"}, {"%08%ff%ff%7f", "number of data files"}, {"", "number of data files"},
        {"%08%01%10%01", "byte order"}, {"%08%01%1a%04%08%01%10%02", "newer than 1"}, {"%08", "damaged"},
        {"%08%01%1a%7f", "damaged"}, {"%08%01%1b", "damaged"},
    };
    for (size_t i = 0; i < sizeof headers / sizeof *headers; i++)
        CHECK(tf_refused((const Row[]){{"", headers[i][0]}, {"a", entry_text("")}}, 2, (Spoil){0}, headers[i][1]));
    const char *const entries[][2] = {
        {entry_text("%18%01"), "data file that the header does not know"},
        {entry_text("%20%39"), "past the end"},
        {entry_text("%20%ff%ff%ff%ff%ff%ff%ff%ff%7f"), "past the end"},
        {entry_text("%20%ff%ff%ff%ff%ff%ff%ff%ff%ff%01"), "outside any file"},
    }, *const more[][2] = {
        {"%3a%02%08%01", "slices"},
        {"%08%01%12%04%12%02%08%02%28%09", "its length is not"},
        {"%08%02%12%04%12%02%08%02%28%08", "its length is not"},
        {"%08%01%28%08", "its length is not"},
        {"%08%01%12%10%12%06%08%80%80%80%80%20%12%06%08%80%80%80%80%20%28%08", "larger than any file"},
        {"%08%01%12%0c%12%0a%08%ff%ff%ff%ff%ff%ff%ff%ff%7f%28%08", "larger than any file"},
        {"%08%01%12%0d%12%0b%08%ff%ff%ff%ff%ff%ff%ff%ff%ff%01%28%08", "no count"},
        {"%08%01%12%02%18%01%28%08", "shape is unknown"},
        {"%08%01%12%12%12%00%12%00%12%00%12%00%12%00%12%00%12%00%12%00%12%00", "more than 8"},
        {"%08%01%12%7f", "damaged"},
        {"%08%01%12%01%12%28%08", "damaged"},
        {"%08%01%12%02%12%04%28%08", "damaged"},
        {"%0b", "damaged"},
        {"%0f", "damaged"},
        {"%35%00", "damaged"},
    };
    for (size_t i = 0; i < sizeof entries / sizeof *entries; i++)
        CHECK(tf_refused((const Row[]){{"", header}, {"a", entries[i][0]}}, 2, (Spoil){0}, entries[i][1]));
    for (size_t i = 0; i < sizeof more / sizeof *more; i++) {
        int good = tf_refused((const Row[]){{"", header}, {"a", more[i][0]}}, 2, (Spoil){0}, more[i][1]);
        if (!good) printf("    entry %zu\n", i);
        CHECK(good);
    }
    Row rows[3] = {{"", header}, {"a", entry_text("")}, {"b", entry_text("%20%04")}};
    CHECK(tf_refused(rows, 3, (Spoil){0}, "a and b share bytes"));
    rows[2] = (Row){"b", entry_text("")};
    CHECK(tf_refused(rows, 3, (Spoil){0}, "share bytes"));
    rows[2].key = "\xff";
    CHECK(tf_refused(rows, 3, (Spoil){.index_key = "\xff"}, "no text"));
    rows[1].key = "b";
    rows[2].key = "a";
    CHECK(tf_refused(rows, 3, (Spoil){0}, "do not ascend"));
    CHECK(tf_refused(rows, 1, (Spoil){0}, "holds no tensors"));
}

const Test tests_hostile_tf[] = {
    {"convert/tables_refused", tables_refused},
    {"convert/entries_refused", entries_refused},
    {0},
};
