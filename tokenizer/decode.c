/* tokenizer/decode.c - ids to text, one at a time.
 *
 * A character may come in up to four byte pieces, and half a character is not text: bytes are held back until they are
 * whole, or can no longer become so; then each bad byte is U+FFFD. Invariant: between calls the held bytes are 0 to 3, and
 * are the beginning of a character as far as their number and high bits tell. */
#include "internal.h"

#include <string.h>

enum { REPLACEMENT_LEN = 3 };
static const char replacement[] = "\xef\xbf\xbd";

size_t tokenizer_decode_bound(const Tokenizer *t) {
    return sizeof ((TokenStream *)0)->held * REPLACEMENT_LEN + t->longest + t->unk_len;
}

/* May held become a character yet? */
static int unfinished(const TokenStream *s) {
    if (s->n_held >= utf8_length((unsigned char)s->held[0])) return 0;
    for (int i = 1; i < s->n_held; i++)
        if (((unsigned char)s->held[i] & 0xc0) != 0x80) return 0;
    return 1;
}

/* Write what is held as far as it is decided; at the end all of it is. */
static size_t release(TokenStream *s, int end, char *out) {
    size_t n = 0;
    while (s->n_held > 0) {
        uint32_t cp;
        int len = utf8_decode(s->held, (size_t)s->n_held, &cp);
        if (len == 0 && !end && unfinished(s)) break;
        memcpy(out + n, len ? s->held : replacement, len ? (size_t)len : REPLACEMENT_LEN);
        n += len ? (size_t)len : REPLACEMENT_LEN;
        s->n_held -= len ? len : 1;
        memmove(s->held, s->held + (len ? len : 1), (size_t)s->n_held);
    }
    return n;
}

size_t tokenizer_decode_end(const Tokenizer *t, TokenStream *s, char *out) {
    size_t n = release(s, 1, out);
    return t->body->end ? n + t->body->end(t, s, out + n) : n;
}

size_t tokenizer_decode(const Tokenizer *t, TokenStream *s, int id, char *out) {
    if (id < 0 || (size_t)id >= t->n) return 0;
    const Entry *e = &t->pieces[id];
    if (e->kind == PIECE_BYTE) {
        s->held[s->n_held++] = (char)pieces_byte_value(t->bytes + e->start, e->len);
        s->begun = 1;
        return release(s, 0, out);
    }
    size_t n = release(s, 1, out); /* a piece of text ends the character before it, whole or not */
    return e->kind == PIECE_CONTROL ? n : n + t->body->spell(t, s, id, out + n);
}
