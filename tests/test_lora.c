/* tests/test_lora.c - adapters merged into a model's tensors, against the product written out; each refusal of a broken
 * one. tests/oracle/lora.py compares logits with peft's, and says what libllama gave. */
#include "build.h"
#include "decoder_files.h"
#include "model/lora.h"
#include "model/model.h"
#include "model/options.h"
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

/* A PEFT folder of these tensors, as the header of safetensors says it, with or without the factors' bytes. */
static const char *peft_of(const char *config, const char *header, int factors) {
    const char *folder = test_folder("peft");
    Bytes b = {0};
    bytes_u64(&b, strlen(header));
    bytes_put(&b, header, strlen(header));
    if (factors) put_factors(&b);
    file_write(test_in(folder, "adapter_model.safetensors"), b.data, b.n);
    file_write(test_in(folder, "adapter_config.json"), config, strlen(config));
    free(b.data);
    return folder;
}

#define ENTRY(dtype, shape, bytes) "{\"dtype\":\"" dtype "\",\"shape\":[" shape "],\"data_offsets\":[" bytes "]}"
#define ATTENTION "\"base_model.model.model.layers.0.self_attn."

/* With one adapter, of the tensors that these words name; rows: of B. */
static const char *peft(const char *config, const char *down, const char *up, int rows) {
    char header[600];
    snprintf(header, sizeof header, "{" ATTENTION "%s\":" ENTRY("F32", "%d,%d", "0,%d") "," ATTENTION "%s\":"
             ENTRY("F32", "%d,%d", "%d,%d") "}",
             down, RANK, D, RANK * D * 4, up, rows, RANK * D / rows, RANK * D * 4, 2 * RANK * D * 4);
    return peft_of(config, header, 1);
}

/* "": the key is not there; NULL: it is a number. */
static void gguf_word(Bytes *b, const char *key, const char *word) {
    if (word && !*word) key = "general.name";
    bytes_string(b, key), bytes_u32(b, word ? 8 : 4);
    if (word) bytes_string(b, word);
    else bytes_u32(b, 5);
}

/* llama.cpp's form of the same, for the tensor `name`; shapes are written the other way round there. */
typedef struct { const char *arch, *type, *kind, *alpha_key; float alpha; const char *more; } Keys;
static const Keys usual = {"llama", "adapter", "lora", "adapter.lora.alpha", 6, NULL};

static const char *gguf_of(const Keys *k, const char *name) {
    const char *path = test_tmp("adapter.gguf");
    Bytes b = {0};
    char factor[100];
    bytes_put(&b, "GGUF", 4), bytes_u32(&b, 3), bytes_u64(&b, name ? 2 : 0), bytes_u64(&b, k->more ? 5 : 4);
    gguf_word(&b, "general.architecture", k->arch);
    gguf_word(&b, "general.type", k->type);
    gguf_word(&b, "adapter.type", k->kind);
    bytes_string(&b, k->alpha_key), bytes_u32(&b, 6), bytes_f32(&b, k->alpha);
    if (k->more) gguf_word(&b, k->more, "7");
    for (int i = 0; name && i < 2; i++) {
        snprintf(factor, sizeof factor, "%s.lora_%c", name, "ab"[i]);
        bytes_string(&b, factor), bytes_u32(&b, 2);
        bytes_u64(&b, i ? RANK : D), bytes_u64(&b, i ? D : RANK);
        bytes_u32(&b, 0), bytes_u64(&b, i ? RANK * D * 4 : 0);
    }
    if (name) bytes_pad(&b, 32), put_factors(&b);
    file_write(path, b.data, b.n);
    free(b.data);
    return path;
}

static const char *gguf(const char *arch, const char *name) {
    Keys k = usual;
    k.arch = arch;
    return gguf_of(&k, name);
}

/* model's tensor becomes W + by B A, in every other one not a bit changes. */
static void check_merged(const char *model, const char *name, const char *spec, double by) {
    Weights before, after;
    float was[D];
    CHECK(weights_open(&before, model, err, sizeof err) == 0 && weights_open(&after, model, err, sizeof err) == 0);
    CHECK(lora_merge(&after, NULL, spec, err, sizeof err) == 0);
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
    Keys k = usual;
    k.alpha = 0; /* llama.cpp's 0 means: not scaled; PEFT's, that nothing is added */
    check_merged(blocks, "blk.0.attn_q.weight", gguf_of(&k, "blk.0.attn_q.weight"), 1);
    peft("{\"peft_type\":\"LORA\",\"lora_alpha\":0}", "q_proj.lora_A.weight", "q_proj.lora_B.weight", D);
    check_merged(hf, q, folder, 0);
    peft("{\"peft_type\":\"LORA\",\"lora_alpha\":6,\"use_dora\":false,\"fan_in_fan_out\":null,\"use_rslora\":false,"
         "\"alpha_pattern\":{},\"modules_to_save\":null,\"init_lora_weights\":\"gaussian\","
         "\"layer_replication\":null,\"alora_invocation_tokens\":[]}", "q_proj.lora_A.weight", "q_proj.lora_B.weight",
         D);
    check_merged(hf, q, folder, 2);
    CHECK(rename(folder, test_tmp("peft:2x")) == 0); /* a colon that no number is behind */
    check_merged(hf, q, test_tmp("peft:2x"), 2);
    CHECK(rename(test_tmp("peft:2x"), folder) == 0);
}

/* The base in PEFT's hands was a body alone, or a model that sees pictures, and so were the names. */
static void other_names(void) {
#define NAMED(body) "{\"base_model.model." body "layers.0.self_attn.q_proj.lora_A.weight\":" \
                    ENTRY("F32", "3,32", "0,384") \
                    ",\"base_model.model." body "layers.0.self_attn.q_proj.lora_B.weight\":" \
                    ENTRY("F32", "32,3", "384,768") "}"
    static const char *const headers[] = {NAMED(""), NAMED("model.language_model."), NAMED("language_model.model."),
                                          NAMED("model.text_model.")};
    const char *hf = test_folder("hf");
    build_hf(hf, &shape, TENSOR_F16, 1);
    for (size_t i = 0; i < sizeof headers / sizeof *headers; i++)
        check_merged(hf, q, peft_of(config, headers[i], 1), 2);
}

/* A line that names what is wrong. */
static void check_refused(const char *model, const char *spec, const char *says) {
    Weights w;
    CHECK(weights_open(&w, model, err, sizeof err) == 0);
    *err = 0;
    CHECK(lora_merge(&w, NULL, spec, err, sizeof err) < 0);
    if (!strstr(err, says)) printf("    \"%s\" does not say \"%s\"\n", err, says);
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
        {"{\"peft_type\":\"LORA\",\"lora_alpha\":\"6\"}", "q_proj.lora_A.weight", "q_proj.lora_B.weight", D,
         "lora_alpha is missing or no number"},
        {"{\"peft_type\":\"LORA\",\"lora_alpha\":6,\"modules_to_save\":[\"lm_head\"]}", "q_proj.lora_A.weight",
         "q_proj.lora_B.weight", D, "modules_to_save"},
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
    check_refused(model, test_in(test_tmp("nowhere"), ":"), "nowhere/:: No such file");
    const char *folder = test_folder("pickled");
    check_refused(hf, folder, "pickled: no adapter_model.safetensors in this folder");
    file_write(test_in(folder, "adapter_model.bin"), "", 0);
    check_refused(hf, folder, "in this folder: convert adapter_model.bin to it");
    Weights w;
    file_write(test_in(folder, "adapter_config.json"), config, strlen(config));
    CHECK(weights_open(&w, folder, err, sizeof err) == -ENOENT && strstr(err, "an adapter: name its model"));
}

/* Settings under which PEFT computes something else. */
static void settings(void) {
    static const char *const rows[][2] = {
        {"\"use_dora\":1", "use_dora"},
        {"\"layer_replication\":[[0,1]]", "layer_replication"},
        {"\"alora_invocation_tokens\":[7]", "alora_invocation_tokens"},
        {"\"arrow_config\":{\"top_k\":3}", "arrow_config"},
        {"\"use_bdlora\":{\"nblocks\":1}", "use_bdlora"},
        {"\"init_lora_weights\":\"pissa_niter_4\"", "init_lora_weights"},
        {"\"init_lora_weights\":\"olora\"", "init_lora_weights"},
    };
    const char *hf = test_folder("hf");
    char more[200];
    build_hf(hf, &shape, TENSOR_F32, 1);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        snprintf(more, sizeof more, "{\"peft_type\":\"LORA\",\"lora_alpha\":6,%s}", rows[i][0]);
        check_refused(hf, peft(more, "q_proj.lora_A.weight", "q_proj.lora_B.weight", D), rows[i][1]);
    }
}

/* A PEFT folder of rank 1 for a matrix of 96 rows, and B's number for a row. */
static const char *peft_of_96(const char *name) {
    char header[400];
    snprintf(header, sizeof header, "{\"base_model.model.%s.lora_A.weight\":" ENTRY("F32", "1,32", "0,128")
             ",\"base_model.model.%s.lora_B.weight\":" ENTRY("F32", "96,1", "128,512") "}", name, name);
    const char *folder = peft_of(config, header, 1), *factors = test_in(folder, "adapter_model.safetensors");
    size_t n;
    char *all = file_read(factors, &n);
    file_write(factors, all, n - 768 + 512);
    free(all);
    return folder;
}

static double b_of_96(size_t r) { return r < 2 * D ? (double)a_of(1, r) : (double)b_of(0, r - 2 * D); }

/* The head of a model that its configuration ties, and whose file has both: what the adapter adds counts, and to the
 * head alone. */
static void tied_head(void) {
    const Spoil twice = {.from = "\"tie_word_embeddings\": false", .to = "\"tie_word_embeddings\": true",
                         .set = "lm_head.weight", .how = SPOIL_LIKE, .with = "model.embed_tokens.weight"};
    const char *folder = peft_of_96("lm_head");
    ModelOptions o = {.loras = &folder, .n_loras = 1};
    Model m;
    CHECK(model_open(&m, hf_folder("gqa", "", TENSOR_F32, &twice), &o, err, sizeof err) == 0);
    const float *head = (const void *)m.lm_head.data, *words = (const void *)m.tok_emb.data;
    CHECK(head != words);
    for (size_t r = 0; r < 96; r++)
        for (size_t c = 0; c < D; c++)
            NEAR(head[r * D + c], (double)words[r * D + c] + 6 * b_of_96(r) * (double)a_of(0, c), 2e-6, 0);
    model_close(&m);
}

/* GPT-NeoX's names, which are not those that a Llama has; of a head q, k and v stand together, 16 rows each. */
static void own_names(void) {
    const char *folder = peft_of_96("gpt_neox.layers.0.attention.query_key_value");
    const char *hf = hf_folder("gpt_neox", "", TENSOR_F32, &sound);
    ModelOptions o = {.loras = &folder, .n_loras = 1};
    Model before, after;
    CHECK(model_open(&before, hf, NULL, err, sizeof err) == 0 && model_open(&after, hf, &o, err, sizeof err) == 0);
    const Matrix was[] = {before.layers[0].wq, before.layers[0].wk, before.layers[0].wv},
                 is[] = {after.layers[0].wq, after.layers[0].wk, after.layers[0].wv};
    for (size_t i = 0; i < 96 * D; i++) {
        size_t r = i / D, part = r % 48 / 16, at = (r / 48 * 16 + r % 16) * D + i % D;
        double more = 6 * b_of_96(r) * (double)a_of(0, i % D);
        NEAR(((const float *)(const void *)is[part].data)[at],
             (double)((const float *)(const void *)was[part].data)[at] + more, 2e-6, 0);
    }
    model_close(&before);
    model_close(&after);
}

/* Factors that are no two matrices of the model's shape. */
static void shapes(void) {
#define FACTORS(layer, down, up) "{\"base_model.model.model.layers.0." layer ".lora_A.weight\":" down \
                                 ",\"base_model.model.model.layers.0." layer ".lora_B.weight\":" up "}"
    static const char *const headers[] = {
        FACTORS("input_layernorm", ENTRY("F32", "3,32", "0,384"), ENTRY("F32", "32,3", "384,768")),
        FACTORS("self_attn.q_proj", ENTRY("F32", "96", "0,384"), ENTRY("F32", "32,3", "384,768")),
        FACTORS("self_attn.q_proj", ENTRY("F32", "3,32", "0,384"), ENTRY("F32", "32,3,1", "384,768")),
        FACTORS("self_attn.q_proj", ENTRY("F32", "6,16", "0,384"), ENTRY("F32", "16,6", "384,768")),
        FACTORS("self_attn.q_proj", ENTRY("F32", "6,16", "0,384"), ENTRY("F32", "32,3", "384,768")),
        FACTORS("self_attn.q_proj", ENTRY("F32", "4,32", "0,512"), ENTRY("F32", "16,4", "512,768")),
        FACTORS("self_attn.q_proj", ENTRY("F32", "2,32", "0,256"), ENTRY("F32", "64,2", "256,768")),
        FACTORS("self_attn.q_proj", ENTRY("F32", "3,8", "0,96"), ENTRY("F32", "32,3", "96,480")),
        FACTORS("self_attn.q_proj", ENTRY("F32", "0,32", "0,0"), ENTRY("F32", "32,0", "0,0")),
    };
    static const int bytes[] = {768, 768, 768, 768, 768, 768, 768, 480, 0};
    const char *hf = test_folder("hf"), *folder = NULL;
    build_hf(hf, &shape, TENSOR_F32, 1);
    for (size_t i = 0; i < sizeof headers / sizeof *headers; i++) {
        folder = peft_of(config, headers[i], 1);
        size_t n;
        char *all = file_read(test_in(folder, "adapter_model.safetensors"), &n);
        file_write(test_in(folder, "adapter_model.safetensors"), all, n - 768 + (size_t)bytes[i]);
        check_refused(hf, folder, i ? "self_attn.q_proj.lora_A.weight does not fit the model's model.layers.0.self_attn"
                                    : "input_layernorm.lora_A.weight does not fit the model's model.layers.0.input");
        free(all);
    }
}

/* A file may hold types that are known by name and size only: W, A or B of one has no numbers to add. */
static void types(void) {
    static const char header[] = FACTORS("self_attn.q_proj", ENTRY("I32", "3,32", "0,384"),
                                         ENTRY("F32", "32,3", "384,768"));
    enum { I32 = 26 };
    const char *hf = test_folder("hf"), *model = test_tmp("model.gguf");
    const char *adapter = gguf("llama", "blk.0.attn_q.weight");
    Weights w;
    build_hf(hf, &shape, TENSOR_F32, 1);
    check_refused(hf, peft_of(config, header, 1), "lora_A.weight has type I32, which is not computed with here");
    build_gguf(model, &shape, TENSOR_F32);
    CHECK(weights_open(&w, model, err, sizeof err) == 0);
    Tensor *t = w.tensors + (weights_find(&w, "blk.0.attn_q.weight") - w.tensors);
    t->type = I32, t->type_name = "I32";
    CHECK(lora_merge(&w, NULL, adapter, err, sizeof err) == -EINVAL && t->type == I32);
    CHECK(strstr(err, "tensor blk.0.attn_q.weight has type I32, which is not computed with here"));
    weights_close(&w);
    size_t n;
    char *all = file_read(adapter, &n), *type = NULL; /* A's: behind its name, n_dims, and two sizes */
    for (size_t i = 0; i + 6 <= n && !type; i++)
        if (memcmp(all + i, "lora_a", 6) == 0) type = all + i + 6 + 4 + 2 * 8;
    if (type) *type = I32;
    file_write(adapter, all, n);
    free(all);
    check_refused(model, adapter, "tensor blk.0.attn_q.weight.lora_a has type I32, which is not computed with here");
}

/* Keys of a GGUF adapter that are not there, or say something else. */
static void keys(void) {
    static const struct { Keys keys; const char *says; } rows[] = {
        {{"llama", "model", "lora", "adapter.lora.alpha", 6, NULL}, "is no LoRA adapter"},
        {{"llama", "adapted", "lora", "adapter.lora.alpha", 6, NULL}, "is no LoRA adapter"},
        {{"llama", NULL, "lora", "adapter.lora.alpha", 6, NULL}, "is no LoRA adapter"},
        {{"llama", "adapter", "", "adapter.lora.alpha", 6, NULL}, "is no LoRA adapter"},
        {{"llama", "adapter", "control_vector", "adapter.lora.alpha", 6, NULL}, "is no LoRA adapter"},
        {{"", "adapter", "lora", "adapter.lora.alpha", 6, NULL}, "another architecture"},
        {{NULL, "adapter", "lora", "adapter.lora.alpha", 6, NULL}, "another architecture"},
        {{"llamb", "adapter", "lora", "adapter.lora.alpha", 6, NULL}, "another architecture"},
        {{"llama", "adapter", "lora", "adapter.lora.alphx", 6, NULL}, "adapter.lora.alpha is missing or no number"},
        {{"llama", "adapter", "lora", "adapter.lora.alpha", NAN, NULL}, "adapter.lora.alpha is not finite"},
        {{"llama", "adapter", "lora", "adapter.lora.alpha", INFINITY, NULL}, "adapter.lora.alpha is not finite"},
        {{"llama", "adapter", "lora", "adapter.lora.alpha", 6, "adapter.alora.invocation_tokens"},
         "adapter.alora.invocation_tokens: "},
    };
    const char *model = test_tmp("model.gguf"), *old = test_tmp("old.bin");
    build_gguf(model, &shape, TENSOR_F32);
    build_llama2c(old, &shape, 0, 0);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        check_refused(model, gguf_of(&rows[i].keys, "blk.0.attn_q.weight"), rows[i].says);
    check_refused(model, gguf_of(&usual, NULL), "has no tensors");
    check_refused(model, old, "is no LoRA adapter");
    for (int i = 0; i < 2; i++) { /* a model whose own architecture is no word, or none */
        const char *other = test_tmp("other.gguf");
        CHECK(file_copy(gguf_of(&rows[5 + i].keys, "blk.0.attn_q.weight"), other));
        check_refused(other, gguf("llama", "blk.0.attn_q.weight"), "another architecture");
    }
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
    {"lora/other names", other_names},
    {"lora/refusals", refusals},
    {"lora/settings", settings},
    {"lora/tied head", tied_head},
    {"lora/an architecture's own names", own_names},
    {"lora/shapes", shapes},
    {"lora/types", types},
    {"lora/keys", keys},
    {"lora/cut at every length", cut},
    {0},
};
