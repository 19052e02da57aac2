/* tests/test_encoders_files.c - what an encoder's files may say of tasks, their adapters and prompts: the same vectors
 * as what says it otherwise, or the line that refuses it. */
#include "build.h"
#include "decoder_files.h"
#include "model/options.h"
#include "program.h"
#include "test.h"
#include "text/sentence.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char tensors[] = "model.safetensors";

/* It does not open for that task, or says so to who wants vectors, and this is in the line. */
static void refused(const char *path, const char *task, const char *line) {
    char err[500] = "";
    Model m;
    Sentence x = {0};
    int rc = model_open(&m, path, &(ModelOptions){.task = task}, err, sizeof err), opened = rc == 0;
    if (opened) rc = sentence_open(&x, &m, err, sizeof err);
    if (rc == 0 || !strstr(err, line) || strchr(err, '\n')) decoder_fail(task ? task : "no task", line, rc ? err : "");
    sentence_close(&x);
    if (opened) model_close(&m);
}

/* What a text's ids become with that task's adapter, into v [32]. */
static void vector_of(float *v, const char *path, const char *task) {
    static const int ids[] = {0, 5, 40, 77, 2};
    EncoderText text = {.ids = ids, .n = 5};
    size_t first = 0;
    const Texts texts = {.texts = &text, .first = &first, .n = 1, .n_tokens = 5};
    char err[500] = "";
    Model m;
    Session s;
    Sentence x;
    memset(v, 0, 32 * sizeof *v);
    if (model_open(&m, path, &(ModelOptions){.task = task}, err, sizeof err)) {
        decoder_fail(task ? task : "no task", "does not open:", err);
        return;
    }
    CHECK(session_init(&s, &m, &(SessionOptions){.n_ctx = 16, .threads = 1}, err, sizeof err) == 0);
    CHECK(sentence_open(&x, &m, err, sizeof err) == 0 && x.width == 32);
    CHECK(encoder_read(&s, &text, 1, err, sizeof err) == 0);
    sentence_vector(&x, &s, &texts, 0, 0, v);
    sentence_close(&x);
    session_free(&s);
    model_close(&m);
}

static int same_vector(const float *a, const float *b) { return memcmp(a, b, 32 * sizeof *a) == 0; }

/* ---- tasks ---- */

/* query is retrieval.query, of a folder and of a file that convert --task made by either name. */
static void task_names(void) {
    static const char *const names[] = {"query", "retrieval.query"};
    float plain[32], want[32], other[32], got[32];
    char path[600], folder[600];
    snprintf(folder, sizeof folder, "%s", hf_folder("jina_v3", "", TENSOR_F32, &sound));
    vector_of(plain, folder, NULL);
    vector_of(want, folder, "retrieval.query");
    vector_of(other, folder, "text-matching");
    CHECK(!same_vector(want, plain) && !same_vector(want, other));
    vector_of(got, folder, "query");
    CHECK(same_vector(got, want));
    for (int i = 0; i < 2; i++) {
        snprintf(path, sizeof path, "%s", converted("jina_v3", folder, names[i], 1));
        for (int k = 0; k < 3; k++) {
            vector_of(got, path, k ? names[k - 1] : NULL);
            CHECK(same_vector(got, want));
        }
        refused(path, "text-matching", "the task: needs adapters, which llama.cpp keeps in files of their own");
        refused(path, "retrieval.querz", "the task: needs adapters");
        refused(path, "document", "the task: needs adapters");
    }
    refused(gguf_with_key(gguf_file("jina_v3", TENSOR_F32, &sound), "sentence.usual_prompt", META_U32, "\1\0\0\0", 4),
            "query", "the task: needs adapters");
    snprintf(path, sizeof path, "%s", gguf_file("nomic", TENSOR_F32, &sound)); /* has prompts, and no adapters */
    vector_of(plain, path, NULL);
    vector_of(got, path, "query");
    CHECK(same_vector(got, plain));
}

/* config.json's list of tasks, and the two numbers by which an adapter is multiplied. */
static void task_lists(void) {
    static const char matching[] = "\"text-matching\"\n  ],\n  \"lora_alpha\": 1";
    static const char *const long_name = "sixty-one-letters-are-more-than-a-line-has-room-for-if-many-do";
    static const struct { const char *from, *to, *task, *line; } rows[] = {
        {"\"lora_adaptations\": [", "\"lora_adaptations\": \"text-matching\", \"x\": [", "text-matching",
         "lora_adaptations: must be a list of tasks"},
        {"\"lora_rank\": 2", "\"lora_rank\": 0", "query", "lora_rank: is missing or out of range"},
        {"\"lora_rank\": 2", "\"x\": 2", "query", "lora_rank: is missing or out of range"},
        {"\"lora_alpha\": 1", "\"x\": 1", "query", "lora_alpha: is missing or out of range"},
        {"\"lora_alpha\": 1", "\"lora_alpha\": -1", "query", "lora_alpha: is missing or out of range"},
        {"\"lora_alpha\": 1", "\"lora_alpha\": 1e7", "query", "lora_alpha: is missing or out of range"},
        {"\"retrieval.query\"", "7", "query", "there is no adapter \"retrieval.query\"; its are text-matching"},
    };
    float want[32], got[32];
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const Spoil s = {.from = rows[i].from, .to = rows[i].to};
        refused(hf_folder("jina_v3", "", TENSOR_F32, &s), rows[i].task, rows[i].line);
    }
    vector_of(want, hf_folder("jina_v3", "", TENSOR_F32, &sound), "text-matching");
    const Spoil nameless = {.from = "\"retrieval.query\"", .to = "7"};
    vector_of(got, hf_folder("jina_v3", "", TENSOR_F32, &nameless), "text-matching");
    CHECK(same_vector(got, want));
    char to[600] = "";
    for (int k = 0; k < 4; k++) snprintf(to + strlen(to), sizeof to - strlen(to), "\"%s%d\", ", long_name, k);
    snprintf(to + strlen(to), sizeof to - strlen(to), "%s", matching);
    const Spoil many = {.from = matching, .to = to};
    refused(hf_folder("jina_v3", "", TENSOR_F32, &many), "separation",
            "there is no adapter \"separation\"; its are retrieval.query, sixty-one-letters");
    vector_of(want, hf_folder("jina_v3", "", TENSOR_F32, &sound), NULL);
    const Spoil none = {.from = "\"lora_adaptations\": [", .to = "\"lora_adaptations\": null, \"x\": ["};
    vector_of(got, hf_folder("jina_v3", "", TENSOR_F32, &none), "text-matching"); /* a prompt alone */
    CHECK(same_vector(got, want));
}

/* ---- adapters ---- */

#define FC1 "roberta.encoder.layers.0.mlp.fc1.parametrizations.weight."

static void adapters_refused(void) {
    static const struct { const char *from, *to, *line; } rows[] = {
        {FC1 "0.lora_A", FC1 "0.lora_X", "up_proj.parametrizations.weight.0.lora_A is missing, or has no task 1"},
        {FC1 "0.lora_B", FC1 "0.lora_X", "up_proj.parametrizations.weight.0.lora_B is missing, or has no task 1"},
        {FC1 "0.lora_A\":{\"dtype\":\"F32\",\"shape\":[2,2,32]", FC1 "0.lora_A\":{\"dtype\":\"F32\",\"shape\":[4,32]",
         "lora_A is missing, or has no task 1"},
        {FC1 "0.lora_A\":{\"dtype\":\"F32\",\"shape\":[2,2,32]", FC1 "0.lora_A\":{\"dtype\":\"F32\",\"shape\":[1,4,32]",
         "lora_A is missing, or has no task 1"},
        {FC1 "0.lora_A\":{\"dtype\":\"F32\"", FC1 "0.lora_A\":{\"dtype\":\"I32\"",
         "lora_A has type I32, which is not computed with here (F32, F16 and BF16 are)"},
        {FC1 "0.lora_A\":{\"dtype\":\"F32\",\"shape\":[2,2,32]", FC1 "0.lora_A\":{\"dtype\":\"F32\",\"shape\":[2,1,64]",
         "its adapters have other shapes"},
        {FC1 "0.lora_A\":{\"dtype\":\"F32\",\"shape\":[2,2,32]", FC1 "0.lora_A\":{\"dtype\":\"F32\",\"shape\":[4,2,16]",
         "its adapters have other shapes"},
        {FC1 "0.lora_B\":{\"dtype\":\"F32\",\"shape\":[2,48,2]", FC1 "0.lora_B\":{\"dtype\":\"F32\",\"shape\":[4,24,2]",
         "its adapters have other shapes"},
        {FC1 "original\":{\"dtype\":\"F32\",\"shape\":[48,32]", FC1 "original\":{\"dtype\":\"F32\",\"shape\":[32,48]",
         "up_proj.weight has shape [32, 48], the model needs [48, 32]"},
        {FC1 "original\":{\"dtype\":\"F32\"", FC1 "original\":{\"dtype\":\"I32\"",
         "has type I32, which is not computed with here (F32, F16, BF16 and the formats Q, IQ and TQ are)"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const char *folder = hf_folder("jina_v3", "", TENSOR_F32, &sound);
        folder_change(folder, tensors, rows[i].from, rows[i].to);
        refused(folder, "text-matching", rows[i].line);
    }
}

/* A matrix that stands under its plain name has no adapter: as one whose adapter is 0. */
static void not_adapted(void) {
    static const struct { const char *from, *to, *set; } rows[] = {
        {FC1 "original", "roberta.encoder.layers.0.mlp.fc1.weight", FC1 "0.lora_B"},
        {"roberta.embeddings.word_embeddings.parametrizations.weight.original",
         "roberta.embeddings.word_embeddings.weight",
         "roberta.embeddings.word_embeddings.parametrizations.weight.0.lora_B"}};
    float want[32], got[32], whole[32];
    vector_of(whole, hf_folder("jina_v3", "", TENSOR_F32, &sound), "query");
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const Spoil zero = {.set = rows[i].set, .value = 0};
        vector_of(want, hf_folder("jina_v3", "", TENSOR_F32, &zero), "query");
        const char *folder = hf_folder("jina_v3", "", TENSOR_F32, &sound);
        folder_change(folder, tensors, rows[i].from, rows[i].to);
        vector_of(got, folder, "query");
        CHECK(same_vector(got, want) && !same_vector(got, whole));
    }
}

/* ---- GGUF's keys ---- */

/* 1 to 3 are mean, cls and last; 0 and 4 (none, a reranker's) leave it to the architecture; no other is known. */
static void pooling_types(void) {
    static const char key[] = "gemma-embedding.pooling_type", line[] = "the number or type of \"gemma-embedding.pool";
    static const unsigned bad[] = {5, 7, 255};
    float of[5][32];
    for (unsigned i = 0; i < 5; i++)
        vector_of(of[i], gguf_patched(gguf_file("embeddinggemma", TENSOR_F32, &sound), key, 4, i), NULL);
    CHECK(same_vector(of[0], of[1]) && same_vector(of[4], of[1]));
    CHECK(!same_vector(of[2], of[1]) && !same_vector(of[3], of[1]) && !same_vector(of[3], of[2]));
    for (size_t i = 0; i < 3; i++)
        refused(gguf_patched(gguf_file("embeddinggemma", TENSOR_F32, &sound), key, 4, bad[i]), NULL, line);
    refused(gguf_patched(gguf_file("embeddinggemma", TENSOR_F32, &sound), key, 0, META_F32), NULL, line);
    const char *path = gguf_patched(gguf_file("embeddinggemma", TENSOR_F32, &sound), key, 0, META_I32);
    refused(gguf_patched(path, key, 7, 255), NULL, line); /* below 0 */
}

static void gguf_keys(void) {
    static const char *const keys[] = {"sentence.prompt.query", "sentence.usual_prompt", "sentence.normalize"};
    static const char number[] = "\1\0\0\0";
    float plain[32], got[32];
    double square = 0;
    char line[100];
    const char *path = gguf_file("embeddinggemma", TENSOR_F32, &sound);
    vector_of(plain, path, NULL);
    for (size_t i = 0; i < 3; i++) {
        snprintf(line, sizeof line, "the type of \"%s\" is not known here", keys[i]);
        refused(gguf_with_key(path, keys[i], META_U32, number, 4), NULL, line);
    }
    vector_of(got, gguf_with_key(path, keys[2], META_BOOL, "\1", 1), NULL);
    CHECK(same_vector(got, plain));
    vector_of(got, gguf_with_key(path, keys[2], META_BOOL, "\0", 1), NULL);
    for (int i = 0; i < 32; i++) square += (double)got[i] * (double)got[i];
    CHECK(fabs(square - 1) > 0.01);
    refused(gguf_patched(gguf_file("embeddinggemma", TENSOR_F32, &sound), "dense_2.weight", 20, 26), NULL,
            "a dense layer without a fitting linear.weight, \"dense_2.weight\""); /* I32 */
    refused(gguf_patched(gguf_file("embeddinggemma", TENSOR_F32, &sound), "output_norm.weight", 12, 26), NULL,
            "tensor output_norm.weight has type I32, which is not computed with here (F32, F16 and BF16 are)");
    refused(gguf_patched(gguf_file("embeddinggemma", TENSOR_F32, &sound), "blk.0.attn_norm.weight", 12, TENSOR_Q8_0),
            NULL,
            "tensor blk.0.attn_norm.weight has type Q8_0, which is not computed with here (F32, F16 and BF16 are)");
    refused(gguf_patched(gguf_file("embeddinggemma", TENSOR_F32, &sound), "blk.0.attn_q.weight", 20, 26), NULL,
            "tensor blk.0.attn_q.weight has type I32, which is not computed with here (F32, F16, BF16 and the formats");
}

/* A model of llama2.c has no keys for it: the last token's, as the same model in GGUF has without any. */
static void of_llama2c(void) {
    static const BuildShape shape = {.d = 32, .ff = 32, .layers = 2, .heads = 4, .kv_heads = 2, .n_ctx = 32};
    float want[32], got[32];
    build_gguf(test_tmp("embeds.gguf"), &shape, TENSOR_F32);
    build_llama2c(test_tmp("embeds.bin"), &shape, 0, 0);
    vector_of(want, test_tmp("embeds.gguf"), NULL);
    vector_of(got, test_tmp("embeds.bin"), NULL);
    CHECK(same_vector(got, want));
}

/* ---- sentence-transformers' files ---- */

/* There is room for 256 prompts; a list of tasks is cut where its room ends. */
static void many_prompts(void) {
    char text[9000], err[300] = "", shown[20];
    const char *folder = hf_folder("embeddinggemma", "", TENSOR_F32, &sound);
    const char *file = test_in(folder, "config_sentence_transformers.json");
    Model m;
    Sentence x;
    for (int n = 256; n <= 258; n += 2) {
        size_t at = (size_t)snprintf(text, sizeof text, "{\"prompts\": {");
        for (int i = 0; i < n; i++)
            at += (size_t)snprintf(text + at, sizeof text - at, "%s\"p%d\": \"%d: \"", i ? ", " : "", i, i);
        at += (size_t)snprintf(text + at, sizeof text - at, "}}");
        file_write(file, text, at);
        if (n == 258) break;
        CHECK(model_open(&m, folder, NULL, err, sizeof err) == 0 && sentence_open(&x, &m, err, sizeof err) == 0);
        CHECK(x.n_prompts == 256 && strcmp(sentence_prompt(&x, "p255"), "255: ") == 0);
        sentence_tasks(&x, shown, sizeof shown);
        CHECK(strcmp(shown, "p0, p1, p2, p3, p4,") == 0);
        sentence_close(&x);
        model_close(&m);
    }
    refused(folder, NULL, "more than 256 prompts");
}

/* A layer behind a wider one; and one of more rows than there may be, whose file is a hole. */
static void dense_widths(void) {
    static const char modules[] = "[{\"type\":\"b.Pooling\",\"path\":\"1_Pooling\"},"
                                  "{\"type\":\"b.Dense\",\"path\":\"2_Dense\"},"
                                  "{\"type\":\"b.Dense\",\"path\":\"3_Dense\"}]";
    const char *folder = hf_folder("embeddinggemma", "", TENSOR_F32, &sound);
    char file[600], err[300] = "";
    Model m;
    Sentence x;
    file_write(test_in(folder, "modules.json"), modules, sizeof modules - 1);
    folder_change(folder, "2_Dense/model.safetensors", "\"shape\":[64,32],\"data_offsets\":[0,8192]",
                  "\"shape\":[2,32],\"data_offsets\":[0,256]");
    folder_change(folder, "3_Dense/model.safetensors", "\"shape\":[32,64],\"data_offsets\":[0,8192]",
                  "\"shape\":[32,2],\"data_offsets\":[0,256]");
    for (int i = 2; i <= 3; i++) {
        snprintf(file, sizeof file, "%s/%d_Dense/model.safetensors", folder, i);
        size_t n = 0;
        char *whole = file_read(file, &n);
        file_write(file, whole, 8 + (size_t)load_u64((const uint8_t *)whole) + 256);
        free(whole);
    }
    CHECK(model_open(&m, folder, NULL, err, sizeof err) == 0 && sentence_open(&x, &m, err, sizeof err) == 0);
    CHECK(x.n_dense == 2 && x.width == 32 && x.dense[0].weight.rows == 2);
    sentence_close(&x);
    model_close(&m);
    folder_change(folder, "2_Dense/model.safetensors", "\"F32\",\"shape\":[2,32],\"data_offsets\":[0,256]",
                  "\"F16\",\"shape\":[1048577,32],\"data_offsets\":[0,67108928]");
    snprintf(file, sizeof file, "%s/2_Dense/model.safetensors", folder);
    char *head = file_read(file, NULL);
    CHECK(truncate(file, (off_t)(8 + load_u64((const uint8_t *)head) + 67108928)) == 0);
    free(head);
    refused(folder, NULL, "a dense layer without a fitting linear.weight, \"2_Dense\"");
    CHECK(truncate(file, 0) == 0);
}

/* ---- names ---- */

/* Two tensors that are one by the names that they have here. */
static void twice(void) {
    static const struct { const char *name, *from, *to, *line; } rows[] = {
        {"modernbert_body", "layers.1.mlp_norm.weight", "layers.0.post_attention_layernorm.weight",
         "tensor model.layers.0.post_attention_layernorm.weight stands twice"},
        {"modernbert_body", "\"layers.1.mlp_norm.weight", "\"model.layers.0.mlp_norm.weight",
         "tensor model.layers.0.mlp_norm.weight stands twice"},
        {"gte", "new.encoder.layer.1.mlp_ln.bias", "encoder.layer.0.mlp_ln.bias",
         "tensor model.layers.0.post_mlp_layernorm.bias stands twice"}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const char *folder = hf_folder(rows[i].name, "", TENSOR_F32, &sound);
        folder_change(folder, tensors, rows[i].from, rows[i].to);
        refused(folder, NULL, rows[i].line);
    }
}

const Test tests_encoders_files[] = {
    {"encoders files/names of tasks", task_names},
    {"encoders files/lists of tasks", task_lists},
    {"encoders files/adapters refused", adapters_refused},
    {"encoders files/matrices without an adapter", not_adapted},
    {"encoders files/pooling types", pooling_types},
    {"encoders files/GGUF's keys", gguf_keys},
    {"encoders files/a model of llama2.c", of_llama2c},
    {"encoders files/many prompts", many_prompts},
    {"encoders files/dense layers", dense_widths},
    {"encoders files/names that meet", twice},
    {0}};
