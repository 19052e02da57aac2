/* tokenizer/pipeline/pipeline_added.c - tokens beside the model ("<|endoftext|>", runs of spaces): found in the text
 * before anything else is done to it, the longest that begins leftmost; those that ask for it, in the normalized
 * text. */
#include "pipeline.h"

#include "tokenizer/unicode/unicode_classes.h"
#include "base/utf8.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

int pipeline_add_token(Tokenizer *t, AddedToken token, char *err, size_t errlen) {
    struct Pipeline *p = t->own;
    AddedToken *more = realloc(p->added, (p->n_added + 1) * sizeof *more);
    if (!more) return base_error(err, errlen, -ENOMEM, "%s: no memory for its added tokens", t->name);
    p->added = more;
    more[p->n_added++] = token;
    t->pieces[token.id].kind = token.special ? PIECE_CONTROL : PIECE_ADDED;
    return 0;
}

/* Token id is matched, and decoded, as text [n], which stands at p->patterns[at]. */
static int add_spelled(Tokenizer *t, int id, size_t at, size_t n) {
    struct Pipeline *p = t->own;
    Match *more = realloc(p->spelled, (p->n_spelled + 1) * sizeof *more);
    if (!more) return -ENOMEM;
    p->spelled = more;
    more[p->n_spelled++] = (Match){(uint32_t)at, (uint32_t)n, id};
    if (n > t->longest) t->longest = n;
    return 0;
}

static int by_id(const void *a, const void *b) {
    int x = ((const Match *)a)->id, y = ((const Match *)b)->id;
    return (x > y) - (x < y);
}

int pipeline_finish_added(Tokenizer *t, char *err, size_t errlen) {
    struct Pipeline *p = t->own;
    NormalizeScratch w = {.a = {.n = 0}};
    int rc = 0;
    for (size_t i = 0; i < p->n_added && rc == 0; i++) {
        const Entry *e = &t->pieces[p->added[i].id];
        const char *text = t->bytes + e->start;
        size_t n = e->len, at = p->patterns.n;
        if (p->added[i].normalized) rc = pipeline_normalize(p, &w, text, n, 1, &text, &n);
        if (rc || n == 0) continue;
        if (n > MATCH_MAX) {
            rc = base_error(err, errlen, -EINVAL, "%s: the added token %d is longer than %d bytes", t->name,
                            p->added[i].id, MATCH_MAX);
            break;
        }
        rc = at > UINT32_MAX - n ? -ENOMEM : text_put(&p->patterns, text, n);
        if (rc == 0 && (n != e->len || memcmp(text, t->bytes + e->start, n) != 0))
            rc = add_spelled(t, p->added[i].id, at, n);
        if (rc == 0)
            rc = matcher_add(p->added[i].normalized ? &p->normalized : &p->raw, (uint32_t)at, (uint32_t)n, (int)i);
    }
    normalize_scratch_free(&w);
    if (rc == -ENOMEM) base_error(err, errlen, rc, "%s: no memory for its added tokens", t->name);
    if (rc == -EFBIG)
        rc = base_error(err, errlen, -EINVAL, "%s: its normalizers let an added token grow beyond all measure",
                        t->name);
    if (rc) return rc;
    if (bpe_finish(&p->bpe, t)) return base_error(err, errlen, -ENOMEM, "%s: no memory for its merges", t->name);
    t->decode_bound = 4 * 3 + (p->spells_bytes ? 4 : 1) * pipeline_room(t) + 1;
    if (p->n_spelled) qsort(p->spelled, p->n_spelled, sizeof *p->spelled, by_id);
    matcher_sort(&p->raw, p->patterns.p);
    matcher_sort(&p->normalized, p->patterns.p);
    return 0;
}

/* The character that ends at s [end >= 1]. */
static uint32_t char_before(const char *s, size_t end) {
    size_t i = end - 1;
    uint32_t cp = 0;
    while (i > 0 && ((unsigned char)s[i] & 0xc0) == 0x80) i--;
    utf8_decode(s + i, end - i, &cp);
    return cp;
}

static uint32_t char_at(const char *s, size_t n, int *len) {
    uint32_t cp = 0;
    *len = utf8_decode(s, n, &cp);
    return cp;
}

/* Whether the token found at *begin .. *end counts; it takes the spaces around it that it asks for. */
static int accept(AddedScan *a, const AddedToken *token, size_t *begin, size_t *end) {
    int len;
    if (token->special && !a->special) return 0;
    if (token->single_word && ((*begin > 0 && unicode_is(CLASS_RUST_WORD, char_before(a->s, *begin))) ||
                               (*end < a->n && unicode_is(CLASS_RUST_WORD, char_at(a->s + *end, a->n - *end, &len)))))
        return 0;
    while (token->lstrip && *begin > a->from) {
        uint32_t cp = char_before(a->s, *begin);
        if (!unicode_is(CLASS_SPACE, cp)) break;
        char bytes[4];
        *begin -= (size_t)utf8_encode(cp, bytes);
    }
    if (!token->rstrip) return 1;
    if (*end < a->spaces) *end = a->spaces; /* those that another token took reach that far */
    while (*end < a->n && unicode_is(CLASS_SPACE, char_at(a->s + *end, a->n - *end, &len))) *end += (size_t)len;
    a->spaces = *end;
    return 1;
}

int added_next(AddedScan *a, int *id, size_t *begin, size_t *end) {
    const struct Pipeline *p = a->t->own;
    size_t len;
    *id = -1;
    if (a->waits) {
        a->waits = 0;
        *id = a->id, *begin = a->begin, *end = a->end;
        return 1;
    }
    while (a->m->n && a->i < a->n) {
        unsigned char c = (unsigned char)a->s[a->i];
        if (a->m->first[c] == a->m->first[c + 1]) { /* none begins so: nearly always */
            a->i++;
            continue;
        }
        int k = matcher_longest(a->m, p->patterns.p, a->s + a->i, a->n - a->i, &len);
        if (k < 0) {
            a->i++;
            continue;
        }
        size_t b = a->i, e = a->i += len, from = a->from;
        if (!accept(a, &p->added[k], &b, &e)) continue;
        a->from = e;
        a->id = p->added[k].id, a->begin = b, a->end = e;
        a->waits = from < b;
        *id = a->waits ? -1 : a->id, *begin = a->waits ? from : b, *end = a->waits ? b : e;
        return 1;
    }
    *begin = a->from, *end = a->n;
    a->i = a->from = a->n;
    return *begin < *end;
}
