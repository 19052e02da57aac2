/* tests/fuzz/fuzz_config.c - any text as a config.json: a Config or a refusal with a line; or (a first byte of 1), with
 * NUL bytes between, as sentence-transformers' files of a folder: a Sentence or a refusal. */
#include "mutate.h"

#include "base/json.h"
#include "kernels/kernels.h"
#include "model/family.h"
#include "text/sentence.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void read_config(const char *text, size_t n) {
    char err[300] = "";
    Json json;
    Config c;
    Weights w = {.format = FORMAT_HF, .path = "fuzz", .folder = "/nowhere"};
    if (json_parse(&json, text, n, "fuzz", err, sizeof err)) {
        if (!err[0]) abort();
        return;
    }
    const JsonValue *inner = json_get(json.root, "text_config");
    w.config = json.root->type == JSON_OBJECT ? json.root : NULL;
    if (json_get(inner, "model_type")) w.outer = w.config, w.config = inner;
    if (w.config && config_read(&c, &w, NULL, err, sizeof err) && !err[0]) abort();
    weights_close(&w);
    json_free(&json);
}

static char folder[] = "/tmp/fuzz-config-XXXXXX";

static void put(const char *name, const uint8_t *data, size_t n) {
    char path[100];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *f = fopen(path, "wb");
    if (!f || fwrite(data, 1, n, f) != n || fclose(f)) abort();
}

static const char *const names[] = {"modules.json", "1_Pooling/config.json", "2_Dense/config.json",
                                    "config_sentence_transformers.json"};

static void remove_folder(void) {
    static const char *const all[] = {"/modules.json", "/1_Pooling/config.json", "/2_Dense/config.json",
                                      "/config_sentence_transformers.json", "/1_Pooling", "/2_Dense", ""};
    char path[100];
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        snprintf(path, sizeof path, "%s%s", folder, all[i]);
        remove(path);
    }
}

static void read_sentence(const uint8_t *data, size_t size) {
    static int made;
    char err[300] = "", path[100];
    if (!made && (!mkdtemp(folder) || atexit(remove_folder))) abort();
    for (int i = 1; i < 3 && !made; i++) {
        snprintf(path, sizeof path, "%s/%.*s", folder, (int)strcspn(names[i], "/"), names[i]);
        mkdir(path, 0700);
    }
    made = 1;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const uint8_t *end = memchr(data, 0, size);
        size_t n = end && i < 3 ? (size_t)(end - data) : size;
        put(names[i], data, n);
        n += n < size;
        data += n, size -= n;
    }
    Model m = {.weights = {.format = FORMAT_HF, .path = folder, .folder = folder}, .kernels = kernels_best()};
    m.config.d_model = 8;
    snprintf(m.config.arch, sizeof m.config.arch, "nomic-bert");
    Sentence x;
    if (sentence_open(&x, &m, err, sizeof err) == 0) {
        char tasks[100];
        sentence_tasks(&x, tasks, sizeof tasks);
        sentence_prompt(&x, "query");
        sentence_prompt(&x, NULL);
        sentence_close(&x);
    } else if (!err[0]) abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (size && data[0] == 1) read_sentence(data + 1, size - 1);
    else read_config((const char *)data, size);
    return 0;
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t most, unsigned seed) {
    return mutate(mutate_json, data, size, most, seed);
}
