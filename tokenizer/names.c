/* tokenizer/names.c - what pieces are called. */
#include "names.h"

#include "inspect.h"
#include "special.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

const char *tokenizer_kind(const Tokenizer *t) { return t->kind; }

/* llama2.c spells its control pieces with a newline on either side, which stand around the entry. */
static int has_newlines(const Tokenizer *t, int id) {
    if (!t->llama2c || (id != 1 && id != 2)) return 0;
    const Entry *e = &t->pieces[id], *before = e - 1;
    return e->start == before->start + before->len + 1 + (uint32_t)has_newlines(t, id - 1);
}

const char *tokenizer_piece(const Tokenizer *t, int id, size_t *len) {
    if (id < 0 || (size_t)id >= t->n) return NULL;
    int around = has_newlines(t, id);
    *len = t->pieces[id].len + 2 * (size_t)around;
    return t->bytes + t->pieces[id].start - around;
}

int pieces_named(const Tokenizer *t, const char *text, size_t len) {
    for (size_t i = 0, n = 0; i < t->n; i++) {
        const char *piece = tokenizer_piece(t, (int)i, &n);
        if (n == len && memcmp(piece, text, len) == 0) return (int)i;
    }
    return -1;
}

int tokenizer_named(const Tokenizer *t, const char *piece) { return pieces_named(t, piece, strlen(piece)); }

int pieces_rename(Tokenizer *t, int id, const char *text, size_t len, int kind, char *err, size_t errlen) {
    int rc = pieces_add(t, text, len, t->pieces[id].score, kind, err, errlen);
    if (rc == 0) t->pieces[id] = t->pieces[--t->n];
    return rc;
}

/* ---- twins ---- */

/* Which pieces are looked up together, of those with a text: those that text may become, the reserved ones; added
 * tokens may repeat each other. */
static int group_of(const Tokenizer *t, const Entry *e) {
    if (t->found >> e->kind & 1) return 1;
    return e->kind == PIECE_ADDED ? 0 : 2;
}

typedef struct {
    const char *text;
    uint32_t len;
    int group, id;
} Named;

static int by_text(const void *a, const void *b) {
    const Named *x = a, *y = b;
    if (x->group != y->group) return x->group < y->group ? -1 : 1;
    if (x->len != y->len) return x->len < y->len ? -1 : 1;
    int c = memcmp(x->text, y->text, x->len);
    return c ? c : (x->id > y->id) - (x->id < y->id);
}

/* The first piece that repeats another: 0 or -ENOMEM. texts: whether those that text may become repeat each other. */
static int find_twins(const Tokenizer *t, int texts, int *first, int *second) {
    Named *list = calloc(t->n + 1, sizeof *list);
    size_t n = 0;
    if (!list) return -ENOMEM;
    for (size_t i = 0; i < t->n; i++) {
        const Entry *e = &t->pieces[i];
        int group = e->len ? group_of(t, e) : 0;
        if (group == 2 || (group == 1 && texts)) list[n++] = (Named){t->bytes + e->start, e->len, group, (int)i};
    }
    qsort(list, n, sizeof *list, by_text);
    for (size_t i = 1; i < n; i++) {
        const Named *a = &list[i - 1], *b = &list[i];
        if (a->group != b->group || a->len != b->len || memcmp(a->text, b->text, a->len) != 0) continue;
        if (*second < 0 || b->id < *second) *first = a->id, *second = b->id;
    }
    free(list);
    return 0;
}

/* A piece that another replaced is not in the table. */
static int texts_repeat(const Tokenizer *t) {
    size_t n = 0, found = 0;
    for (size_t i = 0; i < (size_t)1 << (64 - t->shift); i++) found += t->table[i] >= 0;
    for (size_t i = 0; i < t->n; i++) n += t->pieces[i].len && group_of(t, &t->pieces[i]) == 1;
    return n != found;
}

int pieces_finish_unique(Tokenizer *t, char *err, size_t errlen) {
    int first = -1, second = -1, rc = special_finish(t, err, errlen);
    if (rc == 0 && find_twins(t, texts_repeat(t), &first, &second))
        return base_error(err, errlen, -ENOMEM, "%s: no memory for the vocabulary", t->name);
    if (rc || second < 0) return rc;
    return base_error(err, errlen, -EINVAL, "%s: pieces %d and %d are spelled alike", t->name, first, second);
}
