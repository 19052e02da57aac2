/* tokenizer/sentencepiece/normalize.c - what SentencePiece does to a text before it looks for pieces.
 *
 * The text is read in units: a user-defined piece, or the longest rule of the character map (charsmap.h), or one
 * character, or one byte that is no UTF-8, which becomes U+FFFD (raw_bytes: stays as it is). Spaces become U+2581, one
 * is put in front of everything, and where the model says remove_extra_whitespaces runs of them become one and none
 * stays at the ends. */
#include "normalize.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
    const char *s;
    size_t len;  /* what it becomes */
    size_t used; /* bytes of the text it took */
} Unit;

static inline Unit next_unit(const Tokenizer *t, const char *s, size_t n) {
    const SpmModel *m = t->own;
    size_t len;
    uint32_t cp;
    Unit u;
    if (m->user.n && matcher_longest(&m->user, t->bytes, s, n, &len) >= 0) return (Unit){s, len, len};
    if (m->map && (u.used = charsmap_longest(m->map, s, n, &u.s, &u.len)) > 0) return u;
    if (m->raw_bytes || (unsigned char)*s < 0x80) return (Unit){s, 1, 1};
    len = (size_t)utf8_decode(s, n, &cp);
    return len ? (Unit){s, len, len} : (Unit){"\xef\xbf\xbd", 3, 1};
}

/* Bytes [n], spaces as the model writes them. */
static int put_unit(const SpmModel *m, const char *s, size_t n, Text *out) {
    size_t space = strlen(m->space_in);
    int rc = text_reserve(out, 3 * n);
    char *o = out->p + (rc ? 0 : out->n);
    for (size_t i = 0; i < n && rc == 0; i++)
        if (s[i] == ' ') {
            memcpy(o, m->space_in, space);
            o += space;
        } else *o++ = s[i];
    if (rc == 0) out->n = (size_t)(o - out->p);
    return rc;
}

/* Text [n] from its first unit that is no space. */
static int put_units(const Tokenizer *t, const char *text, size_t n, Text *out) {
    const char *end = text + n;
    const SpmModel *m = t->own;
    int trim = m->remove_extra_whitespaces, after_space = trim, rc = 0;
    for (size_t len; !trim && m->raw_bytes && !m->map && !m->user.n && text < end && rc == 0; text += len) {
        len = end - text < 4096 ? (size_t)(end - text) : 4096; /* nothing but spaces changes */
        rc = put_unit(m, text, len, out);
    }
    while (text < end && rc == 0) {
        Unit u = next_unit(t, text, (size_t)(end - text));
        text += u.used;
        for (; after_space && u.len && *u.s == ' '; u.s++) u.len--;
        if (u.len == 1 && *u.s != ' ' && out->n < out->cap) out->p[out->n++] = *u.s;
        else rc = put_unit(m, u.s, u.len, out);
        if (u.len) after_space = trim && u.s[u.len - 1] == ' ';
    }
    return rc;
}

int spm_normalize(const Tokenizer *t, const char *text, size_t n, int first, Text *out) {
    const SpmModel *m = t->own;
    size_t space = strlen(m->space_in), from = out->n;
    int prefix = t->dummy_prefix && first;
    for (Unit u; m->remove_extra_whitespaces && n; text += u.used, n -= u.used) {
        u = next_unit(t, text, n);
        if (u.len != 1 || *u.s != ' ') break;
    }
    if (n == 0) return 0;
    int rc = text_reserve(out, n <= INT32_MAX / 2 ? n + n / 2 + 8 : n);
    if (rc == 0 && prefix && !m->space_as_suffix) rc = text_put(out, m->space_in, space);
    if (rc == 0) rc = put_units(t, text, n, out);
    if (rc) return rc;
    if (m->remove_extra_whitespaces)
        while (out->n - from >= space && memcmp(out->p + out->n - space, m->space_in, space) == 0) out->n -= space;
    return prefix && m->space_as_suffix ? text_put(out, m->space_in, space) : 0;
}
