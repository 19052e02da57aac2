/* tests/fuzz/mutate_safetensors.c - safetensors: its header's JSON changes as a tree, or an entry's shape, dtype or
 * offsets do; then the length before it is put right, and mostly the offsets are those that follow one another. */
#include "mutate.h"

#include "base/base.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { HEADER_MOST = 60000 };

/* Where `name` is a member of v, as spans say; NULL: nowhere. */
static const JsonSpan *member(const char *s, const JsonSpan *v, const JsonSpan *last, const char *name) {
    size_t n = strlen(name);
    for (const JsonSpan *c = v + 1; c < last && c->begin < v->end; c++)
        if (c->name < c->begin && c->begin - c->name > n + 2 && memcmp(s + c->name + 1, name, n) == 0) return c;
    return NULL;
}

/* The bytes of each dtype's value; odd ones are left alone. */
static size_t value_bytes(const char *s) {
    static const struct { const char *name; size_t bytes; } rows[] = {{"\"F32\"", 4}, {"\"F16\"", 2}, {"\"BF16\"", 2},
        {"\"F64\"", 8}, {"\"I64\"", 8}, {"\"I32\"", 4}, {"\"U8\"", 1}, {"\"I8\"", 1}, {"\"BOOL\"", 1}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (strncmp(s, rows[i].name, strlen(rows[i].name)) == 0) return rows[i].bytes;
    return 0;
}

static size_t shape_values(const char *s) {
    size_t values = 1;
    if (*s++ != '[') return 0;
    while (*s && *s != ']') {
        char *end;
        values *= strtoul(s, &end, 10);
        if (end == s || values > 1 << 20) return 0;
        s = end + (*end == ',');
    }
    return values;
}

/* Each entry's offsets follow the one before; the data are as long as that. */
static void put_right(Mutant *header, size_t *data) {
    static JsonSpan spans[JSON_SPANS];
    const char *s = (const char *)header->data;
    size_t sum = 0, n;
    header->data[header->size] = 0; /* room was left for it */
    n = json_spans(s, header->size, spans);
    for (size_t i = 1; i < n; i++) {
        const JsonSpan *last = spans + n, *type = member(s, &spans[i], last, "dtype"),
                       *shape = member(s, &spans[i], last, "shape"),
                       *offsets = member(s, &spans[i], last, "data_offsets");
        if (s[spans[i].begin] != '{' || !type || !shape || !offsets) continue;
        char text[60];
        size_t bytes = value_bytes(s + type->begin) * shape_values(s + shape->begin);
        int len = snprintf(text, sizeof text, "[%zu,%zu]", sum, sum + bytes);
        sum += bytes;
        if (!splice(header, offsets->begin, offsets->end - offsets->begin, text, (size_t)len)) return;
        header->data[header->size] = 0;
        n = json_spans(s, header->size, spans);
    }
    *data = sum;
}

int mutate_safetensors(Mutant *m) {
    static uint8_t buffer[HEADER_MOST + 1];
    if (m->size < 10) return 0;
    size_t was = load_u16(m->data);
    if (was > m->size - 8) was = m->size - 8;
    Mutant header = {buffer, was, HEADER_MOST, m->state};
    if (was >= HEADER_MOST || m->most < 12) return 0;
    if (header.most > m->most - 8) header.most = m->most - 8;
    memcpy(buffer, m->data + 8, was);
    if (!mutate_json(&header)) return 0;
    size_t data = m->size - 8 - was;
    if (chance(&header, 3)) put_right(&header, &data);
    m->state = header.state;
    if (header.size + 8 + data > m->most) data = m->most - 8 - header.size;
    uint8_t head[8] = {(uint8_t)header.size, (uint8_t)(header.size >> 8)};
    memcpy(m->data, head, 8);
    memcpy(m->data + 8, buffer, header.size);
    m->size = 8 + header.size + data;
    return 1;
}
