/* tests/fuzz/mutate_json.c - JSON as a tree: values and members are dropped, doubled, traded, copied elsewhere, put in
 * brackets, or become another kind of value. A text behind a NUL is not touched. */
#include "mutate.h"

#include <stdio.h>
#include <string.h>

enum { DEPTH = 70 };

typedef struct {
    const char *s;
    size_t n, n_spans;
    JsonSpan *spans;
} Scan;

static size_t skip(const Scan *c, size_t at, const char *what) {
    while (at < c->n && c->s[at] && strchr(what, c->s[at])) at++;
    return at;
}

/* Behind the string that begins at `at`. */
static size_t string_end(const Scan *c, size_t at) {
    for (at++; at < c->n && c->s[at] != '"'; at++) at += c->s[at] == '\\';
    return at < c->n ? at + 1 : c->n;
}

/* The value at `at`, and all in it; where it ends. */
static size_t scan(Scan *c, size_t name, size_t at, int depth) {
    size_t mine = c->n_spans, end = at;
    if (mine == JSON_SPANS || at >= c->n || depth == DEPTH) return c->n;
    c->n_spans++;
    if (c->s[at] == '"') end = string_end(c, at);
    else if (c->s[at] == '{' || c->s[at] == '[') {
        int object = c->s[at] == '{';
        end = skip(c, at + 1, " \t\r\n");
        while (end < c->n && c->s[end] != (object ? '}' : ']')) {
            size_t begin = end, value = begin;
            if (object && c->s[begin] == '"') value = skip(c, string_end(c, begin), " \t\r\n:");
            end = skip(c, scan(c, begin, value, depth + 1), " \t\r\n,");
            if (end == begin) end++; /* no value: damaged */
        }
        if (end < c->n) end++;
    } else
        while (end < c->n && !strchr(",]} \t\r\n", c->s[end])) end++;
    c->spans[mine] = (JsonSpan){name, at, end};
    return end;
}

size_t json_spans(const char *s, size_t n, JsonSpan *spans) {
    Scan c = {s, n, 0, spans};
    size_t at = skip(&c, 0, " \t\r\n");
    scan(&c, at, at, 0);
    return c.n_spans;
}

static int number(Mutant *m, JsonSpan v) {
    char text[40];
    unsigned long long was = 0;
    memcpy(text, m->data + v.begin, v.end - v.begin < 39 ? v.end - v.begin : 39);
    text[v.end - v.begin < 39 ? v.end - v.begin : 39] = 0;
    sscanf(text, "%llu", &was);
    int n = snprintf(text, sizeof text, chance(m, 6) ? "%s%llu" : "%s%llue%d", chance(m, 6) ? "" : "-",
                     (unsigned long long)chance_number(m, was), (int)chance(m, 40) - 30);
    return splice(m, v.begin, v.end - v.begin, text, (size_t)n);
}

static int other_value(Mutant *m, JsonSpan v) {
    static const char *const values[] = {"null", "true", "false", "0", "1", "-1", "0.5", "1e308", "1e-45", "[]", "{}",
                                         "\"\"", "\"a\"", "[0]", "[[]]", "9007199254740993", "4294967296"};
    const char *with = values[chance(m, sizeof values / sizeof *values)];
    return splice(m, v.begin, v.end - v.begin, with, strlen(with));
}

static int in_brackets(Mutant *m, JsonSpan v) {
    return splice(m, v.end, 0, "]", 1) && splice(m, v.begin, 0, "[", 1);
}

/* With its comma, the one behind it or else the one before. */
static int drop(Mutant *m, JsonSpan v) {
    size_t end = v.end, begin = v.name;
    if (end < m->size && m->data[end] == ',') end++;
    else if (begin > 0 && m->data[begin - 1] == ',') begin--;
    return splice(m, begin, end - begin, NULL, 0);
}

/* Once more behind itself, or behind another. */
static int copy_behind(Mutant *m, JsonSpan v, JsonSpan other) {
    return splice(m, other.end, 0, m->data + v.name, v.end - v.name) && splice(m, other.end, 0, ",", 1);
}

int mutate_json(Mutant *m) {
    static JsonSpan spans[JSON_SPANS];
    const uint8_t *nul = memchr(m->data, 0, m->size);
    size_t n = json_spans((const char *)m->data, nul ? (size_t)(nul - m->data) : m->size, spans);
    if (n == 0) return 0;
    JsonSpan v = spans[chance(m, (uint32_t)n)], w = spans[chance(m, (uint32_t)n)];
    int is_number = v.begin < m->size && strchr("-0123456789", m->data[v.begin]) && m->data[v.begin];
    switch (chance(m, 10)) {
    case 0: return drop(m, v);
    case 1: return copy_behind(m, v, v);
    case 2: return copy_behind(m, v, w);
    case 3: return other_value(m, v);
    case 4: return in_brackets(m, v);
    case 5: return splice(m, v.begin, v.end - v.begin, m->data + w.begin, w.end - w.begin);
    case 6: return v.begin < w.begin ? trade(m, v.begin, v.end - v.begin, w.begin, w.end - w.begin) : 0;
    case 7: /* a name of another's, where both have one */
        return v.name < v.begin && w.name < w.begin &&
               splice(m, v.name, v.begin - v.name, m->data + w.name, w.begin - w.name);
    case 8: return v.name < v.begin ? remake(m, v.name + 1, v.begin - v.name - 1) > 0 : 0;
    default:
        if (is_number) return number(m, v);
        return v.end - v.begin > 2 && m->data[v.begin] == '"' && remake(m, v.begin + 1, v.end - v.begin - 2) > 0;
    }
}
