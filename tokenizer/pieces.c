/* tokenizer/pieces.c - the vocabulary, texts by id and ids by text; and what every kind of tokenizer does with it. */
#include "internal.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

int tokenizer_make(Tokenizer **out, const char *name, Read *read, const void *from, char *err, size_t errlen) {
    Tokenizer *t = *out = malloc(sizeof *t);
    if (!t) return base_error(err, errlen, -ENOMEM, "%s: no memory", name);
    *t = (Tokenizer){.name = name, .bos = -1, .eos = -1, .unk = -1, .space = "\xe2\x96\x81",
                     .found = 1 << PIECE_NORMAL | 1 << PIECE_USER_DEFINED | 1 << PIECE_UNUSED};
    int rc = read(t, from, err, errlen);
    if (rc == 0 && !t->lists) rc = pieces_finish(t, err, errlen);
    t->name = NULL;
    if (rc) tokenizer_free(t), *out = NULL;
    return rc;
}

void tokenizer_free(Tokenizer *t) {
    if (!t) return;
    if (t->body && t->body->close) t->body->close(t);
    free(t->bytes);
    free(t->pieces);
    free(t->lists);
    free(t);
}

size_t tokenizer_size(const Tokenizer *t) { return t->n; }
int tokenizer_bos(const Tokenizer *t) { return t->bos; }
int tokenizer_eos(const Tokenizer *t) { return t->eos; }
size_t tokenizer_decode_bound(const Tokenizer *t) { return t->decode_bound; }

int pieces_byte_value(const char *text, size_t len) {
    static const char digits[] = "0123456789ABCDEF";
    if (len != 6 || memcmp(text, "<0x", 3) != 0 || text[5] != '>') return -1;
    const char *hi = memchr(digits, text[3], 16), *lo = memchr(digits, text[4], 16);
    return hi && lo ? (int)((hi - digits) * 16 + (lo - digits)) : -1;
}

size_t pieces_char(const Tokenizer *t, const char *s, size_t n) {
    uint32_t cp;
    size_t len = t->llama2c || (unsigned char)*s < 0x80 ? 1 : (size_t)utf8_decode(s, n, &cp);
    while (t->llama2c && len < n && len < 4 && ((unsigned char)s[len] & 0xc0) == 0x80) len++;
    return len ? len : 1;
}

int pieces_add(Tokenizer *t, const char *text, size_t len, float score, int kind, char *err, size_t errlen) {
    if (!isfinite(score))
        return base_error(err, errlen, -EINVAL, "%s: the score of piece %zu is not a number", t->name, t->n);
    if (kind == PIECE_BYTE && pieces_byte_value(text, len) < 0)
        return base_error(err, errlen, -EINVAL, "%s: byte piece %zu names no byte", t->name, t->n);
    if (t->n >= INT32_MAX || len > UINT32_MAX - t->n_bytes)
        return base_error(err, errlen, -EINVAL, "%s: the vocabulary's texts are longer than 4 GiB", t->name);
    if (array_reserve(&t->pieces, &t->cap, t->n + 1, sizeof *t->pieces) ||
        array_reserve(&t->bytes, &t->cap_bytes, t->n_bytes + len + 1, 1)) /* never NULL: empty pieces stand there */
        return base_error(err, errlen, -ENOMEM, "%s: no memory for the vocabulary", t->name);
    t->pieces[t->n++] = (Entry){(uint32_t)t->n_bytes, (uint32_t)len, score, kind, -1};
    if (len) memcpy(t->bytes + t->n_bytes, text, len);
    t->n_bytes += len;
    if (len > t->longest) t->longest = len;
    return 0;
}

int *pieces_place(const Tokenizer *t, uint64_t h, const char *text, size_t len, unsigned kinds, int *others) {
    int *at = &t->lists[(h ^ h >> 32) * 0x9e3779b97f4a7c15u >> t->shift]; /* the low bits alone are weak */
    for (*others = 0; *at >= 0; at = &t->pieces[*at].next, ++*others) {
        const Entry *e = &t->pieces[*at];
        if (e->len == len && kinds >> e->kind & 1 && memcmp(t->bytes + e->start, text, len) == 0) break;
    }
    return at;
}

int pieces_find(const Tokenizer *t, const char *text, size_t len) {
    int others;
    return len > t->longest ? -1 : *pieces_place(t, hash_bytes(HASH_START, text, len), text, len, t->found, &others);
}

/* Of equal texts the last is found; of special ones, which a text never becomes, the first. */
static int insert(Tokenizer *t, int id, char *err, size_t errlen) {
    Entry *e = &t->pieces[id];
    const char *text = t->bytes + e->start;
    unsigned kind = 1u << e->kind, found = kind & t->found, kinds = found ? t->found : kind;
    int others, *at = pieces_place(t, hash_bytes(HASH_START, text, e->len), text, e->len, kinds, &others);
    if (others > 512) /* a vocabulary made to collide */
        return base_error(err, errlen, -EINVAL, "%s: the vocabulary's texts all hash alike", t->name);
    if (e->kind == PIECE_BYTE) t->byte_id[pieces_byte_value(text, e->len) & 0xff] = id;
    if (*at >= 0 && !found) return 0;
    e->next = *at < 0 ? -1 : t->pieces[*at].next;
    *at = id;
    return 0;
}

int pieces_finish(Tokenizer *t, char *err, size_t errlen) {
    int bits = 4, rc = 0;
    while ((size_t)1 << bits < t->n * 4) bits++;
    free(t->lists);
    t->lists = malloc(sizeof *t->lists << bits);
    if (!t->lists) return base_error(err, errlen, -ENOMEM, "%s: no memory for the vocabulary", t->name);
    t->shift = 64 - bits;
    memset(t->lists, 0xff, sizeof *t->lists << bits); /* -1 everywhere */
    memset(t->byte_id, 0xff, sizeof t->byte_id);
    for (size_t i = 0; i < t->n && rc == 0; i++)
        if (t->pieces[i].len) rc = insert(t, (int)i, err, errlen);
    t->decode_bound = 4 * 3 + t->longest + 6; /* held bytes as U+FFFD each; a piece, a space and what unk decodes to */
    return rc;
}

int ids_push(Ids *out, int id) {
    if (out->n == out->cap && array_reserve(&out->ids, &out->cap, out->n + 1, sizeof *out->ids)) return -ENOMEM;
    out->ids[out->n++] = id;
    return 0;
}

int tokenizer_encode(const Tokenizer *t, const char *text, size_t len, int flags, int **ids, size_t *n, char *err,
                     size_t errlen) {
    Ids out = {.n = 0};
    int rc = array_reserve(&out.ids, &out.cap, 64, sizeof *out.ids);
    if (rc == 0) rc = t->body->encode_all(t, text, len, flags, &out, err, errlen);
    if (rc == -ENOMEM) base_error(err, errlen, rc, "no memory to encode a text of %zu bytes", len);
    if (rc) free(out.ids);
    *ids = rc ? NULL : out.ids;
    *n = rc ? 0 : out.n;
    return rc;
}

/* A character may come in up to four byte pieces, and half a character is no text. Bytes are held until whole, or they
 * can no longer become so, as far as their number and high bits tell, or the text ends; then each bad one is U+FFFD. */
static size_t release(TokenStream *s, int end, char *out) {
    size_t n = 0;
    while (s->n_held > 0) {
        uint32_t cp;
        int len = utf8_decode(s->held, (size_t)s->n_held, &cp), used = len ? len : 1, more = 1;
        while (more < s->n_held && ((unsigned char)s->held[more] & 0xc0) == 0x80) more++;
        if (len == 0 && !end && more == s->n_held && more < utf8_length((unsigned char)s->held[0])) break;
        memcpy(out + n, len ? s->held : "\xef\xbf\xbd", len ? (size_t)len : 3);
        n += len ? (size_t)len : 3;
        memmove(s->held, s->held + used, (size_t)(s->n_held -= used));
    }
    return n;
}

size_t decode_piece(const Tokenizer *t, TokenStream *s, int id, char *out) {
    const Entry *e = id < 0 ? NULL : &t->pieces[id];
    if (e && e->kind == PIECE_BYTE) {
        s->held[s->n_held++] = (char)pieces_byte_value(t->bytes + e->start, e->len);
        s->begun = 1;
        return release(s, 0, out);
    }
    size_t n = release(s, 1, out); /* a piece of text ends the character before it, whole or not */
    return e && e->kind != PIECE_CONTROL ? n + t->body->spell(t, s, id, out + n) : n;
}

size_t tokenizer_decode(const Tokenizer *t, TokenStream *s, int id, char *out) {
    return id < 0 || (size_t)id >= t->n ? 0 : t->body->decode(t, s, id, out);
}

size_t tokenizer_decode_end(const Tokenizer *t, TokenStream *s, char *out) { return t->body->decode(t, s, -1, out); }
