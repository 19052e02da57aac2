/* tokenizer/special.c - a text is cut at its special tokens, the longest first; the body encodes what lies between. */
#include "special.h"

#include "match.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct Special {
    Matcher added, all; /* all: control pieces too, and <unk> */
};

void special_free(Tokenizer *t) {
    if (!t->special) return;
    matcher_free(&t->special->added);
    matcher_free(&t->special->all);
    free(t->special);
    t->special = NULL;
}

static int add(struct Special *special, const Entry *e, int id) {
    int rc = matcher_add(&special->all, e->start, e->len, id);
    return rc || e->kind != PIECE_ADDED ? rc : matcher_add(&special->added, e->start, e->len, id);
}

int special_fits(const Tokenizer *t, size_t i, char *err, size_t errlen) {
    if (t->pieces[i].len <= MATCH_MAX) return 0;
    return base_error(err, errlen, -EINVAL, "%s: piece %zu is matched whole and longer than %d bytes", t->name, i,
                      MATCH_MAX);
}

int special_finish(Tokenizer *t, char *err, size_t errlen) {
    int rc = pieces_finish(t, err, errlen);
    special_free(t);
    for (size_t i = 0; i < t->n && rc == 0; i++) {
        const Entry *e = &t->pieces[i];
        int is = e->kind == PIECE_ADDED || e->kind == PIECE_CONTROL || e->kind == PIECE_UNKNOWN;
        if (e->len == 0 || t->found >> e->kind & 1 || !is) continue;
        if (special_fits(t, i, err, errlen)) return -EINVAL;
        if (!t->special) t->special = calloc(1, sizeof *t->special);
        if (!t->special || add(t->special, e, (int)i))
            return base_error(err, errlen, -ENOMEM, "%s: no memory for the vocabulary", t->name);
    }
    if (t->special) matcher_sort(&t->special->added, t->bytes), matcher_sort(&t->special->all, t->bytes);
    return rc;
}

/* How many spaces behind id it takes: a Phi-3's control pieces do, and </s>, but not these. */
static size_t taken_behind(const Tokenizer *t, int id, const char *text, size_t len) {
    static const char *const others[] = {"<unk>", "<s>", "<|endoftext|>"};
    const Entry *e = &t->pieces[id];
    size_t n = 0;
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (e->len == strlen(others[i]) && memcmp(t->bytes + e->start, others[i], e->len) == 0) return 0;
    while (n < len && strchr(" \t\n\v\f\r", text[n]) && text[n]) n++;
    return n;
}

int special_encode(const Tokenizer *t, const char *text, size_t len, int flags, Ids *out, char *err, size_t errlen) {
    static const Matcher none = {.n = 0};
    const Matcher *m = !t->special ? &none : flags & ENCODE_SPECIAL ? &t->special->all : &t->special->added;
    int rc = flags & ENCODE_BOS && t->add_bos && t->bos >= 0 ? ids_push(out, t->bos) : 0;
    int first = !(flags & ENCODE_CONTINUE);
    for (size_t from = 0, i = 0, n = 0; i < len && rc == 0; from = i += n) {
        int id = -1;
        for (; i < len && id < 0; i += id < 0) {
            const uint32_t *begin = &m->first[(unsigned char)text[i]];
            if (begin[0] < begin[1]) id = matcher_longest(m, t->bytes, text + i, len - i, &n);
        }
        size_t before = out->n;
        if (i > from) rc = t->body->encode(t, text + from, i - from, first, out, err, errlen);
        first &= out->n == before;
        if (rc == 0 && id >= 0) rc = ids_push(out, id);
        if (id >= 0 && t->strips_behind) {
            n += taken_behind(t, id, text + i + n, len - i - n);
            first = 1;
        }
    }
    if (rc == 0 && flags & ENCODE_EOS && t->add_eos && t->eos >= 0) rc = ids_push(out, t->eos);
    return rc;
}
