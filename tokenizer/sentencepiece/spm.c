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
    for (size_t i = 0, used; i < len; i++, n += used)
        memcpy(spelled + n, text[i] == ' ' ? t->space : text + i, used = text[i] == ' ' ? space : 1);
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
    if (e->kind == PIECE_UNKNOWN && !t->llama2c) p = " \xe2\x81\x87 ", end = p + 5;
    if (p < end && e->kind != PIECE_ADDED) s->begun = 1;
    for (; p < end; drops = 0) {
        int is_space = (size_t)(end - p) >= space && memcmp(p, t->space, space) == 0;
        if (!is_space || !drops) out[n++] = is_space ? ' ' : *p;
        p += is_space ? space : 1;
    }
    return n;
}

static const Body spm_body = {.encode_all = encode, .decode = decode_piece, .spell = spm_spell};

/* What the file does not say is as llama.cpp has it: BOS, and a space in front. */
int spm_vocabulary(Tokenizer *t, const void *vocabulary, char *err, size_t errlen) {
    const Vocabulary *v = vocabulary;
    const struct { const char *name; int id, otherwise, *to; } ids[] = {
        {"unknown", v->unk_id, v->n && v->pieces[0].type == PIECE_UNKNOWN ? 0 : -1, &t->unk},
        {"bos", v->bos_id, 1, &t->bos}, {"eos", v->eos_id, 2, &t->eos}};
    int rc = 0;
    for (size_t i = 0; i < v->n && rc == 0; i++) {
        const Piece *p = &v->pieces[i];
        int kind = p->type == PIECE_USER_DEFINED ? PIECE_ADDED : p->type; /* so the converters write added tokens */
        if (p->type < PIECE_NORMAL || p->type > PIECE_BYTE)
            rc = base_error(err, errlen, -EINVAL, "%s: piece %zu is of the unknown kind %d", t->name, i, p->type);
        else if (!t->body && (kind == PIECE_ADDED || kind == PIECE_UNUSED || v->remove_extra_whitespaces == 1))
            rc = base_error(err, errlen, -EINVAL, "%s: added or unused pieces, or spaces to remove: not read", t->name);
        else rc = pieces_add(t, p->text, p->len, p->score, kind, err, errlen);
    }
    for (int i = 0; i < 3 && rc == 0; i++) {
        int id = ids[i].id < 0 && ids[i].otherwise < (int)t->n ? ids[i].otherwise : ids[i].id;
        if (id >= (int)t->n)
            rc = base_error(err, errlen, -EINVAL, "%s: the %s id is %d, of %zu pieces", t->name, ids[i].name, id, t->n);
        *ids[i].to = id < 0 ? -1 : id;
    }
    t->kind = "SentencePiece BPE (GGUF)";
    t->add_bos = v->add_bos != 0;
    t->add_eos = v->add_eos == 1;
    t->dummy_prefix = v->add_space_prefix != 0;
    if (!t->body) t->body = &spm_body;
    return rc;
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
    t->kind = "llama2.c tokenizer.bin";
    if (!t->body) t->body = &spm_body;
    t->llama2c = t->dummy_prefix = t->add_bos = t->bos = 1;
    t->eos = 2;
    t->space = " ";
    t->unk = rc == 0 && t->pieces[0].kind == PIECE_UNKNOWN ? 0 : -1;
    return rc;
}
