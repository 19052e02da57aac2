/* tests/test_lora.c - adapters merged into a model's tensors, against the product written out; each refusal of a broken
 * one. tests/oracle/lora.py compares logits with peft's, and says what libllama gave. */
#include "build.h"
#include "decoder_files.h"
#include "model/lora.h"
#include "test.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { D = 32, RANK = 3 };
static const BuildShape shape = {.d = D, .ff = 64, .layers = 1, .heads = 4, .kv_heads = 4, .n_ctx = 32};
static char err[400];

static float a_of(size_t k, size_t c) { return (float)name_value("a", k * D + c) / 128; }
static float b_of(size_t r, size_t k) { return (float)name_value("b", r * RANK + k) / 128; }

static void put_factors(Bytes *b) {
    for (size_t k = 0; k < RANK; k++)
        for (size_t c = 0; c < D; c++) bytes_f32(b, a_of(k, c));
    for (size_t r = 0; r < D; r++)
        for (size_t k = 0; k < RANK; k++) bytes_f32(b, b_of(r, k));
}

/* A PEFT folder with one adapter, of the tensors that these words name; rows: of B. */
static const char *peft(const char *config, const char *down, const char *up, int rows) {
    const char *folder = test_folder("peft");
    char header[600];
    Bytes b = {0};
    snprintf(header, sizeof header,
             "{\"base_model.model.model.layers.0.self_attn.%s\":{\"dtype\":\"F32\",\"shape\":[%d,%d],\"data_offsets\":"
             "[0,%d]},\"base_model.model.model.layers.0.self_attn.%s\":{\"dtype\":\"F32\",\"shape\":[%d,%d],"
             "\"data_offsets\":[%d,%d]}}",
             down, RANK, D, RANK * D * 4, up, rows, RANK * D / rows, RANK * D * 4, 2 * RANK * D * 4);
    bytes_u64(&b, strlen(header));
    bytes_put(&b, header, strlen(header));
    put_factors(&b);
    file_write(test_in(folder, "adapter_model.safetensors"), b.data, b.n);
    file_write(test_in(folder, "adapter_config.json"), config, strlen(config));
    free(b.data);
    return folder;
}

static void gguf_word(Bytes *b, const char *key, const char *word) {
    bytes_string(b, key), bytes_u32(b, 8), bytes_string(b, word);
}

/* llama.cpp's form of the same, for the tensor `name`; shapes are written the other way round there. */
static const char *gguf(const char *arch, const char *name) {
    const char *path = test_tmp("adapter.gguf");
    Bytes b = {0};
    char factor[100];
    bytes_put(&b, "GGUF", 4), bytes_u32(&b, 3), bytes_u64(&b, 2), bytes_u64(&b, 4);
    gguf_word(&b, "general.architecture", arch);
    gguf_word(&b, "general.type", "adapter");
    gguf_word(&b, "adapter.type", "lora");
    bytes_string(&b, "adapter.lora.alpha"), bytes_u32(&b, 6), bytes_f32(&b, 6);
    for (int i = 0; i < 2; i++) {
        snprintf(factor, sizeof factor, "%s.lora_%c", name, "ab"[i]);
        bytes_string(&b, factor), bytes_u32(&b, 2);
        bytes_u64(&b, i ? RANK : D), bytes_u64(&b, i ? D : RANK);
        bytes_u32(&b, 0), bytes_u64(&b, i ? RANK * D * 4 : 0);
    }
    bytes_pad(&b, 32);
    put_factors(&b);
    file_write(path, b.data, b.n);
    free(b.data);
    return path;
}

/* model's tensor becomes W + by B A, in every other one not a bit changes. */
static void check_merged(const char *model, const char *name, const char *spec, double by) {
    Weights before, after;
    float was[D];
    CHECK(weights_open(&before, model, err, sizeof err) == 0 && weights_open(&after, model, err, sizeof err) == 0);
    CHECK(lora_merge(&after, spec, err, sizeof err) == 0);
    for (size_t i = 0; i < before.n_tensors; i++) {
        const Tensor *t = &before.tensors[i], *u = &after.tensors[i];
        if (strcmp(t->name, name) != 0) {
            CHECK(u->type == t->type && u->size == t->size && memcmp(u->data, t->data, t->size) == 0);
            continue;
        }
        Matrix w = {.type = (TensorType)t->type, .rows = D, .cols = D, .data = t->data};
        CHECK(u->type == TENSOR_F32 && u->size == D * D * 4);
        for (size_t r = 0; r < D; r++) {
            matrix_row(was, &w, r);
            for (size_t c = 0; c < D; c++) {
                double want = (double)was[c];
                for (size_t k = 0; k < RANK; k++) want += by * (double)b_of(r, k) * (double)a_of(k, c);
                NEAR(((const float *)(const void *)u->data)[r * D + c], want, 2e-6, 0); /* sums of a few units */
            }
        }
    }
    weights_close(&before), weights_close(&after);
}

static const char config[] = "{\"peft_type\":\"LORA\",\"r\":3,\"lora_alpha\":6}";
static const char q[] = "model.layers.0.self_attn.q_proj.weight";

const char *lora_folder(void) { return peft(config, "q_proj.lora_A.weight", "q_proj.lora_B.weight", D); }
const char *lora_file(void) { return gguf("llama", "blk.0.attn_q.weight"); }

static void merged(void) {
    const char *hf = test_folder("hf"), *blocks = test_tmp("q8.gguf");
    char spec[600];
    build_hf(hf, &shape, TENSOR_F16, 1);
    build_gguf(blocks, &shape, TENSOR_Q8_0);
    const char *folder = lora_folder();
    check_merged(hf, q, folder, 2);
    snprintf(spec, sizeof spec, "%s:-0.25", folder);
    check_merged(hf, q, spec, -0.5);
    snprintf(spec, sizeof spec, "%s/adapter_model.safetensors:0.5", folder);
    check_merged(hf, q, spec, 1);
    peft("{\"peft_type\":\"LORA\",\"r\":3,\"lora_alpha\":6,\"use_rslora\":true}", "q_proj.lora_A.weight",
         "q_proj.lora_B.weight", D);
    check_merged(hf, q, folder, 6 / sqrt(3));
    check_merged(blocks, "blk.0.attn_q.weight", gguf("llama", "blk.0.attn_q.weight"), 2);
}

/* A line that names what is wrong. */
static void check_refused(const char *model, const char *spec, const char *says) {
    Weights w;
    CHECK(weights_open(&w, model, err, sizeof err) == 0);
    *err = 0;
    CHECK(lora_merge(&w, spec, err, sizeof err) < 0);
    CHECK(strstr(err, says) != NULL);
    weights_close(&w);
}

static void refusals(void) {
    static const struct { const char *config, *down, *up; int rows; const char *says; } rows[] = {
        {"{\"peft_type\":\"LORA\",\"lora_alpha\":6,\"use_dora\":true}", "q_proj.lora_A.weight", "q_proj.lora_B.weight",
         D, "use_dora"},
        {"{\"peft_type\":\"IA3\"}", "q_proj.lora_A.weight", "q_proj.lora_B.weight", D, "peft_type"},
        {"{\"peft_type\":\"LORA\",\"lora_alpha\":6,\"alpha_pattern\":{\"q\":1}}", "q_proj.lora_A.weight",
         "q_proj.lora_B.weight", D, "alpha_pattern"},
        {"{\"peft_type\":\"LORA\"}", "q_proj.lora_A.weight", "q_proj.lora_B.weight", D, "lora_alpha"},
        {"{\"peft_type\":", "q_proj.lora_A.weight", "q_proj.lora_B.weight", D, "adapter_config.json"},
        {config, "q_proj.lora_A.weight", "q_proj.lora_B.weight", RANK, "does not fit"},
        {config, "x_proj.lora_A.weight", "x_proj.lora_B.weight", D, "x_proj"},
        {config, "q_proj.lora_A.weight", "k_proj.lora_B.weight", D, "is missing"},
        {config, "q_proj.lora_magnitude_vector", "q_proj.lora_B.weight", D, "lora_magnitude_vector"},
    };
    const char *hf = test_folder("hf"), *model = test_tmp("model.gguf");
    char spec[600];
    build_hf(hf, &shape, TENSOR_F32, 1);
    build_gguf(model, &shape, TENSOR_F32);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        check_refused(hf, peft(rows[i].config, rows[i].down, rows[i].up, rows[i].rows), rows[i].says);
    snprintf(spec, sizeof spec, "%s:nan", peft(config, "q_proj.lora_A.weight", "q_proj.lora_B.weight", D));
    check_refused(hf, spec, "scale");
    check_refused(model, test_folder("peft"), "is for a Hugging Face model");
    check_refused(hf, gguf("llama", "blk.0.attn_q.weight"), "is for a GGUF model");
    check_refused(model, gguf("qwen2", "blk.0.attn_q.weight"), "another architecture");
    check_refused(model, gguf("llama", "blk.7.attn_q.weight"), "blk.7.attn_q.weight");
    check_refused(model, model, "no LoRA adapter");
    check_refused(model, test_tmp("nowhere"), "nowhere");
}

/* Either file, cut anywhere, is refused. */
static void cut(void) {
    const char *hf = test_folder("hf"), *model = test_tmp("model.gguf");
    build_hf(hf, &shape, TENSOR_F32, 1);
    build_gguf(model, &shape, TENSOR_F32);
    for (int kind = 0; kind < 2; kind++) {
        const char *folder = peft(config, "q_proj.lora_A.weight", "q_proj.lora_B.weight", D);
        const char *path = kind ? gguf("llama", "blk.0.attn_q.weight") : test_in(folder, "adapter_model.safetensors");
        size_t size;
        char *all = file_read(path, &size);
        for (size_t n = 0; n < size; n++) {
            file_write(path, all, n);
            check_refused(kind ? model : hf, kind ? path : folder, "");
            CHECK(*err != 0);
        }
        free(all);
    }
}

extern const Test tests_lora[];
const Test tests_lora[] = {
    {"lora/merged", merged},
    {"lora/refusals", refusals},
    {"lora/cut at every length", cut},
    {0},
};
