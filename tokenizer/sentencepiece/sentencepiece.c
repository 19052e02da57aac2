/* tokenizer/sentencepiece/sentencepiece.c - byte-pair encoding as SentencePiece does it, and what to do with the rest.
 *
 * The text starts as one symbol a character. Of all neighbours whose joined text is a piece, the pair with the highest
 * score is joined, of equal scores the leftmost; and again, until nothing joins (merge.c). A segment is a stretch of text
 * over whose borders nothing can merge (pieces_may_join); each is merged by itself, so a segment is usually a word. */
#include "charsmap.h"
#include "tokenizer/bpe/merge.h"
#include "unigram.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
    const Tokenizer *t;
    const char *text; /* normalized */
    Merging merging;  /* the segment at hand */
    uint32_t *cut;    /* has_unused: [pieces] where an unused piece was last put together; else NULL */
    Ids *out;
    int after_unknown; /* the last id written stands for unknown text */
    char *err;
    size_t errlen;
} Work;

/* A user-defined piece stays whole; so does what llama2.c does not know. */
static int frozen(const Tokenizer *t, const Symbol *s) {
    return s->id < 0 ? t->llama2c : t->pieces[s->id].kind == PIECE_USER_DEFINED;
}

/* The piece that two symbols make together. */
static int join(void *arg, const Symbol *a, const Symbol *b, uint32_t *order) {
    Work *w = arg;
    if (frozen(w->t, a) || frozen(w->t, b)) return -1;
    int id = pieces_find(w->t, w->text + a->start, (size_t)a->len + b->len);
    if (id < 0) return -1;
    *order = w->t->pieces[id].order;
    if (w->cut && w->t->pieces[id].kind == PIECE_UNUSED) w->cut[id] = a->len;
    return id;
}

/* Text that is no piece: as byte pieces; where the vocabulary has none, as unk, one for a whole run. */
static int emit_unknown(Work *w, const char *s, size_t len) {
    const Tokenizer *t = w->t;
    size_t known = 0;
    while (known < len && t->byte_id[(unsigned char)s[known]] >= 0) known++;
    if (known == len) {
        int rc = 0;
        for (size_t i = 0; i < len && rc == 0; i++) rc = ids_push(w->out, t->byte_id[(unsigned char)s[i]]);
        w->after_unknown = 0;
        return rc;
    }
    if (t->unk < 0)
        return base_error(w->err, w->errlen, -EINVAL, "the vocabulary has no piece for the byte 0x%02X and no unknown piece",
                          (unsigned char)s[known]);
    int again = w->after_unknown;
    w->after_unknown = 1;
    return again ? 0 : ids_push(w->out, t->unk);
}

static int emit(Work *w, uint32_t start, uint32_t len, int id) {
    if (id < 0 || w->t->pieces[id].kind == PIECE_UNUSED) return emit_unknown(w, w->text + start, len);
    w->after_unknown = 0;
    return ids_push(w->out, id);
}

/* An unused piece helps to merge but is not written: it falls apart again into the halves it was last made of. One that
 * was never made of halves, a single character, is unknown text (SentencePiece 0.2.3; its source of February 2025 wrote it). */
static int emit_resegmented(Work *w, const Symbol *s) {
    size_t n = 0;
    struct { uint32_t start, len; } *todo = malloc(((size_t)s->len + 1) * sizeof *todo); /* what is still to write, the next on top */
    if (!todo) return -ENOMEM;
    todo[n].start = s->start;
    todo[n++].len = s->len;
    int rc = 0;
    while (n && rc == 0) {
        uint32_t start = todo[--n].start, len = todo[n].len;
        int id = pieces_find(w->t, w->text + start, len);
        uint32_t cut = id >= 0 && w->t->pieces[id].kind == PIECE_UNUSED ? w->cut[id] : 0;
        if (cut == 0) {
            rc = emit(w, start, len, id);
            continue;
        }
        todo[n].start = start + cut;
        todo[n++].len = len - cut;
        todo[n].start = start;
        todo[n++].len = cut;
    }
    free(todo);
    return rc;
}

/* Merge the segment at hand, write its ids, begin the next. */
static int flush(Work *w) {
    Merging *m = &w->merging;
    int rc = merge_all(m, join, w);
    for (int i = m->n ? 0 : -1; i >= 0 && rc == 0; i = m->symbols[i].next) {
        const Symbol *s = &m->symbols[i];
        if (w->cut && s->id >= 0 && w->t->pieces[s->id].kind == PIECE_UNUSED) rc = emit_resegmented(w, s);
        else rc = emit(w, s->start, s->len, s->id);
    }
    m->n = 0;
    return rc;
}

/* Cut the normalized text into symbols, and the symbols into segments. prefix: bytes of the space put in front, which is a
 * symbol of its own whatever follows it. Unused pieces remember how they were last made, in
 * the order of merges over the whole text: with them everything is one segment. */
static int encode_normalized(Work *w, size_t n, size_t prefix) {
    const Tokenizer *t = w->t;
    Merging *m = &w->merging;
    int whole = t->has_unused, rc = 0;
    for (size_t i = 0, last = 0, len; i < n && rc == 0; last = i, i += len) {
        int id = t->user.n ? matcher_longest(&t->user, t->bytes, w->text + i, n - i, &len) : -1;
        if (id < 0) {
            len = i == 0 && prefix ? prefix : pieces_char(t, w->text + i, n - i);
            id = pieces_find(t, w->text + i, len);
        }
        if (m->n && !whole) {
            const Symbol *before = &m->symbols[m->n - 1];
            if (frozen(t, before) || !pieces_may_join(t, w->text + last, i - last, w->text + i, len)) rc = flush(w);
        }
        if (rc == 0) rc = merge_add(m, i, len, id);
        if (rc == 0 && !whole && frozen(t, &m->symbols[m->n - 1]) && m->n > 1) {
            Symbol s = m->symbols[--m->n]; /* what stands before it first */
            rc = flush(w);
            if (rc == 0) rc = merge_add(m, s.start, s.len, s.id);
        }
    }
    return rc ? rc : flush(w);
}

/* BPE of normalized text. */
static int merge_pieces(Work *w, const Text *text, int first) {
    const Tokenizer *t = w->t;
    if (t->has_unused && !(w->cut = calloc(t->n, sizeof *w->cut))) return -ENOMEM;
    size_t prefix = t->dummy_prefix && first && !t->space_as_suffix && text->n ? strlen(t->space_in) : 0;
    int rc = encode_normalized(w, text->n, prefix);
    merging_free(&w->merging);
    free(w->cut);
    return rc;
}

static int best_pieces(Work *w, const Text *text) {
    UnigramRun run = {0};
    int rc = unigram_encode(w->t->unigram, w->t, text->p, text->n, &run, w->out);
    unigram_run_free(&run);
    if (rc != -EINVAL) return rc;
    return base_error(w->err, w->errlen, rc, "the vocabulary has neither bytes nor an unknown piece for what the text holds");
}

/* The models that nearly nobody trains: a word is a piece, or a character is. Words begin at a space, or end with one. */
static int whole_pieces(Work *w, const Text *text) {
    static const char space[] = "\xe2\x96\x81";
    const Tokenizer *t = w->t;
    int rc = 0;
    for (size_t i = 0, len; i < text->n && rc == 0; i += len) {
        const char *s = text->p + i;
        size_t rest = text->n - i;
        if (t->spm == SPM_CHAR) {
            if (!t->user.n || matcher_longest(&t->user, t->bytes, s, rest, &len) < 0) len = pieces_char(t, s, rest);
        } else
            for (len = pieces_char(t, s, rest); len < rest; len += pieces_char(t, s + len, rest - len))
                if (rest - len >= 3 && memcmp(s + len, space, 3) == 0) break;
        rc = emit(w, (uint32_t)i, (uint32_t)len, pieces_find(t, s, len));
    }
    return rc;
}

static int encode(const Tokenizer *t, const char *text, size_t len, int first, Ids *out, char *err, size_t errlen) {
    Work w = {.t = t, .out = out, .err = err, .errlen = errlen};
    Text normalized = {0};
    int rc = normalize(t, text, len, first, &normalized);
    w.text = normalized.p;
    if (rc == 0 && normalized.n) {
        if (t->spm == SPM_UNIGRAM) rc = best_pieces(&w, &normalized);
        else rc = t->spm == SPM_BPE ? merge_pieces(&w, &normalized, first) : whole_pieces(&w, &normalized);
    }
    free(normalized.p);
    if (rc == -EFBIG)
        return base_error(err, errlen, -EINVAL, "a text of %zu bytes is too long to encode at once (the limit is %d, normalized)",
                          len, INT32_MAX);
    if (rc == -ENOMEM) return base_error(err, errlen, rc, "no memory to encode a text of %zu bytes", len);
    return rc;
}

static int finish(Tokenizer *t, char *err, size_t errlen) {
    return t->spm == SPM_UNIGRAM ? unigram_build(&t->unigram, t, UNIGRAM_LIBRARY, 0, err, errlen) : 0;
}

static void close_model(Tokenizer *t) {
    unigram_free(t->unigram);
    charsmap_free(t->map);
    charsmap_free(t->unmap);
}

/* A piece as text: U+2581 is a space, and the one that encoding put in front goes. As the library: without
 * remove_extra_whitespaces one such space is dropped; with it each piece drops one while nothing is written yet. */
static size_t spell(const Tokenizer *t, TokenStream *s, int id, char *out) {
    const Entry *e = &t->pieces[id];
    const char *p = t->bytes + e->start, *end = p + e->len;
    size_t space = strlen(t->space_out);
    char *o = out;
    if (e->kind == PIECE_UNKNOWN && t->unk_text) {
        memcpy(out, t->unk_text, t->unk_len);
        if (t->unk_len) s->begun = 1;
        return t->unk_len;
    }
    int drops = e->kind != PIECE_ADDED && e->kind != PIECE_UNKNOWN && !s->begun && (t->dummy_prefix || t->remove_extra_whitespaces);
    if (drops && (size_t)(end - p) >= space && memcmp(p, t->space_out, space) == 0) {
        p += space;
        if (!t->remove_extra_whitespaces) s->begun = 1;
    }
    while (p < end)
        if ((size_t)(end - p) >= space && memcmp(p, t->space_out, space) == 0) {
            *o++ = ' ';
            p += space;
        } else *o++ = *p++;
    if (o > out && e->kind != PIECE_ADDED) s->begun = 1;
    return (size_t)(o - out);
}

const Body sentencepiece_body = {.encode = encode, .spell = spell, .finish = finish, .close = close_model};
