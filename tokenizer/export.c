/* tokenizer/export.c - a Tokenizer back into the plain Vocabulary that a GGUF file holds: tokenizer_from_vocabulary the
 * other way round. */
#include "open.h"
#include "tokenizer/pipeline/pipeline.h"
#include "tokenizer/sentencepiece/model.h"
#include "tokenizer/wordpiece/wordpiece.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static const char underline[] = "\xe2\x96\x81"; /* U+2581, SentencePiece's space */

/* What of t a GGUF file cannot say; NULL: nothing. */
static const char *unspeakable(const Tokenizer *t) {
    const SpmModel *m = t->own;
    if (m->kind == SPM_WORD || m->kind == SPM_CHAR)
        return "has words or characters for pieces, and GGUF has no key for that";
    if (m->map && m->kind != SPM_UNIGRAM) return "is BPE with a character map, and GGUF has no key for that";
    if (m->unmap) return "changes its text in decoding, and GGUF has no key for that";
    if (m->space_as_suffix) return "puts its space behind the words, and GGUF has no key for that";
    if (!t->llama2c && strcmp(m->space_in, underline) != 0)
        return "keeps spaces as they are, and GGUF has no key for that";
    return NULL;
}

/* A GGUF's user-defined pieces are cut out of the raw text before anything else happens to it. SentencePiece finds its
 * own behind the space in front, and a unigram model weighs them against other cuts. Gemma's come out the same. */
static const char *differs(const Tokenizer *t) {
    static const char unknown[] = " \xe2\x81\x87 "; /* U+2047, as SentencePiece writes it unless it is told otherwise */
    const SpmModel *m = t->own;
    if (m->user.n && (m->kind == SPM_UNIGRAM || t->dummy_prefix || m->remove_extra_whitespaces))
        return "has user-defined pieces, which GGUF finds in the raw text, before spaces are put in front or removed";
    if (m->kind == SPM_UNIGRAM && unigram_has_bytes(t))
        return "is a unigram model with byte pieces, of which llama.cpp makes nothing";
    if (m->unk_text && (m->unk_len != strlen(unknown) || memcmp(m->unk_text, unknown, m->unk_len) != 0))
        return "has a text of its own for what is unknown, which GGUF has no key for";
    return NULL;
}

/* The text as GGUF spells it, into out: tokenizer.bin has bare spaces where SentencePiece has U+2581; a token that is
 * matched in the raw text has bare spaces in GGUF. Returns the bytes, at most 3 len. */
static size_t spell(const Tokenizer *t, const Entry *e, char *out) {
    const char *s = t->bytes + e->start;
    size_t len = e->len, n = 0;
    int raw = e->kind == PIECE_ADDED || e->kind == PIECE_USER_DEFINED;
    for (size_t i = 0; i < len;) {
        if (t->llama2c && s[i] == ' ' && e->kind == PIECE_NORMAL) {
            memcpy(out + n, underline, 3);
            n += 3, i++;
        } else if (raw && len - i >= 3 && memcmp(s + i, underline, 3) == 0) out[n++] = ' ', i += 3;
        else out[n++] = s[i++];
    }
    return n;
}

int tokenizer_vocabulary(Vocabulary *v, const Tokenizer *t, const char *name, char *err, size_t errlen) {
    memset(v, 0, sizeof *v);
    if (pipeline_of(t)) return pipeline_vocabulary(v, t, name, err, errlen);
    if (wordpiece_of(t))
        return base_error(err, errlen, -EINVAL, "%s: a WordPiece tokenizer: its vocab.txt is what goes into the file",
                          name);
    const char *why = unspeakable(t);
    if (why) return base_error(err, errlen, -EINVAL, "%s: %s", name, why);
    size_t texts = 0, room = 0, map_size = 0; /* texts: below 3 x 4 GiB */
    const SpmModel *m = t->own;
    const uint8_t *map = m->map ? charsmap_blob(m->map, &map_size) : NULL;
    for (size_t i = 0; i < t->n; i++) texts += 3 * (size_t)t->pieces[i].len;
    int fits = size_mul(t->n, sizeof (Piece), &room) && size_add(room, texts + 1, &room) &&
        size_add(room, map_size, &room);
    Piece *pieces = fits ? malloc(room) : NULL;
    if (!pieces) return base_error(err, errlen, -ENOMEM, "%s: no memory for its vocabulary", name);
    char *text = (char *)(pieces + t->n);
    for (size_t i = 0; i < t->n; i++) {
        const Entry *e = &t->pieces[i];
        size_t len = spell(t, e, text);
        int type = e->kind == PIECE_ADDED ? PIECE_USER_DEFINED : e->kind;
        pieces[i] = (Piece){.text = text, .len = len, .score = e->score, .type = type};
        text += len;
    }
    if (map_size) memcpy(text, map, map_size);
    *v = (Vocabulary){.model = m->kind == SPM_UNIGRAM ? "t5" : "llama", .pieces = pieces, .n = t->n, .bos_id = t->bos,
                      .eos_id = t->eos, .unk_id = t->unk, .add_bos = t->add_bos && t->bos >= 0,
                      .add_eos = t->add_eos && t->eos >= 0, .add_space_prefix = t->dummy_prefix,
                      .remove_extra_whitespaces = m->remove_extra_whitespaces, .lower_case = -1, .strip_accents = -1,
                      .differs = differs(t), .charsmap = map_size ? text : NULL, .charsmap_size = map_size};
    return 0;
}
