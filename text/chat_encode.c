/* text/chat_encode.c - the ids of a conversation that was rendered (chat_template.h). */
#include "chat_template.h"
#include "trim.h"
#include "base/base.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
    const Tokenizer *t;
    int flags_behind; /* how a stretch behind a control token is encoded */
    int goes_on;      /* the stretch that is gathered goes on from text that was read */
    int begun;        /* something stands in front */
    int swallows;     /* the control token in front swallows white space behind it */
    char *text;       /* the stretch [n_text] */
    size_t n_text, cap_text;
    int *ids;
    size_t n, cap;
    char *err;
    size_t errlen;
} Encoding;

static int out_of_memory(Encoding *e) {
    return base_error(e->err, e->errlen, -ENOMEM, "no memory to encode a conversation");
}

static int add_ids(Encoding *e, const int *ids, size_t n) {
    size_t want;
    if (!size_add(e->n, n, &want) || array_reserve(&e->ids, &e->cap, want, sizeof *e->ids)) return out_of_memory(e);
    if (n) memcpy(e->ids + e->n, ids, n * sizeof *ids);
    e->n = want;
    return 0;
}

static int add_text(Encoding *e, const char *s, size_t n) {
    size_t want;
    if (!size_add(e->n_text, n, &want) || array_reserve(&e->text, &e->cap_text, want, 1)) return out_of_memory(e);
    memcpy(e->text + e->n_text, s, n);
    e->n_text = want;
    return 0;
}

/* 1 where the tokenizer reads text, control tokens in it counting, as the token id and then the ids of rest. */
static int reads_as(const Tokenizer *t, const char *text, int id, const char *rest, int flags) {
    char err[128];
    int *x = NULL, *y = NULL, same = 0;
    size_t n = 0, m = 0;
    if (tokenizer_encode(t, text, strlen(text), ENCODE_SPECIAL, &x, &n, err, sizeof err) == 0 &&
        tokenizer_encode(t, rest, strlen(rest), flags, &y, &m, err, sizeof err) == 0)
        same = n == m + 1 && x[0] == id && memcmp(x + 1, y, m * sizeof *x) == 0;
    free(x);
    free(y);
    return same;
}

/* Does this tokenizer put SentencePiece's space in front of a text behind a control token? Some do before every
 * stretch, some only where nothing at all stands in front: ask it. */
static int flags_behind(const Tokenizer *t) {
    char text[256];
    size_t len = 0;
    int id = tokenizer_bos(t) >= 0 ? tokenizer_bos(t) : tokenizer_eos(t);
    const char *piece = tokenizer_piece(t, id, &len);
    if (!piece || len == 0 || len > 200) return ENCODE_BARE;
    memcpy(text, piece, len);
    memcpy(text + len, "a", 2);
    int bare = reads_as(t, text, id, "a", ENCODE_BARE) || !reads_as(t, text, id, "a", ENCODE_CONTINUE);
    return bare ? ENCODE_BARE : ENCODE_CONTINUE;
}

/* Some files say that a token swallows the white space behind it (Phi-3's <|end|>): asked in the same way. */
static int swallows_behind(const Encoding *e, const char *token, size_t len, int id) {
    char with[256];
    if (len > 200) return 0;
    memcpy(with, token, len);
    memcpy(with + len, "\n \na", 5);
    return !reads_as(e->t, with, id, "\n \na", e->flags_behind) && reads_as(e->t, with, id, "a", e->flags_behind);
}

/* The stretch gathered so far, to ids. */
static int flush(Encoding *e) {
    const char *s = e->text;
    size_t n = e->n_text, k;
    int *ids = NULL, flags = e->goes_on ? ENCODE_CONTINUE : e->begun ? e->flags_behind : ENCODE_BARE;
    if (e->swallows) trim_left(&s, &n);
    e->n_text = 0;
    if (n == 0) return 0;
    int rc = tokenizer_encode(e->t, s, n, flags, &ids, &k, e->err, e->errlen);
    if (rc == 0) rc = add_ids(e, ids, k);
    free(ids);
    e->begun = 1;
    return rc;
}

/* The id that a part stands for, or -1: it is text, or a BOS or EOS that this vocabulary has not. */
static int part_id(const Tokenizer *t, const ChatPart *p) {
    char name[64];
    if (p->kind == CHAT_BOS) return tokenizer_bos(t);
    if (p->kind == CHAT_EOS) return tokenizer_eos(t);
    if (p->kind != CHAT_CONTROL || p->len >= sizeof name) return -1;
    memcpy(name, p->text, p->len);
    name[p->len] = 0;
    return tokenizer_named(t, name);
}

static int encode_part(Encoding *e, const ChatPart *p) {
    int id = part_id(e->t, p);
    if (id < 0) return p->kind == CHAT_BOS || p->kind == CHAT_EOS || p->len == 0 ? 0 : add_text(e, p->text, p->len);
    int rc = flush(e);
    if (rc == 0) rc = add_ids(e, &id, 1);
    e->begun = 1;
    e->goes_on = 0;
    e->swallows = p->kind == CHAT_CONTROL && swallows_behind(e, p->text, p->len, id);
    return rc;
}

int chat_encode(const ChatParts *p, size_t from, const Tokenizer *t, int goes_on, int **ids, size_t *n, char *err,
                size_t errlen) {
    Encoding e = {.t = t, .flags_behind = flags_behind(t), .goes_on = goes_on, .begun = goes_on || from > 0, .err = err,
                  .errlen = errlen};
    if (from > 0) e.goes_on = part_id(t, &p->parts[from - 1]) < 0;
    *ids = NULL;
    *n = 0;
    int rc = add_ids(&e, NULL, 0);
    if (rc == 0 && !e.ids && !(e.ids = calloc(64, sizeof *e.ids))) rc = out_of_memory(&e);
    for (size_t i = from; i < p->n && rc == 0; i++) rc = encode_part(&e, &p->parts[i]);
    if (rc == 0) rc = flush(&e);
    free(e.text);
    if (rc) {
        free(e.ids);
        return rc;
    }
    *ids = e.ids;
    *n = e.n;
    return 0;
}
