/* tokenizer/sentencepiece/normalize.c - what SentencePiece does to a text before it looks for pieces.
 *
 * The text is read in units: a user-defined piece, or the longest rule of the character map (charsmap.h), or one character, or
 * one byte that is no UTF-8, which becomes U+FFFD (t->raw_bytes: stays as it is). Spaces become U+2581, one is put in front
 * of everything, and where the model says remove_extra_whitespaces runs of them become one and none stays at the ends. */
#include "charsmap.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
    const char *s;
    size_t len;  /* what it becomes */
    size_t used; /* bytes of the text it took */
} Unit;

static Unit next_unit(const Tokenizer *t, const char *s, size_t n) {
    size_t len;
    uint32_t cp;
    Unit u;
    if (t->user.n && matcher_longest(&t->user, t->bytes, s, n, &len) >= 0) return (Unit){s, len, len};
    if (t->map && (u.used = charsmap_longest(t->map, s, n, &u.s, &u.len)) > 0) return u;
    if (t->raw_bytes || (unsigned char)*s < 0x80) return (Unit){s, 1, 1};
    len = (size_t)utf8_decode(s, n, &cp);
    return len ? (Unit){s, len, len} : (Unit){"\xef\xbf\xbd", 3, 1};
}

/* Room for n more bytes. */
static int reserve(Text *out, size_t n) {
    if (n <= out->cap - out->n) return 0;
    if (n > INT32_MAX - out->n) return -EFBIG;
    size_t c = out->cap + out->cap / 2 > out->n + n ? out->cap + out->cap / 2 : out->n + n + 64;
    char *p = realloc(out->p, c);
    if (!p) return -ENOMEM;
    out->p = p;
    out->cap = c;
    return 0;
}

int text_put(Text *out, const char *s, size_t n) {
    int rc = reserve(out, n);
    if (rc == 0 && n) memcpy(out->p + out->n, s, n);
    if (rc == 0) out->n += n;
    return rc;
}

/* Bytes [n], spaces as the model writes them. */
static int put_unit(const Tokenizer *t, const char *s, size_t n, Text *out) {
    size_t space = strlen(t->space_in);
    int rc = reserve(out, 3 * n);
    char *o = out->p + (rc ? 0 : out->n);
    for (size_t i = 0; i < n && rc == 0; i++)
        if (s[i] == ' ') {
            memcpy(o, t->space_in, space);
            o += space;
        } else *o++ = s[i];
    if (rc == 0) out->n = (size_t)(o - out->p);
    return rc;
}

/* Text [n] from its first unit that is no space. */
static int put_units(const Tokenizer *t, const char *text, size_t n, Text *out) {
    const char *end = text + n;
    int trim = t->remove_extra_whitespaces, after_space = trim, rc = 0;
    while (text < end && rc == 0) {
        Unit u = next_unit(t, text, (size_t)(end - text));
        text += u.used;
        for (; after_space && u.len && *u.s == ' '; u.s++) u.len--;
        if (u.len == 1 && *u.s != ' ' && out->n < out->cap) out->p[out->n++] = *u.s;
        else rc = put_unit(t, u.s, u.len, out);
        if (u.len) after_space = trim && u.s[u.len - 1] == ' ';
    }
    return rc;
}

int normalize(const Tokenizer *t, const char *text, size_t n, int first, Text *out) {
    size_t space = strlen(t->space_in), from = out->n;
    int prefix = t->dummy_prefix && first;
    for (Unit u; t->remove_extra_whitespaces && n; text += u.used, n -= u.used) {
        u = next_unit(t, text, n);
        if (u.len != 1 || *u.s != ' ') break;
    }
    if (n == 0) return 0;
    int rc = reserve(out, n <= INT32_MAX / 2 ? n + n / 2 + 8 : n);
    if (rc == 0 && prefix && !t->space_as_suffix) rc = text_put(out, t->space_in, space);
    if (rc == 0) rc = put_units(t, text, n, out);
    if (rc) return rc;
    if (t->remove_extra_whitespaces)
        while (out->n - from >= space && memcmp(out->p + out->n - space, t->space_in, space) == 0) out->n -= space;
    return prefix && t->space_as_suffix ? text_put(out, t->space_in, space) : 0;
}
