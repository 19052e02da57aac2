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
    if (rc == 0 && !t->table) rc = pieces_finish(t, err, errlen);
    t->name = NULL;
    if (rc == 0) return 0;
    tokenizer_free(t);
    *out = NULL;
    return rc;
}

void tokenizer_free(Tokenizer *t) {
    if (!t) return;
    if (t->body && t->body->close) t->body->close(t);
    free(t->bytes);
    free(t->pieces);
    free(t->table);
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
    t->pieces[t->n++] = (Entry){(uint32_t)t->n_bytes, (uint32_t)len, score, kind};
    if (len) memcpy(t->bytes + t->n_bytes, text, len);
    t->n_bytes += len;
    if (len > t->longest) t->longest = len;
    return 0;
}

/* Where the id of a text stands, or would stand; NULL: so many others stand before it. */
static int *place(const Tokenizer *t, const char *text, size_t len) {
    uint64_t h = 0;
    for (size_t i = 0; i < len; i++) h = (h ^ (unsigned char)text[i]) * 0x9e3779b97f4a7c15u;
    for (uint64_t i = h >> t->shift, tries = 0; tries < 512; tries++, i = (i + 1) & UINT64_MAX >> t->shift) {
        int id = t->table[i];
        if (id < 0 || (t->pieces[id].len == len && memcmp(t->bytes + t->pieces[id].start, text, len) == 0))
            return &t->table[i];
    }
    return NULL;
}

int pieces_find(const Tokenizer *t, const char *text, size_t len) {
    const int *at = len > t->longest ? NULL : place(t, text, len);
    return at ? *at : -1;
}

int pieces_finish(Tokenizer *t, char *err, size_t errlen) {
    t->shift = 60;
    while ((size_t)1 << (64 - t->shift) < t->n * 4) t->shift--;
    size_t bytes = sizeof *t->table << (64 - t->shift);
    free(t->table);
    t->table = malloc(bytes);
    if (!t->table) return base_error(err, errlen, -ENOMEM, "%s: no memory for the vocabulary", t->name);
    memset(t->table, 0xff, bytes); /* -1 everywhere */
    memset(t->byte_id, 0xff, sizeof t->byte_id);
    for (size_t i = 0; i < t->n; i++) {
        const Entry *e = &t->pieces[i];
        const char *text = t->bytes + e->start;
        if (e->kind == PIECE_BYTE) t->byte_id[pieces_byte_value(text, e->len) & 0xff] = (int)i;
        if (e->len == 0 || !(t->found >> e->kind & 1)) continue;
        int *at = place(t, text, e->len);
        if (!at) return base_error(err, errlen, -EINVAL, "%s: the vocabulary's texts all hash alike", t->name);
        *at = (int)i; /* of equal texts the last is found */
    }
    t->decode_bound = 4 * 3 + t->longest + 6; /* held bytes as U+FFFD each; a piece, a space and what unk decodes to */
    return 0;
}

int pieces_check_ids(const Tokenizer *t, char *err, size_t errlen) {
    static const char *const names[] = {"unknown", "bos", "eos"};
    const int ids[] = {t->unk, t->bos, t->eos};
    for (int i = 0; i < 3; i++)
        if (ids[i] >= (int)t->n)
            return base_error(err, errlen, -EINVAL, "%s: the %s id is %d, of %zu pieces", t->name, names[i], ids[i],
                              t->n);
    return 0;
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

/* The held bytes: a character, or no part of one; then each is U+FFFD. */
static size_t release(TokenStream *s, char *out) {
    uint32_t cp;
    size_t n = (size_t)utf8_decode(s->held, (size_t)s->n_held, &cp);
    memcpy(out, s->held, n);
    for (int bad = n ? 0 : s->n_held; bad > 0; bad--, n += 3) memcpy(out + n, "\xef\xbf\xbd", 3);
    s->n_held = 0;
    return n;
}

/* A character may come in up to four byte pieces, and half a character is no text: bytes are held until they are as
 * many as the first announces, or another character begins, or the text ends. */
size_t decode_piece(const Tokenizer *t, TokenStream *s, int id, char *out) {
    const Entry *e = id < 0 ? NULL : &t->pieces[id];
    int byte = e && e->kind == PIECE_BYTE ? pieces_byte_value(t->bytes + e->start, e->len) : -1;
    size_t n = byte >= 0 && (byte & 0xc0) == 0x80 ? 0 : release(s, out);
    if (byte < 0) return e && e->kind != PIECE_CONTROL ? n + t->body->spell(t, s, id, out + n) : n;
    s->held[s->n_held++] = (char)byte;
    s->begun = 1;
    return s->n_held < utf8_length((unsigned char)*s->held) ? n : n + release(s, out + n);
}

size_t tokenizer_decode(const Tokenizer *t, TokenStream *s, int id, char *out) {
    return id < 0 || (size_t)id >= t->n ? 0 : t->body->decode(t, s, id, out);
}

size_t tokenizer_decode_end(const Tokenizer *t, TokenStream *s, char *out) { return t->body->decode(t, s, -1, out); }
