/* tests/test_quantize_types.c - weights-tools/quantize: which type a tensor gets in a model of experts, in one of 80
 * layers, under an odd name; and what has no room in a row, said kind by kind. */
#include "decoder_files.h"
#include "model/layers/layers.h"
#include "program.h"
#include "quantize_files.h"
#include "reader_files.h"
#include "test.h"
#include "weights-tools/mixture.h"

#include <stdlib.h>
#include <string.h>

static void add(Source *s, const char *name, size_t cols, TensorType type) {
    static const float zeros[4096];
    Item i = {.n_dims = 2, .shape = {2, cols}, .rows = 2, .cols = cols};
    i.from = (Matrix){.type = type, .rows = 2, .cols = cols, .data = zeros};
    CHECK(source_add(s, name, &i) == 0);
}

/* Expected of one tensor with rows of 256: by llama_tensor_get_type (llama.cpp's src/llama-quant.cpp), where it has the
 * architecture. */
static const struct {
    const char *mixture, *arch;
    int layers, experts;
    const char *name;
    TensorType from, to;
    int kv_heads; /* of four; 0: four */
} types[] = {
    {"Q4_K_S", "llama", 24, 0, "blk.3.attn_v.weight", TENSOR_F32, TENSOR_Q5_K, 0},
    {"Q4_K_S", "llama", 24, 0, "blk.4.attn_v.weight", TENSOR_F32, TENSOR_Q4_K, 0},
    {"Q4_K_S", "llama", 24, 0, "blk.2.ffn_down.weight", TENSOR_F32, TENSOR_Q5_K, 0},
    {"Q4_K_S", "llama", 24, 0, "blk.3.ffn_down.weight", TENSOR_F32, TENSOR_Q4_K, 0},
    {"Q4_K_S", "llama", 24, 0, "blk.0.ffn_up.weight", TENSOR_F32, TENSOR_Q4_K, 0},
    {"Q4_K_S", "mixtral", 24, 8, "blk.9.attn_output.weight", TENSOR_F32, TENSOR_Q5_K, 0},
    {"Q5_K_S", "llama", 24, 0, "blk.0.attn_v.weight", TENSOR_F32, TENSOR_Q5_K, 0},
    {"Q5_1", "llama", 24, 0, "blk.0.attn_v.weight", TENSOR_F32, TENSOR_Q5_1, 0},
    {"Q5_0", "llama", 24, 0, "blk.0.ffn_down.weight", TENSOR_F32, TENSOR_Q5_0, 0},
    {"Q4_1", "llama", 24, 0, "blk.0.attn_output.weight", TENSOR_F32, TENSOR_Q4_1, 0},
    {"IQ4_NL", "llama", 24, 0, "blk.9.attn_v.weight", TENSOR_F32, TENSOR_IQ4_NL, 2},
    {"IQ4_NL", "llama", 24, 0, "blk.9.attn_v.weight", TENSOR_F32, TENSOR_Q5_K, 1},
    {"IQ4_XS", "llama", 24, 0, "blk.9.attn_v.weight", TENSOR_F32, TENSOR_Q5_K, 1},
    {"IQ4_XS", "llama", 24, 0, "blk.2.ffn_down.weight", TENSOR_F32, TENSOR_Q5_K, 0},
    {"IQ4_XS", "llama", 24, 0, "blk.3.ffn_down.weight", TENSOR_F32, TENSOR_IQ4_XS, 0},
    {"IQ4_XS", "mixtral", 24, 8, "blk.9.attn_output.weight", TENSOR_F32, TENSOR_Q5_K, 0},
    {"Q3_K_L", "llama", 24, 0, "blk.9.attn_v.weight", TENSOR_F32, TENSOR_Q5_K, 0},
    {"Q3_K_L", "llama", 24, 0, "blk.9.ffn_down.weight", TENSOR_F32, TENSOR_Q5_K, 0},
    {"Q3_K_L", "llama", 24, 0, "blk.9.attn_output.weight", TENSOR_F32, TENSOR_Q5_K, 0},
    {"Q3_K_L", "mixtral", 24, 8, "blk.9.attn_output.weight", TENSOR_F32, TENSOR_Q3_K, 0},
    {"Q3_K_M", "llama", 32, 0, "blk.1.attn_v.weight", TENSOR_F32, TENSOR_Q5_K, 0},
    {"Q3_K_M", "llama", 32, 0, "blk.2.attn_v.weight", TENSOR_F32, TENSOR_Q4_K, 0},
    {"Q3_K_M", "llama", 32, 0, "blk.1.ffn_down.weight", TENSOR_F32, TENSOR_Q5_K, 0},
    {"Q3_K_M", "llama", 32, 0, "blk.2.ffn_down.weight", TENSOR_F32, TENSOR_Q4_K, 0},
    {"Q3_K_M", "llama", 32, 0, "blk.2.attn_output.weight", TENSOR_F32, TENSOR_Q4_K, 0},
    {"Q3_K_M", "llama", 32, 0, "blk.2.attn_q.weight", TENSOR_F32, TENSOR_Q3_K, 0},
    {"Q3_K_M", "mixtral", 24, 8, "blk.9.attn_output.weight", TENSOR_F32, TENSOR_Q5_K, 0},
    {"Q3_K_M", "qwen2", 80, 0, "blk.10.attn_v.weight", TENSOR_F32, TENSOR_Q5_K, 0},
    {"Q3_K_S", "llama", 24, 0, "blk.0.attn_v.weight", TENSOR_F32, TENSOR_Q3_K, 0},
    {"Q3_K_S", "qwen2", 80, 0, "blk.10.attn_v.weight", TENSOR_F32, TENSOR_Q5_K, 0},
    {"Q2_K", "llama", 24, 0, "blk.9.attn_v.weight", TENSOR_F32, TENSOR_Q3_K, 2},
    {"Q2_K", "llama", 24, 0, "blk.9.attn_v.weight", TENSOR_F32, TENSOR_Q4_K, 1},
    {"Q2_K", "llama", 24, 0, "blk.9.ffn_down.weight", TENSOR_F32, TENSOR_Q3_K, 0},
    {"Q2_K", "llama", 24, 0, "blk.9.attn_output.weight", TENSOR_F32, TENSOR_Q3_K, 0},
    {"Q2_K", "llama", 24, 0, "blk.9.attn_k.weight", TENSOR_F32, TENSOR_Q2_K, 0},
    {"Q4_K_M", "mixtral", 24, 8, "blk.3.attn_output.weight", TENSOR_F32, TENSOR_Q5_K, 0},
    {"Q5_K_M", "mixtral", 24, 8, "blk.3.attn_output.weight", TENSOR_F32, TENSOR_Q5_K, 0},
    {"Q6_K", "mixtral", 24, 8, "blk.3.attn_output.weight", TENSOR_F32, TENSOR_Q6_K, 0},
    {"Q4_K_M", "mixtral", 24, 8, "blk.3.attn_v.weight", TENSOR_F32, TENSOR_Q8_0, 0},
    {"Q4_0", "mixtral", 24, 8, "blk.3.attn_k.weight", TENSOR_F32, TENSOR_Q8_0, 0},
    {"Q4_K_M", "mixtral", 24, 8, "blk.3.attn_qkv.weight", TENSOR_F32, TENSOR_Q8_0, 0},
    {"Q4_K_M", "mixtral", 24, 8, "blk.3.attn_q.weight", TENSOR_F32, TENSOR_Q4_K, 0},
    {"Q4_K_M", "mixtral", 24, 4, "blk.3.attn_output.weight", TENSOR_F32, TENSOR_Q4_K, 0},
    {"Q4_K_M", "mixtral", 24, 4, "blk.3.attn_k.weight", TENSOR_F32, TENSOR_Q4_K, 0},
    {"F16", "mixtral", 24, 8, "blk.3.attn_v.weight", TENSOR_F32, TENSOR_F16, 0},
    {"Q4_K_M", "qwen2", 80, 0, "blk.10.attn_v.weight", TENSOR_F32, TENSOR_Q5_K, 0},
    {"Q4_K_M", "qwen3", 80, 0, "blk.10.attn_v.weight", TENSOR_F32, TENSOR_Q4_K, 0},
    {"Q4_K_M", "roformer", 24, 0, "mlm.decoder.weight", TENSOR_F32, TENSOR_Q6_K, 0},
    {"Q4_K_M", "llama", 24, 0, "v.attn_v.weight", TENSOR_F32, TENSOR_Q6_K, 0}, /* no layer's: the first one's */
    {"Q4_K_M", "llama", 24, 0, "blk.99999999999999999999.attn_v.weight", TENSOR_F32, TENSOR_Q6_K, 0}, /* after all */
    {"Q8_0", "gpt-oss", 24, 0, "blk.3.ffn_up_exps.weight", TENSOR_MXFP4, TENSOR_MXFP4, 0},
    {"Q4_K_M", "gpt-oss", 24, 0, "blk.3.ffn_up_exps.weight", TENSOR_MXFP4, TENSOR_MXFP4, 0},
    {"BF16", "gpt-oss", 24, 0, "blk.3.ffn_up_exps.weight", TENSOR_MXFP4, TENSOR_BF16, 0},
};

static void by_name(void) {
    const Report quiet = {0};
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        Decoder decoder = {.n_experts = types[i].experts};
        Source s = {.config = {.n_layers = types[i].layers, .n_heads = 4,
                               .n_kv_heads = types[i].kv_heads ? types[i].kv_heads : 4}};
        if (types[i].experts) s.config.decoder = &decoder;
        snprintf(s.config.arch, sizeof s.config.arch, "%s", types[i].arch);
        add(&s, types[i].name, 256, types[i].from);
        add(&s, "output.weight", 256, TENSOR_F32);
        CHECK(mixture_apply(mixture_find(types[i].mixture), &s, &quiet) == 0);
        if (s.items[0].type != (int)types[i].to)
            printf("    %s, %s: %s\n", types[i].mixture, types[i].name, quant_format(s.items[0].type)->name);
        CHECK(s.items[0].type == (int)types[i].to);
        source_close(&s);
    }
}

/* ---- what has no room in a row ---- */

typedef struct { size_t n, more; char first[300], last[300]; } Said;

static void keep_line(void *arg, const char *line) {
    Said *x = arg;
    if (x->n++ == 0) snprintf(x->first, sizeof x->first, "%s", line);
    snprintf(x->last, sizeof x->last, "%s", line);
}

/* A line for each width and type; of more than 32 kinds one more line counts the rest. */
static void kinds(void) {
    Said x = {.n = 0};
    Source s = {.config = {.n_layers = 24}};
    for (int i = 0; i < 40; i++) {
        char name[40];
        snprintf(name, sizeof name, "blk.%d.attn_q.weight", i);
        add(&s, name, 33 + 2 * (size_t)i, TENSOR_F32);
    }
    add(&s, "blk.5.attn_k.weight", 64, TENSOR_F32); /* 32 divides these */
    add(&s, "output.weight", 256, TENSOR_F32);
    CHECK(mixture_apply(mixture_find("Q4_K_M"), &s, &(Report){.note = keep_line, .arg = &x}) == 41);
    CHECK(x.n == 33);
    CHECK(strcmp(x.first, "blk.0.attn_q.weight: rows of 33 are no whole blocks of Q4_K: F16 instead") == 0);
    CHECK(strcmp(x.last, "9 tensors more have rows that are no whole blocks either") == 0);
    source_close(&s);
}

/* What a row of 64 gets, which 32 divides. */
static void fallbacks(void) {
    static const struct { const char *mixture; TensorType to; } rows[] = {
        {"Q2_K", TENSOR_Q4_0}, {"Q3_K_S", TENSOR_Q4_0}, {"Q4_K_M", TENSOR_Q5_0}, {"Q5_K_S", TENSOR_Q5_1},
        {"Q6_K", TENSOR_Q8_0}, {"IQ4_XS", TENSOR_IQ4_NL}, {"IQ4_NL", TENSOR_IQ4_NL}, {"Q4_1", TENSOR_Q4_1}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        Source s = {.config = {.n_layers = 24, .n_heads = 4, .n_kv_heads = 4}};
        add(&s, "blk.9.attn_q.weight", 64, TENSOR_F32);
        add(&s, "output.weight", 256, TENSOR_F32);
        size_t fell = mixture_apply(mixture_find(rows[i].mixture), &s, &(Report){0});
        CHECK(s.items[0].type == (int)rows[i].to && fell == (i < 6) && s.items[1].type == TENSOR_Q6_K);
        source_close(&s);
    }
}

/* llama.cpp's LLAMA_FTYPE (llama.h). */
static void file_types(void) {
    static const struct { const char *name; int file_type; } rows[] = {
        {"F32", 0}, {"F16", 1}, {"Q4_0", 2}, {"Q4_1", 3}, {"Q8_0", 7}, {"Q5_0", 8}, {"Q5_1", 9}, {"Q2_K", 10},
        {"Q3_K_S", 11}, {"Q3_K_M", 12}, {"Q3_K_L", 13}, {"Q4_K_S", 14}, {"Q4_K_M", 15}, {"Q5_K_S", 16}, {"Q5_K_M", 17},
        {"Q6_K", 18}, {"IQ4_NL", 25}, {"IQ4_XS", 30}, {"BF16", 32}};
    size_t n = 0;
    while (mixture_row((int)n)) n++;
    CHECK(n == sizeof rows / sizeof *rows);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const Mixture *m = mixture_find(rows[i].name);
        CHECK(m && m->file_type == rows[i].file_type);
    }
}

/* ---- types that are only copied ---- */

/* A tensor's entry gets another type, whose rows have fewer bytes. */
static void retype(const char *path, const char *tensor, uint8_t type) {
    size_t n = 0, at = 24, len = strlen(tensor);
    char *bytes = file_read(path, &n);
    while (bytes && at + len + 40 < n && (memcmp(bytes + at, tensor, len) != 0 || bytes[at - 8] != (char)len)) at++;
    CHECK(bytes && at + len + 40 < n && bytes[at + len] == 2);
    if (bytes) bytes[at + len + 4 + 16] = (char)type, file_write(path, bytes, n);
    free(bytes);
}

static void only_copied(void) {
    char from[4096], to[4096];
    Weights a, b;
    char err[300];
    snprintf(from, sizeof from, "%s", at("copied.gguf"));
    snprintf(to, sizeof to, "%s", at("copied-new.gguf"));
    build_gguf(from, &quantize_wide, TENSOR_Q8_0);
    retype(from, "blk.1.ffn_up.weight", 24);
    remove(to);
    CHECK(tool("", "quantize", "%s %s Q4_0 -q", from, to) == 1 &&
          said_line("copied.gguf: tensor blk.1.ffn_up.weight: its type I8 is not read here"));
    CHECK(tool("", "convert", "%s %s -q --type f16", from, to) == 1 && said_line("its type I8 is not read here"));
    CHECK(weights_open(&a, to, err, sizeof err) != 0);
    CHECK(tool("", "convert", "%s %s -q", from, to) == 0);
    if (weights_open(&a, from, err, sizeof err) == 0) {
        CHECK(weights_open(&b, to, err, sizeof err) == 0 && same_tensors(&a, &b));
        weights_close(&b);
        weights_close(&a);
    }
}

const Test tests_quantize_types[] = {
    {"quantize/types by name", by_name},
    {"quantize/kinds of fallbacks", kinds},
    {"quantize/fallbacks", fallbacks},
    {"quantize/file types", file_types},
    {"quantize/types that are only copied", only_copied},
    {0},
};
