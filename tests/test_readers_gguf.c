/* tests/test_readers_gguf.c - GGUF files, split ones too: good ones read right, every bad one refused with a line. */
#include "program.h"
#include "reader_files.h"
#include "test.h"
#include "base/base.h"

#include <stdlib.h>
#include <string.h>

/* One of everything: all value types, arrays, a matrix, a vector, a quantized row. */
static void good_gguf(Bytes *f, uint32_t version) {
    put_gguf(f, version, 3, 16);
    put_key(f, "u8", META_U8, 200, 1);
    put_key(f, "i8", META_I8, 0xfe, 1);
    put_key(f, "u16", META_U16, 60000, 2);
    put_key(f, "i16", META_I16, 0xfffe, 2);
    put_key(f, "u32", META_U32, 4000000000u, 4);
    put_key(f, "i32", META_I32, 0xfffffffe, 4);
    put_key(f, "f32", META_F32, 0x3fc00000, 4);
    put_key(f, "bool", META_BOOL, 1, 1);
    put_key(f, "u64", META_U64, 1ull << 40, 8);
    put_key(f, "huge", META_U64, 1ull << 63, 8);
    put_key(f, "i64", META_I64, (uint64_t)-5, 8);
    put_key(f, "f64", META_F64, 0x4004000000000000, 8);
    bytes_string(f, "text"), bytes_u32(f, META_STRING), bytes_string(f, "hello");
    put_array(f, "words", META_STRING, 3), bytes_string(f, "one"), bytes_string(f, ""), bytes_string(f, "three");
    put_array(f, "ids", META_I32, 2), bytes_u32(f, 7), bytes_u32(f, 0xffffffff);
    put_key(f, "general.alignment", META_U32, 64, 4);
    put_tensor(f, "m", 2, 3, 2, TENSOR_F32, 0);
    put_tensor(f, "v", 1, 4, 0, TENSOR_F16, 64);
    put_tensor(f, "q", 2, 32, 1, TENSOR_Q8_0, 128);
    bytes_pad(f, 64);
    put_floats(f, 6, 1);
    bytes_pad(f, 64);
    bytes_u64(f, 0x3c003c003c003c00);
    bytes_pad(f, 64);
    for (int i = 0; i < 34; i++) bytes_number(f, (uint64_t)i + 1, 1);
    bytes_pad(f, 64);
}

static void check_gguf_numbers(const Weights *w) {
    static const struct { const char *key; int64_t value; } integers[] = {
        {"u8", 200},         {"i8", -2},
        {"u16", 60000},      {"i16", -2},
        {"u32", 4000000000}, {"i32", -2},
        {"bool", 1},         {"u64", (int64_t)1 << 40},
        {"i64", -5},         {"general.alignment", 64},
    };
    int64_t i;
    double d;
    for (size_t k = 0; k < sizeof integers / sizeof *integers; k++) {
        CHECK(meta_integer(weights_meta(w, integers[k].key), &i) && i == integers[k].value);
        CHECK(meta_number(weights_meta(w, integers[k].key), &d) && d == (double)integers[k].value);
    }
    CHECK(meta_number(weights_meta(w, "f32"), &d) && d == 1.5);
    CHECK(meta_number(weights_meta(w, "f64"), &d) && d == 2.5);
    CHECK(!meta_integer(weights_meta(w, "f32"), &i) && !meta_integer(weights_meta(w, "huge"), &i) &&
          !meta_integer(weights_meta(w, "text"), &i));
    CHECK(!meta_integer(NULL, &i) && !meta_number(NULL, &d) && !meta_number(weights_meta(w, "words"), &d) &&
          !weights_meta(w, "none"));
}

static void check_gguf_arrays(const Weights *w) {
    static const char *const words[] = {"one", "", "three"};
    const MetaValue *text = weights_meta(w, "text"), *array_of_words = weights_meta(w, "words"),
                    *ids = weights_meta(w, "ids");
    CHECK(text && text->type == META_STRING && text->n == 5 && memcmp(text->data, "hello", 5) == 0);
    CHECK(array_of_words && array_of_words->n == 3 && array_of_words->elem == META_STRING);
    const uint8_t *cursor = array_of_words->data;
    MetaValue a;
    int64_t i;
    for (uint64_t k = 0; k < 3; k++) {
        meta_next(array_of_words, &cursor, &a);
        CHECK(a.type == META_STRING && a.n == strlen(words[k]) && memcmp(a.data, words[k], (size_t)a.n) == 0);
    }
    cursor = ids->data;
    for (uint64_t k = 0; k < ids->n; k++) meta_next(ids, &cursor, &a);
    CHECK(ids->n == 2 && meta_integer(&a, &i) && i == -1);
}

static void test_gguf_good(void) {
    static Bytes f;
    char err[256] = "";
    for (uint32_t version = 2; version <= 3; version++) {
        good_gguf(&f, version);
        const char *path = test_tmp("good.gguf");
        Weights w;
        CHECK(save(path, f.data, f.n) && weights_open(&w, path, err, sizeof err) == 0);
        CHECK(w.format == FORMAT_GGUF && w.n_tensors == 3 && w.n_meta == 16 && w.file_bytes == f.n &&
              strcmp(w.path, path) == 0);
        check_gguf_numbers(&w);
        check_gguf_arrays(&w);
        const Tensor *m = weights_find(&w, "m"), *q = weights_find(&w, "q");
        CHECK(m && m->n_dims == 2 && m->shape[0] == 2 && m->shape[1] == 3 && m->size == 24 &&
              load_f32(m->data + 20) == 6);
        CHECK(q && q->type == TENSOR_Q8_0 && q->size == 34 && q->data[33] == 34 && strcmp(q->type_name, "Q8_0") == 0);
        CHECK(!weights_find(&w, "x") && !weights_find(&w, ""));
        weights_close(&w);
        weights_close(&w);
    }
    put_gguf(&f, 3, 0, 0); /* neither keys nor tensors */
    CHECK(opens(&f));
}

static void test_gguf_bad_keys(void) {
    static Bytes f;
    put_key_file(&f), put_key(&f, "", META_U8, 1, 1);
    CHECK(refused(&f, "key 1 is empty"));
    put_key_file(&f), bytes_u64(&f, 3), bytes_put(&f, "a\0b", 3), bytes_u32(&f, META_U8), bytes_number(&f, 1, 1);
    CHECK(refused(&f, "not text"));
    put_key_file(&f), put_key(&f, "a\xff", META_U8, 1, 1);
    CHECK(refused(&f, "not text"));
    put_key_file(&f), put_key(&f, "k", 13, 1, 1);
    CHECK(refused(&f, "key k: a value type"));
    put_key_file(&f), put_key(&f, "k", META_BOOL, 2, 1);
    CHECK(refused(&f, "key k: a bool"));
    put_key_file(&f), put_array(&f, "k", META_BOOL, 3), bytes_put(&f, "\1\0\2", 3);
    CHECK(refused(&f, "key k: a bool"));
    put_key_file(&f), put_array(&f, "k", META_ARRAY, 1), bytes_u32(&f, META_U8), bytes_u64(&f, 0);
    CHECK(refused(&f, "array of arrays"));
    put_key_file(&f), put_array(&f, "k", 13, 1), bytes_u64(&f, 0);
    CHECK(refused(&f, "array of a value type"));
    put_key_file(&f), put_array(&f, "k", META_U32, 1ull << 62), bytes_u32(&f, 0);
    CHECK(refused(&f, "longer than the file"));
    put_key_file(&f), put_array(&f, "k", META_STRING, UINT64_MAX), bytes_u32(&f, 0);
    CHECK(refused(&f, "longer than the file"));
    put_key_file(&f), put_array(&f, "k", META_STRING, 1), bytes_u64(&f, UINT64_MAX - 3);
    CHECK(refused(&f, "strings of an array"));
    put_key_file(&f), bytes_string(&f, "k"), bytes_u32(&f, META_STRING), bytes_u64(&f, UINT64_MAX - 40),
        bytes_u64(&f, 0);
    CHECK(refused(&f, "ends inside"));
    put_key_file(&f), bytes_u64(&f, UINT64_MAX), bytes_u64(&f, 0);
    CHECK(refused(&f, "ends inside"));
    put_gguf(&f, 3, 0, 2), put_key(&f, "k", META_U8, 1, 1), put_key(&f, "k", META_U8, 1, 1);
    CHECK(refused(&f, "key k: stands twice"));
    put_key_file(&f), bytes_u64(&f, 10000);
    for (int i = 0; i < 10000; i++) bytes_number(&f, 'k', 1);
    bytes_u32(&f, META_U8), bytes_number(&f, 1, 1);
    CHECK(opens(&f)); /* long, but below the specification's 65535 */
    put_key_file(&f), bytes_u64(&f, 65536);
    for (int i = 0; i < 65536; i++) bytes_number(&f, 'k', 1);
    bytes_u32(&f, META_U8), bytes_number(&f, 1, 1);
    CHECK(refused(&f, "metadata key 1 is empty, too long or not text"));
}

static void test_gguf_bad_header(void) {
    static Bytes f;
    static const uint32_t alignments[] = {0, 3, 7, 48, 1u << 17, 1u << 30};
    put_gguf(&f, 1, 0, 0);
    CHECK(refused(&f, "version 1"));
    put_gguf(&f, 4, 0, 0);
    CHECK(refused(&f, "version 4"));
    put_gguf(&f, 0x03000000, 0, 0);
    CHECK(refused(&f, "big-endian"));
    put_gguf(&f, 3, UINT64_MAX, 0);
    CHECK(refused(&f, "more tensors are announced"));
    put_gguf(&f, 3, 0, 1ull << 60);
    CHECK(refused(&f, "more keys are announced"));
    for (int tensors = 0; tensors < 2; tensors++) { /* there is room in the file, and not here */
        put_gguf(&f, 3, tensors ? 131073 : 0, tensors ? 0 : 131073);
        for (int i = 0; i < 131073 * 24 / 8; i++) bytes_u64(&f, 0);
        CHECK(refused(&f, "more than 131072 keys or tensors: no model has so many"));
    }
    for (size_t i = 0; i < sizeof alignments / sizeof *alignments; i++) {
        put_key_file(&f), put_key(&f, "general.alignment", META_U32, alignments[i], 4);
        CHECK(refused(&f, "power of two"));
    }
    put_key_file(&f), put_key(&f, "general.alignment", META_U64, 32, 8);
    CHECK(refused(&f, "must be a u32"));
    put_key_file(&f), put_key(&f, "k", META_U8, 1, 1);
    for (int i = 0; i < 32; i++) bytes_number(&f, 0, 1);
    CHECK(refused(&f, "32 bytes stand behind"));
    put_key_file(&f), put_key(&f, "split.count", META_U16, 3, 2);
    CHECK(refused(&f, "split.no"));
}

static void test_gguf_bad_tensors(void) {
    static Bytes f;
    put_tensor_file(&f, 1, 8, 0, TENSOR_F32, 0, 32);
    CHECK(opens(&f));
    put_tensor_file(&f, 0, 0, 0, TENSOR_F32, 0, 4);
    CHECK(refused(&f, "padding behind its bytes is missing"));
    bytes_pad(&f, 32);
    CHECK(opens(&f)); /* a scalar */
    put_tensor_file(&f, 1, 8, 0, TENSOR_F32, 0, 31);
    CHECK(refused(&f, "tensor t: its bytes reach past the end"));
    put_tensor_file(&f, 1, 8, 0, TENSOR_F32, 0, 64);
    CHECK(refused(&f, "32 bytes stand behind the last tensor"));
    put_tensor_file(&f, 1, 8, 0, TENSOR_F32, 16, 64);
    CHECK(refused(&f, "multiple of the file's alignment"));
    put_tensor_file(&f, 1, 8, 0, TENSOR_F32, UINT64_MAX - 31, 32);
    CHECK(refused(&f, "past the end"));
    put_tensor_file(&f, 5, 1, 1, TENSOR_F32, 0, 4);
    CHECK(refused(&f, "more than 4 dimensions"));
    put_tensor_file(&f, 1, 0, 0, TENSOR_F32, 0, 4);
    CHECK(refused(&f, "a dimension is 0"));
    put_tensor_file(&f, 2, 1ull << 32, 1ull << 32, TENSOR_F32, 0, 4);
    CHECK(refused(&f, "larger than any file"));
    put_tensor_file(&f, 2, 1ull << 31, 1ull << 31, TENSOR_F32, 0, 4);
    CHECK(refused(&f, "larger than any file"));
    put_tensor_file(&f, 1, 33, 0, TENSOR_Q8_0, 0, 68);
    CHECK(refused(&f, "whole blocks"));
    put_tensor_file(&f, 1, 8, 0, 31, 0, 32);
    CHECK(refused(&f, "type 31 is not known"));
    put_tensor_file(&f, 1, 8, 0, TENSOR_I8_GROUPS, 0, 32);
    CHECK(refused(&f, "type 1000 is not known"));
    put_tensor_file(&f, 1, 256, 0, 14, 0, 224);
    CHECK(opens(&f)); /* Q6_K: known by name and size */
    put_gguf(&f, 3, 1, 0), put_tensor(&f, "", 1, 1, 0, TENSOR_F32, 0), bytes_pad(&f, 32), bytes_u32(&f, 0);
    CHECK(refused(&f, "name is empty"));
    put_gguf(&f, 3, 1, 0), put_tensor(&f, "\xc0\xaf", 1, 1, 0, TENSOR_F32, 0), bytes_pad(&f, 32), bytes_u32(&f, 0);
    CHECK(refused(&f, "not text"));
    put_gguf(&f, 3, 2, 0), put_tensor(&f, "a", 1, 1, 0, TENSOR_F32, 0), put_tensor(&f, "a", 1, 1, 0, TENSOR_F32, 32),
        bytes_pad(&f, 32), put_floats(&f, 9, 0), bytes_pad(&f, 32);
    CHECK(refused(&f, "tensor a stands twice"));
    put_gguf(&f, 3, 2, 0), put_tensor(&f, "a", 1, 16, 0, TENSOR_F32, 0), put_tensor(&f, "b", 1, 1, 0, TENSOR_F32, 32),
        bytes_pad(&f, 32), put_floats(&f, 16, 0);
    CHECK(refused(&f, "tensors a and b share bytes"));
    put_gguf(&f, 3, 2, 0), put_tensor(&f, "a", 1, 1, 0, TENSOR_F32, 0), put_tensor(&f, "b", 1, 1, 0, TENSOR_F32, 0),
        bytes_pad(&f, 32), put_floats(&f, 8, 0);
    CHECK(refused(&f, "share bytes"));
}

static void test_gguf_cut_and_flipped(void) {
    static Bytes f;
    put_tensor_file(&f, 1, 8, 0, TENSOR_F32, 0, 32); /* its list ends at 57, its tensor begins at 64 */
    cut_everywhere(&f);
    f.n = 60;
    CHECK(refused(&f, "padding before the tensors"));
    good_gguf(&f, 3);
    cut_everywhere(&f);
    flip_everywhere(&f, open_bytes);
}

/* ---- split GGUF ---- */

/* Shard `no` holds one tensor, shard<no>, whose only value is no. */
static void shard(Bytes *f, uint64_t no, uint64_t count, uint64_t total) {
    char name[20];
    snprintf(name, sizeof name, "shard%d", (int)no);
    put_gguf(f, 3, 1, 4);
    put_key(f, "split.no", META_U16, no, 2);
    put_key(f, "split.count", META_U16, count, 2);
    put_key(f, "split.tensors.count", META_I32, total, 4);
    put_key(f, name, META_U8, 1, 1);
    put_tensor(f, name, 1, 1, 0, TENSOR_F32, 0);
    bytes_pad(f, 32);
    put_floats(f, 1, (float)no);
    bytes_pad(f, 32);
}

static const char *shard_name(char *buffer, size_t n, int no) {
    snprintf(buffer, n, "%s-%05d-of-00003.gguf", test_tmp("s"), no + 1);
    return buffer;
}

static void save_shards(void) {
    static Bytes f;
    char path[600];
    for (int no = 0; no < 3; no++) {
        shard(&f, (uint64_t)no, 3, 3);
        CHECK(save(shard_name(path, sizeof path, no), f.data, f.n));
    }
}

static void test_gguf_split(void) {
    char path[600], err[900] = "";
    save_shards();
    for (int given = 0; given < 3; given++) {
        Weights w;
        CHECK(weights_open(&w, shard_name(path, sizeof path, given), err, sizeof err) == 0);
        CHECK(w.n_tensors == 3 && w.n_files == 3 && w.n_meta == 4 && weights_meta(&w, "shard0") &&
              !weights_meta(&w, "shard2"));
        for (int no = 0; no < 3; no++) {
            char name[20];
            snprintf(name, sizeof name, "shard%d", no);
            const Tensor *t = weights_find(&w, name);
            CHECK(t && t == &w.tensors[no] && load_f32(t->data) == (float)no);
        }
        weights_close(&w);
    }
}

/* A name that is shorter than what a part's name ends in. */
static void test_gguf_split_short(void) {
    static Bytes f;
    char run_path[1000];
    shard(&f, 0, 3, 3);
    CHECK(save(test_tmp("m"), f.data, f.n) && realpath(test_run_path(), run_path));
    CHECK(shell("cd %s && %s logits m --ids 1", test_tmp(""), run_path) == 1);
    CHECK(said_line("m: part 1 of 3 of a split file, but its name does not end in -00001-of-00003.gguf"));
}

static void test_gguf_split_refused(void) {
    static Bytes f;
    char path[600], other[600];
    save_shards();
    shard(&f, 0, 3, 3);
    CHECK(refused(&f, "opens by its path only"));
    CHECK(save(test_tmp("renamed.gguf"), f.data, f.n) &&
          refused_path(test_tmp("renamed.gguf"), "-00001-of-00003.gguf"));
    shard_name(path, sizeof path, 1);
    shard_name(other, sizeof other, 0);
    CHECK(save(path, f.data, f.n) && refused_path(other, "says it is part 1 of 3"));
    shard(&f, 1, 4, 3);
    CHECK(save(path, f.data, f.n) && refused_path(other, "says it is part 2 of 4"));
    shard(&f, 9, 3, 3);
    CHECK(save(path, f.data, f.n) && refused_path(path, "part 10 of 3"));
    CHECK(remove(path) == 0 && refused_path(other, "s-00002-of-00003.gguf: part 2 of 3 is missing"));
    shard(&f, 0, 3, 4);
    CHECK(save(other, f.data, f.n));
    shard(&f, 1, 3, 4);
    CHECK(save(path, f.data, f.n) && refused_path(other, "split.tensors.count says 4"));
    put_gguf(&f, 3, 0, 2), put_key(&f, "split.no", META_U16, 1, 2), put_key(&f, "split.count", META_U16, 3, 2);
    CHECK(refused(&f, "split.tensors.count"));
    put_gguf(&f, 3, 0, 1), put_key(&f, "split.count", META_U16, 3, 2);
    CHECK(save(path, f.data, f.n) && refused_path(other, "00002-of-00003.gguf: a part of a split file, but its key "
                                                  "split.no is missing"));
    put_gguf(&f, 3, 0, 1), put_key(&f, "split.no", META_U16, 1, 2);
    CHECK(save(path, f.data, f.n) && refused_path(other, "its key split.count is missing"));
    CHECK(save(path, f.data, 20) && refused_path(other, "00002-of-00003.gguf: the file ends inside its header"));
    put_gguf(&f, 3, 0, 3), put_key(&f, "split.no", META_U16, 0, 2), put_key(&f, "split.count", META_U32, 100000, 4);
    put_key(&f, "split.tensors.count", META_I32, 3, 4);
    CHECK(save(other, f.data, f.n) && refused_path(other, "part 1 of 100000 of a split file, but its name"));
    save_shards();
    shard(&f, 1, 3, 3);
    CHECK(save(path, f.data, f.n - 1) && refused_path(other, "truncated, fetch it again"));
    shard(&f, 1, 3, 3); /* the same name in two shards */
    for (size_t i = 0; i + 6 <= f.n; i++)
        if (memcmp(f.data + i, "shard1", 6) == 0) f.data[i + 5] = '0';
    CHECK(save(path, f.data, f.n) && refused_path(other, "tensor shard0 stands twice"));
}


/* ---- real files ---- */

static void test_gguf_data(void) {
    static const struct { const char *name; uint64_t tokens; } vocabularies[] = {
        {"bert-bge", 30522}, {"falcon", 65024}, {"gpt-2", 50257}, {"llama-spm", 32000}, {"phi-3", 32064},
    };
    Weights w;
    for (size_t i = 0; i < sizeof vocabularies / sizeof *vocabularies; i++) {
        char name[80];
        snprintf(name, sizeof name, "gguf-vocab/ggml-vocab-%s.gguf", vocabularies[i].name);
        if (!open_data(&w, name)) continue;
        const MetaValue *tokens = weights_meta(&w, "tokenizer.ggml.tokens");
        CHECK(w.n_tensors == 0 && tokens && tokens->n == vocabularies[i].tokens);
        read_all(&w);
        weights_close(&w);
    }
    if (open_data(&w, "tales/tales-1m.gguf")) {
        const Tensor *t = weights_find(&w, "token_embd.weight");
        CHECK(t && t->type == TENSOR_Q8_0 && t->shape[0] == 1024 && t->shape[1] == 128 &&
              t->size == 1024 * 128 / 32 * 34);
        read_all(&w);
        weights_close(&w);
    }
}

const Test tests_readers_gguf[] = {
    {"readers/gguf_good", test_gguf_good},
    {"readers/gguf_bad_keys", test_gguf_bad_keys},
    {"readers/gguf_bad_header", test_gguf_bad_header},
    {"readers/gguf_bad_tensors", test_gguf_bad_tensors},
    {"readers/gguf_cut_and_flipped", test_gguf_cut_and_flipped},
    {"readers/gguf_split", test_gguf_split},
    {"readers/gguf_split_refused", test_gguf_split_refused},
    {"readers/gguf_split_short", test_gguf_split_short},
    {"readers/gguf_data", test_gguf_data},
    {0},
};
