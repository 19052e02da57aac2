/* tokenizer/decode.c - ids to text, one at a time.
 *
 * A character may come in up to four byte pieces, and half a character is not text: bytes are held back until they are
 * whole, or can no longer become so; then each bad byte is U+FFFD. A model with a denormalizer changes the text once more, by
 * rules as long as DECODE_HELD_MAX bytes; as many bytes wait until no rule can reach over them. Invariant: between calls the
 * held bytes are 0 to 3, and are the beginning of a character as far as their number and high bits tell. */
#include "tokenizer/sentencepiece/charsmap.h"
#include "tokenizer/unicode/unicode_text.h"

#include <string.h>

enum { REPLACEMENT_LEN = 3 };
static const char replacement[] = "\xef\xbf\xbd";

/* .. of text before the denormalizer's map. */
static size_t plain_bound(const Tokenizer *t) {
    size_t held = sizeof ((TokenStream *)0)->held * REPLACEMENT_LEN;
    size_t piece = t->longest + t->spell_more;
    return t->spells_bytes ? held + (REPLACEMENT_LEN + 1) * piece : held + piece + t->unk_len + 1;
}

/* With a map: what was held back and what came stand at the end of out, what it becomes at the beginning. A byte becomes
 * DECODE_HELD_MAX bytes at most. */
size_t tokenizer_decode_bound(const Tokenizer *t) {
    return t->unmap ? (plain_bound(t) + DECODE_HELD_MAX) * (DECODE_HELD_MAX + 1) : plain_bound(t);
}

/* May held become a character yet? */
static int unfinished(const TokenStream *s) {
    if (s->n_held >= utf8_length((unsigned char)s->held[0])) return 0;
    for (int i = 1; i < s->n_held; i++)
        if (((unsigned char)s->held[i] & 0xc0) != 0x80) return 0;
    return 1;
}

/* Write what is held as far as it is decided; at the end all of it is. maximal: bytes that begin a character and do not go on are
 * one U+FFFD, not one each. */
static size_t release(TokenStream *s, int end, int maximal, char *out) {
    size_t n = 0;
    while (s->n_held > 0) {
        uint32_t cp;
        int len = utf8_decode(s->held, (size_t)s->n_held, &cp);
        if (len == 0 && !end && unfinished(s)) break;
        int bad = maximal && !len ? (int)utf8_ill_formed(s->held, (size_t)s->n_held) : 1;
        memcpy(out + n, len ? s->held : replacement, len ? (size_t)len : REPLACEMENT_LEN);
        n += len ? (size_t)len : REPLACEMENT_LEN;
        s->n_held -= len ? len : bad;
        memmove(s->held, s->held + (len ? len : bad), (size_t)s->n_held);
    }
    return n;
}

/* Everything is known of text up to its last `margin` bytes: what a denormalizer says of it. */
static size_t denormalize(const Tokenizer *t, TokenStream *s, const char *text, size_t n, size_t margin, char *out) {
    char *o = out;
    size_t i = 0;
    while (i < n && n - i > margin) {
        const char *to;
        size_t to_len, used = charsmap_longest(t->unmap, text + i, n - i, &to, &to_len);
        uint32_t cp;
        if (used == 0) {
            used = (size_t)utf8_decode(text + i, n - i, &cp);
            to = used ? text + i : replacement;
            to_len = used ? used : REPLACEMENT_LEN;
            if (used == 0) used = 1;
        }
        memmove(o, to, to_len);
        o += to_len;
        i += used;
    }
    s->n_rest = (int)(n - i);
    memcpy(s->rest, text + i, n - i);
    return (size_t)(o - out);
}

/* Where a piece's own text goes: out, or behind what the denormalizer waits with, at the end of out. */
static char *text_place(const Tokenizer *t, const TokenStream *s, char *out) {
    if (!t->unmap) return out;
    char *text = out + tokenizer_decode_bound(t) - DECODE_HELD_MAX - plain_bound(t);
    memcpy(text, s->rest, (size_t)s->n_rest);
    return text + s->n_rest;
}

static size_t finish_text(const Tokenizer *t, TokenStream *s, const char *text, size_t n, int end, char *out) {
    if (!t->unmap) return n;
    size_t margin = charsmap_longest_rule(t->unmap);
    if (margin < sizeof s->held) margin = sizeof s->held; /* a character may be cut, too */
    return denormalize(t, s, text - s->n_rest, n + (size_t)s->n_rest, end ? 0 : margin - 1, out);
}

size_t tokenizer_decode_end(const Tokenizer *t, TokenStream *s, char *out) {
    char *text = text_place(t, s, out);
    size_t n = release(s, 1, t->spells_bytes, text);
    if (t->body->end) n += t->body->end(t, s, text + n);
    return finish_text(t, s, text, n, 1, out);
}

/* Bytes that a piece stands for, which need not be whole characters. They were written at the end of out's room, so that what
 * comes out in front never reaches them: three bytes for one at most. */
static size_t push_bytes(TokenStream *s, const char *bytes, size_t n, char *out) {
    size_t k = 0;
    for (size_t i = 0; i < n; i++) {
        s->held[s->n_held++] = bytes[i];
        k += release(s, 0, 1, out + k);
    }
    return k;
}

size_t tokenizer_decode(const Tokenizer *t, TokenStream *s, int id, char *out) {
    if (id < 0 || (size_t)id >= t->n) return 0;
    const Entry *e = &t->pieces[id];
    if (t->spells_bytes) {
        char *behind = out + tokenizer_decode_bound(t) - t->longest - t->spell_more;
        return e->kind == PIECE_CONTROL ? 0 : push_bytes(s, behind, t->body->spell(t, s, id, behind), out);
    }
    char *text = text_place(t, s, out);
    size_t n;
    if (e->kind == PIECE_BYTE && !t->bytes_named) {
        s->held[s->n_held++] = (char)pieces_byte_value(t->bytes + e->start, e->len);
        s->begun = 1;
        n = release(s, 0, 0, text);
    } else {
        n = release(s, 1, 0, text); /* a piece of text ends the character before it, whole or not */
        if (e->kind != PIECE_CONTROL) n += t->body->spell(t, s, id, text + n);
    }
    return finish_text(t, s, text, n, 0, out);
}
