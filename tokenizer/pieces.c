/* tokenizer/pieces.c - the vocabulary: texts, scores and kinds by id, and ids by text.
 *
 * The table from text to id is open addressing with linear probing, at most half full. Keys are (class, text): what text
 * may become and what it may not ("<s>" as a control piece) live in one table and never meet. A vocabulary made to collide
 * is refused when it is built, so that no look-up is longer than MAX_PROBES. */
#include "internal.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_PROBES = 512 };

typedef enum { CLASS_TEXT, CLASS_RESERVED, CLASS_NONE } Class;

static Class class_of(const Tokenizer *t, int kind) {
    if (t->all_found) return CLASS_TEXT;
    if (kind == PIECE_NORMAL || kind == PIECE_USER_DEFINED || kind == PIECE_UNUSED) return CLASS_TEXT;
    return kind == PIECE_ADDED ? CLASS_NONE : CLASS_RESERVED;
}

Tokenizer *pieces_new(const char *name) {
    enum { ROOM = 256 };
    Tokenizer *t = calloc(1, sizeof *t);
    if (!t || !(t->bytes = malloc(ROOM))) { /* never NULL: empty pieces stand there, too */
        free(t);
        return NULL;
    }
    t->cap_bytes = ROOM;
    t->name = name;
    t->bos = t->eos = t->unk = -1;
    for (int i = 0; i < 128; i++) t->ascii[i] = -1;
    for (int i = 0; i < 256; i++) t->byte_id[i] = -1;
    t->space_in = t->space_out = "\xe2\x96\x81";
    return t;
}

void tokenizer_free(Tokenizer *t) {
    if (!t) return;
    if (t->body && t->body->close) t->body->close(t);
    matcher_free(&t->added);
    matcher_free(&t->special);
    matcher_free(&t->user);
    free(t->bytes);
    free(t->pieces);
    free(t->slots);
    free(t->joins);
    free(t->unk_text);
    free(t);
}

/* Copy text behind the others; its place in *start. */
static int store(Tokenizer *t, const char *text, size_t len, uint32_t *start) {
    if (len > UINT32_MAX - t->n_bytes) return -EFBIG;
    if (t->n_bytes + len > t->cap_bytes) {
        size_t c = (t->n_bytes + len) * 2 + 64;
        char *p = realloc(t->bytes, c);
        if (!p) return -ENOMEM;
        t->bytes = p;
        t->cap_bytes = c;
    }
    if (len) memcpy(t->bytes + t->n_bytes, text, len);
    *start = (uint32_t)t->n_bytes;
    t->n_bytes += len;
    return 0;
}

static int store_error(const Tokenizer *t, int rc, char *err, size_t errlen) {
    if (rc == -ENOMEM) return base_error(err, errlen, rc, "%s: no memory for the vocabulary", t->name);
    return base_error(err, errlen, -EINVAL, "%s: the vocabulary's texts are longer than 4 GiB", t->name);
}

/* A float's order as an unsigned number, the largest score first; -0 and 0 are one. */
static uint32_t score_order(float score) {
    float s = score + 0.0f;
    uint32_t u;
    memcpy(&u, &s, 4);
    u = u & 0x80000000u ? ~u : u | 0x80000000u; /* ascending */
    return ~u;
}

float pieces_score(const Entry *e) {
    uint32_t u = ~e->order;
    float f;
    u = u & 0x80000000u ? u & 0x7fffffffu : ~u;
    memcpy(&f, &u, sizeof f);
    return f;
}

int pieces_add(Tokenizer *t, const char *text, size_t len, float score, int kind, char *err, size_t errlen) {
    if (!isfinite(score)) return base_error(err, errlen, -EINVAL, "%s: the score of piece %zu is not a number", t->name, t->n);
    if (t->n >= INT32_MAX) return base_error(err, errlen, -EINVAL, "%s: more than %d pieces", t->name, INT32_MAX);
    if (t->n == t->cap) {
        size_t c = t->cap ? t->cap * 2 : 1024;
        Entry *p = realloc(t->pieces, c * sizeof *p);
        if (!p) return store_error(t, -ENOMEM, err, errlen);
        t->pieces = p;
        t->cap = c;
    }
    Entry e = {.len = (uint32_t)len, .order = score_order(score), .kind = kind};
    int rc = store(t, text, len, &e.start);
    if (rc) return store_error(t, rc, err, errlen);
    t->pieces[t->n++] = e;
    return 0;
}

int pieces_rename(Tokenizer *t, int id, const char *text, size_t len, int kind, char *err, size_t errlen) {
    Entry *e = &t->pieces[id];
    int rc = store(t, text, len, &e->start);
    if (rc) return store_error(t, rc, err, errlen);
    e->len = (uint32_t)len;
    e->kind = kind;
    return 0;
}

int pieces_unknown_text(Tokenizer *t, const char *text, size_t len, char *err, size_t errlen) {
    static const char usual[] = " \xe2\x81\x87 ";
    t->unk_len = text ? len : sizeof usual - 1;
    t->unk_text = malloc(t->unk_len + 1);
    if (!t->unk_text) return store_error(t, -ENOMEM, err, errlen);
    if (t->unk_len) memcpy(t->unk_text, text ? text : usual, t->unk_len);
    return 0;
}

static uint64_t hash(const char *s, size_t len, Class class) {
    uint64_t h = 0xcbf29ce484222325u ^ (uint64_t)class; /* FNV-1a, then mixed: its low bits are weak */
    for (size_t i = 0; i < len; i++) h = (h ^ (unsigned char)s[i]) * 0x100000001b3u;
    h ^= h >> 32;
    h *= 0x9e3779b97f4a7c15u;
    return h ^ h >> 29;
}

/* The slot where text, whose hash is h, stands, or the free one where it would. */
static Slot *slot_of(const Tokenizer *t, uint64_t h, const char *text, size_t len, Class class, int *probes) {
    uint32_t tag = (uint32_t)(h >> 32);
    *probes = 0;
    for (size_t i = h & t->slot_mask;; i = (i + 1) & t->slot_mask, ++*probes) {
        Slot *s = &t->slots[i];
        if (s->id < 0) return s;
        if (s->tag != tag) continue;
        const Entry *e = &t->pieces[s->id];
        if (e->len == len && class_of(t, e->kind) == class && memcmp(t->bytes + e->start, text, len) == 0) return s;
    }
}

static int find(const Tokenizer *t, const char *text, size_t len, Class class) {
    int probes;
    return slot_of(t, hash(text, len, class), text, len, class, &probes)->id;
}

int pieces_find(const Tokenizer *t, const char *text, size_t len) {
    if (len == 1 && (unsigned char)text[0] < 128) return t->ascii[(unsigned char)text[0]];
    return len > t->longest ? -1 : find(t, text, len, CLASS_TEXT);
}

int pieces_named(const Tokenizer *t, const char *text, size_t len) {
    for (size_t i = 0; i < t->n; i++)
        if (t->pieces[i].len == len && memcmp(t->bytes + t->pieces[i].start, text, len) == 0) return (int)i;
    return -1;
}

int pieces_byte_value(const char *text, size_t len) {
    static const char digits[] = "0123456789ABCDEF";
    if (len != 6 || memcmp(text, "<0x", 3) != 0 || text[5] != '>') return -1;
    const char *hi = memchr(digits, text[3], 16), *lo = memchr(digits, text[4], 16);
    return hi && lo ? (int)((hi - digits) * 16 + (lo - digits)) : -1;
}

/* llama2.c's rule: a byte and the continuation bytes behind it, four at most in all. */
static size_t llama2c_char(const char *s, size_t n) {
    size_t len = 1;
    while (len < n && len < 4 && ((unsigned char)s[len] & 0xc0) == 0x80) len++;
    return len;
}

size_t pieces_char(const Tokenizer *t, const char *s, size_t n) {
    if ((unsigned char)s[0] < 0x80 && !t->llama2c) return 1;
    if (t->llama2c) return llama2c_char(s, n);
    uint32_t cp;
    int len = utf8_decode(s, n, &cp);
    return len ? (size_t)len : 1;
}

/* The bit of two neighbouring characters. */
static size_t join_bit(const char *a, size_t a_len, const char *b, size_t b_len) {
    uint64_t x = 0;
    for (size_t i = 0; i < a_len; i++) x = x << 8 | (unsigned char)a[i];
    for (size_t i = 0; i < b_len; i++) x = x << 8 | (unsigned char)b[i];
    return (size_t)(x * 0x9e3779b97f4a7c15u >> (64 - JOIN_BITS));
}

int pieces_may_join(const Tokenizer *t, const char *a, size_t a_len, const char *b, size_t b_len) {
    size_t i = join_bit(a, a_len, b, b_len);
    return t->joins[i >> 3] >> (i & 7) & 1;
}

static void mark_joins(Tokenizer *t, const char *s, size_t n) {
    size_t len = pieces_char(t, s, n);
    while (len < n) {
        size_t next = pieces_char(t, s + len, n - len), i = join_bit(s, len, s + len, next);
        t->joins[i >> 3] |= (unsigned char)(1 << (i & 7));
        s += len;
        n -= len;
        len = next;
    }
}

static int insert(Tokenizer *t, int id, int strict, char *err, size_t errlen) {
    const Entry *e = &t->pieces[id];
    const char *text = t->bytes + e->start;
    Class class = class_of(t, e->kind);
    uint64_t h = hash(text, e->len, class);
    int probes;
    Slot *s = slot_of(t, h, text, e->len, class, &probes);
    if (probes > MAX_PROBES) return base_error(err, errlen, -EINVAL, "%s: the vocabulary's texts all hash alike", t->name);
    if (s->id >= 0 && strict) return base_error(err, errlen, -EINVAL, "%s: pieces %d and %d are spelled alike", t->name, s->id, id);
    *s = (Slot){(uint32_t)(h >> 32), id};
    return 0;
}

static int build_table(Tokenizer *t, int strict, char *err, size_t errlen) {
    size_t size = 16;
    while (size < t->n * 2) size *= 2;
    free(t->slots);
    free(t->joins);
    t->slots = malloc(size * sizeof *t->slots);
    t->joins = calloc(1, (size_t)1 << (JOIN_BITS - 3));
    if (!t->slots || !t->joins) return store_error(t, -ENOMEM, err, errlen);
    t->slot_mask = size - 1;
    for (size_t i = 0; i < size; i++) t->slots[i] = (Slot){0, -1};
    for (size_t i = 0; i < t->n; i++) {
        const Entry *e = &t->pieces[i];
        const char *text = t->bytes + e->start;
        if (e->len > t->longest) t->longest = e->len;
        if (e->kind == PIECE_UNUSED && e->len > 1) t->has_unused = 1; /* one byte is never merged of two */
        if (e->len == 0 || class_of(t, e->kind) == CLASS_NONE) continue;
        int rc = insert(t, (int)i, strict, err, errlen);
        if (rc) return rc;
        if (e->kind == PIECE_BYTE) t->byte_id[pieces_byte_value(text, e->len)] = (int)i;
        if (class_of(t, e->kind) == CLASS_TEXT) mark_joins(t, text, e->len);
    }
    for (int c = 0; c < 128; c++) t->ascii[c] = find(t, (char[]){(char)c}, 1, CLASS_TEXT);
    return 0;
}

/* llama2.c spells its control pieces with a newline on either side; in a text they are written without. */
static void trim_newlines(const Tokenizer *t, uint32_t *start, uint32_t *len) {
    if (*len > 2 && t->bytes[*start] == '\n' && t->bytes[*start + *len - 1] == '\n') {
        ++*start;
        *len -= 2;
    }
}

static int build_matchers(Tokenizer *t, char *err, size_t errlen) {
    size_t cap_added = 0, cap_special = 0, cap_user = 0;
    for (size_t i = 0; i < t->n; i++) {
        const Entry *e = &t->pieces[i];
        uint32_t start = e->start, len = e->len;
        if (len == 0 || (e->kind != PIECE_CONTROL && e->kind != PIECE_ADDED && e->kind != PIECE_USER_DEFINED)) continue;
        if (len > MATCH_MAX)
            return base_error(err, errlen, -EINVAL, "%s: piece %zu is matched whole and longer than %d bytes", t->name, i, MATCH_MAX);
        if (e->kind == PIECE_CONTROL && t->llama2c) trim_newlines(t, &start, &len);
        int rc = 0;
        if (e->kind == PIECE_USER_DEFINED) rc = matcher_add(&t->user, &cap_user, start, len, (int)i);
        else rc = matcher_add(&t->special, &cap_special, start, len, (int)i);
        if (rc == 0 && e->kind == PIECE_ADDED) rc = matcher_add(&t->added, &cap_added, start, len, (int)i);
        if (rc) return store_error(t, rc, err, errlen);
    }
    matcher_sort(&t->added, t->bytes);
    matcher_sort(&t->special, t->bytes);
    matcher_sort(&t->user, t->bytes);
    return 0;
}

int pieces_finish(Tokenizer *t, int strict, char *err, size_t errlen) {
    int rc = build_table(t, strict, err, errlen);
    if (rc || t->all_found) return rc;
    rc = build_matchers(t, err, errlen);
    return rc == 0 && t->body && t->body->finish ? t->body->finish(t, err, errlen) : rc;
}
