/* tests/test_hostile.c - files that mean harm or are damaged, for weights-tools: pickles, zip archives, legacy files,
 * TensorFlow's tables. Each is refused with a line; nothing is run, nothing large is allocated.
 *
 * They are built here. What is read lies in an allocation of exactly its size, so that the sanitizers see a read of one byte
 * too many. Where a container has checksums, a flipped bit must either be refused or change nothing. */
#include "weights-tools/buffer.h"
#include "weights-tools/checkpoint/checksum.h"
#include "weights-tools/checkpoint/pickle_machine.h"
#include "weights-tools/checkpoint/pickle_read.h"
#include "weights-tools/checkpoint/statedict.h"
#include "weights-tools/checkpoint/tf.h"
#include "weights-tools/checkpoint/torch.h"
#include "build.h"
#include "test.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* ---- reading from memory, and judging ---- */

enum { AS_ZIP, AS_LEGACY, AS_TF };

typedef struct {
    uint8_t *bytes, *shard; /* exactly as long as they are said to be */
    Checkpoint c;
    int rc;
    char err[300];
} Read;

static uint8_t *exactly(const void *data, size_t n) {
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
static int read_memory(Read *r, int as, const void *data, size_t n, const void *shard, size_t shard_n) {
    *r = (Read){.bytes = exactly(data, n), .shard = exactly(shard, shard_n)};
    r->c.file_bytes = n + shard_n;
    r->rc = as == AS_ZIP ? torch_zip_read(&r->c, r->bytes, n, "mem", r->err, sizeof r->err)
            : as == AS_LEGACY ? torch_legacy_read(&r->c, r->bytes, n, "mem", r->err, sizeof r->err) : read_tf(r, n, shard_n);
    if (r->rc == 0) r->rc = checkpoint_finish(&r->c, "mem", r->err, sizeof r->err);
    for (size_t i = 0; r->rc == 0 && i < r->c.n_views; i++) CHECK(view_equal(&r->c.views[i], &r->c.views[i]));
    CHECK(r->rc == 0 || (*r->err && !strchr(r->err, '\n')));
    return r->rc;
}

static void read_done(Read *r) {
    checkpoint_close(&r->c);
    free(r->bytes);
    free(r->shard);
}

static int refused(int as, const void *data, size_t n, const void *shard, size_t shard_n, const char *expected) {
    Read r;
    int rc = read_memory(&r, as, data, n, shard, shard_n), good = rc == -EINVAL && strstr(r.err, expected);
    if (!good) printf("    expected \"%s\", got %d \"%s\"\n", expected, rc, r.err);
    read_done(&r);
    return good;
}

/* ---- hostile pickles ---- */

/* A zip archive of stored entries, with the fields that a test may spoil. */
typedef struct {
    const char *name;
    const void *data;
    size_t n;
    const char *local_name; /* NULL: the same */
    uint32_t flags, method, crc_change, size_change, packed_change;
    size_t at_change;
    int zip64;
} Entry;

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

static Buffer zip_build(const Entry *e, size_t n, int end64) {
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
static Buffer bytes_of(const char *text) {
    Buffer b = {0};
    for (; *text; text++) {
        char hex[3] = {text[0] == '%' ? text[1] : 0, text[0] == '%' ? text[2] : 0, 0};
        buffer_fill(&b, *text == '%' ? (int)strtol(hex, NULL, 16) : (unsigned char)*text, 1);
        if (*text == '%') text += 2;
    }
    return b;
}

/* A file whose data.pkl is that text, with storages "0" and "1" of 64 bytes each. */
static Buffer zip_of_pickle(const char *text) {
    static const uint8_t storage[64] = {1, 2, 3};
    Buffer p = bytes_of(text);
    Entry e[] = {{.name = "m/data.pkl", .data = p.data, .n = p.n}, {.name = "m/data/0", .data = storage, .n = 64},
                 {.name = "m/data/1", .data = storage, .n = 64}, {.name = "m/byteorder", .data = "little", .n = 6}};
    Buffer f = zip_build(e, 4, 0);
    free(p.data);
    return f;
}

/* A state dict with one tensor: name, storage class, storage key, numel, more of the storage, then offset, size, stride. */
static const char *tensor_text(const char *name, const char *class, const char *key, const char *numel, const char *more,
                               const char *window) {
    static char text[2000];
    snprintf(text, sizeof text,
             "%%80%%02}(%sctorch._utils%%0A_rebuild_tensor_v2%%0A((U%%07storagectorch%%0A%s%%0A%sU%%03cpu%s%stQ%s%%89}tRu.",
             name, class, key, numel, more, window);
    return text;
}

static const char *with_tensor(const char *key, const char *window) {
    return tensor_text("U%01w", "FloatStorage", key, "K%10", "", window);
}

static void pickles_read(void) {
    static const char *const good[] = {
        "K%00(K%04K%04t(K%04K%01t", "K%0f(t(t", "K%02K%03%85K%04%85", "K%00(K%02K%02K%02t(K%00K%01K%02t", "K%10(K%00t(K%01t",
        "K%08]K%08a]K%01a",
    };
    static const size_t values[] = {16, 1, 3, 8, 0, 8};
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        Buffer f = zip_of_pickle(with_tensor("U%010", good[i]));
        Read r;
        CHECK(read_memory(&r, AS_ZIP, f.data, f.n, NULL, 0) == 0 && r.c.n_views == 1 && r.c.views[0].values == values[i]);
        if (r.rc) printf("    %s: %s\n", good[i], r.err);
        read_done(&r);
        free(f.data);
    }
    /* protocol 4 and 5 spell the same things with other opcodes; a dict around the dict, beside other things */
    static const char *const others[] = {
        "%80%04%95%00%00%00%00%00%00%00%00}%94(%8c%01w%8c%0ctorch._utils%8c%12_rebuild_tensor_v2%93((%8c%07storage%8c%05torch"
        "%8c%0cFloatStorage%93%8c%010%8c%03cpuK%10tQK%00K%10%85K%01%85%89}tRu.",
        "%80%05}(%8d%0a%00%00%00%00%00%00%00state_dict}(X%01%00%00%00wctorch._utils%0A_rebuild_tensor_v2%0A((U%07storagectorch%0A"
        "FloatStorage%0AU%010U%03cpuK%10tQK%00K%10%85K%01%85%89}tRU%05epochJ%ff%ff%ff%ffuU%02lrG%3f%f0%00%00%00%00%00%00u.",
        "%80%02ccollections%0AOrderedDict%0Aq%01](](U%01wctorch._utils%0A_rebuild_parameter%0A(ctorch._utils%0A_rebuild_tensor"
        "%0A((U%07storagectorch%0AFloatStorage%0AU%010U%03cpu%8a%01%10tQK%00K%10%85K%01%85tR%88h%01)RtRee%85R}U%09_metadata}sb.",
    };
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        Buffer f = zip_of_pickle(others[i]);
        Read r;
        CHECK(read_memory(&r, AS_ZIP, f.data, f.n, NULL, 0) == 0 && r.c.n_views == 1 && r.c.views[0].values == 16);
        CHECK(r.c.n_other == (i == 1)); /* epoch; lr stands outside */
        if (r.rc) printf("    %zu: %s\n", i, r.err);
        read_done(&r);
        free(f.data);
    }
}

static void pickles_refused(void) {
    static const char *const rows[][2] = {
        {"cos%0Asystem%0A(U%02idtR.", "begin"},
        {"%80%02cos%0Asystem%0A(U%02idtR.", "asks for os.system, which"},
        {"%80%02cposix%0Asystem%0A.", "posix.system"},
        {"%80%04%8c%02nt%8c%06system%93.", "nt.system"},
        {"%80%02c__builtin__%0Aeval%0A.", "__builtin__.eval"},
        {"%80%02cbuiltins%0Agetattr%0A.", "builtins.getattr"},
        {"%80%02ctorch%0AFloatStorage.x%0A.", "torch.FloatStorage.x"},
        {"%80%02ctorch%0Afloatstorage%0A.", "torch.floatstorage"},
        {"%80%02ctorch.FloatStorage%0A%0A.", "torch.FloatStorage."},
        {"%80%02ctorch._utils%0A_rebuild_tensor_v2%0A.", "no dict of tensors"},
        {"%80%02(ios%0Asystem%0A.", "opcode 0x69"},
        {"%80%02(cos%0Asystem%0Ao.", "os.system"},
        {"%80%02(o.", "opcode 0x6f"},
        {"%80%02%82%01.", "opcode 0x82"},
        {"%80%02I1%0A.", "opcode 0x49"},
        {"%80%02S'x'%0A.", "opcode 0x53"},
        {"%80%02B%01%00%00%00x.", "opcode 0x42"},
        {"%80%04%8f.", "opcode 0x8f"},
        {"%80%020.", "opcode 0x30"},
        {"%80%02%ff.", "opcode 0xff"},
        /* a chain of calls: the result of an allowed one called again, and so on */
        {"%80%02ccollections%0AOrderedDict%0A)R)R)R)R.", "calls something that is no name"},
        {"%80%02ctorch%0AFloatStorage%0A)R.", "arguments that torch.save does not write"},
        {"%80%02ctorch%0ASize%0A(K%01tR.", "arguments that torch.save does not write"},
        {"%80%02ccollections%0AOrderedDict%0A]%85R.", "no dict of tensors"},
        {"%80%02ccollections%0AOrderedDict%0A]K%01a%85R.", "something else than pairs"},
        {"%80%02ctorch._utils%0A_rebuild_parameter%0AK%01%85R.", "arguments"},
        {"%80%02ctorch._utils%0A_rebuild_tensor_v2%0A)R.", "arguments"},
        {"%80%02}}b]}b.", "no dict"},
        {"%80%02}K%01b.", "no dict"},
        /* the memo */
        {"%80%02}r%ff%ff%ff%ff.", "memo index"},
        {"%80%02}r%00%00%00%10.", "memo index"},
        {"%80%02h%00.", "never put"},
        {"%80%02}q%01h%00.", "never put"},
        {"%80%02j%ff%ff%ff%ff.", "never put"},
        {"%80%02q%00.", "nothing is left"},
        /* the stack */
        {"%80%02.", "other than one value"},
        {"%80%02}}.", "other than one value"},
        {"%80%02}(.", "other than one value"},
        {"%80%02t.", "mark is missing"},
        {"%80%02%87.", "nothing is left"},
        {"%80%02}(%85.", "nothing is left"},
        {"%80%02](e(a.", "nothing is left"},
        {"%80%02(e.", "nothing is left"},
        {"%80%02}(K%01u.", "key without a value"},
        {"%80%02]K%01K%02s.", "no list or dict"},
        {"%80%02}K%01a.", "no list or dict"},
        {"%80%02K%01K%02a.", "no list or dict"},
        {"%80%02R.", "nothing is left"},
        {"%80%02b.", "nothing is left"},
        {"%80%02Q.", "nothing is left"},
        {"%80%02%93.", "nothing is left"},
        {"%80%02K%01K%01%93.", "a name that is no text"},
        /* lengths */
        {"%80%01}.", "protocol"},
        {"%80%06}.", "protocol"},
        {"%80%04%95%ff%ff%ff%ff%ff%ff%ff%7f}.", "frame"},
        {"%80%04%8d%ff%ff%ff%ff%ff%ff%ff%ff.", "longer than a state dict"},
        {"%80%02X%ff%ff%ff%ff.", "ends too early"},
        {"%80%02U%09abc", "ends too early"},
        {"%80%02ctorch", "never ends"},
        {"%80%02ctorch%0AFloat", "never ends"},
        {"%80%02G%00", "ends too early"},
        {"%80%02}", "ends too early"},
        {"%80%02}..", "something stands behind"},
        /* an object that holds itself: a list, a dict, through a tuple */
        {"%80%02]q%00h%00a.", "contains itself"},
        {"%80%02}q%00U%01xh%00s.", "contains itself"},
        {"%80%02}q%00(U%01x]h%00%85au.", "contains itself"},
        /* what is read, but is no state dict */
        {"%80%02}.", "no dict of tensors"},
        {"%80%02K%01.", "no dict of tensors"},
        {"%80%02}U%01xK%01s.", "no dict of tensors"},
        {"%80%02N.", "no dict of tensors"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        Buffer f = zip_of_pickle(rows[i][0]);
        int good = refused(AS_ZIP, f.data, f.n, NULL, 0, rows[i][1]);
        if (!good) printf("    %s\n", rows[i][0]);
        CHECK(good);
        free(f.data);
    }
}

/* Windows on storages that are not as they should be. */
static void storages_refused(void) {
    static const char *const rows[][3] = {
        {"U%010", "K%01(K%04K%04t(K%04K%01t", "past the end of its storage"},
        {"U%010", "K%00K%11%85K%01%85", "past the end"},
        {"U%010", "K%10(t(t", "past the end"},
        {"U%010", "K%11(K%00t(K%01t", "begins past the end"},
        {"U%010", "K%00K%02%85K%10%85", "past the end"},
        {"U%010", "K%00K%02%85%8a%08%ff%ff%ff%ff%ff%ff%ff%7f%85", "past the end"},
        {"U%010", "K%00(%8a%08%ff%ff%ff%ff%ff%ff%ff%7fK%02t(K%00K%00t", "larger than any file"},
        {"U%010", "K%00(%8a%05%00%00%00%00%01t(K%00t", "more elements than its storage"}, /* 4 G times the same element */
        {"U%010", "K%00(K%05K%04t(K%00K%01t", "more elements than its storage"},
        {"U%010", "J%ff%ff%ff%ffK%01%85K%01%85", "no storage"},
        {"U%010", "K%00J%ff%ff%ff%ff%85K%01%85", "a dimension that is no count"},
        {"U%010", "K%00K%02%85J%ff%ff%ff%ff%85", "a stride that is no count"},
        {"U%010", "K%00K%02%85)", "do not match"},
        {"U%010", "K%00K%02K%02", "do not match"},
        {"U%010", "K%00(K%01K%01K%01K%01K%01K%01K%01K%01K%01t(K%01K%01K%01K%01K%01K%01K%01K%01K%01t", "more than 8"},
        {"U%012", "K%00K%10%85K%01%85", "data/2 is not in the archive"},
        {"U%04../0", "K%00K%10%85K%01%85", "not in the archive"},
        {"U%41aaaaaaaaaabbbbbbbbbbccccccccccddddddddddeeeeeeeeeeffffffffffggggg", "K%00K%10%85K%01%85", "name is longer"},
        {"K%00", "K%00K%10%85K%01%85", "storage that torch.save would not write"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        Buffer f = zip_of_pickle(with_tensor(rows[i][0], rows[i][1]));
        int good = refused(AS_ZIP, f.data, f.n, NULL, 0, rows[i][2]);
        if (!good) printf("    %s %s\n", rows[i][0], rows[i][1]);
        CHECK(good);
        free(f.data);
    }
    static const char window[] = "K%00K%01%85K%01%85";
    static const char *const others[][5] = {
        {"U%01w", "FloatStorage", "K%11", "", "has 64 bytes, its tensors ask for 17 of F32"},
        {"U%01w", "DoubleStorage", "K%10", "", "has 64 bytes, its tensors ask for 16 of F64"},
        {"U%01w", "FloatStorage", "%8a%08%01%00%00%00%00%00%00%40", "", "larger than any file"},
        {"U%01w", "FloatStorage", "%8a%0a%01%00%00%00%00%00%00%00%00%01", "", "would not write"},
        {"U%01w", "FloatStorage", "J%ff%ff%ff%ff", "", "would not write"},
        {"U%01w", "FloatStorage", "K%10", "K%01%85", "a part of another"}, /* a view, PyTorch 0.3 */
        {"U%01w", "FloatStorage", "K%10", "NN", "would not write"},
        {"U%01w", "Size", "K%10", "", "would not write"},
        {"K%07", "FloatStorage", "K%10", "", "whose name is no text"},
        {"U%02w%00", "FloatStorage", "K%10", "", "empty or no text"},
        {"U%00", "FloatStorage", "K%10", "", "empty or no text"},
        {"U%01%ff", "FloatStorage", "K%10", "", "empty or no text"},
    };
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        Buffer f = zip_of_pickle(tensor_text(others[i][0], others[i][1], "U%010", others[i][2], others[i][3], window));
        CHECK(refused(AS_ZIP, f.data, f.n, NULL, 0, others[i][4]));
        free(f.data);
    }
    Buffer f = zip_of_pickle("%80%02}(U%01wctorch._utils%0A_rebuild_tensor_v2%0Aq%01((U%07storagectorch%0AFloatStorage%0AU%010"
                             "U%03cpuK%10tQq%02K%00K%01%85K%01%85%89}tRU%01wh%01(h%02K%00K%01%85K%01%85%89}tRu.");
    CHECK(refused(AS_ZIP, f.data, f.n, NULL, 0, "w stands twice"));
    free(f.data);
    f = zip_of_pickle("%80%02}(U%01wctorch._utils%0A_rebuild_tensor_v2%0A(K%01K%00K%01%85K%01%85%89}tRu.");
    CHECK(refused(AS_ZIP, f.data, f.n, NULL, 0, "no storage"));
    free(f.data);
}

/* Many tensors on one storage unfold to more than any model's: refused before anything is written. */
static void sharing_bomb(void) {
    static char text[60000];
    char *p = text + sprintf(text, "%%80%%02}(U%%040000ctorch._utils%%0A_rebuild_tensor_v2%%0Aq%%01((U%%07storagectorch%%0A"
                                   "FloatStorage%%0AU%%010U%%03cpuK%%10tQq%%02K%%00K%%10%%85q%%03K%%01%%85q%%04%%89}tR");
    for (int i = 1; i < 1000; i++) p += sprintf(p, "U%%04%04dh%%01(h%%02K%%00h%%03h%%04%%89}tR", i);
    sprintf(p, "u.");
    Buffer f = zip_of_pickle(text); /* some 28 bytes a tensor, each of 64 bytes: twice the file's length */
    Read r;
    CHECK(read_memory(&r, AS_ZIP, f.data, f.n, NULL, 0) == 0 && r.c.n_views == 1000);
    r.c.file_bytes = 3999; /* as if it were so short that they were over 16 times as long */
    CHECK(checkpoint_finish(&r.c, "mem", r.err, sizeof r.err) == -EINVAL && strstr(r.err, "share bytes so often"));
    r.c.file_bytes = 4000;
    CHECK(checkpoint_finish(&r.c, "mem", r.err, sizeof r.err) == 0);
    read_done(&r);
    free(f.data);
}

/* Opcodes of one byte that each make a value: the reader stops at its limit, not where memory does. */
static void pickle_too_long(void) {
    size_t n = PICKLE_MAX_VALUES + 100, used;
    uint8_t *bytes = malloc(n);
    char err[200];
    Pickle p;
    static const char each[] = "})](N"; /* values; tuples; lists; marks */
    for (size_t i = 0; i < sizeof each - 1; i++) {
        memset(bytes, each[i], n);
        bytes[0] = 0x80;
        bytes[1] = 2;
        CHECK(pickle_read(&p, bytes, n, &used, "mem", err, sizeof err) == -EINVAL && strstr(err, "more values than any"));
        CHECK(p.values == NULL);
    }
    /* a list of 1000 pairs, which every three letters more copy into another dict */
    uint8_t *at = bytes;
    memcpy(at, "\x80\2ccollections\nOrderedDict\nq\1]q\0(", 33);
    for (at += 33; at < bytes + 33 + 5000; at += 5) memcpy(at, "K\1K\1\x86", 5);
    memcpy(at, "eh\0\x85q\2", 6);
    for (at += 6; at < bytes + 60000; at += 5) memcpy(at, "h\1h\2R", 5);
    CHECK(pickle_read(&p, bytes, 60000, &used, "mem", err, sizeof err) == -EINVAL && strstr(err, "more values than any"));
    for (size_t i = 4; i + 1 < n; i += 2) memcpy(bytes + i, "h", 2); /* the same value again and again */
    memcpy(bytes + 2, "}\x94", 2);
    CHECK(pickle_read(&p, bytes, n & ~(size_t)1, &used, "mem", err, sizeof err) == -EINVAL);
    free(bytes);
}

/* ---- hostile zip archives ---- */

static void zips(void) {
    Buffer p = bytes_of(with_tensor("U%010", "K%00K%10%85K%01%85"));
    static const uint8_t storage[64] = {1, 2, 3};
    const Entry good[] = {{.name = "m/data.pkl", .data = p.data, .n = p.n}, {.name = "m/data/0", .data = storage, .n = 64}};
    for (int variant = 0; variant < 4; variant++) { /* entries and end record with 32 and with 64 bits */
        Entry e[2] = {good[0], good[1]};
        e[0].zip64 = e[1].zip64 = variant & 1;
        Buffer f = zip_build(e, 2, variant >> 1);
        Read r;
        CHECK(read_memory(&r, AS_ZIP, f.data, f.n, NULL, 0) == 0 && r.c.n_views == 1);
        if (r.rc) printf("    variant %d: %s\n", variant, r.err);
        read_done(&r);
        for (size_t n = 0; n < f.n; n++) CHECK(refused(AS_ZIP, f.data, n, NULL, 0, "mem: "));
        free(f.data);
    }
    static const struct { Entry spoil; const char *expected; } rows[] = {
        {{.method = 8}, "m/data/0: is compressed"}, /* deflated: how a bomb is packed */
        {{.method = 12}, "m/data/0: is compressed"},
        {{.flags = 1}, "is encrypted"},
        {{.crc_change = 1}, "do not have its checksum"},
        {{.size_change = 1, .packed_change = 1}, "reach into the directory"},
        {{.size_change = 0x40000000, .packed_change = 0x40000000}, "reach into the directory"},
        {{.size_change = 1}, "its two sizes differ"},
        {{.packed_change = 1}, "its two sizes differ"},
        {{.size_change = (uint32_t)-4, .packed_change = (uint32_t)-4}, "has 60 bytes, its tensors ask for 16 of F32"},
        {{.local_name = "m/data/1"}, "another name in its local header"},
        {{.local_name = "m/data/"}, "another name in its local header"},
        {{.at_change = 1}, "local header is not there"},
        {{.at_change = 0x7fffffff}, "outside the archive"},
        {{.size_change = 0xffffffffu - 64, .packed_change = 0xffffffffu - 64}, "reach into the directory"}, /* no 64-bit sizes */
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        Entry e[2] = {good[0], rows[i].spoil};
        e[1].name = good[1].name;
        e[1].data = storage;
        e[1].n = 64;
        Buffer f = zip_build(e, 2, 0);
        CHECK(refused(AS_ZIP, f.data, f.n, NULL, 0, rows[i].expected));
        free(f.data);
    }
    free(p.data);
}

/* Several entries on the same bytes are how a small archive unpacks to petabytes. */
static void zip_overlaps(void) {
    Buffer p = bytes_of(with_tensor("U%010", "K%00K%10%85K%01%85"));
    static const uint8_t storage[64] = {1, 2, 3};
    Entry e[3] = {{.name = "m/data.pkl", .data = p.data, .n = p.n}, {.name = "m/data/0", .data = storage, .n = 64},
                  {.name = "m/data/0", .data = storage, .n = 64}};
    Buffer f = zip_build(e, 3, 0);
    CHECK(refused(AS_ZIP, f.data, f.n, NULL, 0, "stands twice"));
    free(f.data);
    e[2].at_change = (size_t)0 - (30 + 8 + 64); /* the third's directory entry points at the second's header */
    f = zip_build(e, 3, 0);
    CHECK(refused(AS_ZIP, f.data, f.n, NULL, 0, "shares bytes"));
    free(f.data);
    e[2].name = "m/data/1";
    f = zip_build(e, 3, 0);
    CHECK(refused(AS_ZIP, f.data, f.n, NULL, 0, "another name"));
    free(f.data);
    e[0].name = "m/data.pkx";
    f = zip_build(e, 2, 0);
    CHECK(refused(AS_ZIP, f.data, f.n, NULL, 0, "no data.pkl"));
    free(f.data);
    f = zip_build(e, 0, 0);
    CHECK(refused(AS_ZIP, f.data, f.n, NULL, 0, "it is empty"));
    free(f.data);
    Entry big[] = {{.name = "m/data.pkl", .data = p.data, .n = p.n}, {.name = "m/data/0", .data = storage, .n = 64},
                   {.name = "m/byteorder", .data = "big", .n = 3}};
    f = zip_build(big, 3, 0);
    CHECK(refused(AS_ZIP, f.data, f.n, NULL, 0, "byte order"));
    free(f.data);
    f = zip_build(big, 2, 1); /* 64-bit records: n, length, offset that lie */
    size_t end64 = f.n - 22 - 20 - 56;
    for (int field = 24; field < 56; field += 8)
        for (int how = 0; how < 3; how++) {
            uint8_t *copy = exactly(f.data, f.n);
            memset(copy + end64 + field, how ? 0xff : 0, how == 2 ? 7 : 8);
            CHECK(refused(AS_ZIP, copy, f.n, NULL, 0, "zip archive") || field == 48);
            free(copy);
        }
    free(f.data);
    free(p.data);
}

/* ---- hostile TensorFlow tables ---- */

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
    int good = refused(AS_TF, f.data, f.n, shard, sizeof shard, expected);
    free(f.data);
    return good;
}

static void tables_refused(void) {
    const char *header = "%08%01%1a%02%08%01";
    Row rows[3] = {{"", header}, {"a", entry_text("")}, {"b", entry_text("%20%08")}};
    static const uint8_t shard[64];
    Buffer f = table_build(rows, 3, (Spoil){0});
    Read r;
    CHECK(read_memory(&r, AS_TF, f.data, f.n, shard, 64) == 0 && r.c.n_views == 2 && r.c.views[1].data == r.shard + 8);
    if (r.rc) printf("    %s\n", r.err);
    read_done(&r);
    CHECK(refused(AS_TF, f.data, f.n, shard, 15, "b: its bytes reach past the end of the data file"));
    CHECK(refused(AS_TF, f.data, f.n, "1234567890123456", 16, "a: its bytes do not have its checksum"));
    for (size_t n = 0; n < f.n; n++) CHECK(refused(AS_TF, f.data, n, shard, 64, "mem: "));
    free(f.data);
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

/* ---- files that are cut or damaged ---- */

static char *golden(const char *name, size_t *n) {
    char path[200];
    snprintf(path, sizeof path, "tests/golden/convert/%s", name);
    char *bytes = file_read(path, n);
    CHECK(bytes != NULL);
    return bytes;
}

/* The same names, shapes, types and bits. */
static int same_checkpoint(const Checkpoint *a, const Checkpoint *b) {
    int same = a->n_views == b->n_views;
    for (size_t i = 0; i < a->n_views && same; i++)
        same = strcmp(a->views[i].name, b->views[i].name) == 0 && view_equal(&a->views[i], &b->views[i]);
    return same;
}

/* Every cut is refused; a flipped bit (another one in each byte; all eight where the file is short) is refused, or, where
 * the container has checksums, changes nothing that is read. part: 0 the file is damaged, 1 its shard. */
static void damage(int as, const char *file, size_t n, const char *shard, size_t shard_n, int part, int checked) {
    size_t size = part ? shard_n : n, opened = 0;
    Read whole, r;
    CHECK(read_memory(&whole, as, file, n, shard, shard_n) == 0);
    if (whole.rc) printf("    %s\n", whole.err);
    for (size_t cut = 0; cut < size; cut++) {
        CHECK(read_memory(&r, as, file, part ? n : cut, shard, part ? cut : shard_n) < 0);
        read_done(&r);
    }
    char *copy = malloc(size);
    memcpy(copy, part ? shard : file, size);
    int bits = size < 2500 ? 8 : 1;
    for (size_t i = 0; i < size; i++)
        for (int k = 0; k < bits; k++) {
            char flip = (char)(1 << ((i + (size_t)k) % 8));
            copy[i] ^= flip;
            int rc = read_memory(&r, as, part ? file : copy, n, part ? copy : shard, shard_n);
            opened += rc == 0;
            if (rc == 0 && checked) CHECK(same_checkpoint(&whole.c, &r.c));
            read_done(&r);
            copy[i] ^= flip;
        }
    if (!checked) CHECK(opened > 0); /* a legacy file's numbers have no checksum */
    CHECK(opened < size * (size_t)bits);
    free(copy);
    read_done(&whole);
}

/* A golden and a real file of PyTorch's. */
static void damage_both(int as, const char *name, const char *real, int checked) {
    size_t n;
    char *file = golden(name, &n);
    if (file) damage(as, file, n, NULL, 0, 0, checked);
    free(file);
    const char *path = test_data(real);
    file = path ? file_read(path, &n) : NULL;
    if (file) damage(as, file, n, NULL, 0, 0, checked);
    free(file);
}

static void damaged_zip(void) { damage_both(AS_ZIP, "gau.bin", "checkpoints/tiny_zip.pth", 1); }
static void damaged_legacy(void) { damage_both(AS_LEGACY, "sequence.legacy.bin", "checkpoints/tiny_legacy.pth", 0); }

static void damaged_tf(void) {
    static const char *const names[][2] = {
        {"gau.ckpt.index", "gau.ckpt.data-00000-of-00001"}, {"v1.raw.ckpt.index", "v1.raw.ckpt.data-00000-of-00001"},
    };
    for (int i = 0; i < 2; i++) {
        size_t n, shard_n;
        char *index = golden(names[i][0], &n), *shard = golden(names[i][1], &shard_n);
        if (index && shard) damage(AS_TF, index, n, shard, shard_n, 0, 1);
        if (index && shard && i == 0) damage(AS_TF, index, n, shard, shard_n, 1, 1);
        free(index);
        free(shard);
    }
}

/* The parts of a legacy file, each spoiled by hand. */
static void legacy_refused(void) {
    static const char magic[] = "%80%02%8a%0al%fc%9cF%f9 j%a8P%19.", version[] = "%80%02M%e9%03.";
    static const char machine[] = "%80%02}U%0dlittle_endian%88s.";
    const char *state = tensor_text("U%01w", "FloatStorage", "U%01k", "K%02", "N", "K%00K%02%85K%01%85");
    static const char keys[] = "%80%02]U%01ka.", storage[] = "%02%00%00%00%00%00%00%0012345678";
    const char *const good[] = {magic, version, machine, state, keys, storage, ""};
    static const struct { int part; const char *text, *expected; } rows[] = {
        {0, "%80%02%8a%0al%fc%9cF%f9 j%a8P%18.", "not a file that torch.save wrote"},
        {1, "%80%02M%ea%03.", "unknown version"},
        {2, "%80%02}U%0dlittle_endian%89s.", "byte order"},
        {2, "%80%02}.", "byte order"},
        {2, "%80%02K%01.", "byte order"},
        {4, "%80%02].", "something stands behind its last storage"},
        {4, "%80%02}.", "no list"},
        {4, "%80%02](U%01kU%01ke.", "holds a storage twice"},
        {4, "%80%02]U%01xa.", "no tensor uses"},
        {4, "%80%02]K%01a.", "no tensor uses"},
        {5, "", "ends inside its storages"},
        {5, "%02%00%00%00%00%00%00%001234567", "ends inside its storages"},
        {5, "%03%00%00%00%00%00%00%00123456789012", "another length"},
        {5, "%02%00%00%00%00%00%00%80", "another length"},
        {6, "x", "something stands behind"},
        {3, "%80%02cos%0Asystem%0A(U%02idtR.", "os.system"},
        {3, "%80%02}.", "no tensor uses"},
        {3, "%80%02}((U%07storagectorch%0AFloatStorage%0AU%01kU%03cpuK%02NtQK%01(U%07storagectorch%0ALongStorage%0AU%01kU%03cpuK%02N"
            "tQK%01u.", "disagree"},
    };
    for (int i = -1; i < (int)(sizeof rows / sizeof *rows); i++) {
        Buffer f = {0};
        for (int k = 0; k < 7; k++) {
            Buffer part = bytes_of(i >= 0 && rows[i].part == k ? rows[i].text : good[k]);
            buffer_bytes(&f, part.data, part.n);
            free(part.data);
        }
        Read r;
        if (i >= 0) CHECK(refused(AS_LEGACY, f.data, f.n, NULL, 0, rows[i].expected));
        else {
            CHECK(read_memory(&r, AS_LEGACY, f.data, f.n, NULL, 0) == 0 && r.c.n_views == 1);
            CHECK(r.rc == 0 && memcmp(r.c.views[0].data, "12345678", 8) == 0);
            read_done(&r);
        }
        free(f.data);
    }
}

const Test tests_hostile[] = {
    {"convert/pickles_read", pickles_read},
    {"convert/pickles_refused", pickles_refused},
    {"convert/storages_refused", storages_refused},
    {"convert/sharing_bomb", sharing_bomb},
    {"convert/pickle_too_long", pickle_too_long},
    {"convert/zips", zips},
    {"convert/zip_overlaps", zip_overlaps},
    {"convert/tables_refused", tables_refused},
    {"convert/entries_refused", entries_refused},
    {"convert/legacy_refused", legacy_refused},
    {"convert/damaged_zip", damaged_zip},
    {"convert/damaged_legacy", damaged_legacy},
    {"convert/damaged_tf", damaged_tf},
    {0},
};
