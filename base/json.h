/* base/json.h - a small strict JSON reader (RFC 8259) for config.json, safetensors headers, tokenizer files.
 *
 *     Json j;
 *     if (json_parse(&j, text, n, "config.json", err, errlen)) ...
 *     const JsonValue *v = json_typed(j.root, "hidden_size", JSON_NUMBER);     NULL where there is none
 *     if (v) ... v->number ...
 *     json_free(&j);
 *
 * Refused, with the place: anything after the value, duplicate keys in one object, NaN and Infinity, numbers outside
 * double, unpaired surrogates, control characters in strings, bytes that are not UTF-8, nesting deeper than
 * JSON_MAX_DEPTH. Memory taken is bounded by JSON_MAX_BYTES beside four times the text's own size. */
#ifndef JSON_H
#define JSON_H

#include <stddef.h>

enum { JSON_MAX_DEPTH = 64, JSON_MAX_BYTES = 48 << 20 };

typedef enum { JSON_NULL, JSON_BOOL, JSON_NUMBER, JSON_STRING, JSON_ARRAY, JSON_OBJECT } JsonType;

typedef struct JsonValue JsonValue;
struct JsonValue {
    JsonType type;
    int boolean;            /* JSON_BOOL: 0 or 1 */
    double number;          /* JSON_NUMBER */
    const char *str;        /* JSON_STRING: UTF-8, escapes resolved, NUL-terminated (may hold a NUL before its end) */
    size_t len;             /* JSON_STRING: bytes; JSON_ARRAY, JSON_OBJECT: number of children */
    const char *key;        /* a child of an object: its name, NUL-terminated; otherwise NULL */
    size_t key_len;
    const JsonValue *child; /* JSON_ARRAY, JSON_OBJECT: the first child, or NULL */
    const JsonValue *next;  /* the next child of the same parent, or NULL */
};

typedef struct {
    const JsonValue *root;
    void *memory; /* owns every value and string */
} Json;

/* Parse text[0 .. n-1]; name is what the error line calls it. Errors: -EINVAL (bad JSON), -ENOMEM. */
int json_parse(Json *j, const char *text, size_t n, const char *name, char *err, size_t errlen);
/* The same of a whole file. */
int json_open(Json *j, const char *path, char *err, size_t errlen);
/* The same of a folder's file; 0 and j->root NULL where nothing of that name is there (a link that leads nowhere is).
 * Free j also then. */
int json_open_in(Json *j, const char *folder, const char *file, char *err, size_t errlen);
void json_free(Json *j); /* accepts a zeroed struct */

/* The child of that name, or NULL (also where v is NULL or no object). */
const JsonValue *json_get(const JsonValue *v, const char *key);
/* The same where it is of that type; otherwise NULL. */
const JsonValue *json_typed(const JsonValue *v, const char *key, JsonType type);
/* 1 where v is NULL, or null: nothing is said. */
int json_absent(const JsonValue *v);
/* 1 where v is a string equal to s. */
int json_is(const JsonValue *v, const char *s);
/* The child of that name that is true or false; otherwise where there is none. */
int json_flag(const JsonValue *v, const char *key, int otherwise);
/* 1 where Python's `if` would go on: true, a number but 0, what is not empty. NULL and null: 0. */
int json_truth(const JsonValue *v);
/* 1 where the list of that name has a string that holds part. */
int json_list_holds(const JsonValue *v, const char *key, const char *part);

#endif
