/* base/json.c - the JSON reader: one pass over a private copy of the text.
 *
 * Strings are resolved in place: an escape is never shorter than what it stands for, and the NUL takes the closing
 * quote's byte at the latest. So the copy owns every string, and blocks of JsonValue own the tree; nothing else is
 * kept. */
#include "json.h"
#include "base.h"
#include "paths.h"
#include "utf8.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct Block {
    struct Block *next;
    size_t n, used;
    JsonValue values[];
} Block;

typedef struct {
    Block *blocks;
    char text[];
} Memory;

typedef struct {
    Memory *memory;
    const char *source; /* the text as given: places in error lines are counted in it */
    char *text;         /* the copy, resolved as far as pos */
    size_t n, pos;
    size_t budget;      /* bytes that may still be allocated */
    const JsonValue **order; /* room to sort one object's children in */
    size_t order_room;
    const char *name;
    char *err;
    size_t errlen;
} Parser;

/* ---- errors ---- */

static int fail_at(Parser *p, size_t pos, const char *what) {
    size_t line = 1, column = 1;
    for (size_t i = 0; i < pos; i++) {
        if (p->source[i] == '\n') {
            line++;
            column = 0;
        }
        column++;
    }
    return base_error(p->err, p->errlen, -EINVAL, "%s: line %zu, column %zu: %s", p->name, line, column, what);
}

static int fail(Parser *p, const char *what) {
    return fail_at(p, p->pos, p->pos < p->n ? what : "the JSON text ends too early");
}

static int no_memory(Parser *p) {
    return base_error(p->err, p->errlen, -ENOMEM, "%s: out of memory while reading JSON", p->name);
}

/* ---- memory ---- */

static int afford(Parser *p, size_t bytes) {
    if (bytes > p->budget)
        return base_error(p->err, p->errlen, -ENOMEM,
                          "%s: holds more values than any file this reader is for (over 4 times %zu bytes + %d MB)",
                          p->name, p->n, JSON_MAX_BYTES >> 20);
    p->budget -= bytes;
    return 0;
}

static int new_block(Parser *p) {
    Block *last = p->memory->blocks;
    size_t n = !last ? 32 : last->n < 8192 ? last->n * 2 : 8192;
    size_t bytes = sizeof *last + n * sizeof(JsonValue);
    int rc = afford(p, bytes);
    if (rc) return rc;
    Block *b = malloc(bytes);
    if (!b) return no_memory(p);
    *b = (Block){.next = last, .n = n};
    p->memory->blocks = b;
    return 0;
}

static int new_value(Parser *p, JsonValue **out) {
    Block *b = p->memory->blocks;
    if (!b || b->used == b->n) {
        int rc = new_block(p);
        if (rc) return rc;
        b = p->memory->blocks;
    }
    *out = &b->values[b->used++];
    **out = (JsonValue){.type = JSON_NULL};
    return 0;
}

static int room_to_sort(Parser *p, size_t n) {
    if (n <= p->order_room) return 0;
    size_t room = n + n / 2 + 16;
    int rc = afford(p, (room - p->order_room) * sizeof *p->order);
    if (rc) return rc;
    const JsonValue **order = realloc(p->order, room * sizeof *order);
    if (!order) return no_memory(p);
    p->order = order;
    p->order_room = room;
    return 0;
}

/* ---- pieces of the grammar ---- */

static int peek(const Parser *p) { return p->pos < p->n ? (unsigned char)p->text[p->pos] : -1; }

static void skip_space(Parser *p) {
    for (int c = peek(p); c == ' ' || c == '\t' || c == '\r' || c == '\n'; c = peek(p)) p->pos++;
}

static int hex4(const Parser *p, size_t at, uint32_t *out) {
    *out = 0;
    if (p->n < 4 || at > p->n - 4) return 0;
    for (size_t i = at; i < at + 4; i++) {
        int c = (unsigned char)p->text[i];
        int digit = c >= '0' && c <= '9'   ? c - '0'
                    : c >= 'a' && c <= 'f' ? c - 'a' + 10
                    : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                           : -1;
        if (digit < 0) return 0;
        *out = *out << 4 | (uint32_t)digit;
    }
    return 1;
}

/* \uXXXX, or two of them where the first is a high surrogate; pos stands on the backslash. */
static int parse_unicode_escape(Parser *p, char **to) {
    uint32_t cp, low;
    if (!hex4(p, p->pos + 2, &cp)) return fail(p, "\\u needs four hexadecimal digits");
    size_t length = 6;
    if (cp >= 0xdc00 && cp <= 0xdfff) return fail(p, "an unpaired surrogate");
    if (cp >= 0xd800 && cp <= 0xdbff) {
        size_t second = p->pos + 6;
        if (p->n - p->pos < 12 || p->text[second] != '\\' || p->text[second + 1] != 'u' || !hex4(p, second + 2, &low) ||
            low < 0xdc00 || low > 0xdfff)
            return fail(p, "an unpaired surrogate");
        cp = 0x10000 + ((cp - 0xd800) << 10) + (low - 0xdc00);
        length = 12;
    }
    *to += utf8_encode(cp, *to); /* at most 3 bytes of 6, or 4 of 12 */
    p->pos += length;
    return 0;
}

static int parse_escape(Parser *p, char **to) {
    static const char letters[] = "\"\\/bfnrt", meanings[] = "\"\\/\b\f\n\r\t";
    int c = p->pos + 1 < p->n ? (unsigned char)p->text[p->pos + 1] : 0;
    if (c == 'u') return parse_unicode_escape(p, to);
    const char *letter = c ? strchr(letters, c) : NULL;
    if (!letter) return fail(p, "unknown escape in a string");
    *(*to)++ = meanings[letter - letters];
    p->pos += 2;
    return 0;
}

/* A string; pos stands on its opening quote. */
static int parse_string(Parser *p, const char **out, size_t *len) {
    size_t opening = p->pos;
    char *start = p->text + ++p->pos, *to = start;
    for (;;) {
        if (p->pos >= p->n) return fail_at(p, opening, "a string that never ends");
        unsigned char c = (unsigned char)p->text[p->pos];
        if (c == '"') break;
        if (c < 0x20) return fail(p, "a control character in a string");
        if (c == '\\') {
            int rc = parse_escape(p, &to);
            if (rc) return rc;
            continue;
        }
        uint32_t cp;
        int bytes = utf8_decode(p->text + p->pos, p->n - p->pos, &cp);
        if (bytes == 0) return fail(p, "bytes that are not UTF-8");
        for (; bytes > 0; bytes--) *to++ = p->text[p->pos++];
    }
    *out = start;
    *len = (size_t)(to - start);
    *to = 0;
    p->pos++;
    return 0;
}

static size_t digits(const Parser *p, size_t at) {
    size_t i = at;
    while (i < p->n && p->text[i] >= '0' && p->text[i] <= '9') i++;
    return i - at;
}

/* The end of the number that starts at pos, by RFC 8259's grammar, or 0 where there is none. */
static size_t number_end(const Parser *p) {
    size_t i = p->pos + (p->text[p->pos] == '-'), whole = digits(p, i);
    if (whole == 0 || (whole > 1 && p->text[i] == '0')) return 0;
    i += whole;
    if (i < p->n && p->text[i] == '.') {
        size_t fraction = digits(p, i + 1);
        if (fraction == 0) return 0;
        i += 1 + fraction;
    }
    if (i < p->n && (p->text[i] == 'e' || p->text[i] == 'E')) {
        i++;
        if (i < p->n && (p->text[i] == '+' || p->text[i] == '-')) i++;
        size_t exponent = digits(p, i);
        if (exponent == 0) return 0;
        i += exponent;
    }
    return i;
}

static int parse_number(Parser *p, JsonValue *v) {
    size_t end = number_end(p);
    if (end == 0) return fail(p, "not a number as JSON writes one");
    v->type = JSON_NUMBER;
    v->number = strtod(p->text + p->pos, NULL); /* a NUL stands behind the text */
    if (!isfinite(v->number)) return fail(p, "a number too large for a double");
    p->pos = end;
    return 0;
}

static int parse_word(Parser *p, JsonValue *v) {
    static const struct { const char *word; JsonType type; int boolean; } words[] = {
        {"true", JSON_BOOL, 1}, {"false", JSON_BOOL, 0}, {"null", JSON_NULL, 0},
    };
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        size_t len = strlen(words[i].word);
        if (p->n - p->pos < len || memcmp(p->text + p->pos, words[i].word, len) != 0) continue;
        v->type = words[i].type;
        v->boolean = words[i].boolean;
        p->pos += len;
        return 0;
    }
    return fail(p, "a value is expected here");
}

/* ---- arrays and objects ---- */

static int compare_keys(const void *a, const void *b) {
    const JsonValue *x = *(const JsonValue *const *)a, *y = *(const JsonValue *const *)b;
    int d = memcmp(x->key, y->key, x->key_len < y->key_len ? x->key_len : y->key_len);
    return d ? d : x->key_len < y->key_len ? -1 : x->key_len > y->key_len;
}

/* Sorted beside the tree, so that a vocabulary of 150,000 keys costs n log n and child/next keep the text's order. */
static int refuse_duplicates(Parser *p, const JsonValue *v) {
    int rc = room_to_sort(p, v->len);
    if (rc) return rc;
    size_t n = 0;
    for (const JsonValue *c = v->child; c; c = c->next) p->order[n++] = c;
    if (n > 1) qsort(p->order, n, sizeof *p->order, compare_keys);
    for (size_t i = 1; i < n; i++) {
        if (compare_keys(&p->order[i - 1], &p->order[i]) != 0) continue;
        const char *a = p->order[i - 1]->key, *b = p->order[i]->key;
        char what[120];
        base_error(what, sizeof what, 0, "key \"%.60s\" stands twice in one object", b);
        return fail_at(p, (size_t)((a > b ? a : b) - p->text), what);
    }
    return 0;
}

static int parse_key(Parser *p, JsonValue *child) {
    skip_space(p);
    if (peek(p) != '"') return fail(p, "a key in double quotes is expected here");
    int rc = parse_string(p, &child->key, &child->key_len);
    if (rc) return rc;
    skip_space(p);
    if (peek(p) != ':') return fail(p, "':' is expected here");
    p->pos++;
    return 0;
}

static int parse_value(Parser *p, JsonValue *v, int depth);

/* The children of an array or object and its closing bracket; pos stands behind the opening one. */
static int parse_children(Parser *p, JsonValue *v, int depth) {
    int close = v->type == JSON_OBJECT ? '}' : ']';
    const JsonValue **link = &v->child;
    skip_space(p);
    for (; v->len > 0 || peek(p) != close; v->len++) {
        JsonValue *child;
        int rc = new_value(p, &child);
        if (rc == 0 && close == '}') rc = parse_key(p, child);
        if (rc == 0) rc = parse_value(p, child, depth + 1);
        if (rc) return rc;
        *link = child;
        link = &child->next;
        skip_space(p);
        if (peek(p) == ',') {
            p->pos++;
            continue;
        }
        if (peek(p) != close)
            return fail(p, close == '}' ? "',' or '}' is expected here" : "',' or ']' is expected here");
        v->len++;
        break;
    }
    p->pos++;
    return close == '}' ? refuse_duplicates(p, v) : 0;
}

static int parse_value(Parser *p, JsonValue *v, int depth) {
    skip_space(p);
    int c = peek(p);
    if (c == '"') {
        v->type = JSON_STRING;
        return parse_string(p, &v->str, &v->len);
    }
    if (c == '{' || c == '[') {
        if (depth >= JSON_MAX_DEPTH) return fail(p, "nested too deep");
        v->type = c == '{' ? JSON_OBJECT : JSON_ARRAY;
        p->pos++;
        return parse_children(p, v, depth);
    }
    return c == '-' || (c >= '0' && c <= '9') ? parse_number(p, v) : parse_word(p, v);
}

/* ---- the interface ---- */

static int parse_all(Parser *p, Json *j) {
    JsonValue *root;
    int rc = new_value(p, &root);
    if (rc == 0) rc = parse_value(p, root, 0);
    if (rc) return rc;
    skip_space(p);
    if (p->pos != p->n) return fail(p, "something stands behind the JSON value");
    j->root = root;
    return 0;
}

int json_parse(Json *j, const char *text, size_t n, const char *name, char *err, size_t errlen) {
    memset(j, 0, sizeof *j);
    Parser p = {.source = text, .n = n, .name = name, .err = err, .errlen = errlen};
    if (n > SIZE_MAX / 8) return no_memory(&p);
    p.budget = 3 * n + JSON_MAX_BYTES; /* beside the copy */
    p.memory = malloc(sizeof *p.memory + n + 1);
    if (!p.memory) return no_memory(&p);
    p.memory->blocks = NULL;
    p.text = p.memory->text;
    if (n) memcpy(p.text, text, n);
    p.text[n] = 0;
    j->memory = p.memory;
    int rc = parse_all(&p, j);
    free(p.order);
    if (rc) json_free(j);
    return rc;
}

int json_open(Json *j, const char *path, char *err, size_t errlen) {
    memset(j, 0, sizeof *j);
    MappedFile f;
    int rc = file_map(&f, path, err, errlen);
    if (rc) return rc;
    rc = json_parse(j, (const char *)f.data, f.size, path, err, errlen);
    file_unmap(&f);
    return rc;
}

int json_open_in(Json *j, const char *folder, const char *file, char *err, size_t errlen) {
    char *path = file_join(folder, file);
    *j = (Json){.root = NULL};
    if (!path) return base_error(err, errlen, -ENOMEM, "%s: no memory", folder);
    int rc = file_there(path) ? json_open(j, path, err, errlen) : 0;
    free(path);
    return rc;
}

void json_free(Json *j) {
    Memory *m = j->memory;
    for (Block *b = m ? m->blocks : NULL, *next; b; b = next) {
        next = b->next;
        free(b);
    }
    free(m);
    memset(j, 0, sizeof *j);
}

const JsonValue *json_get(const JsonValue *v, const char *key) {
    size_t len = strlen(key);
    if (!v || v->type != JSON_OBJECT) return NULL;
    for (const JsonValue *c = v->child; c; c = c->next)
        if (c->key_len == len && memcmp(c->key, key, len) == 0) return c;
    return NULL;
}

int json_absent(const JsonValue *v) { return !v || v->type == JSON_NULL; }

int json_is(const JsonValue *v, const char *s) {
    return v && v->type == JSON_STRING && v->len == strlen(s) && memcmp(v->str, s, v->len) == 0;
}

const JsonValue *json_typed(const JsonValue *v, const char *key, JsonType type) {
    const JsonValue *c = json_get(v, key);
    return c && c->type == type ? c : NULL;
}

int json_flag(const JsonValue *v, const char *key, int otherwise) {
    const JsonValue *c = json_typed(v, key, JSON_BOOL);
    return c ? c->boolean : otherwise;
}

int json_truth(const JsonValue *v) {
    return v && (v->type == JSON_BOOL ? v->boolean : v->type == JSON_NUMBER ? v->number != 0 : v->len > 0);
}

int json_list_holds(const JsonValue *v, const char *key, const char *part) {
    const JsonValue *list = json_typed(v, key, JSON_ARRAY);
    for (const JsonValue *e = list ? list->child : NULL; e; e = e->next)
        if (e->type == JSON_STRING && strstr(e->str, part)) return 1;
    return 0;
}
