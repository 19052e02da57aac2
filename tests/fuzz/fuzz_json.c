/* tests/fuzz/fuzz_json.c - any bytes as JSON: parsed, walked, and the same when printed and
 * parsed again; or refused with a line. */
#include "mutate.h"

#include "base/json.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* v as text again, behind out [n]; strings by escapes, numbers with all their digits. */
static size_t print(const JsonValue *v, char *out, size_t n) {
    if (v->key) {
        JsonValue key = {.type = JSON_STRING, .str = v->key, .len = v->key_len};
        n = print(&key, out, n);
        out[n++] = ':';
    }
    switch (v->type) {
    case JSON_NULL: return n + (size_t)sprintf(out + n, "null");
    case JSON_BOOL: return n + (size_t)sprintf(out + n, v->boolean ? "true" : "false");
    case JSON_NUMBER: return n + (size_t)sprintf(out + n, "%.17g", v->number);
    case JSON_STRING:
        out[n++] = '"';
        for (size_t i = 0; i < v->len; i++) {
            unsigned char c = (unsigned char)v->str[i];
            if (c < 0x20 || c == '"' || c == '\\') n += (size_t)sprintf(out + n, "\\u%04x", c);
            else out[n++] = (char)c;
        }
        out[n++] = '"';
        return n;
    default: break;
    }
    out[n++] = v->type == JSON_ARRAY ? '[' : '{';
    for (const JsonValue *c = v->child; c; c = c->next) {
        n = print(c, out, n);
        if (c->next) out[n++] = ',';
    }
    out[n++] = v->type == JSON_ARRAY ? ']' : '}';
    return n;
}

static void same(const JsonValue *a, const JsonValue *b) {
    if (a->type != b->type || a->len != b->len || a->boolean != b->boolean || a->key_len != b->key_len) abort();
    if (a->type == JSON_NUMBER && memcmp(&a->number, &b->number, sizeof a->number) != 0) abort();
    if (a->type == JSON_STRING && memcmp(a->str, b->str, a->len) != 0) abort();
    if (a->key && memcmp(a->key, b->key, a->key_len) != 0) abort();
    for (a = a->child, b = b->child; a && b; a = a->next, b = b->next) same(a, b);
    if (a || b) abort();
}

/* What was read says the same when it is printed and read again. */
static void again(const JsonValue *v, size_t size) {
    char *text = malloc(30 * size + 100), err[256]; /* a digit becomes 24 at most, a byte 6 */
    Json j;
    if (!text) abort();
    if (json_parse(&j, text, print(v, text, 0), "fuzz", err, sizeof err)) abort();
    same(v, j.root);
    json_free(&j);
    free(text);
}

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
    again(j.root, size);
    json_free(&j);
    return 0;
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t most, unsigned seed) {
    return mutate(mutate_json, data, size, most, seed);
}
