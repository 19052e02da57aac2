/* tests/test_readers.c - GGUF, safetensors and llama2.c files: good ones read right, every bad one refused with a line.
 *
 * Small files are built here in memory. What is opened lies in an allocation of exactly its size, so that the sanitizers
 * see a read of one byte too many; whatever opens is then read to its last byte. */
#include "model/reader.h"
#include "test.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>

/* ---- a writer ---- */

typedef struct {
    uint8_t bytes[16384];
    size_t n;
} File;

static void raw(File *f, const void *p, size_t n) {
    if (n > sizeof f->bytes - f->n) n = sizeof f->bytes - f->n;
    memcpy(f->bytes + f->n, p, n);
    f->n += n;
}

static void number(File *f, uint64_t v, int bytes) {
    for (int i = 0; i < bytes; i++, v >>= 8) raw(f, &(uint8_t){(uint8_t)v}, 1);
}

static void u32(File *f, uint64_t v) { number(f, v, 4); }
static void u64(File *f, uint64_t v) { number(f, v, 8); }

static void floats(File *f, int n, float first) {
    for (int i = 0; i < n; i++) raw(f, &(float){first + (float)i}, 4); /* a little-endian machine */
}

static void string(File *f, const char *s) {
    u64(f, strlen(s));
    raw(f, s, strlen(s));
}

static void pad(File *f, size_t alignment) {
    while (f->n % alignment) number(f, 0, 1);
}

static int save(const char *path, const void *data, size_t n) {
    FILE *out = fopen(path, "wb");
    if (!out) return 0;
    int ok = fwrite(data, 1, n, out) == n;
    return fclose(out) == 0 && ok;
}

/* ---- opening and judging ---- */

/* Read every byte that an opened file promises; the sum only keeps the reads alive. */
static unsigned read_all(const Weights *w) {
    unsigned sum = 0;
    for (size_t i = 0; i < w->n_tensors; i++) {
        const Tensor *t = &w->tensors[i];
        for (size_t k = 0; k < t->size; k++) sum += t->data[k];
        for (size_t k = 0; t->scales && k < t->size / (size_t)t->group * 4; k++) sum += t->scales[k];
        CHECK(weights_find(w, t->name) == t);
    }
    for (size_t i = 0; i < w->n_meta; i++) {
        const MetaValue *m = &w->meta[i];
        const uint8_t *cursor = m->data;
        MetaValue v = *m;
        for (uint64_t k = 0; k < (m->type == META_ARRAY ? m->n : 1); k++) {
            if (m->type == META_ARRAY) meta_next(m, &cursor, &v);
            for (uint64_t b = 0; b < (v.type == META_STRING ? v.n : 1); b++) sum += v.data[b];
        }
    }
    return sum;
}

static int is_line(const char *err) { return err[0] && !strchr(err, '\n') && strchr(err, ':'); }

static int is_closed(const Weights *w) {
    static const Weights zero;
    return memcmp(w, &zero, sizeof zero) == 0;
}

/* The bytes from an allocation of their own: 0 and read through, or an error and its line. */
static int open_bytes(const uint8_t *data, size_t n, char *err, size_t errlen) {
    uint8_t *copy = malloc(n ? n : 1);
    Weights w;
    if (!copy) return -ENOMEM;
    if (n) memcpy(copy, data, n);
    err[0] = 0;
    int rc = weights_open_memory(&w, n ? copy : copy + 1, n, "mem", err, errlen);
    if (rc == 0) read_all(&w);
    else CHECK(is_line(err) && is_closed(&w));
    weights_close(&w);
    free(copy);
    return rc;
}

static int refused(const File *f, const char *expected) {
    char err[256];
    int rc = open_bytes(f->bytes, f->n, err, sizeof err);
    if (rc < 0 && strstr(err, expected)) return 1;
    printf("    expected \"%s\", got %d \"%s\"\n", expected, rc, err);
    return 0;
}

static int opens(const File *f) {
    char err[256];
    int rc = open_bytes(f->bytes, f->n, err, sizeof err);
    if (rc) printf("    %s\n", err);
    return rc == 0;
}

static int refused_path(const char *path, const char *expected) {
    char err[900] = "";
    Weights w;
    int rc = weights_open(&w, path, err, sizeof err);
    int good = rc < 0 && strstr(err, expected) && is_line(err) && is_closed(&w);
    if (!good) printf("    expected \"%s\", got %d \"%s\"\n", expected, rc, err);
    weights_close(&w);
    return good;
}

static void cut_everywhere(const File *f) {
    char err[256];
    for (size_t n = 0; n < f->n; n++)
        if (open_bytes(f->bytes, n, err, sizeof err) == 0) {
            printf("    %zu of %zu bytes open\n", n, f->n);
            CHECK(!"a truncated file opens");
        }
}

/* All eight bits of every byte, then 0 and 0xff: opens whole or is refused, nothing else. */
static void flip_everywhere(const File *f, int (*open)(const uint8_t *, size_t, char *, size_t)) {
    static File copy;
    char err[256];
    copy = *f;
    for (size_t i = 0; i < f->n; i++) {
        for (int bit = 0; bit < 10; bit++) {
            copy.bytes[i] = bit < 8 ? f->bytes[i] ^ (uint8_t)(1 << bit) : bit == 8 ? 0 : 0xff;
            open(copy.bytes, copy.n, err, sizeof err);
        }
        copy.bytes[i] = f->bytes[i];
    }
}

/* ---- GGUF ---- */

static void gguf_head(File *f, uint32_t version, uint64_t n_tensors, uint64_t n_meta) {
    f->n = 0;
    raw(f, "GGUF", 4);
    u32(f, version);
    u64(f, n_tensors);
    u64(f, n_meta);
}

static void key(File *f, const char *name, uint32_t type, uint64_t value, int bytes) {
    string(f, name);
    u32(f, type);
    number(f, value, bytes);
}

static void array(File *f, const char *name, uint32_t elem, uint64_t n) {
    string(f, name);
    u32(f, META_ARRAY);
    u32(f, elem);
    u64(f, n);
}

static void tensor(File *f, const char *name, int n_dims, uint64_t d0, uint64_t d1, uint32_t type, uint64_t offset) {
    string(f, name);
    u32(f, (uint32_t)n_dims);
    for (int i = 0; i < n_dims; i++) u64(f, i == 0 ? d0 : i == 1 ? d1 : 1);
    u32(f, type);
    u64(f, offset);
}

/* One of everything: all value types, arrays, a matrix, a vector, a quantized row. */
static void good_gguf(File *f, uint32_t version) {
    gguf_head(f, version, 3, 16);
    key(f, "u8", META_U8, 200, 1);
    key(f, "i8", META_I8, 0xfe, 1);
    key(f, "u16", META_U16, 60000, 2);
    key(f, "i16", META_I16, 0xfffe, 2);
    key(f, "u32", META_U32, 4000000000u, 4);
    key(f, "i32", META_I32, 0xfffffffe, 4);
    key(f, "f32", META_F32, 0x3fc00000, 4);
    key(f, "bool", META_BOOL, 1, 1);
    key(f, "u64", META_U64, 1ull << 40, 8);
    key(f, "huge", META_U64, 1ull << 63, 8);
    key(f, "i64", META_I64, (uint64_t)-5, 8);
    key(f, "f64", META_F64, 0x4004000000000000, 8);
    string(f, "text"), u32(f, META_STRING), string(f, "hello");
    array(f, "words", META_STRING, 3), string(f, "one"), string(f, ""), string(f, "three");
    array(f, "ids", META_I32, 2), u32(f, 7), u32(f, 0xffffffff);
    key(f, "general.alignment", META_U32, 64, 4);
    tensor(f, "m", 2, 3, 2, TENSOR_F32, 0);
    tensor(f, "v", 1, 4, 0, TENSOR_F16, 64);
    tensor(f, "q", 2, 32, 1, TENSOR_Q8_0, 128);
    pad(f, 64);
    floats(f, 6, 1);
    pad(f, 64);
    u64(f, 0x3c003c003c003c00);
    pad(f, 64);
    for (int i = 0; i < 34; i++) number(f, (uint64_t)i + 1, 1);
    pad(f, 64);
}

static void check_gguf_numbers(const Weights *w) {
    static const struct { const char *key; int64_t value; } integers[] = {
        {"u8", 200}, {"i8", -2}, {"u16", 60000}, {"i16", -2}, {"u32", 4000000000}, {"i32", -2}, {"bool", 1}, {"u64", (int64_t)1 << 40}, {"i64", -5}, {"general.alignment", 64},
    };
    int64_t i;
    double d;
    for (size_t k = 0; k < sizeof integers / sizeof *integers; k++) {
        CHECK(meta_integer(weights_meta(w, integers[k].key), &i) && i == integers[k].value);
        CHECK(meta_number(weights_meta(w, integers[k].key), &d) && d == (double)integers[k].value);
    }
    CHECK(meta_number(weights_meta(w, "f32"), &d) && d == 1.5);
    CHECK(meta_number(weights_meta(w, "f64"), &d) && d == 2.5);
    CHECK(!meta_integer(weights_meta(w, "f32"), &i) && !meta_integer(weights_meta(w, "huge"), &i) && !meta_integer(weights_meta(w, "text"), &i));
    CHECK(!meta_integer(NULL, &i) && !meta_number(NULL, &d) && !meta_number(weights_meta(w, "words"), &d) && !weights_meta(w, "none"));
}

static void check_gguf_arrays(const Weights *w) {
    static const char *const words[] = {"one", "", "three"};
    const MetaValue *text = weights_meta(w, "text"), *array_of_words = weights_meta(w, "words"), *ids = weights_meta(w, "ids");
    CHECK(text && text->type == META_STRING && text->n == 5 && memcmp(text->data, "hello", 5) == 0);
    CHECK(array_of_words && array_of_words->n == 3 && array_of_words->elem == META_STRING);
    const uint8_t *cursor = array_of_words->data;
    MetaValue a, b;
    int64_t i;
    for (uint64_t k = 0; k < 3; k++) {
        meta_next(array_of_words, &cursor, &a);
        CHECK(meta_element(array_of_words, k, &b) && a.data == b.data && a.n == b.n && a.type == META_STRING);
        CHECK(a.n == strlen(words[k]) && memcmp(a.data, words[k], (size_t)a.n) == 0);
    }
    CHECK(meta_element(ids, 1, &a) && meta_integer(&a, &i) && i == -1);
    CHECK(!meta_element(ids, 2, &a) && !meta_element(text, 0, &a));
}

static void test_gguf_good(void) {
    static File f;
    char err[256] = "";
    for (uint32_t version = 2; version <= 3; version++) {
        good_gguf(&f, version);
        const char *path = test_tmp("good.gguf");
        Weights w;
        CHECK(save(path, f.bytes, f.n) && weights_open(&w, path, err, sizeof err) == 0);
        CHECK(w.format == FORMAT_GGUF && w.n_tensors == 3 && w.n_meta == 16 && w.file_bytes == f.n && strcmp(w.path, path) == 0);
        check_gguf_numbers(&w);
        check_gguf_arrays(&w);
        const Tensor *m = weights_find(&w, "m"), *q = weights_find(&w, "q");
        CHECK(m && m->n_dims == 2 && m->shape[0] == 2 && m->shape[1] == 3 && m->size == 24 && load_f32(m->data + 20) == 6);
        CHECK(q && q->type == TENSOR_Q8_0 && q->size == 34 && q->data[33] == 34 && strcmp(q->type_name, "Q8_0") == 0);
        CHECK(!weights_find(&w, "x") && !weights_find(&w, ""));
        weights_close(&w);
        weights_close(&w);
    }
    gguf_head(&f, 3, 0, 0); /* neither keys nor tensors */
    CHECK(opens(&f));
}

/* A file of one key, without tensors. */
static void key_file(File *f) { gguf_head(f, 3, 0, 1); }

static void test_gguf_bad_keys(void) {
    static File f;
    key_file(&f), key(&f, "", META_U8, 1, 1);
    CHECK(refused(&f, "key 1 is empty"));
    key_file(&f), u64(&f, 3), raw(&f, "a\0b", 3), u32(&f, META_U8), number(&f, 1, 1);
    CHECK(refused(&f, "not text"));
    key_file(&f), key(&f, "a\xff", META_U8, 1, 1);
    CHECK(refused(&f, "not text"));
    key_file(&f), key(&f, "k", 13, 1, 1);
    CHECK(refused(&f, "key k: a value type"));
    key_file(&f), key(&f, "k", META_BOOL, 2, 1);
    CHECK(refused(&f, "key k: a bool"));
    key_file(&f), array(&f, "k", META_BOOL, 3), raw(&f, "\1\0\2", 3);
    CHECK(refused(&f, "key k: a bool"));
    key_file(&f), array(&f, "k", META_ARRAY, 1), u32(&f, META_U8), u64(&f, 0);
    CHECK(refused(&f, "array of arrays"));
    key_file(&f), array(&f, "k", 13, 1), u64(&f, 0);
    CHECK(refused(&f, "array of a value type"));
    key_file(&f), array(&f, "k", META_U32, 1ull << 62), u32(&f, 0);
    CHECK(refused(&f, "longer than the file"));
    key_file(&f), array(&f, "k", META_STRING, UINT64_MAX), u32(&f, 0);
    CHECK(refused(&f, "longer than the file"));
    key_file(&f), array(&f, "k", META_STRING, 1), u64(&f, UINT64_MAX - 3);
    CHECK(refused(&f, "strings of an array"));
    key_file(&f), string(&f, "k"), u32(&f, META_STRING), u64(&f, UINT64_MAX - 40), u64(&f, 0);
    CHECK(refused(&f, "ends inside"));
    key_file(&f), u64(&f, UINT64_MAX), u64(&f, 0);
    CHECK(refused(&f, "ends inside"));
    gguf_head(&f, 3, 0, 2), key(&f, "k", META_U8, 1, 1), key(&f, "k", META_U8, 1, 1);
    CHECK(refused(&f, "key k: stands twice"));
    key_file(&f), u64(&f, 10000);
    for (int i = 0; i < 10000; i++) number(&f, 'k', 1);
    u32(&f, META_U8), number(&f, 1, 1);
    CHECK(opens(&f)); /* long, but below the specification's 65535 */
}

static void test_gguf_bad_header(void) {
    static File f;
    static const uint32_t alignments[] = {0, 1, 4, 7, 48, 1u << 17, 1u << 30};
    gguf_head(&f, 1, 0, 0);
    CHECK(refused(&f, "version 1"));
    gguf_head(&f, 4, 0, 0);
    CHECK(refused(&f, "version 4"));
    gguf_head(&f, 0x03000000, 0, 0);
    CHECK(refused(&f, "big-endian"));
    gguf_head(&f, 3, UINT64_MAX, 0);
    CHECK(refused(&f, "more tensors are announced"));
    gguf_head(&f, 3, 0, 1ull << 60);
    CHECK(refused(&f, "more keys are announced"));
    for (size_t i = 0; i < sizeof alignments / sizeof *alignments; i++) {
        key_file(&f), key(&f, "general.alignment", META_U32, alignments[i], 4);
        CHECK(refused(&f, "power of two"));
    }
    key_file(&f), key(&f, "general.alignment", META_U64, 32, 8);
    CHECK(refused(&f, "must be a u32"));
    key_file(&f), key(&f, "k", META_U8, 1, 1);
    for (int i = 0; i < 32; i++) number(&f, 0, 1);
    CHECK(refused(&f, "32 bytes stand behind"));
    key_file(&f), key(&f, "split.count", META_U16, 3, 2);
    CHECK(refused(&f, "split.no"));
}

/* One tensor, its bytes behind it; what the file lacks to a multiple of 32 is left to the caller. */
static void tensor_file(File *f, int n_dims, uint64_t d0, uint64_t d1, uint32_t type, uint64_t offset, int bytes) {
    gguf_head(f, 3, 1, 0);
    tensor(f, "t", n_dims, d0, d1, type, offset);
    pad(f, 32);
    for (int i = 0; i < bytes; i++) number(f, 1, 1);
}

static void test_gguf_bad_tensors(void) {
    static File f;
    tensor_file(&f, 1, 8, 0, TENSOR_F32, 0, 32);
    CHECK(opens(&f));
    tensor_file(&f, 0, 0, 0, TENSOR_F32, 0, 4);
    CHECK(refused(&f, "padding behind its bytes is missing"));
    pad(&f, 32);
    CHECK(opens(&f)); /* a scalar */
    tensor_file(&f, 1, 8, 0, TENSOR_F32, 0, 31);
    CHECK(refused(&f, "tensor t: its bytes reach past the end"));
    tensor_file(&f, 1, 8, 0, TENSOR_F32, 0, 64);
    CHECK(refused(&f, "32 bytes stand behind the last tensor"));
    tensor_file(&f, 1, 8, 0, TENSOR_F32, 16, 64);
    CHECK(refused(&f, "multiple of the file's alignment"));
    tensor_file(&f, 1, 8, 0, TENSOR_F32, UINT64_MAX - 31, 32);
    CHECK(refused(&f, "past the end"));
    tensor_file(&f, 5, 1, 1, TENSOR_F32, 0, 4);
    CHECK(refused(&f, "more than 4 dimensions"));
    tensor_file(&f, 1, 0, 0, TENSOR_F32, 0, 4);
    CHECK(refused(&f, "a dimension is 0"));
    tensor_file(&f, 2, 1ull << 32, 1ull << 32, TENSOR_F32, 0, 4);
    CHECK(refused(&f, "larger than any file"));
    tensor_file(&f, 2, 1ull << 31, 1ull << 31, TENSOR_F32, 0, 4);
    CHECK(refused(&f, "larger than any file"));
    tensor_file(&f, 1, 33, 0, TENSOR_Q8_0, 0, 68);
    CHECK(refused(&f, "whole blocks"));
    tensor_file(&f, 1, 8, 0, 31, 0, 32);
    CHECK(refused(&f, "type 31 is not known"));
    tensor_file(&f, 1, 8, 0, TENSOR_I8_GROUPS, 0, 32);
    CHECK(refused(&f, "type 1000 is not known"));
    tensor_file(&f, 1, 256, 0, 14, 0, 224);
    CHECK(opens(&f)); /* Q6_K: known by name and size */
    gguf_head(&f, 3, 1, 0), tensor(&f, "", 1, 1, 0, TENSOR_F32, 0), pad(&f, 32), u32(&f, 0);
    CHECK(refused(&f, "name is empty"));
    gguf_head(&f, 3, 1, 0), tensor(&f, "\xc0\xaf", 1, 1, 0, TENSOR_F32, 0), pad(&f, 32), u32(&f, 0);
    CHECK(refused(&f, "not text"));
    gguf_head(&f, 3, 2, 0), tensor(&f, "a", 1, 1, 0, TENSOR_F32, 0), tensor(&f, "a", 1, 1, 0, TENSOR_F32, 32), pad(&f, 32), floats(&f, 9, 0), pad(&f, 32);
    CHECK(refused(&f, "tensor a stands twice"));
    gguf_head(&f, 3, 2, 0), tensor(&f, "a", 1, 16, 0, TENSOR_F32, 0), tensor(&f, "b", 1, 1, 0, TENSOR_F32, 32), pad(&f, 32), floats(&f, 16, 0);
    CHECK(refused(&f, "tensors a and b share bytes"));
    gguf_head(&f, 3, 2, 0), tensor(&f, "a", 1, 1, 0, TENSOR_F32, 0), tensor(&f, "b", 1, 1, 0, TENSOR_F32, 0), pad(&f, 32), floats(&f, 8, 0);
    CHECK(refused(&f, "share bytes"));
}

static void test_gguf_cut_and_flipped(void) {
    static File f;
    tensor_file(&f, 1, 8, 0, TENSOR_F32, 0, 32); /* its list ends at 57, its tensor begins at 64 */
    cut_everywhere(&f);
    f.n = 60;
    CHECK(refused(&f, "padding before the tensors"));
    good_gguf(&f, 3);
    cut_everywhere(&f);
    flip_everywhere(&f, open_bytes);
}

/* ---- split GGUF ---- */

/* Shard `no` holds one tensor, shard<no>, whose only value is no. */
static void shard(File *f, uint64_t no, uint64_t count, uint64_t total) {
    char name[20];
    snprintf(name, sizeof name, "shard%d", (int)no);
    gguf_head(f, 3, 1, 4);
    key(f, "split.no", META_U16, no, 2);
    key(f, "split.count", META_U16, count, 2);
    key(f, "split.tensors.count", META_I32, total, 4);
    key(f, name, META_U8, 1, 1);
    tensor(f, name, 1, 1, 0, TENSOR_F32, 0);
    pad(f, 32);
    floats(f, 1, (float)no);
    pad(f, 32);
}

static const char *shard_name(char *buffer, size_t n, int no) {
    snprintf(buffer, n, "%s-%05d-of-00003.gguf", test_tmp("s"), no + 1);
    return buffer;
}

static void save_shards(void) {
    static File f;
    char path[600];
    for (int no = 0; no < 3; no++) {
        shard(&f, (uint64_t)no, 3, 3);
        CHECK(save(shard_name(path, sizeof path, no), f.bytes, f.n));
    }
}

static void test_gguf_split(void) {
    char path[600], err[900] = "";
    save_shards();
    for (int given = 0; given < 3; given++) {
        Weights w;
        CHECK(weights_open(&w, shard_name(path, sizeof path, given), err, sizeof err) == 0);
        CHECK(w.n_tensors == 3 && w.n_files == 3 && w.n_meta == 4 && weights_meta(&w, "shard0") && !weights_meta(&w, "shard2"));
        for (int no = 0; no < 3; no++) {
            char name[20];
            snprintf(name, sizeof name, "shard%d", no);
            const Tensor *t = weights_find(&w, name);
            CHECK(t && t == &w.tensors[no] && load_f32(t->data) == (float)no);
        }
        weights_close(&w);
    }
}

static void test_gguf_split_refused(void) {
    static File f;
    char path[600], other[600];
    save_shards();
    shard(&f, 0, 3, 3);
    CHECK(refused(&f, "opens by its path only"));
    CHECK(save(test_tmp("renamed.gguf"), f.bytes, f.n) && refused_path(test_tmp("renamed.gguf"), "-00001-of-00003.gguf"));
    shard_name(path, sizeof path, 1);
    shard_name(other, sizeof other, 0);
    CHECK(save(path, f.bytes, f.n) && refused_path(other, "says it is part 1 of 3"));
    shard(&f, 1, 4, 3);
    CHECK(save(path, f.bytes, f.n) && refused_path(other, "says it is part 2 of 4"));
    shard(&f, 9, 3, 3);
    CHECK(save(path, f.bytes, f.n) && refused_path(path, "part 10 of 3"));
    CHECK(remove(path) == 0 && refused_path(other, "s-00002-of-00003.gguf: part 2 of 3 is missing"));
    shard(&f, 0, 3, 4);
    CHECK(save(other, f.bytes, f.n));
    shard(&f, 1, 3, 4);
    CHECK(save(path, f.bytes, f.n) && refused_path(other, "split.tensors.count says 4"));
    gguf_head(&f, 3, 0, 2), key(&f, "split.no", META_U16, 1, 2), key(&f, "split.count", META_U16, 3, 2);
    CHECK(refused(&f, "split.tensors.count"));
    save_shards();
    shard(&f, 1, 3, 3);
    CHECK(save(path, f.bytes, f.n - 1) && refused_path(other, "truncated, fetch it again"));
    shard(&f, 1, 3, 3); /* the same name in two shards */
    for (size_t i = 0; i + 6 <= f.n; i++)
        if (memcmp(f.bytes + i, "shard1", 6) == 0) f.bytes[i + 5] = '0';
    CHECK(save(path, f.bytes, f.n) && refused_path(other, "tensor shard0 stands twice"));
}

/* ---- llama2.c ---- */

enum { DIM = 4, HIDDEN = 6, LAYERS = 2, HEADS = 2, KV_HEADS = 1, VOCAB = 5, SEQ = 3, GROUP = 2 };

static void llama2c_config(File *f, int vocab) {
    u32(f, DIM), u32(f, HIDDEN), u32(f, LAYERS), u32(f, HEADS), u32(f, KV_HEADS), u32(f, (uint32_t)vocab), u32(f, SEQ);
}

/* Values of all matrices but the embedding: q, o are [4, 4], k, v [2, 4], three of [6, 4], in two layers. */
enum { MATRICES = LAYERS * (2 * 16 + 2 * 8 + 3 * 24), NORMS = LAYERS * 2 * DIM + DIM, EMBEDDING = VOCAB * DIM, TABLES = SEQ * 2 };

static void llama2c_head(File *f, uint32_t version, int shared, uint32_t group) {
    f->n = 0;
    u32(f, 0x616b3432);
    u32(f, version);
    llama2c_config(f, VOCAB);
    number(f, (uint64_t)shared, 1);
    u32(f, group);
    pad(f, 256);
}

static void good_llama2c(File *f, uint32_t version, int shared) {
    f->n = 0;
    int values = MATRICES + EMBEDDING * (shared ? 1 : 2);
    if (version == 0) {
        llama2c_config(f, shared ? VOCAB : -VOCAB);
        floats(f, values + NORMS + TABLES, 0);
    } else if (version == 1) {
        llama2c_head(f, 1, shared, 0);
        floats(f, values + NORMS, 0);
    } else {
        llama2c_head(f, 2, shared, GROUP);
        floats(f, NORMS, 0);
        for (int i = 0; i < values + values / GROUP * 4; i++) number(f, (uint64_t)i % 100, 1);
    }
}

/* The value that stands first in a tensor of a file whose floats count up from 0 is its place. */
static void check_place(const Weights *w, const char *name, uint64_t rows, uint64_t cols, float first) {
    const Tensor *t = weights_find(w, name);
    CHECK(t != NULL);
    if (!t) return;
    CHECK(t->n_dims == (cols ? 2 : 1) && t->shape[0] == rows && (!cols || t->shape[1] == cols));
    CHECK(load_f32(t->data) == first);
}

static void test_llama2c_places(void) {
    static File f;
    char err[256];
    Weights w;
    good_llama2c(&f, 0, 0);
    CHECK(weights_open_memory(&w, f.bytes, f.n, "v0", err, sizeof err) == 0);
    CHECK(w.n_tensors == 9 * LAYERS + 3 && w.llama2c.version == 0 && w.llama2c.vocab_size == VOCAB && !w.llama2c.shared_classifier && w.format == FORMAT_LLAMA2C);
    check_place(&w, "token_embd.weight", 5, 4, 0);
    check_place(&w, "blk.1.attn_norm.weight", 4, 0, 24);
    check_place(&w, "blk.0.attn_q.weight", 4, 4, 28);
    check_place(&w, "blk.1.attn_k.weight", 2, 4, 68);
    check_place(&w, "blk.1.attn_v.weight", 2, 4, 84);
    check_place(&w, "blk.0.attn_output.weight", 4, 4, 92);
    check_place(&w, "blk.1.ffn_norm.weight", 4, 0, 128);
    check_place(&w, "blk.1.ffn_gate.weight", 6, 4, 156);
    check_place(&w, "blk.0.ffn_down.weight", 4, 6, 180);
    check_place(&w, "blk.0.ffn_up.weight", 6, 4, 228);
    check_place(&w, "output_norm.weight", 4, 0, 276);
    check_place(&w, "output.weight", 5, 4, 286);
    weights_close(&w);
    good_llama2c(&f, 1, 1);
    CHECK(weights_open_memory(&w, f.bytes, f.n, "v1", err, sizeof err) == 0);
    CHECK(w.llama2c.version == 1 && w.llama2c.shared_classifier && w.llama2c.seq_len == SEQ && !weights_find(&w, "output.weight"));
    check_place(&w, "blk.1.ffn_norm.weight", 4, 0, 12);
    check_place(&w, "output_norm.weight", 4, 0, 16);
    check_place(&w, "token_embd.weight", 5, 4, 20);
    check_place(&w, "blk.0.attn_q.weight", 4, 4, 40);
    weights_close(&w);
    good_llama2c(&f, 2, 0);
    CHECK(weights_open_memory(&w, f.bytes, f.n, "v2", err, sizeof err) == 0);
    const Tensor *e = weights_find(&w, "token_embd.weight"), *q = weights_find(&w, "blk.0.attn_q.weight");
    CHECK(e && e->type == TENSOR_I8_GROUPS && e->group == GROUP && e->data == f.bytes + 256 + NORMS * 4 && e->scales == e->data + 20 && e->size == 20);
    CHECK(q && q->data == e->scales + 10 * 4);
    weights_close(&w);
}

static void test_llama2c_refused(void) {
    static File f;
    static const struct { size_t field; int32_t value; const char *expected; } bad[] = {
        {0, 0, "dim and hidden_dim"}, {0, -4, "dim and hidden_dim"}, {1, 0, "dim and hidden_dim"}, {2, 0, "n_layers"}, {2, 70000, "n_layers"}, {3, 0, "n_heads must divide"},
        {3, 3, "n_heads must divide"}, {3, 4, "must be even"}, {4, 0, "n_kv_heads"}, {4, 4, "n_kv_heads"}, {4, -1, "n_kv_heads"}, {5, 0, "vocab_size"}, {5, INT32_MIN, "vocab_size"},
        {5, INT32_MAX, "vocab_size"}, {6, 0, "seq_len"}, {2, 65536, "bytes"}, {1, 1 << 24, "bytes"}, {5, 1 << 24, "bytes"}, {5, 6, "bytes"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        for (uint32_t version = 0; version <= 2; version++) {
            good_llama2c(&f, version, 1);
            for (int b = 0; b < 4; b++) f.bytes[(version ? 8 : 0) + 4 * bad[i].field + (size_t)b] = (uint8_t)((uint32_t)bad[i].value >> (8 * b));
            CHECK(refused(&f, version || !strcmp(bad[i].expected, "bytes") ? bad[i].expected : "not a model file"));
        }
    good_llama2c(&f, 1, 1), f.bytes[4] = 3;
    CHECK(refused(&f, "llama2.c version 3"));
    good_llama2c(&f, 1, 1), f.bytes[36] = 2;
    CHECK(refused(&f, "shared-classifier byte"));
    for (uint32_t group = 0; group <= 8; group++) {
        good_llama2c(&f, 2, 1), f.bytes[37] = (uint8_t)group;
        if (group != GROUP) CHECK(refused(&f, group == 1 ? "bytes" : "group_size must divide"));
    }
    for (uint32_t version = 0; version <= 2; version++) {
        good_llama2c(&f, version, 0), number(&f, 0, 1);
        CHECK(refused(&f, "truncated or not a model")); /* one byte too many */
    }
}

static void test_llama2c_cut_and_flipped(void) {
    static File f;
    for (uint32_t version = 0; version <= 2; version++)
        for (int shared = 0; shared <= 1; shared++) {
            good_llama2c(&f, version, shared);
            CHECK(opens(&f));
            cut_everywhere(&f);
            flip_everywhere(&f, open_bytes);
        }
}

/* ---- safetensors ---- */

/* header may hold NULs, so it has a length of its own. */
static void tensors_file(File *f, const char *header, size_t n, int data_bytes) {
    f->n = 0;
    u64(f, n);
    raw(f, header, n);
    for (int i = 0; i < data_bytes; i++) number(f, (uint64_t)i, 1);
}

static int read_tensors_bytes(const uint8_t *data, size_t n, char *err, size_t errlen) {
    uint8_t *copy = malloc(n ? n : 1);
    Weights w;
    memset(&w, 0, sizeof w);
    if (!copy) return -ENOMEM;
    if (n) memcpy(copy, data, n);
    err[0] = 0;
    int rc = safetensors_read(&w, n ? copy : copy + 1, n, "mem", err, errlen);
    if (rc == 0) rc = weights_finish(&w, err, errlen);
    if (rc == 0) read_all(&w);
    else CHECK(is_line(err));
    weights_close(&w);
    free(copy);
    return rc;
}

#define T(dtype, shape, begin, end) "{\"dtype\":\"" dtype "\",\"shape\":" shape ",\"data_offsets\":[" begin "," end "]}"

static const struct { const char *header; int data; const char *expected; } tensors_cases[] = {
    /* good: expected is NULL */
    {"{}", 0, NULL},
    {" \n\t {\"a\":" T("F32", "[2]", "0", "8") "}   ", 8, NULL},
    {"{\"__metadata__\":{\"format\":\"pt\"},\"a\":" T("F32", "[1,2]", "4", "12") ",\"b\":" T("BF16", "[2]", "0", "4") "}", 12, NULL},
    {"{\"a\":" T("F32", "[]", "0", "4") "}", 4, NULL},                                               /* a scalar */
    {"{\"a\":" T("F32", "[2,0]", "0", "0") ",\"b\":" T("I8", "[3]", "0", "3") "}", 3, NULL},           /* an empty tensor */
    {"{\"b\":" T("I8", "[3]", "0", "3") ",\"a\":" T("F32", "[0]", "3", "3") "}", 3, NULL},
    {"{\"a\":" T("F4", "[4]", "0", "2") ",\"b\":" T("F8_E4M3", "[1]", "2", "3") ",\"c\":" T("F64", "[1]", "3", "11") "}", 11, NULL},
    /* bad, after the reference reader's own tests */
    {"{\"a\":" T("F32", "[2]", "0", "8") ",\"b\":" T("F32", "[2]", "0", "8") "}", 8, "shares bytes"}, /* test_json_attack */
    {"{\"a\":" T("F32", "[2]", "0", "8") ",\"b\":" T("F32", "[2]", "4", "12") "}", 12, "shares bytes"},
    {"{\"a\":" T("F32", "[2]", "0", "8") ",\"b\":" T("F32", "[1]", "12", "16") "}", 16, "belong to no tensor"},
    {"{\"a\":" T("F32", "[2]", "4", "12") "}", 12, "belong to no tensor"},
    {"{\"a\":" T("F32", "[2]", "0", "8") "}", 9, "stand behind the last tensor"}, /* incomplete buffer: extra bytes */
    {"{\"a\":" T("F32", "[2]", "0", "8") "}", 7, "past the end"},                 /* and missing ones */
    {"{}", 1, "stand behind"},
    {"{\"a\":" T("F32", "[3]", "0", "8") "}", 8, "do not span"},
    {"{\"a\":" T("F32", "[2]", "8", "0") "}", 8, "run backwards"},
    {"{\"a\":" T("F4", "[3]", "0", "1") "}", 1, "do not span"},
    {"{\"a\":" T("F32", "[2,18446744073709551614]", "0", "8") "}", 8, "no count"}, /* validation overflow */
    {"{\"a\":" T("F32", "[4503599627370496,4503599627370496]", "0", "8") "}", 8, "larger than any file"},
    {"{\"a\":" T("F32", "[4611686018427387905]", "0", "4") "}", 4, "no count"},
    {"{\"a\":" T("F32", "[4503599627370496,1024]", "0", "8") "}", 8, "do not span"},
    {"{\"a\":" T("F32", "[-2]", "0", "8") "}", 8, "no count"},
    {"{\"a\":" T("F32", "[2.5]", "0", "8") "}", 8, "no count"},
    {"{\"a\":" T("F32", "[\"2\"]", "0", "8") "}", 8, "no count"},
    {"{\"a\":" T("F32", "2", "0", "8") "}", 8, "has no shape"},
    {"{\"a\":" T("F32", "[1,1,1,1,1,1,1,1,2]", "0", "8") "}", 8, "more than 8 dimensions"},
    {"{\"a\":" T("F99", "[2]", "0", "8") "}", 8, "dtype F99 is not known"},
    {"{\"a\":{\"dtype\":7,\"shape\":[2],\"data_offsets\":[0,8]}}", 8, "has no dtype"},
    {"{\"a\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[0]}}", 8, "two counts"},
    {"{\"a\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[0,8,8]}}", 8, "two counts"},
    {"{\"a\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[-1,7]}}", 8, "two counts"},
    {"{\"a\":{\"dtype\":\"F32\",\"shape\":[2]}}", 8, "and nothing else"},
    {"{\"a\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[0,8],\"stride\":1}}", 8, "and nothing else"},
    {"{\"a\":[1,2,3]}", 8, "and nothing else"},
    {"{\"a\":" T("F32", "[2]", "0", "8") ",\"a\":" T("F32", "[2]", "8", "16") "}", 16, "stands twice"},
    {"{\"a\":{\"dtype\":\"F32\",\"shape\":[2],\"shape\":[1],\"data_offsets\":[0,8]}}", 8, "stands twice"},
    {"{\"__metadata__\":{\"a\":1}}", 0, "object of strings"},
    {"{\"__metadata__\":[\"a\"]}", 0, "object of strings"},
    {"{\"\":" T("F32", "[2]", "0", "8") "}", 8, "name is empty"},
    {"{\"a\\u0000b\":" T("F32", "[2]", "0", "8") "}", 8, "holds a NUL"},
    {"[]", 0, "not a JSON object"},
    {"not json", 0, "value is expected"},
    {"{\"\xff\":1}", 0, "UTF-8"},
    {"", 0, "too early"},
    {"{\"a\":" T("F32", "[2]", "0", "8") "}x", 8, "behind the JSON value"},
};

static void test_safetensors_cases(void) {
    static File f;
    char err[256];
    for (size_t i = 0; i < sizeof tensors_cases / sizeof *tensors_cases; i++) {
        tensors_file(&f, tensors_cases[i].header, strlen(tensors_cases[i].header), tensors_cases[i].data);
        int rc = read_tensors_bytes(f.bytes, f.n, err, sizeof err);
        int good = tensors_cases[i].expected ? rc < 0 && strstr(err, tensors_cases[i].expected) : rc == 0;
        if (!good) printf("    %s: expected \"%s\", got %d \"%s\"\n", tensors_cases[i].header, tensors_cases[i].expected ? tensors_cases[i].expected : "success", rc, err);
        CHECK(good);
    }
    static const uint64_t lengths[] = {3, 100000000, 100000001, UINT64_MAX, UINT64_MAX - 7}; /* of two bytes that are there */
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
        f.n = 0;
        u64(&f, lengths[i]), raw(&f, "{}", 2);
        CHECK(read_tensors_bytes(f.bytes, f.n, err, sizeof err) < 0 && strstr(err, "longer than the file"));
        CHECK(save(test_tmp("long.safetensors"), f.bytes, f.n) && refused_path(test_tmp("long.safetensors"), "looks like safetensors"));
    }
}

static const char good_header[] = "{\"__metadata__\":{\"format\":\"pt\"},\"a\":" T("F32", "[1,2]", "4", "12") ",\"b\":" T("BF16", "[2]", "0", "4") ",\"c\":" T("I64", "[1]", "12", "20") "}";

static void test_safetensors_cut_and_flipped(void) {
    static File f;
    char err[256];
    tensors_file(&f, good_header, strlen(good_header), 20);
    CHECK(read_tensors_bytes(f.bytes, f.n, err, sizeof err) == 0);
    for (size_t n = 0; n < f.n; n++) CHECK(read_tensors_bytes(f.bytes, n, err, sizeof err) < 0 && is_line(err));
    flip_everywhere(&f, read_tensors_bytes);
}

/* A fresh folder, and a file in it; both live until the program ends. */
static char folder[700];

static void new_folder(const char *name) {
    snprintf(folder, sizeof folder, "%s", test_tmp(name));
    CHECK(mkdir(folder, 0700) == 0);
}

static const char *in_folder(const char *name) {
    static char path[4][1000];
    static int turn;
    char *p = path[turn++ & 3];
    snprintf(p, sizeof path[0], "%s/%s", folder, name);
    return p;
}

static int put(const char *name, const char *text) { return save(in_folder(name), text, strlen(text)); }

static void put_tensors(const char *name, const char *header, int data_bytes) {
    static File f;
    tensors_file(&f, header, strlen(header), data_bytes);
    CHECK(save(in_folder(name), f.bytes, f.n));
}

static void test_hf_single(void) {
    char err[900] = "";
    Weights w;
    new_folder("single");
    CHECK(refused_path(folder, "no model.safetensors"));
    CHECK(put("pytorch_model.bin", "PK") && refused_path(folder, "convert it to safetensors"));
    put_tensors("model.safetensors", good_header, 20);
    CHECK(refused_path(folder, "config.json: is missing"));
    CHECK(put("config.json", "{\"hidden_size\": 4}"));
    const char *given[] = {folder, in_folder("model.safetensors")};
    for (int i = 0; i < 2; i++) {
        CHECK(weights_open(&w, given[i], err, sizeof err) == 0);
        CHECK(w.format == FORMAT_HF && w.n_tensors == 3 && strcmp(w.folder, folder) == 0 && json_get(w.config.root, "hidden_size") && !w.generation.root);
        const Tensor *a = weights_find(&w, "a"), *c = weights_find(&w, "c");
        CHECK(a && a->type == TENSOR_F32 && a->n_dims == 2 && a->shape[1] == 2 && a->size == 8 && a->data[0] == 4);
        CHECK(c && c->type == -1 && strcmp(c->type_name, "I64") == 0 && weights_find(&w, "b")->type == TENSOR_BF16);
        weights_close(&w);
    }
    CHECK(put("generation_config.json", "{\"eos_token_id\": 2}") && weights_open(&w, folder, err, sizeof err) == 0 && json_get(w.generation.root, "eos_token_id"));
    weights_close(&w);
    CHECK(put("generation_config.json", "{") && refused_path(folder, "generation_config.json: line 1"));
    CHECK(put("generation_config.json", "[]") && refused_path(folder, "not a JSON object"));
    CHECK(remove(in_folder("generation_config.json")) == 0);
    CHECK(put("config.json", "[]") && refused_path(folder, "config.json: is not a JSON object"));
    CHECK(put("config.json", "") && refused_path(folder, "empty"));
    CHECK(refused_path(in_folder("config.json"), "empty"));
    CHECK(put("config.json", "{}") && refused_path(in_folder("config.json"), "give the folder"));
}

/* The folder at every length of each of its files. */
static void test_hf_cut(void) {
    static File f;
    static const char config[] = "{\"hidden_size\": 4, \"x\": [true, null, 1.5]}";
    new_folder("cut");
    tensors_file(&f, good_header, strlen(good_header), 20);
    CHECK(put("config.json", config));
    for (size_t n = 0; n < f.n; n++) {
        CHECK(save(in_folder("model.safetensors"), f.bytes, n));
        CHECK(refused_path(folder, "model.safetensors: ") && refused_path(in_folder("model.safetensors"), ": "));
    }
    CHECK(save(in_folder("model.safetensors"), f.bytes, f.n));
    for (size_t n = 0; n < sizeof config - 1; n++) CHECK(save(in_folder("config.json"), config, n) && refused_path(folder, "config.json: "));
}

#define INDEX(map) "{\"metadata\":{\"total_size\":12},\"weight_map\":{" map "}}"

static void test_hf_sharded(void) {
    static const char good[] = INDEX("\"a\":\"m-1.safetensors\",\"b\":\"m-2.safetensors\",\"c\":\"m-1.safetensors\"");
    static const char *const bad[][2] = {
        {"{}", "no weight_map"}, {"[]", "no weight_map"}, {"{\"weight_map\":{}}", "no weight_map"}, {"{\"weight_map\":", "too early"},
        {INDEX("\"a\":\"../m-1.safetensors\""), "plain name"}, {INDEX("\"a\":\"/etc/passwd\""), "plain name"}, {INDEX("\"a\":7"), "plain name"},
        {INDEX("\"a\":\"\""), "plain name"}, {INDEX("\"a\":\"..\""), "plain name"}, {INDEX("\"a\":\"m\\u0000x\""), "plain name"}, {INDEX("\"\":\"m-1.safetensors\""), "plain name"},
        {INDEX("\"a\":\"m-9.safetensors\""), "m-9.safetensors: is missing"},
        {INDEX("\"a\":\"m-1.safetensors\",\"b\":\"m-2.safetensors\""), "holds 2 tensors, weight_map has 1"},
        {INDEX("\"a\":\"m-1.safetensors\",\"b\":\"m-1.safetensors\",\"c\":\"m-2.safetensors\""), "is not in m-"},
        {INDEX("\"a\":\"m-1.safetensors\",\"b\":\"m-2.safetensors\",\"c\":\"m-1.safetensors\",\"d\":\"m-2.safetensors\""), "tensor d is not in"},
        {INDEX("\"a\":\"m-1.safetensors\",\"a\":\"m-2.safetensors\""), "stands twice"},
    };
    char err[900] = "";
    Weights w;
    new_folder("sharded");
    CHECK(put("config.json", "{}") && put("model.safetensors.index.json", good));
    put_tensors("m-1.safetensors", "{\"c\":" T("U8", "[2]", "4", "6") ",\"a\":" T("F32", "[1]", "0", "4") "}", 6);
    put_tensors("m-2.safetensors", "{\"b\":" T("F16", "[2]", "0", "4") "}", 4);
    const char *given[] = {folder, in_folder("m-2.safetensors")};
    for (int i = 0; i < 2; i++) {
        CHECK(weights_open(&w, given[i], err, sizeof err) == 0 && w.n_tensors == 3 && w.n_files == 2 && weights_find(&w, "c"));
        read_all(&w);
        weights_close(&w);
    }
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) CHECK(put("model.safetensors.index.json", bad[i][0]) && refused_path(folder, bad[i][1]));
    CHECK(put("model.safetensors.index.json", INDEX("\"b\":\"m-2.safetensors\"")));
    CHECK(weights_open(&w, in_folder("m-1.safetensors"), err, sizeof err) == 0 && w.n_tensors == 2); /* not one of the set */
    weights_close(&w);
    put_tensors("m-2.safetensors", "{\"a\":" T("F16", "[2]", "0", "4") "}", 4);
    CHECK(put("model.safetensors.index.json", good) && refused_path(folder, "tensor a stands twice"));
}

/* ---- other files ---- */

static void test_not_models(void) {
    static const struct { const char *bytes; size_t n; const char *expected; } files[] = {
        {"hello, this is some text of more than twenty-eight bytes", 56, "neither GGUF, nor safetensors, nor llama2.c"},
        {"x", 1, "neither GGUF"}, {"GGU", 3, "neither GGUF"}, {"24ka", 4, "ends inside its llama2.c header"}, {"PK\3\4aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", 36, "pickle"},
        {"\x80\2}q\0.", 6, "pickle"}, {"version https://git-lfs.github.com/spec/v1\n", 43, "Git LFS"}, {"{\"a\":1}", 7, "give the folder"}, {"FUGG\0\0\0\3", 8, "big-endian"}, {"tjgg\1\0\0\0", 8, "before GGUF"},
    };
    for (size_t i = 0; i < sizeof files / sizeof *files; i++)
        CHECK(save(test_tmp("other"), files[i].bytes, files[i].n) && refused_path(test_tmp("other"), files[i].expected));
    CHECK(refused_path(test_tmp("not-there.gguf"), "No such file"));
    CHECK(refused_path("/dev/null", "not a regular file"));
    char err[256];
    Weights w;
    CHECK(weights_open(&w, test_tmp("not-there.gguf"), err, sizeof err) == -ENOENT);
    const char *pickles[] = {test_data("checkpoints/tiny.pkl"), test_data("checkpoints/tiny_legacy.pth"), test_data("checkpoints/tiny_zip.pth")};
    for (int i = 0; i < 3; i++)
        if (pickles[i]) CHECK(refused_path(pickles[i], "pickle"));
}

/* Files that announce a terabyte must fail before they allocate: the test's own address space is small here. */
static void test_announced_sizes(void) {
    static File f;
    struct rlimit old, tight;
    if (test_sanitized) {
        test_skip("AddressSanitizer needs the address space");
        return;
    }
    CHECK(getrlimit(RLIMIT_AS, &old) == 0);
    tight = old;
    tight.rlim_cur = 512u << 20;
    CHECK(setrlimit(RLIMIT_AS, &tight) == 0);
    gguf_head(&f, 3, 1ull << 40, 1ull << 40);
    CHECK(refused(&f, "announced"));
    key_file(&f), array(&f, "k", META_U8, 1ull << 40), u64(&f, 0);
    CHECK(refused(&f, "longer than the file"));
    tensor_file(&f, 1, 1ull << 40, 0, TENSOR_F32, 0, 64);
    CHECK(refused(&f, "past the end"));
    good_llama2c(&f, 2, 1), f.bytes[30] = 0xff; /* a vocab_size of 16.7 million */
    CHECK(refused(&f, "bytes"));
    CHECK(setrlimit(RLIMIT_AS, &old) == 0);
}

/* ---- real files ---- */

static int open_data(Weights *w, const char *name) {
    char err[900] = "";
    const char *path = test_data(name);
    if (!path) return 0;
    int rc = weights_open(w, path, err, sizeof err);
    if (rc) printf("    %s\n", err);
    CHECK(rc == 0);
    return rc == 0;
}

static void test_gguf_data(void) {
    static const struct { const char *name; uint64_t tokens; } vocabularies[] = {
        {"bert-bge", 30522}, {"falcon", 65024}, {"gpt-2", 50257}, {"llama-spm", 32000}, {"phi-3", 32064},
    };
    Weights w;
    for (size_t i = 0; i < sizeof vocabularies / sizeof *vocabularies; i++) {
        char name[80];
        snprintf(name, sizeof name, "gguf-vocab/ggml-vocab-%s.gguf", vocabularies[i].name);
        double start = clock_seconds();
        if (!open_data(&w, name)) continue;
        CHECK(clock_seconds() - start < 0.5); /* some milliseconds; the rest is for a busy machine under a sanitizer */
        const MetaValue *tokens = weights_meta(&w, "tokenizer.ggml.tokens");
        CHECK(w.n_tensors == 0 && tokens && tokens->n == vocabularies[i].tokens);
        read_all(&w);
        weights_close(&w);
    }
    if (open_data(&w, "tales/tales-1m.gguf")) {
        const Tensor *t = weights_find(&w, "token_embd.weight");
        CHECK(t && t->type == TENSOR_Q8_0 && t->shape[0] == 1024 && t->shape[1] == 128 && t->size == 1024 * 128 / 32 * 34);
        read_all(&w);
        weights_close(&w);
    }
}

static void compare_tensors(const Weights *a, const Weights *b) {
    CHECK(a->n_tensors == b->n_tensors);
    for (size_t i = 0; i < a->n_tensors; i++) {
        const Tensor *t = &a->tensors[i], *u = weights_find(b, t->name);
        CHECK(u && u->size == t->size && memcmp(u->data, t->data, t->size) == 0 && u->n_dims == t->n_dims && u->shape[0] == t->shape[0]);
    }
}

/* Every value of the int8 file is at most half a step, scale / 2, from the float file's. */
static void compare_quantized(const Weights *f32, const Weights *i8) {
    for (size_t i = 0; i < f32->n_tensors; i++) {
        const Tensor *t = &f32->tensors[i], *q = weights_find(i8, t->name);
        CHECK(q != NULL);
        if (!q || t->n_dims < 2) continue;
        Matrix m = {.type = TENSOR_I8_GROUPS, .group = q->group, .rows = q->shape[0], .cols = q->shape[1], .data = q->data, .scales = q->scales};
        float row[256];
        for (size_t r = 0; r < m.rows && m.cols <= 256; r++) {
            matrix_row(row, &m, r);
            for (size_t c = 0; c < m.cols; c++) {
                double step = load_f32(q->scales + (r * m.cols + c) / (size_t)m.group * 4);
                NEAR(row[c], load_f32(t->data + 4 * (r * m.cols + c)), 0.5001 * step, 1e-6);
            }
        }
    }
}

/* Three exports of one model: the two float files hold the same tensors, the int8 file the same values rounded. */
static void test_llama2c_data(void) {
    Weights v0, v1, v2;
    if (!open_data(&v0, "llama2c/stories260K.bin")) return;
    if (!open_data(&v1, "llama2c/stories260K_v1.bin")) return;
    if (!open_data(&v2, "llama2c/stories260K_q8_v2.bin")) return;
    CHECK(v0.llama2c.dim == 64 && v0.llama2c.n_kv_heads == 4 && v2.llama2c.version == 2 && v2.llama2c.group_size == 4);
    compare_tensors(&v0, &v1);
    compare_quantized(&v0, &v2);
    weights_close(&v0);
    weights_close(&v1);
    weights_close(&v2);
}

static void test_safetensors_data(void) {
    static const char *const names[] = {"1d-int32", "2d-float64", "3d-float32", "4d-float32"};
    for (size_t i = 0; i < 4; i++) {
        char name[80], err[900] = "";
        snprintf(name, sizeof name, "safetensors/tensor-%s.safetensors", names[i]);
        const char *path = test_data(name);
        if (!path) return;
        MappedFile f;
        Weights w;
        memset(&w, 0, sizeof w);
        CHECK(file_map(&f, path, err, sizeof err) == 0);
        CHECK(safetensors_read(&w, f.data, f.size, path, err, sizeof err) == 0 && weights_finish(&w, err, sizeof err) == 0);
        CHECK(w.n_tensors == 1 && w.tensors[0].n_dims == (int)i + 1);
        CHECK(strcmp(w.tensors[0].type_name, i == 0 ? "I32" : i == 1 ? "F64" : "F32") == 0);
        weights_close(&w);
        file_unmap(&f);
        CHECK(refused_path(path, "config.json: is missing"));
    }
}

const Test tests_readers[] = {
    {"readers/gguf_good", test_gguf_good},
    {"readers/gguf_bad_keys", test_gguf_bad_keys},
    {"readers/gguf_bad_header", test_gguf_bad_header},
    {"readers/gguf_bad_tensors", test_gguf_bad_tensors},
    {"readers/gguf_cut_and_flipped", test_gguf_cut_and_flipped},
    {"readers/gguf_split", test_gguf_split},
    {"readers/gguf_split_refused", test_gguf_split_refused},
    {"readers/llama2c_places", test_llama2c_places},
    {"readers/llama2c_refused", test_llama2c_refused},
    {"readers/llama2c_cut_and_flipped", test_llama2c_cut_and_flipped},
    {"readers/safetensors_cases", test_safetensors_cases},
    {"readers/safetensors_cut_and_flipped", test_safetensors_cut_and_flipped},
    {"readers/hf_single", test_hf_single},
    {"readers/hf_cut", test_hf_cut},
    {"readers/hf_sharded", test_hf_sharded},
    {"readers/not_models", test_not_models},
    {"readers/announced_sizes", test_announced_sizes},
    {"readers/gguf_data", test_gguf_data},
    {"readers/llama2c_data", test_llama2c_data},
    {"readers/safetensors_data", test_safetensors_data},
    {0},
};
