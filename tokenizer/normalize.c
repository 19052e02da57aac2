/* tokenizer/normalize.c - what SentencePiece does to a text before it looks for pieces (identity normalization).
 *
 * The text is read in units: a user-defined piece, or one character, or one byte that is no UTF-8, which becomes U+FFFD
 * (t->raw_bytes: stays as it is). Spaces become U+2581, one is put in front of everything, and where the model says
 * remove_extra_whitespaces runs of them become one and none stays at the ends. */
#include "internal.h"

#include <string.h>

typedef struct {
    const char *s;
    size_t len;  /* what it becomes */
    size_t used; /* bytes of the text it took */
} Unit;

static Unit next_unit(const Tokenizer *t, const char *s, size_t n) {
    size_t len;
    uint32_t cp;
    if (t->user.n && matcher_longest(&t->user, t->bytes, s, n, &len) >= 0) return (Unit){s, len, len};
    if (t->raw_bytes || (unsigned char)*s < 0x80) return (Unit){s, 1, 1};
    len = (size_t)utf8_decode(s, n, &cp);
    return len ? (Unit){s, len, len} : (Unit){"\xef\xbf\xbd", 3, 1};
}

static char *put(char *out, const char *s, size_t n) {
    memcpy(out, s, n);
    return out + n;
}

int normalize_bound(size_t n, size_t *bound) { return size_mul(n, 3, bound) && size_add(*bound, 3, bound); }

size_t normalize(const Tokenizer *t, const char *text, size_t n, int first, char *out) {
    const char *end = text + n;
    size_t space = strlen(t->space_in);
    char *o = out;
    int prefix = t->dummy_prefix && first, trim = t->remove_extra_whitespaces, after_space = trim;
    Unit u;
    while (trim && text < end && (u = next_unit(t, text, (size_t)(end - text)), u.len == 1 && *u.s == ' ')) text += u.used;
    if (text == end) return 0;
    if (prefix && !t->space_as_suffix) o = put(o, t->space_in, space);
    while (text < end) {
        u = next_unit(t, text, (size_t)(end - text));
        text += u.used;
        for (; after_space && u.len && *u.s == ' '; u.s++) u.len--;
        for (size_t i = 0; i < u.len; i++)
            if (u.s[i] == ' ') o = put(o, t->space_in, space);
            else *o++ = u.s[i];
        if (u.len) after_space = trim && u.s[u.len - 1] == ' ';
    }
    while (trim && (size_t)(o - out) >= space && memcmp(o - space, t->space_in, space) == 0) o -= space;
    if (prefix && t->space_as_suffix) o = put(o, t->space_in, space);
    return (size_t)(o - out);
}
