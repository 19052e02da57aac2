/* tokenizer/sentencepiece/spm.c - byte-pair encoding as SentencePiece does it. A text starts as one symbol a character.
 * Of all neighbours whose joined text is a piece, those with the highest score are joined, of equal ones the first. */
#include "spm.h"
#include "base/base.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* The piece that two symbols make together; what llama2.c does not know never merges. */
int spm_join(void *work, const Symbol *a, const Symbol *b, uint32_t *order) {
    const SpmWork *w = work;
    if (w->t->llama2c && (a->id < 0 || b->id < 0)) return -1;
    int id = pieces_find(w->t, w->text + a->start, (size_t)a->len + b->len);
    if (id < 0) return -1;
    memcpy(order, &(float){w->t->pieces[id].score + 0.0f}, sizeof *order); /* -0 is 0 */
    if (*order >> 31 == 0) *order = ~*order & INT32_MAX; /* a float's bits, so turned that the largest is the first */
    return id;
}

int spm_emit(SpmWork *w, size_t start, size_t len, int id) {
    const Tokenizer *t = w->t;
    const unsigned char *s = (const unsigned char *)w->text + start, *end = s + len, *bad = s;
    int again = w->after_unknown, rc = 0;
    w->after_unknown = 0;
    if (id >= 0 && t->pieces[id].kind != PIECE_UNUSED) return ids_push(w->out, id);
    while (bad < end && t->byte_id[*bad] >= 0) bad++;
    for (; bad == end && s < end && rc == 0; s++) rc = ids_push(w->out, t->byte_id[*s]);
    if (bad == end) return rc;
    if (t->unk < 0)
        return base_error(w->err, w->errlen, -EINVAL,
                          "the vocabulary has no piece for the byte 0x%02X and no unknown piece", *bad);
    w->after_unknown = 1;
    return again ? 0 : ids_push(w->out, t->unk);
}

int spm_merge(SpmWork *w, size_t from, size_t end) {
    Merging *m = &w->merging;
    int rc = 0;
    for (size_t len; from < end && rc == 0; from += len) {
        len = pieces_char(w->t, w->text + from, end - from);
        rc = merge_add(m, from, len, pieces_find(w->t, w->text + from, len));
    }
    if (rc == 0) rc = merge_all(m, spm_join, w);
    for (int i = m->n ? 0 : -1; i >= 0 && rc == 0; i = m->symbols[i].next)
        rc = spm_emit(w, m->symbols[i].start, m->symbols[i].len, m->symbols[i].id);
    m->n = 0;
    return rc;
}

/* Spaces become what the pieces have for them; the one in front is a symbol of its own, whatever bytes follow it. */
static int encode(const Tokenizer *t, const char *text, size_t len, int flags, Ids *out, char *err, size_t errlen) {
    char *spelled = len < INT32_MAX / 3 ? malloc(3 * len + 3) : NULL; /* a space may take three bytes */
    SpmWork w = {.t = t, .text = spelled, .out = out, .err = err, .errlen = errlen};
    size_t space = strlen(t->space), n = len && t->dummy_prefix && !(flags & ENCODE_CONTINUE) ? space : 0, prefix = n;
    if (!spelled) return -ENOMEM;
    memcpy(spelled, t->space, prefix);
    for (size_t i = 0; i < len; i++) {
        size_t used = text[i] == ' ' ? space : 1;
        memcpy(spelled + n, text[i] == ' ' ? t->space : text + i, used);
        n += used;
    }
    int rc = flags & ENCODE_BOS && t->add_bos && t->bos >= 0 ? ids_push(out, t->bos) : 0;
    if (rc == 0 && prefix) rc = merge_add(&w.merging, 0, prefix, pieces_find(t, spelled, prefix));
    if (rc == 0) rc = spm_merge(&w, prefix, n);
    if (rc == 0 && flags & ENCODE_EOS && t->add_eos && t->eos >= 0) rc = ids_push(out, t->eos);
    merging_free(&w.merging);
    free(spelled);
    return rc;
}

/* U+2581 is a space, and the one that encoding put in front goes. */
size_t spm_spell(const Tokenizer *t, TokenStream *s, int id, char *out) {
    const Entry *e = &t->pieces[id];
    const char *p = t->bytes + e->start, *end = p + e->len;
    size_t space = strlen(t->space), n = 0;
    int drops = t->dummy_prefix && !s->begun && e->kind != PIECE_ADDED && e->kind != PIECE_UNKNOWN;
    if (e->kind == PIECE_UNKNOWN && !t->llama2c) {
        p = " \xe2\x81\x87 ";
        end = p + 5;
    }
    if (p < end && e->kind != PIECE_ADDED) s->begun = 1;
    for (; p < end; drops = 0) {
        int is_space = (size_t)(end - p) >= space && memcmp(p, t->space, space) == 0;
        if (!is_space || !drops) out[n++] = is_space ? ' ' : *p;
        p += is_space ? space : 1;
    }
    return n;
}

static const Body spm_body = {.encode_all = encode, .decode = decode_piece, .spell = spm_spell};

int spm_add(void *tokenizer, const char *text, size_t len, float score, int type, char *err, size_t errlen) {
    Tokenizer *t = tokenizer;
    if (type < PIECE_NORMAL || type > PIECE_BYTE)
        return base_error(err, errlen, -EINVAL, "%s: piece %zu is of the unknown kind %d", t->name, t->n, type);
    if (type == PIECE_USER_DEFINED) type = PIECE_ADDED; /* so the converters write added tokens */
    return pieces_add(t, text, len, score, type, err, errlen);
}

void spm_usual(Tokenizer *t) {
    t->unk = t->n > 0 && t->pieces[0].kind == PIECE_UNKNOWN ? 0 : -1;
    t->bos = t->n > 1 ? 1 : -1;
    t->eos = t->n > 2 ? 2 : -1;
    t->add_bos = t->dummy_prefix = 1;
    if (!t->body) t->body = &spm_body;
}

/* int32, bytes of the longest piece; then, to the file's end, each piece: float32 score, int32 length, bytes [length].
 * Kinds are told by place and spelling: 0 is unknown if "<unk>", 1 begins and 2 ends a text, "<0x41>" is a byte. */
int spm_llama2c(Tokenizer *t, const void *file, char *err, size_t errlen) {
    const MappedFile *f = file;
    int rc = 0;
    for (size_t at = 4, len; at < f->size && rc == 0; at += 8 + len) {
        len = f->size - at < 8 ? 0 : load_u32(f->data + at + 4);
        if (len == 0 || len > f->size - at - 8)
            return base_error(err, errlen, -EINVAL, "%s: tokenizer.bin: piece %zu at byte %zu is empty or does not fit "
                              "the file", t->name, t->n, at);
        const char *p = (const char *)f->data + at + 8;
        int kind = t->n == 1 || t->n == 2 ? PIECE_CONTROL : pieces_byte_value(p, len) >= 0 ? PIECE_BYTE : PIECE_NORMAL;
        if (t->n == 0 && len == 5 && memcmp(p, "<unk>", 5) == 0) kind = PIECE_UNKNOWN;
        rc = pieces_add(t, p, len, load_f32(f->data + at), kind, err, errlen);
    }
    if (rc == 0 && t->n < 3 + 256)
        rc = base_error(err, errlen, -EINVAL, "%s: tokenizer.bin: %zu pieces, the special ones and the bytes alone are "
                        "%d", t->name, t->n, 3 + 256);
    t->llama2c = 1;
    t->space = " ";
    spm_usual(t);
    return rc;
}
