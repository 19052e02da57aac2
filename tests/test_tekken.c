/* tests/test_tekken.c - Mistral's tekken.json against Mistral's own package (golden/tekken, tests/oracle/tekken.py);
 * what is refused; files cut at every length. */
#include "base/base.h"
#include "base/json.h"
#include "test.h"
#include "tokenizer_files.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char err[300];

static int open_golden(Tokenizer **t, const char *name) {
    char path[100];
    snprintf(path, sizeof path, "tests/golden/tekken/%s.json", name);
    int rc = tokenizer_open(t, path, err, sizeof err);
    CHECK(rc == 0);
    return rc == 0;
}

/* A row's ids have a BOS in front. */
static void check_row(const Tokenizer *t, const JsonValue *row, const char *name) {
    int ids[400];
    size_t n = 0;
    const JsonValue *text = json_get(row, "text");
    for (const JsonValue *v = json_get(row, name)->child; v && n < COUNT(ids); v = v->next) ids[n++] = (int)v->number;
    CHECK(encodes(t, text->str, text->len, ENCODE_ADDED, ids, n));
    CHECK(decodes(t, ids + 1, n - 1, text->str, text->len));
}

static void golden(void) {
    static const char *const names[] = {"tekken", "tekken-v13"};
    Json j;
    CHECK(json_open(&j, "tests/golden/tekken/texts.json", err, sizeof err) == 0);
    for (size_t i = 0; j.root && i < COUNT(names); i++) {
        Tokenizer *t;
        if (!open_golden(&t, names[i])) continue;
        CHECK(tokenizer_size(t) == 410 && tokenizer_bos(t) == 1 && tokenizer_eos(t) == 2);
        for (const JsonValue *row = j.root->child; row; row = row->next) check_row(t, row, names[i]);
        tokenizer_free(t);
    }
    json_free(&j);
}

/* Special tokens that a text spells count as such where the caller asks for it; the file names them, or its version
 * does, and others have numbers. */
static void special(void) {
    Tokenizer *t;
    if (open_golden(&t, "tekken")) {
        ENCODES(t, "[INST]</s><SPECIAL_29>[TOOL_CONTENT]", ENCODE_SPECIAL, 3, 2, 29, 19);
        tokenizer_free(t);
    }
    if (open_golden(&t, "tekken-v13")) {
        ENCODES(t, "[INST]</s><SPECIAL_29>[THINK]", ENCODE_SPECIAL, 3, 2, 29, 5);
        tokenizer_free(t);
    }
}

/* GGUF's keys say all of it. */
static void to_gguf(void) {
    Tokenizer *t, *u = NULL;
    Vocabulary v;
    if (!open_golden(&t, "tekken")) return;
    static const char text[] = "Hello, world! 12345 [INST]\n\n ab";
    int *want, *ids;
    size_t n_want = 0, n = 0;
    CHECK(tokenizer_vocabulary(&v, t, "tekken", err, sizeof err) == 0);
    CHECK(strcmp(v.model, "gpt2") == 0 && v.pre && strcmp(v.pre, "tekken") == 0);
    CHECK(tokenizer_from_vocabulary(&u, &v, "tekken", err, sizeof err) == 0);
    int how = ENCODE_ADDED | ENCODE_SPECIAL;
    if (u && tokenizer_encode(t, text, strlen(text), how, &want, &n_want, err, sizeof err) == 0 &&
        tokenizer_encode(u, text, strlen(text), how, &ids, &n, err, sizeof err) == 0) {
        CHECK(n > 10 && n == n_want && memcmp(ids, want, n * sizeof *ids) == 0);
        free(ids);
        free(want);
    } else CHECK(!"encoded");
    free((void *)(uintptr_t)v.pieces);
    tokenizer_free(u);
    tokenizer_free(t);
}

#define CONFIG(n, special) "\"config\":{\"pattern\":\"\\\\p{N}\",\"default_vocab_size\":" n \
                           ",\"default_num_special_tokens\":" special "}"
#define ONE ",\"vocab\":[{\"rank\":0,\"token_bytes\":\"YQ==\"}]"
#define RANK(i, bytes) "{\"rank\":" i ",\"token_bytes\":\"" bytes "\"}"

static void refused(void) {
    static const char longest[] = /* 513 bytes */
        "{" CONFIG("4", "3") ",\"vocab\":[{\"rank\":0,\"token_bytes\":\"";
    static const struct { const char *text, *says; } rows[] = {
        {"{\"config\":7,\"vocab\":[]}", "\"config\" is missing or of the wrong type"},
        {"{\"config\":{},\"vocab\":{}}", "\"vocab\" is missing or of the wrong type"},
        {"{\"config\":{},\"vocab\":[]}", "does not say how many of its 0 ranks"},
        {"{" CONFIG("4", "2") ",\"vocab\":[" RANK("0", "YQ==") "," RANK("1", "Yg==") "]}", "does not say how many"},
        {"{" CONFIG("3", "3") ONE "}", "does not say how many of its 1 ranks"},
        {"{" CONFIG("5", "3") ONE "}", "does not say how many of its 1 ranks"},
        {"{" CONFIG("1e9", "1e9") ONE "}", "does not say how many of its 1 ranks"},
        {"{" CONFIG("4", "3") ",\"vocab\":[" RANK("1", "YQ==") "]}", "rank 0 is missing, or no piece"},
        {"{" CONFIG("4", "3") ",\"vocab\":[" RANK("0", "Y") "]}", "rank 0 is missing, or no piece"},
        {"{" CONFIG("4", "3") ",\"vocab\":[" RANK("0", "") "]}", "rank 0 is missing, or no piece"},
        {"{" CONFIG("4", "3") ",\"vocab\":[{\"rank\":0,\"token_bytes\":7}]}", "rank 0 is missing, or no piece"},
        {"{" CONFIG("4", "3") ",\"vocab\":[7]}", "rank 0 is missing, or no piece"},
        {"{" CONFIG("5", "3") ",\"vocab\":[" RANK("0", "YQ==") "," RANK("1", "YQ==") "]}",
         "pieces 3 and 4 are spelled alike"},
        {"{" CONFIG("4", "3") ONE ",\"special_tokens\":[{\"rank\":1,\"token_str\":\"x\"}]}",
         "special token 0 has no text, or another rank"},
        {"{" CONFIG("4", "3") ONE ",\"special_tokens\":[{\"rank\":0,\"token_str\":\"\"}]}",
         "special token 0 has no text, or another rank"},
        {"{" CONFIG("4", "3") ONE ",\"special_tokens\":[{\"rank\":0,\"token_str\":\"x\"},"
         "{\"rank\":1,\"token_str\":\"y\"},{\"rank\":2,\"token_str\":\"z\"},{\"rank\":3,\"token_str\":\"u\"}]}",
         "more special tokens than the 3"},
        {"{" CONFIG("4", "3") ONE ",\"special_tokens\":7}", "\"special_tokens\" is missing or of the wrong type"},
        {"{\"config\":{\"default_vocab_size\":4,\"default_num_special_tokens\":3}" ONE "}",
         "the regular expression \"pattern\" is missing"},
        {"{\"config\":{\"pattern\":\"(?<=x)y\",\"default_vocab_size\":4,\"default_num_special_tokens\":3}" ONE "}",
         "(?<=x)y"}};
    Tokenizer *t;
    for (size_t i = 0; i < COUNT(rows); i++) {
        int right = tokenizer_bytes(&t, rows[i].text, strlen(rows[i].text)) == -EINVAL &&
                    strstr(tokenizer_err, rows[i].says);
        if (!right) printf("    row %zu: %s\n", i, tokenizer_err);
        CHECK(right);
        tokenizer_free(t);
    }
    char text[sizeof longest + 4 * 171 + 10];
    size_t n = (size_t)snprintf(text, sizeof text, "%s", longest);
    for (int i = 0; i < 171; i++, n += 4) memcpy(text + n, "YWFh", 4);
    n += (size_t)snprintf(text + n, sizeof text - n, "\"}]}");
    CHECK(tokenizer_bytes(&t, text, n) == -EINVAL && strstr(tokenizer_err, "piece 3 is longer than 512 bytes"));
    tokenizer_free(t);
}

/* Which token begins a text is a matter of its name. */
static void other_order(void) {
    static const char text[] = "{" CONFIG("4", "3") ONE ",\"special_tokens\":[{\"rank\":0,\"token_str\":\"</s>\"},"
                               "{\"rank\":1,\"token_str\":\"<unk>\"},{\"rank\":2,\"token_str\":\"<s>\"}]}";
    Tokenizer *t;
    CHECK(tokenizer_bytes(&t, text, sizeof text - 1) == 0);
    if (!t) return;
    CHECK(tokenizer_bos(t) == 2 && tokenizer_eos(t) == 0);
    ENCODES(t, "a", ENCODE_ADDED, 2, 3);
    tokenizer_free(t);
}

/* Where no tokenizer.json is there; a tokenizer_config.json beside it changes nothing. */
static void folder(void) {
    const char *folder = test_folder("tekken-folder");
    MappedFile f;
    Tokenizer *t;
    if (file_map(&f, "tests/golden/tekken/tekken.json", err, sizeof err)) CHECK(!"mapped");
    else write_file(test_in(folder, "tekken.json"), f.data, f.size), file_unmap(&f);
    CHECK(tokenizer_open(&t, folder, err, sizeof err) == 0);
    if (t) CHECK(tokenizer_size(t) == 410);
    tokenizer_free(t);
}

static void cut(void) {
    static const char text[] = "{" CONFIG("6", "3") ",\"vocab\":[" RANK("0", "YQ==") "," RANK("1", "Yg==") ","
                               RANK("2", "YWI=") "],\"special_tokens\":[{\"rank\":0,\"token_str\":\"x\"}]}";
    Tokenizer *t;
    for (size_t n = 1; n < sizeof text - 1; n++) {
        char *exact = malloc(n);
        if (exact) memcpy(exact, text, n);
        CHECK(exact && tokenizer_bytes(&t, exact, n) < 0);
        free(exact);
    }
    CHECK(tokenizer_bytes(&t, text, sizeof text - 1) == 0);
    if (t) ENCODES(t, "ab1a", 0, 5, 3);
    tokenizer_free(t);
}

extern const Test tests_tekken[];
const Test tests_tekken[] = {
    {"tekken/golden", golden},   {"tekken/special tokens", special}, {"tekken/to GGUF", to_gguf},
    {"tekken/refused", refused}, {"tekken/other order", other_order}, {"tekken/in a folder", folder},
    {"tekken/cut at every length", cut},
    {0},
};
