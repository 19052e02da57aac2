/* tests/test_readers_hf.c - safetensors files and Hugging Face's folders: one file or shards, config.json beside
 * them. */
#include "base/json.h"
#include "program.h"
#include "reader_files.h"
#include "test.h"
#include "base/base.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static const struct { const char *header; int data; const char *expected; } tensors_cases[] = {
    /* good: expected is NULL */
    {"{}", 0, NULL},
    {" \n\t {\"a\":" T("F32", "[2]", "0", "8") "}   ", 8, NULL},
    {"{\"__metadata__\":{\"format\":\"pt\"},\"a\":" T("F32", "[1,2]", "4", "12")
     ",\"b\":" T("BF16", "[2]", "0", "4") "}", 12, NULL},
    {"{\"a\":" T("F32", "[]", "0", "4") "}", 4, NULL}, /* a scalar */
    {"{\"a\":" T("F32", "[2,0]", "0", "0") ",\"b\":" T("I8", "[3]", "0", "3") "}", 3, NULL}, /* an empty tensor */
    {"{\"b\":" T("I8", "[3]", "0", "3") ",\"a\":" T("F32", "[0]", "3", "3") "}", 3, NULL},
    {"{\"a\":" T("F4", "[4]", "0", "2") ",\"b\":" T("F8_E4M3", "[1]", "2", "3")
     ",\"c\":" T("F64", "[1]", "3", "11") "}", 11, NULL},
    /* bad, after the reference reader's own tests: the first is its test_json_attack */
    {"{\"a\":" T("F32", "[2]", "0", "8") ",\"b\":" T("F32", "[2]", "0", "8") "}", 8, "shares bytes"},
    {"{\"a\":" T("F32", "[2]", "0", "8") ",\"b\":" T("F32", "[2]", "4", "12") "}", 12, "shares bytes"},
    {"{\"a\":" T("F32", "[2]", "0", "8") ",\"b\":" T("F32", "[1]", "12", "16") "}", 16, "belong to no tensor"},
    {"{\"a\":" T("F32", "[2]", "4", "12") "}", 12, "belong to no tensor"},
    {"{\"a\":" T("F32", "[2]", "4", "12") ",\"b\":" T("F32", "[2]", "12", "20") "}", 20, "tensor a: bytes before it"},
    {"{\"a\":" T("F32", "[2]", "0", "8") "}", 9, "stand behind the last tensor"}, /* incomplete buffer: extra bytes */
    {"{\"a\":" T("F32", "[2]", "0", "8") "}", 7, "past the end"}, /* and missing ones */
    {"{}", 1, "stand behind"},
    {"{\"a\":" T("F32", "[3]", "0", "8") "}", 8, "do not span"},
    {"{\"a\":" T("F32", "[2]", "8", "0") "}", 8, "run backwards"},
    {"{\"a\":" T("F4", "[3]", "0", "1") "}", 1, "do not span"},
    {"{\"a\":" T("F32", "[2,18446744073709551614]", "0", "8") "}", 8, "no count"}, /* validation overflow */
    {"{\"a\":" T("F32", "[4503599627370496,4503599627370496]", "0", "8") "}", 8, "larger than any file"},
    {"{\"a\":" T("F32", "[4611686018427387905]", "0", "4") "}", 4, "no count"},
    {"{\"a\":" T("F32", "[4503599627370496,1024]", "0", "8") "}", 8,
     SIZE_MAX > UINT32_MAX ? "do not span" : "larger than any file"},
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
    static Bytes f;
    char err[256];
    for (size_t i = 0; i < sizeof tensors_cases / sizeof *tensors_cases; i++) {
        safetensors_file(&f, tensors_cases[i].header, strlen(tensors_cases[i].header), tensors_cases[i].data);
        int rc = open_safetensors_bytes(f.data, f.n, err, sizeof err);
        int good = tensors_cases[i].expected ? rc < 0 && strstr(err, tensors_cases[i].expected) : rc == 0;
        if (!good)
            printf("    %s: expected \"%s\", got %d \"%s\"\n", tensors_cases[i].header,
                   tensors_cases[i].expected ? tensors_cases[i].expected : "success", rc, err);
        CHECK(good);
    }
    /* of two bytes that are there */
    static const uint64_t lengths[] = {3, 100000000, 100000001, UINT64_MAX, UINT64_MAX - 7};
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
        f.n = 0;
        bytes_u64(&f, lengths[i]), bytes_put(&f, "{}", 2);
        CHECK(open_safetensors_bytes(f.data, f.n, err, sizeof err) < 0 && strstr(err, "longer than the file"));
        CHECK(save(test_tmp("long.safetensors"), f.data, f.n) &&
              refused_path(test_tmp("long.safetensors"), "looks like safetensors"));
    }
}

static const char good_header[] = "{\"__metadata__\":{\"format\":\"pt\"},\"a\":" T("F32", "[1,2]", "4", "12")
                                  ",\"b\":" T("BF16", "[2]", "0", "4") ",\"c\":" T("I64", "[1]", "12", "20") "}";

static void test_safetensors_cut_and_flipped(void) {
    static Bytes f;
    char err[256];
    safetensors_file(&f, good_header, strlen(good_header), 20);
    CHECK(open_safetensors_bytes(f.data, f.n, err, sizeof err) == 0);
    for (size_t n = 0; n < f.n; n++) CHECK(open_safetensors_bytes(f.data, n, err, sizeof err) < 0 && is_line(err));
    flip_everywhere(&f, open_safetensors_bytes);
}

/* A fresh folder, and a file in it; both live until the program ends. */
static char folder[700];

static void new_folder(const char *name) {
    snprintf(folder, sizeof folder, "%s", test_tmp(name));
    CHECK(mkdir(folder, 0700) == 0);
}

static const char *in_folder(const char *name) { return test_in(folder, name); }

static int put(const char *name, const char *text) { return save(in_folder(name), text, strlen(text)); }

static void put_tensors(const char *name, const char *header, int data_bytes) {
    static Bytes f;
    safetensors_file(&f, header, strlen(header), data_bytes);
    CHECK(save(in_folder(name), f.data, f.n));
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
        CHECK(w.format == FORMAT_HF && w.n_tensors == 3 && strcmp(w.folder, folder) == 0 &&
              json_get(w.config, "hidden_size") && !w.generation);
        const Tensor *a = weights_find(&w, "a"), *c = weights_find(&w, "c");
        CHECK(a && a->type == TENSOR_F32 && a->n_dims == 2 && a->shape[1] == 2 && a->size == 8 && a->data[0] == 4);
        CHECK(c && c->type == -1 && strcmp(c->type_name, "I64") == 0 && weights_find(&w, "b")->type == TENSOR_BF16);
        weights_close(&w);
    }
    CHECK(put("generation_config.json", "{\"eos_token_id\": 2}") && weights_open(&w, folder, err, sizeof err) == 0 &&
          json_get(w.generation, "eos_token_id"));
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
    static Bytes f;
    static const char config[] = "{\"hidden_size\": 4, \"x\": [true, null, 1.5]}";
    new_folder("cut");
    safetensors_file(&f, good_header, strlen(good_header), 20);
    CHECK(put("config.json", config));
    for (size_t n = 0; n < f.n; n++) {
        CHECK(save(in_folder("model.safetensors"), f.data, n));
        CHECK(refused_path(folder, "model.safetensors: ") && refused_path(in_folder("model.safetensors"), ": "));
    }
    CHECK(save(in_folder("model.safetensors"), f.data, f.n));
    for (size_t n = 0; n < sizeof config - 1; n++)
        CHECK(save(in_folder("config.json"), config, n) && refused_path(folder, "config.json: "));
}

#define INDEX(map) "{\"metadata\":{\"total_size\":12},\"weight_map\":{" map "}}"

static void test_hf_sharded(void) {
    static const char good[] = INDEX("\"a\":\"m-1.safetensors\",\"b\":\"m-2.safetensors\",\"c\":\"m-1.safetensors\"");
    static const char *const bad[][2] = {
        {"{}", "no weight_map"},
        {"[]", "no weight_map"},
        {"{\"weight_map\":{}}", "no weight_map"},
        {"{\"weight_map\":", "too early"},
        {INDEX("\"a\":\"../m-1.safetensors\""), "plain name"},
        {INDEX("\"a\":\"/etc/passwd\""), "plain name"},
        {INDEX("\"a\":7"), "plain name"},
        {INDEX("\"a\":\"\""), "plain name"},
        {INDEX("\"a\":\"..\""), "plain name"},
        {INDEX("\"a\":\"m\\u0000x\""), "plain name"},
        {INDEX("\"a\":\"m\\\\m-1.safetensors\""), "plain name"},
        {INDEX("\"\":\"m-1.safetensors\""), "plain name"},
        {INDEX("\"a\":\"m-9.safetensors\""), "m-9.safetensors: is missing"},
        {INDEX("\"a\":\"m-1.safetensors\",\"b\":\"m-2.safetensors\""), "holds 2 tensors, weight_map has 1"},
        {INDEX("\"a\":\"m-1.safetensors\",\"b\":\"m-1.safetensors\",\"c\":\"m-2.safetensors\""), "is not in m-"},
        {INDEX("\"a\":\"m-1.safetensors\",\"b\":\"m-2.safetensors\",\"c\":\"m-1.safetensors\","
               "\"d\":\"m-2.safetensors\""), "tensor d is not in"},
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
        CHECK(weights_open(&w, given[i], err, sizeof err) == 0 && w.n_tensors == 3 && w.n_files == 2 &&
              weights_find(&w, "c"));
        read_all(&w);
        weights_close(&w);
    }
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        CHECK(put("model.safetensors.index.json", bad[i][0]) && refused_path(folder, bad[i][1]));
    CHECK(put("model.safetensors.index.json", INDEX("\"b\":\"m-2.safetensors\"")));
    CHECK(put("model.safetensors.index.json", "{") && /* which is asked whether the file that is given is one of it */
          refused_path(in_folder("m-1.safetensors"), "index.json: line 1"));
    CHECK(put("model.safetensors.index.json", INDEX("\"b\":\"m-2.safetensors\"")));
    /* not one of the set */
    CHECK(weights_open(&w, in_folder("m-1.safetensors"), err, sizeof err) == 0 && w.n_tensors == 2);
    weights_close(&w);
    put_tensors("m-2.safetensors", "{\"a\":" T("F16", "[2]", "0", "4") "}", 4);
    CHECK(put("model.safetensors.index.json", good) && refused_path(folder, "tensor a stands twice"));
}

/* By its name alone, where the program stands in the folder; its bytes alone do not say where config.json is. */
static void test_hf_here(void) {
    char here[900], run_path[1000];
    size_t n;
    new_folder("here");
    CHECK(put("pytorch_model.bin.index.json", "{}") && refused_path(folder, "convert it to safetensors"));
    CHECK(put("model.safetensors.index.json", INDEX("\"a\":\"m-1.safetensors\"")));
    CHECK(put("config.json", "{\"model_type\": \"unheard_of\"}"));
    put_tensors("m-1.safetensors", "{\"a\":" T("F32", "[1]", "0", "4") "}", 4);
    put_tensors("m-2.safetensors", "{\"layers.0.b\":" T("F32", "[1]", "0", "4") ",\"model.layers.0.b\":"
                T("F32", "[1]", "4", "8") "}", 8);
    CHECK(realpath(test_run_path(), run_path) != NULL);
    snprintf(here, sizeof here, "cd %s &&", folder);
    CHECK(shell("%s %s logits m-1.safetensors --ids 1", here, run_path) == 1 &&
          said_line("m-1.safetensors: model_type: architecture \"unheard_of\""));
    CHECK(shell("%s %s logits m-2.safetensors --ids 1", here, run_path) == 1 &&
          said_line("m-2.safetensors: tensor model.layers.0.b stands twice"));
    char *bytes = file_read(in_folder("m-1.safetensors"), &n), err[300] = "";
    Weights w;
    CHECK(weights_open_memory(&w, bytes, n, "memory", err, sizeof err) < 0);
    CHECK(strstr(err, "memory: a safetensors model opens by its path only") != NULL);
    free(bytes);
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
        CHECK(safetensors_read(&w, f.data, f.size, path, err, sizeof err) == 0 &&
              weights_finish(&w, err, sizeof err) == 0);
        CHECK(w.n_tensors == 1 && w.tensors[0].n_dims == (int)i + 1);
        CHECK(strcmp(w.tensors[0].type_name, i == 0 ? "I32" : i == 1 ? "F64" : "F32") == 0);
        weights_close(&w);
        file_unmap(&f);
        CHECK(refused_path(path, "config.json: is missing"));
    }
}

const Test tests_readers_hf[] = {
    {"readers/safetensors_cases", test_safetensors_cases},
    {"readers/safetensors_cut_and_flipped", test_safetensors_cut_and_flipped},
    {"readers/hf_single", test_hf_single},
    {"readers/hf_cut", test_hf_cut},
    {"readers/hf_sharded", test_hf_sharded},
    {"readers/hf_here", test_hf_here},
    {"readers/safetensors_data", test_safetensors_data},
    {0},
};
