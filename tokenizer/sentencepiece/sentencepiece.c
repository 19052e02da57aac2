/* tokenizer/sentencepiece/sentencepiece.c - a SentencePiece model's body: normalization, then the kind's way to find
 * pieces; and back, through the denormalizer. */
#include "model.h"

#include "normalize.h"
#include "tokenizer/names.h"
#include "tokenizer/special.h"
#include "unused.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* ---- text to ids ---- */

/* Where no piece holds two neighbours, nothing merges over their border: each side by itself keeps the heap small.
 * prefix: bytes of the space in front, a symbol of its own. */
static int merge_stretches(SpmWork *w, const SpmModel *m, size_t from, size_t end, size_t prefix) {
    const Tokenizer *t = w->t;
    int rc = prefix ? merge_add(&w->merging, from, prefix, pieces_find(t, w->text + from, prefix)) : 0;
    for (size_t at = from += prefix, before = 0, len; at < end && rc == 0; at += before = len) {
        len = pieces_char(t, w->text + at, end - at);
        if (at == from || joins_may(m->joins, w->text + at - before, before + len)) continue;
        rc = spm_merge(w, from, at);
        from = at;
    }
    return rc ? rc : spm_merge(w, from, end);
}

/* BPE. A user-defined piece stays whole, and what lies between two is merged by itself. */
static int merge_pieces(SpmWork *w, const SpmModel *m, size_t n, size_t prefix) {
    const Tokenizer *t = w->t;
    size_t from = 0, len;
    int rc = 0;
    for (size_t i = 0; m->user.n && i < n && rc == 0; i += len) {
        int id = matcher_longest(&m->user, t->bytes, w->text + i, n - i, &len);
        if (id < 0) len = pieces_char(t, w->text + i, n - i);
        if (id < 0) continue;
        rc = merge_stretches(w, m, from, i, from ? 0 : prefix);
        if (rc == 0) rc = spm_emit(w, i, len, id);
        from = i + len;
    }
    return rc ? rc : merge_stretches(w, m, from, n, from ? 0 : prefix);
}

static int best_pieces(SpmWork *w, const SpmModel *m, size_t n) {
    UnigramRun run = {0};
    int rc = unigram_encode(m->unigram, w->t, w->text, n, &run, w->out);
    unigram_run_free(&run);
    if (rc != -EINVAL) return rc;
    return base_error(w->err, w->errlen, rc,
                      "the vocabulary has neither bytes nor an unknown piece for what the text holds");
}

/* The models that nearly nobody trains: a word is a piece, or a character is. Words begin at a space, or end with
 * one. */
static int whole_pieces(SpmWork *w, const SpmModel *m, size_t n) {
    static const char space[] = "\xe2\x96\x81";
    const Tokenizer *t = w->t;
    int rc = 0;
    for (size_t i = 0, len; i < n && rc == 0; i += len) {
        const char *s = w->text + i;
        size_t rest = n - i;
        if (m->kind == SPM_CHAR) {
            if (!m->user.n || matcher_longest(&m->user, t->bytes, s, rest, &len) < 0) len = pieces_char(t, s, rest);
        } else
            for (len = pieces_char(t, s, rest); len < rest; len += pieces_char(t, s + len, rest - len))
                if (rest - len >= 3 && memcmp(s + len, space, 3) == 0) break;
        rc = spm_emit(w, i, len, pieces_find(t, s, len));
    }
    return rc;
}

static int encode(const Tokenizer *t, const char *text, size_t len, int first, Ids *out, char *err, size_t errlen) {
    const SpmModel *m = t->own;
    Text normalized = {.n = 0};
    size_t prefix = t->llama2c && first && t->dummy_prefix ? strlen(t->space) : 0;
    int rc = spm_normalize(t, text, len, first, &normalized);
    SpmWork w = {.t = t, .text = normalized.p, .out = out, .err = err, .errlen = errlen};
    if (rc == 0 && normalized.n) {
        if (m->kind == SPM_UNIGRAM) rc = best_pieces(&w, m, normalized.n);
        else if (m->kind != SPM_BPE) rc = whole_pieces(&w, m, normalized.n);
        else rc = m->has_unused ? unused_merge(&w, &m->user, normalized.n) : merge_pieces(&w, m, normalized.n, prefix);
    }
    merging_free(&w.merging);
    text_release(&normalized);
    if (rc == -EFBIG)
        return base_error(err, errlen, -EINVAL,
                          "a text of %zu bytes is too long to encode at once (the limit is %d, normalized)", len,
                          INT32_MAX);
    return rc;
}

/* ---- ids to text ---- */

/* As the library: without remove_extra_whitespaces one space in front is dropped (spm_spell); with it each piece drops
 * one while nothing is written yet. */
static size_t spell(const Tokenizer *t, TokenStream *s, int id, char *out) {
    const SpmModel *m = t->own;
    const Entry *e = &t->pieces[id];
    size_t space = strlen(t->space);
    int begun = s->begun;
    if (e->kind == PIECE_UNKNOWN && m->unk_text) {
        if (m->unk_len) memcpy(out, m->unk_text, m->unk_len);
        if (m->unk_len) s->begun = 1;
        return m->unk_len;
    }
    if (!m->remove_extra_whitespaces) return spm_spell(t, s, id, out);
    s->begun = 1; /* so that no space is dropped there */
    size_t n = spm_spell(t, s, id, out);
    int drops = !begun && e->kind != PIECE_ADDED && e->kind != PIECE_UNKNOWN;
    if (drops && e->len >= space && memcmp(t->bytes + e->start, t->space, space) == 0) memmove(out, out + 1, --n);
    s->begun = begun || (n && e->kind != PIECE_ADDED);
    return n;
}

/* .. of text before the denormalizer's map. */
static size_t plain_bound(const Tokenizer *t) {
    return sizeof ((TokenStream *)0)->held * 3 + t->longest + ((const SpmModel *)t->own)->unk_len + 6;
}

/* Everything is known of text up to its last `margin` bytes: what a denormalizer says of it. */
static size_t denormalize(const SpmModel *m, TokenStream *s, const char *text, size_t n, size_t margin, char *out) {
    char *o = out;
    size_t i = 0;
    while (i < n && n - i > margin) {
        const char *to;
        size_t to_len, used = charsmap_longest(m->unmap, text + i, n - i, &to, &to_len);
        uint32_t cp;
        if (used == 0) {
            used = (size_t)utf8_decode(text + i, n - i, &cp);
            to = used ? text + i : "\xef\xbf\xbd";
            to_len = used ? used : 3;
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

/* A model with a denormalizer changes the text once more, by rules as long as DECODE_HELD_MAX bytes; as many bytes wait
 * until no rule can reach over them. They and what comes stand at the end of out, what it becomes at its beginning. */
size_t spm_model_decode(const Tokenizer *t, TokenStream *s, int id, char *out) {
    const SpmModel *m = t->own;
    if (!m->unmap) return decode_piece(t, s, id, out);
    char *text = out + t->decode_bound - DECODE_HELD_MAX - plain_bound(t);
    size_t n_rest = (size_t)s->n_rest, margin = charsmap_longest_rule(m->unmap);
    memcpy(text, s->rest, n_rest);
    size_t n = decode_piece(t, s, id, text + n_rest);
    if (margin < sizeof s->held) margin = sizeof s->held; /* a character may be cut, too */
    return denormalize(m, s, text, n_rest + n, id < 0 ? 0 : margin - 1, out);
}

/* ---- opening and closing ---- */

static void close_model(Tokenizer *t) {
    SpmModel *m = t->own;
    special_free(t);
    if (!m) return;
    unigram_free(m->unigram);
    free(m->joins);
    charsmap_free(m->map);
    charsmap_free(m->unmap);
    matcher_free(&m->user);
    free(m->unk_text);
    free(m);
}

const Body spm_model_body = {special_encode, spm_model_decode, encode, spell, NULL, close_model};
/* Nothing happens to its text in decoding but spaces. */
static const Body plain_body = {special_encode, decode_piece, encode, spm_spell, NULL, close_model};

int spm_model_begin(Tokenizer *t, char *err, size_t errlen) {
    SpmModel *m = calloc(1, sizeof *m);
    t->body = &spm_model_body;
    t->own = m;
    if (!m) return base_error(err, errlen, -ENOMEM, "%s: no memory", t->name);
    m->space_in = t->space;
    return 0;
}

static int user_pieces(const Tokenizer *t, SpmModel *m, char *err, size_t errlen) {
    for (size_t i = 0; i < t->n; i++) {
        const Entry *e = &t->pieces[i];
        if (e->kind == PIECE_UNUSED && e->len > 1) m->has_unused = 1; /* one byte is never merged of two */
        if (e->kind != PIECE_USER_DEFINED) continue;
        if (special_fits(t, i, err, errlen)) return -EINVAL;
        if (matcher_add(&m->user, e->start, e->len, (int)i))
            return base_error(err, errlen, -ENOMEM, "%s: no memory for the vocabulary", t->name);
    }
    matcher_sort(&m->user, t->bytes);
    return 0;
}

int spm_model_finish(Tokenizer *t, int unique, char *err, size_t errlen) {
    SpmModel *m = t->own;
    int plain = m->kind == SPM_BPE && m->raw_bytes && !m->remove_extra_whitespaces, rc;
    rc = unique ? pieces_finish_unique(t, err, errlen) : special_finish(t, err, errlen);
    if (rc == 0) rc = user_pieces(t, m, err, errlen);
    if (rc == 0 && m->kind == SPM_UNIGRAM) rc = unigram_build(&m->unigram, t, UNIGRAM_LIBRARY, 0, err, errlen);
    if (rc == 0 && m->kind == SPM_BPE && !(m->joins = joins_new(t)))
        rc = base_error(err, errlen, -ENOMEM, "%s: no memory for the vocabulary", t->name);
    if (t->body == &spm_model_body && plain && !m->has_unused) t->body = &plain_body;
    t->decode_bound = plain_bound(t);
    /* a byte becomes DECODE_HELD_MAX bytes at most */
    if (m->unmap) t->decode_bound = (t->decode_bound + DECODE_HELD_MAX) * (DECODE_HELD_MAX + 1);
    return rc;
}
