/* tokenizer/bpe/joins.c - pairs of neighbouring characters as bits of a table that a core's cache holds. */
#include "joins.h"

#include <stdlib.h>

enum { BITS = 18 };

struct Joins {
    unsigned char bits[1 << (BITS - 3)];
};

static size_t bit_of(const char *s, size_t len) {
    uint64_t x = 0;
    for (size_t i = 0; i < len; i++) x = x << 8 | (unsigned char)s[i];
    return (size_t)(x * 0x9e3779b97f4a7c15u >> (64 - BITS));
}

static void mark(Joins *j, const Tokenizer *t, const char *s, size_t n) {
    size_t len = n ? pieces_char(t, s, n) : 0;
    while (len < n) {
        size_t next = pieces_char(t, s + len, n - len), i = bit_of(s, len + next);
        j->bits[i >> 3] |= (unsigned char)(1 << (i & 7));
        s += len;
        n -= len;
        len = next;
    }
}

Joins *joins_new(const Tokenizer *t) {
    Joins *j = calloc(1, sizeof *j);
    for (size_t i = 0; j && i < t->n; i++) {
        const Entry *e = &t->pieces[i];
        if (t->found >> e->kind & 1) mark(j, t, t->bytes + e->start, e->len);
    }
    return j;
}

int joins_may(const Joins *j, const char *s, size_t len) {
    size_t i = bit_of(s, len);
    return j->bits[i >> 3] >> (i & 7) & 1;
}
