/* tests/test_nvfp4.c - the numbers that stand beside GGUF's matrices of NVFP4 (model/files/gguf_scales.h): dense ones,
 * three in one tensor, experts. Where such a number is a power of two, blocks whose own scales have it in their
 * exponents say the same, and logits must be the same to the bit. What they are in float64: tests/test_quantized.c. */
#include "build.h"
#include "kernels/rows.h"
#include "model/fingerprint.h"
#include "model/options.h"
#include "model/session.h"
#include "program.h"
#include "test.h"

#include <stdlib.h>
#include <string.h>

enum { D = 64, FF = 128, EXPERTS = 3, VOCAB = 70, EXPONENT = 5 };

/* experts 0: a tensor of two dimensions, or of one; as PyTorch counts. */
typedef struct {
    const char *name;
    TensorType type;
    size_t experts, rows, cols;
} Entry;

static const Entry entries[] = {
    {"token_embd.weight", TENSOR_NVFP4, 0, VOCAB, D}, {"output_norm.weight", TENSOR_F32, 0, 0, D},
    {"output.weight", TENSOR_NVFP4, 0, VOCAB, D},     {"output.scale", TENSOR_F32, 0, 0, 1},
    {"blk.0.attn_norm.weight", TENSOR_F32, 0, 0, D},  {"blk.0.ffn_norm.weight", TENSOR_F32, 0, 0, D},
    {"blk.0.attn_q.weight", TENSOR_NVFP4, 0, D, D},   {"blk.0.attn_q.scale", TENSOR_F32, 0, 0, 1},
    {"blk.0.attn_k.weight", TENSOR_NVFP4, 0, D, D},   {"blk.0.attn_v.weight", TENSOR_NVFP4, 0, D, D},
    {"blk.0.attn_k.scale", TENSOR_F32, 0, 0, 1},      {"blk.0.attn_k.input_scale", TENSOR_F32, 0, 0, 1},
    {"blk.0.attn_output.weight", TENSOR_NVFP4, 0, D, D},
    {"blk.0.ffn_gate_inp.weight", TENSOR_F32, 0, EXPERTS, D},
    {"blk.0.ffn_gate_exps.weight", TENSOR_NVFP4, EXPERTS, FF, D},
    {"blk.0.ffn_gate_exps.scale", TENSOR_F32, 0, 0, EXPERTS},
    {"blk.0.ffn_up_exps.weight", TENSOR_NVFP4, EXPERTS, FF, D},
    {"blk.0.ffn_up_exps.scale", TENSOR_F32, 0, 0, EXPERTS},
    {"blk.0.ffn_down_exps.weight", TENSOR_NVFP4, EXPERTS, D, FF},
    {"blk.0.ffn_down_exps.scale", TENSOR_F32, 0, 0, EXPERTS},
    {"blk.0.ffn_down_exps.input_scale", TENSOR_F32, 0, 0, EXPERTS},
};
static const Entry fused[] = {
    {"token_embd.weight", TENSOR_NVFP4, 0, VOCAB, D}, {"output_norm.weight", TENSOR_F32, 0, 0, D},
    {"blk.0.attn_norm.weight", TENSOR_F32, 0, 0, D},  {"blk.0.ffn_norm.weight", TENSOR_F32, 0, 0, D},
    {"blk.0.attn_qkv.weight", TENSOR_NVFP4, 0, 3 * D, D}, {"blk.0.attn_qkv.scale", TENSOR_F32, 0, 0, 1},
    {"blk.0.attn_output.weight", TENSOR_NVFP4, 0, D, D},
    {"blk.0.ffn_gate.weight", TENSOR_NVFP4, 0, FF, D}, {"blk.0.ffn_up.weight", TENSOR_NVFP4, 0, FF, D},
    {"blk.0.ffn_down.weight", TENSOR_NVFP4, 0, D, FF}, {"blk.0.ffn_down.scale", TENSOR_F32, 0, 0, 1},
};

static int is_scale(const char *name) { return strstr(name, "scale") != NULL; }

/* The power of two that matrix e of `stem`.weight is multiplied by. */
static int power(const char *stem, size_t e) { return name_value(stem, e) % 4; }

static int has_scale(const Entry *all, size_t n, const char *stem) {
    char name[120];
    snprintf(name, sizeof name, "%s.scale", stem);
    for (size_t i = 0; i < n; i++)
        if (strcmp(all[i].name, name) == 0) return 1;
    return 0;
}

/* apart: the powers stand in tensors of their own; else in the blocks. */
static void put_values(Bytes *b, const Entry *all, size_t n, const Entry *t, int apart) {
    char stem[100];
    snprintf(stem, sizeof stem, "%.*s", (int)(strrchr(t->name, '.') - t->name), t->name);
    size_t values = (t->experts ? t->experts : 1) * (t->rows ? t->rows : 1) * t->cols, each = t->rows * t->cols / 64;
    int shifted = !apart && has_scale(all, n, stem);
    for (size_t i = 0; t->type == TENSOR_F32 && i < values; i++)
        bytes_f32(b, is_scale(t->name) ? ldexpf(1, power(stem, i))
                                       : (strstr(t->name, "_norm.") ? 1 : (float)name_value(t->name, i) / 256));
    for (size_t i = 0; t->type == TENSOR_NVFP4 && i < values / 64; i++)
        for (size_t k = 0; k < 36; k++) {
            unsigned byte = (unsigned)(name_hash(t->name, i * 36 + k) >> 40 & 255);
            int exponent = EXPONENT + (shifted ? power(stem, i / each) : 0);
            bytes_u8(b, k < 4 ? (byte & 7) | (unsigned)exponent << 3 : byte);
        }
}

static void put_key(Bytes *b, const char *key, uint32_t v) {
    bytes_string(b, key), bytes_u32(b, META_U32), bytes_u32(b, v);
}

static void put_head(Bytes *b, size_t n, int experts) {
    bytes_put(b, "GGUF", 4), bytes_u32(b, 3), bytes_u64(b, n), bytes_u64(b, experts ? 10 : 8);
    bytes_string(b, "general.architecture"), bytes_u32(b, META_STRING), bytes_string(b, "llama");
    put_key(b, "llama.block_count", 1), put_key(b, "llama.embedding_length", D);
    put_key(b, "llama.feed_forward_length", FF), put_key(b, "llama.attention.head_count", 4);
    put_key(b, "llama.context_length", 32), put_key(b, "llama.vocab_size", VOCAB);
    if (experts) put_key(b, "llama.expert_count", EXPERTS), put_key(b, "llama.expert_used_count", 2);
    bytes_string(b, "llama.attention.layer_norm_rms_epsilon"), bytes_u32(b, META_F32), bytes_f32(b, 1e-5f);
}

/* A file of these n entries. */
static Bytes file_of(const Entry *all, size_t n, int experts, int apart) {
    Bytes head = {0}, data = {0};
    size_t kept = 0;
    for (size_t i = 0; i < n; i++) kept += apart || !is_scale(all[i].name);
    put_head(&head, kept, experts);
    for (size_t i = 0; i < n; i++) {
        const Entry *t = &all[i];
        if (!apart && is_scale(t->name)) continue;
        bytes_string(&head, t->name), bytes_u32(&head, t->experts ? 3 : t->rows ? 2 : 1), bytes_u64(&head, t->cols);
        if (t->rows) bytes_u64(&head, t->rows);
        if (t->experts) bytes_u64(&head, t->experts);
        bytes_u32(&head, t->type), bytes_u64(&head, data.n);
        put_values(&data, all, n, t, apart);
        bytes_pad(&data, 32);
    }
    bytes_pad(&head, 32);
    bytes_put(&head, data.data, data.n);
    free(data.data);
    return head;
}

static void logits_of(float *to, const Bytes *file, const Kernels *k) {
    static const int ids[] = {3, 1, 4, 15, 9, 26, 5};
    Model m;
    Session s = {0};
    char err[300] = "";
    const float *logits = NULL;
    int rc = model_open_memory(&m, file->data, file->n, "nvfp4", &(ModelOptions){.kernels = k}, err, sizeof err);
    if (rc == 0) rc = session_init(&s, &m, NULL, err, sizeof err);
    if (rc == 0) rc = session_eval(&s, ids, 7, &logits, err, sizeof err);
    if (rc) printf("    %s\n", err);
    CHECK(rc == 0);
    if (rc == 0) memcpy(to, logits, VOCAB * sizeof *to);
    session_free(&s);
    model_close(&m);
}

static void same_logits(const Entry *all, size_t n, int experts) {
    Bytes apart = file_of(all, n, experts, 1), within = file_of(all, n, experts, 0);
    const Kernels *k;
    for (int i = 0; (k = kernels_row(i)); i++) {
        float a[VOCAB] = {0}, b[VOCAB] = {1};
        double sum = 0;
        logits_of(a, &apart, k), logits_of(b, &within, k);
        CHECK(memcmp(a, b, sizeof a) == 0);
        for (int j = 0; j < VOCAB; j++) sum += fabs((double)a[j]);
        CHECK(sum > 1 && sum < 1e6);
    }
    free(apart.data), free(within.data);
}

static void test_experts(void) { same_logits(entries, sizeof entries / sizeof *entries, 1); }
static void test_fused(void) { same_logits(fused, sizeof fused / sizeof *fused, 0); }

static void test_refused(void) {
    static const struct { size_t at; Entry to; const char *line; } rows[] = {
        {3, {"output.scale", TENSOR_F32, 0, 0, 2}, "output.scale: not a number of F32 for each matrix"},
        {3, {"output.scale", TENSOR_NVFP4, 0, 0, 64}, "output.scale: not a number of F32 for each matrix"},
        {3, {"output.scale", TENSOR_F32, 0, 1, 1}, "output.scale: not a number of F32 for each matrix"},
        {15, {"blk.0.ffn_gate_exps.scale", TENSOR_F32, 0, 0, 1}, "ffn_gate_exps.scale: not a number of F32"},
        {3, {"blk.0.attn_norm.scale", TENSOR_F32, 0, 0, 1}, "attn_norm.scale: scales and biases of this kind"},
        {3, {"blk.0.ffn_gate_inp.scale", TENSOR_F32, 0, 0, 1}, "gate_inp.scale: scales and biases of this kind"}};
    enum { N = sizeof entries / sizeof *entries };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        Entry all[N];
        Model m;
        char err[300] = "";
        memcpy(all, entries, sizeof all);
        all[rows[i].at] = rows[i].to;
        Bytes file = file_of(all, N, 1, 1);
        CHECK(model_open_memory(&m, file.data, file.n, "nvfp4", NULL, err, sizeof err) != 0);
        if (!strstr(err, rows[i].line)) printf("    %s\n", err);
        CHECK(strstr(err, rows[i].line) != NULL);
        free(file.data);
    }
}

static uint64_t fingerprint_of(const Bytes *file) {
    Model m;
    char err[300];
    CHECK(model_open_memory(&m, file->data, file->n, "nvfp4", NULL, err, sizeof err) == 0);
    uint64_t print = model_fingerprint(&m);
    model_close(&m);
    return print;
}

/* A saved state finds its model by all that logits depend on. */
static void test_fingerprint(void) {
    Bytes file = file_of(entries, sizeof entries / sizeof *entries, 1, 1);
    Weights w;
    char err[300];
    CHECK(weights_open_memory(&w, file.data, file.n, "nvfp4", err, sizeof err) == 0);
    const Tensor *t = weights_find(&w, "blk.0.ffn_up_exps.scale");
    size_t last = t ? (size_t)(t->data - file.data) + 4 * (EXPERTS - 1) : 0;
    weights_close(&w);
    uint64_t before = fingerprint_of(&file);
    CHECK(last && before == fingerprint_of(&file));
    file.data[last + 2] ^= 1;
    CHECK(before != fingerprint_of(&file));
    free(file.data);
}

static size_t count(const char *path, int type, int scales) {
    char err[300];
    Weights w;
    size_t n = 0;
    CHECK(weights_open(&w, path, err, sizeof err) == 0);
    for (size_t i = 0; i < w.n_tensors; i++)
        n += scales ? is_scale(w.tensors[i].name) : w.tensors[i].type == type;
    weights_close(&w);
    return n;
}

/* Matrices of another type have their numbers in them; the others keep them. */
static void test_tools(void) {
    Bytes file = file_of(entries, sizeof entries / sizeof *entries, 1, 1);
    const char *from = test_tmp("nvfp4.gguf"), *to = test_tmp("nvfp4-to.gguf"), *f32 = test_tmp("nvfp4-f32.gguf");
    char *expected;
    file_write(from, file.data, file.n);
    CHECK(run("inspect %s", from) == 0 && strstr(out, "NVFP4") && strstr(out, "blk.0.ffn_down_exps.scale"));
    CHECK(tool("", "convert", "%s %s -q", from, to) == 0 && files_equal(from, to));
    CHECK(tool("", "convert", "%s %s -q --type f32", from, f32) == 0);
    CHECK(count(f32, TENSOR_NVFP4, 0) == 0 && count(f32, 0, 1) == 0 && count(from, 0, 1) == 8);
    CHECK(tool("", "quantize", "%s %s Q4_0 -q", from, to) == 0);
    CHECK(count(to, TENSOR_NVFP4, 0) == 0 && count(to, 0, 1) == 0 && count(to, TENSOR_Q4_0, 0) == 8);
    CHECK(tool("", "quantize", "%s %s Q8_0 -q", f32, to) == 0 && run("logits %s --ids 1,5,9 -q", to) == 0);
    expected = taken_out();
    CHECK(tool("", "quantize", "%s %s Q8_0 -q", from, to) == 0 && run("logits %s --ids 1,5,9 -q", to) == 0);
    CHECK(strcmp(out, expected) == 0);
    free(expected), free(file.data);
}

extern const Test tests_nvfp4[];
const Test tests_nvfp4[] = {
    {"nvfp4/experts", test_experts},
    {"nvfp4/fused", test_fused},
    {"nvfp4/refused", test_refused},
    {"nvfp4/fingerprint", test_fingerprint},
    {"nvfp4/tools", test_tools},
    {NULL, NULL},
};
