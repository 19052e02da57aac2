/* tokenizer/pieces.c - the vocabulary, texts by id and ids by text; and what every kind of tokenizer does with it. */
#include "internal.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { TEXT = 1 << PIECE_NORMAL | 1 << PIECE_USER_DEFINED | 1 << PIECE_UNUSED, ADDED = 1 << PIECE_ADDED };
enum { SPECIAL = ADDED | 1 << PIECE_CONTROL, MAX_LIST = 512 }; /* a vocabulary made to collide is refused */

int tokenizer_make(Tokenizer **out, const char *name, Read *read, const void *from, char *err, size_t errlen) {
    Tokenizer *t = calloc(1, sizeof *t);
    *out = NULL;
    if (!t) return base_error(err, errlen, -ENOMEM, "%s: no memory", name);
    t->name = name;
    t->bos = t->eos = t->unk = -1;
    t->space = "\xe2\x96\x81";
    t->found = TEXT;
    int rc = read(t, from, err, errlen);
    if (rc == 0 && !t->lists) rc = pieces_finish(t, err, errlen);
    t->name = NULL;
    if (rc) tokenizer_free(t);
    else *out = t;
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

/* Where a text of one of these kinds stands in the list of those that hash alike, behind so many others, or that list's
 * end. h: its hash_bytes, whose low bits are weak. */
static int *place_of(const Tokenizer *t, uint64_t h, const char *text, size_t len, unsigned kinds, int *others) {
    int *at = &t->lists[(h ^ h >> 32) * 0x9e3779b97f4a7c15u >> t->shift];
    for (*others = 0; *at >= 0; at = &t->pieces[*at].next, ++*others) {
        const Entry *e = &t->pieces[*at];
        if (e->len == len && kinds >> e->kind & 1 && memcmp(t->bytes + e->start, text, len) == 0) break;
    }
    return at;
}

int pieces_find(const Tokenizer *t, const char *text, size_t len) {
    int others;
    return len > t->longest ? -1 : *place_of(t, hash_bytes(HASH_START, text, len), text, len, t->found, &others);
}

int pieces_special(const Tokenizer *t, const char *s, size_t n, int control, size_t *len) {
    uint64_t h = HASH_START;
    int longest = -1, others;
    for (size_t i = 0; i < n && i < t->special_len[(unsigned char)*s]; i++) {
        h = hash_bytes(h, s + i, 1);
        int id = *place_of(t, h, s, i + 1, control ? SPECIAL : ADDED, &others);
        if (id >= 0) *len = i + 1, longest = id;
    }
    return longest;
}

static int insert(Tokenizer *t, int id, char *err, size_t errlen) {
    Entry *e = &t->pieces[id];
    const char *text = t->bytes + e->start;
    uint16_t *most = &t->special_len[(unsigned char)*text];
    unsigned kind = 1u << e->kind, special = kind & SPECIAL & ~t->found, kinds = kind & t->found ? t->found : kind;
    int others, *at = place_of(t, hash_bytes(HASH_START, text, e->len), text, e->len, kinds, &others);
    if (others > MAX_LIST)
        return base_error(err, errlen, -EINVAL, "%s: the vocabulary's texts all hash alike", t->name);
    if (special && e->len > MATCH_MAX)
        return base_error(err, errlen, -EINVAL, "%s: piece %d is matched whole and longer than %d bytes", t->name, id,
                          MATCH_MAX);
    if (special && e->len > *most) *most = (uint16_t)e->len;
    if (e->kind == PIECE_BYTE) t->byte_id[pieces_byte_value(text, e->len) & 0xff] = id;
    if (special && *at >= 0) return 0; /* of equal special texts the first is found, of others the last */
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

/* ---- text to ids ---- */

int ids_push(Ids *out, int id) {
    if (out->n == out->cap && array_reserve(&out->ids, &out->cap, out->n + 1, sizeof *out->ids)) return -ENOMEM;
    out->ids[out->n++] = id;
    return 0;
}

int encode_pieces(const Tokenizer *t, const char *text, size_t len, int flags, Ids *out, char *err, size_t errlen) {
    int rc = flags & ENCODE_BOS && t->add_bos && t->bos >= 0 ? ids_push(out, t->bos) : 0;
    int first = !(flags & ENCODE_CONTINUE);
    for (size_t from = 0, i = 0, n = 0; i < len && rc == 0; from = i += n) {
        int id = -1;
        while (i < len && (!t->special_len[(unsigned char)text[i]] ||
                           (id = pieces_special(t, text + i, len - i, flags & ENCODE_SPECIAL, &n)) < 0)) i++;
        size_t before = out->n;
        if (i > from) rc = t->body->encode(t, text + from, i - from, first, out, err, errlen);
        first &= out->n == before;
        if (rc == 0 && id >= 0) rc = ids_push(out, id);
    }
    if (rc == 0 && flags & ENCODE_EOS && t->add_eos && t->eos >= 0) rc = ids_push(out, t->eos);
    return rc;
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

/* ---- ids to text: a character may come in up to four byte pieces, and half a character is not text ---- */

/* Bytes are held until they are whole, or can no longer become so, as far as their number and high bits tell, or the
 * text ends; then each bad one is U+FFFD. */
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
