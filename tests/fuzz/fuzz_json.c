/* tests/fuzz/fuzz_json.c - any bytes as JSON: parsed and walked, or refused with a line. */
#include "base/json.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void walk(const JsonValue *v) {
    size_t n = 0;
    if (v->type == JSON_STRING && v->str[v->len] != 0) abort();
    for (const JsonValue *c = v->child; c; c = c->next, n++) {
        if ((v->type == JSON_OBJECT) != (c->key != NULL)) abort();
        if (c->key && c->key[c->key_len] != 0) abort();
        /* no key stands twice */
        if (n < 50 && c->key && strlen(c->key) == c->key_len && json_get(v, c->key) != c) abort();
        walk(c);
    }
    if ((v->type == JSON_ARRAY || v->type == JSON_OBJECT) && n != v->len) abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    Json j;
    char err[256] = "";
    if (json_parse(&j, (const char *)data, size, "fuzz", err, sizeof err)) {
        if (!err[0] || j.memory) abort();
        return 0;
    }
    walk(j.root);
    json_free(&j);
    return 0;
}
