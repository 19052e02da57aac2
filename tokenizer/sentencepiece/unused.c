/* tokenizer/sentencepiece/unused.c - an unused piece falls apart again into the halves it was last made of, in the
 * order of merges over the whole text, so that text is one segment. One that was never made of halves, a single
 * character, is unknown text (SentencePiece 0.2.3; its source of February 2025 wrote it). */
#include "unused.h"

#include <errno.h>
#include <stdlib.h>

typedef struct {
    SpmWork *w;
    uint32_t *cut; /* [pieces] where an unused piece was last put together */
} Unused;

static int kind_of(const Tokenizer *t, int id) { return id < 0 ? 0 : t->pieces[id].kind; }

static int join(void *arg, const Symbol *a, const Symbol *b, uint32_t *order) {
    Unused *u = arg;
    const Tokenizer *t = u->w->t;
    if (kind_of(t, a->id) == PIECE_USER_DEFINED || kind_of(t, b->id) == PIECE_USER_DEFINED) return -1;
    int id = spm_join(u->w, a, b, order);
    if (kind_of(t, id) == PIECE_UNUSED) u->cut[id] = a->len;
    return id;
}

static int emit(Unused *u, const Symbol *s) {
    SpmWork *w = u->w;
    size_t n = 0;
    /* what is still to write, the next on top */
    struct { uint32_t start, len; } *todo = calloc((size_t)s->len + 1, sizeof *todo);
    if (!todo) return -ENOMEM;
    todo[n].start = s->start;
    todo[n++].len = s->len;
    int rc = 0;
    while (n && rc == 0) {
        uint32_t start = todo[--n].start, len = todo[n].len;
        int id = pieces_find(w->t, w->text + start, len), unused = kind_of(w->t, id) == PIECE_UNUSED;
        uint32_t cut = unused ? u->cut[id] : 0;
        if (cut == 0) {
            rc = spm_emit(w, start, len, id);
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

int unused_merge(SpmWork *w, const Matcher *user, size_t n) {
    const Tokenizer *t = w->t;
    Merging *m = &w->merging;
    Unused u = {w, calloc(t->n, sizeof *u.cut)};
    int rc = u.cut ? 0 : -ENOMEM;
    for (size_t i = 0, len; i < n && rc == 0; i += len) {
        int id = user->n ? matcher_longest(user, t->bytes, w->text + i, n - i, &len) : -1;
        if (id < 0) {
            len = pieces_char(t, w->text + i, n - i);
            id = pieces_find(t, w->text + i, len);
        }
        rc = merge_add(m, i, len, id);
    }
    if (rc == 0) rc = merge_all(m, join, &u);
    for (int i = m->n ? 0 : -1; i >= 0 && rc == 0; i = m->symbols[i].next) {
        const Symbol *s = &m->symbols[i];
        rc = kind_of(t, s->id) == PIECE_UNUSED ? emit(&u, s) : spm_emit(w, s->start, s->len, s->id);
    }
    m->n = 0;
    free(u.cut);
    return rc;
}
