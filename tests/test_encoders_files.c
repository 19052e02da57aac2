/* tests/test_encoders_files.c - what an encoder's files may say of tasks, their adapters and prompts: the same vectors
 * as what says it otherwise, or the line that refuses it. */
#include "build.h"
#include "decoder_files.h"
#include "model/options.h"
#include "program.h"
#include "test.h"
#include "text/sentence.h"

#include <stdlib.h>
#include <string.h>

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
        {"\"lora_rank\": 2", "\"lora_rank\": 0", "query", "lora_rank: is out of range"},
        {"\"lora_alpha\": 1", "\"lora_alpha\": -1", "query", "lora_rank: is out of range"},
        {"\"lora_alpha\": 1", "\"lora_alpha\": 1e7", "query", "lora_rank: is out of range"},
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
    char to[600];
    snprintf(to, sizeof to, "\"%s1\", \"%s2\", \"%s3\", \"%s4\", %s", long_name, long_name, long_name, long_name, matching);
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
         "has type I32, which is not computed with here (F32, F16, BF16 and the formats Q and IQ4 are)"},
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
    {"encoders files/names that meet", twice},
    {0}};
