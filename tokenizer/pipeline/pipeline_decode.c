/* tokenizer/pipeline/pipeline_decode.c - ids back to text through a pipeline's decoders. */
#include "pipeline.h"

#include <stdlib.h>
#include <string.h>

/* Every decoder but DECODE_BYTES has a text that it looks for. */
static size_t replace_in(const Decoder *d, char *s, size_t n) {
    size_t to = 0;
    for (size_t i = 0; i < n;)
        if (n - i >= d->from.n && memcmp(s + i, d->from.p, d->from.n) == 0) {
            if (d->to.n) memcpy(s + to, d->to.p, d->to.n); /* never longer than what it replaces */
            to += d->to.n;
            i += d->from.n;
        } else s[to++] = s[i++];
    return to;
}

/* A character of byte_char each, or the piece's own bytes where one is none. */
static size_t bytes_in(char *s, size_t n) {
    size_t to = 0;
    uint32_t cp = 0;
    for (size_t i = 0, len; i < n; i += len) {
        len = (size_t)utf8_decode(s + i, n - i, &cp);
        if (len == 0 || char_byte(cp) < 0) return n;
    }
    for (size_t i = 0; i < n; s[to++] = (char)char_byte(cp)) i += (size_t)utf8_decode(s + i, n - i, &cp);
    return to;
}

/* What `tokenizers` cleans up in a piece behind WordPiece. */
static size_t clean_up(char *s, size_t n) {
    static const char *const rules[][2] = {{" .", "."}, {" ?", "?"}, {" !", "!"}, {" ,", ","}, {" ' ", "'"},
        {" n't", "n't"}, {" 'm", "'m"},
                                           {" do not", " don't"}, {" 's", "'s"}, {" 've", "'ve"}, {" 're", "'re"}};
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++) {
        Decoder d = {.from = {.p = (char *)(uintptr_t)rules[i][0], .n = strlen(rules[i][0])},
                     .to = {.p = (char *)(uintptr_t)rules[i][1], .n = strlen(rules[i][1])}};
        n = replace_in(&d, s, n);
    }
    return n;
}

/* A piece in place, s [n], with room for one byte more in front of it than it has. */
static size_t decode_step(const Decoder *d, TokenStream *st, char *s, size_t n) {
    size_t k = d->from.n;
    int begins = k && n >= k && memcmp(s, d->from.p, k) == 0;
    switch (d->kind) {
    case DECODE_BYTES: return bytes_in(s, n);
    case DECODE_REPLACE: return replace_in(d, s, n);
    case DECODE_METASPACE:
        while (d->first && !st->begun && n >= k && memcmp(s, d->from.p, k) == 0) memmove(s, s + k, n -= k);
        return replace_in(d, s, n);
    case DECODE_STRIP:
        if (d->first && st->begun) return n;
        for (int i = 0; i < d->strip && n >= k && memcmp(s, d->from.p, k) == 0; i++) memmove(s, s + k, n -= k);
        return n;
    case DECODE_WORDPIECE:
        if (st->begun && begins) memmove(s, s + k, n -= k);
        else if (st->begun) memmove(s + 1, s, n++), s[0] = ' ';
        return d->cleanup ? clean_up(s, n) : n;
    case DECODE_SUFFIX: /* the space behind a word waits until something follows it */
        if (st->waits) memmove(s + 1, s, n++), s[0] = ' ';
        st->waits = n >= k && memcmp(s + n - k, d->from.p, k) == 0;
        return st->waits ? n - k : n;
    }
    return n;
}

static int by_id(const void *id, const void *match) {
    int a = *(const int *)id, b = ((const Match *)match)->id;
    return (a > b) - (a < b);
}

size_t pipeline_spell(const Tokenizer *t, TokenStream *st, int id, char *out) {
    const struct Pipeline *p = t->own;
    const Entry *e = &t->pieces[id];
    const Match *changed = p->n_spelled ? bsearch(&id, p->spelled, p->n_spelled, sizeof *p->spelled, by_id) : NULL;
    size_t n = changed ? changed->len : e->len;
    char *s = out;
    if (p->joins && st->begun) *s++ = ' ';
    if (n) memcpy(s, changed ? p->patterns.p + changed->start : t->bytes + e->start, n);
    for (size_t i = 0; i < p->n_decoders; i++) n = decode_step(&p->decoders[i], st, s, n);
    st->begun = 1;
    return n + (size_t)(s - out);
}

/* Write what is held as far as it is decided; bytes that begin a character and do not go on are one U+FFFD, not one
 * each. */
static size_t release(TokenStream *s, int end, char *out) {
    size_t n = 0;
    while (s->n_held > 0) {
        uint32_t cp;
        int len = utf8_decode(s->held, (size_t)s->n_held, &cp), used = len;
        if (len == 0) used = (int)utf8_ill_formed(s->held, (size_t)s->n_held);
        if (len == 0 && !end && used == s->n_held && used < utf8_length((unsigned char)s->held[0])) break;
        memcpy(out + n, len ? s->held : "\xef\xbf\xbd", len ? (size_t)len : 3);
        n += len ? (size_t)len : 3;
        memmove(s->held, s->held + used, (size_t)(s->n_held -= used));
    }
    return n;
}

/* Bytes that a piece stands for, which need not be whole characters. They are written at the end of out's room, so that
 * what comes out in front never reaches them: three bytes for one at most. */
static size_t decode_bytes(const Tokenizer *t, TokenStream *s, int id, char *out) {
    if (id < 0) return release(s, 1, out);
    if (t->pieces[id].kind == PIECE_CONTROL) return 0;
    char *bytes = out + t->decode_bound - pipeline_room(t);
    size_t n = pipeline_spell(t, s, id, bytes), k = 0;
    for (size_t i = 0; i < n; i++) {
        s->held[s->n_held++] = bytes[i];
        k += release(s, 0, out + k);
    }
    return k;
}

size_t pipeline_decode(const Tokenizer *t, TokenStream *s, int id, char *out) {
    const struct Pipeline *p = t->own;
    if (p->spells_bytes) return decode_bytes(t, s, id, out);
    if (!p->bytes_named || id < 0 || t->pieces[id].kind != PIECE_BYTE) return decode_piece(t, s, id, out);
    size_t n = decode_piece(t, s, -1, out);
    return n + pipeline_spell(t, s, id, out + n);
}

size_t pipeline_room(const Tokenizer *t) { return t->longest + pipeline_of(t)->n_decoders + 1; }
