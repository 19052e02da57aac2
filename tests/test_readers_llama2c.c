/* tests/test_readers_llama2c.c - llama2.c's files, versions 0, 1 and 2. */
#include "reader_files.h"
#include "test.h"

#include <stdlib.h>
#include <string.h>

/* The value that stands first in a tensor of a file whose floats count up from 0 is its place. */
static void check_place(const Weights *w, const char *name, uint64_t rows, uint64_t cols, float first) {
    const Tensor *t = weights_find(w, name);
    CHECK(t != NULL);
    if (!t) return;
    CHECK(t->n_dims == (cols ? 2 : 1) && t->shape[0] == rows && (!cols || t->shape[1] == cols));
    CHECK(load_f32(t->data) == first);
}

/* What the header says, by GGUF's key for it. */
static int64_t header(const Weights *w, const char *key) {
    int64_t n;
    return meta_integer(weights_meta(w, key), &n) ? n : -1;
}

static void test_llama2c_places(void) {
    static Bytes f;
    char err[256];
    Weights w;
    good_llama2c(&f, 0, 0);
    CHECK(weights_open_memory(&w, f.data, f.n, "v0", err, sizeof err) == 0);
    CHECK(w.n_tensors == 9 * LLAMA2C_LAYERS + 3 && header(&w, "llama2c.version") == 0 && w.format == FORMAT_LLAMA2C);
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
    CHECK(weights_open_memory(&w, f.data, f.n, "v1", err, sizeof err) == 0);
    CHECK(header(&w, "llama2c.version") == 1 && header(&w, "llama.context_length") == LLAMA2C_SEQ &&
          !weights_find(&w, "output.weight"));
    check_place(&w, "blk.1.ffn_norm.weight", 4, 0, 12);
    check_place(&w, "output_norm.weight", 4, 0, 16);
    check_place(&w, "token_embd.weight", 5, 4, 20);
    check_place(&w, "blk.0.attn_q.weight", 4, 4, 40);
    weights_close(&w);
    good_llama2c(&f, 2, 0);
    CHECK(weights_open_memory(&w, f.data, f.n, "v2", err, sizeof err) == 0);
    const Tensor *e = weights_find(&w, "token_embd.weight"), *q = weights_find(&w, "blk.0.attn_q.weight");
    CHECK(e && e->type == TENSOR_I8_GROUPS && e->group == LLAMA2C_GROUP &&
          e->data == f.data + 256 + LLAMA2C_NORMS * 4 && e->scales == e->data + 20 && e->size == 20);
    CHECK(q && q->data == e->scales + 10 * 4);
    weights_close(&w);
}

static void test_llama2c_refused(void) {
    static Bytes f;
    static const struct { size_t field; int32_t value; const char *expected; } bad[] = {
        {0, 0, "dim and hidden_dim"}, {0, -4, "dim and hidden_dim"}, {1, 0, "dim and hidden_dim"},
        {2, 0, "n_layers"}, {2, 70000, "n_layers"},
        {3, 0, "n_heads must divide"}, {3, 3, "n_heads must divide"}, {3, 4, "must be even"},
        {4, 0, "n_kv_heads"}, {4, 4, "n_kv_heads"}, {4, -1, "n_kv_heads"},
        {5, 0, "vocab_size"}, {5, INT32_MIN, "vocab_size"}, {5, INT32_MAX, "vocab_size"}, {6, 0, "seq_len"},
        {2, 65536, "bytes"}, {1, 1 << 24, "bytes"}, {5, 1 << 24, "bytes"}, {5, 6, "bytes"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        for (uint32_t version = 0; version <= 2; version++) {
            good_llama2c(&f, version, 1);
            for (int b = 0; b < 4; b++)
                f.data[(version ? 8 : 0) + 4 * bad[i].field + (size_t)b] = (uint8_t)((uint32_t)bad[i].value >> (8 * b));
            CHECK(refused(&f, version || !strcmp(bad[i].expected, "bytes") ? bad[i].expected : "not a model file"));
        }
    good_llama2c(&f, 1, 1), f.data[4] = 3;
    CHECK(refused(&f, "llama2.c version 3"));
    good_llama2c(&f, 1, 1), f.data[36] = 2;
    CHECK(refused(&f, "shared-classifier byte"));
    for (uint32_t group = 0; group <= 8; group++) {
        good_llama2c(&f, 2, 1), f.data[37] = (uint8_t)group;
        if (group != LLAMA2C_GROUP) CHECK(refused(&f, group == 1 ? "bytes" : "group_size must divide"));
    }
    good_llama2c(&f, 2, 1); /* dim, hidden_dim and a group of 2^17 */
    for (int b = 0; b < 4; b++) f.data[8 + b] = f.data[12 + b] = f.data[37 + b] = (uint8_t)(1 << 17 >> 8 * b);
    CHECK(refused(&f, "group_size must be at most 65536"));
    for (uint32_t version = 0; version <= 2; version++) {
        good_llama2c(&f, version, 0), bytes_number(&f, 0, 1);
        CHECK(refused(&f, "truncated or not a model")); /* one byte too many */
    }
}

static void test_llama2c_cut_and_flipped(void) {
    static Bytes f;
    for (uint32_t version = 0; version <= 2; version++)
        for (int shared = 0; shared <= 1; shared++) {
            good_llama2c(&f, version, shared);
            CHECK(opens(&f));
            cut_everywhere(&f);
            flip_everywhere(&f, open_bytes);
        }
}

/* ---- real files ---- */

static void compare_tensors(const Weights *a, const Weights *b) {
    CHECK(a->n_tensors == b->n_tensors);
    for (size_t i = 0; i < a->n_tensors; i++) {
        const Tensor *t = &a->tensors[i], *u = weights_find(b, t->name);
        CHECK(u && u->size == t->size && memcmp(u->data, t->data, t->size) == 0 && u->n_dims == t->n_dims &&
              u->shape[0] == t->shape[0]);
    }
}

/* Every value of the int8 file is at most half a step, scale / 2, from the float file's. */
static void compare_quantized(const Weights *f32, const Weights *i8) {
    for (size_t i = 0; i < f32->n_tensors; i++) {
        const Tensor *t = &f32->tensors[i], *q = weights_find(i8, t->name);
        CHECK(q != NULL);
        if (!q || t->n_dims < 2) continue;
        Matrix m = {.type = TENSOR_I8_GROUPS, .group = q->group, .rows = q->shape[0], .cols = q->shape[1],
                    .data = q->data, .scales = q->scales};
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
    CHECK(header(&v0, "llama.embedding_length") == 64 && header(&v0, "llama.attention.head_count_kv") == 4 &&
          header(&v2, "llama2c.version") == 2 && weights_find(&v2, "token_embd.weight")->group == 4);
    compare_tensors(&v0, &v1);
    compare_quantized(&v0, &v2);
    weights_close(&v0);
    weights_close(&v1);
    weights_close(&v2);
}

const Test tests_readers_llama2c[] = {
    {"readers/llama2c_places", test_llama2c_places},
    {"readers/llama2c_refused", test_llama2c_refused},
    {"readers/llama2c_cut_and_flipped", test_llama2c_cut_and_flipped},
    {"readers/llama2c_data", test_llama2c_data},
    {0},
};
