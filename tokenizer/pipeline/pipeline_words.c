/* tokenizer/pipeline/pipeline_words.c - WordPiece as a part of a pipeline: the words come from other parts. */
#include "pipeline.h"

#include <errno.h>

/* The characters of text behind those in cp: 0 or -ENOMEM. */
static int characters(const char *text, size_t n, Points *cp) {
    uint32_t c;
    int rc = points_reserve(cp, n);
    for (size_t i = 0, len; i < n && rc == 0; i += len ? len : 1) {
        len = (size_t)utf8_decode(text + i, n - i, &c);
        if (len) cp->cp[cp->n++] = c;
    }
    return rc;
}

static int add_word(Trie *t, const Points *word, uint32_t *node) {
    int rc = 0;
    *node = 0;
    for (size_t i = 0; i < word->n && rc == 0; i++) rc = trie_add(t, *node, word->cp[i], node);
    return rc;
}

int pipeline_build_words(Tokenizer *t, size_t n, char *err, size_t errlen) {
    struct Pipeline *p = t->own;
    Points word = {.n = 0};
    uint32_t node;
    int rc = trie_init(&p->words, n);
    for (size_t i = 0; i < n && rc == 0; i++) {
        const Entry *e = &t->pieces[i];
        word.n = 0;
        if (e->len) rc = characters(t->bytes + e->start, e->len, &word);
        if (rc == 0 && e->len) rc = add_word(&p->words, &word, &node);
        if (rc == 0 && e->len) p->words.nodes[node].value = (int32_t)i;
    }
    word.n = 0;
    if (rc == 0) rc = characters(p->prefix.p, p->prefix.n, &word);
    p->goes_on = 1;
    for (size_t i = 0; i < word.n && rc == 0 && p->goes_on; i++)
        p->goes_on = (p->tail = trie_child(&p->words, p->tail, word.cp[i])) != 0;
    points_free(&word);
    if (rc == -ENOMEM) return base_error(err, errlen, rc, "%s: no memory for the vocabulary", t->name);
    return rc ? base_error(err, errlen, rc, "%s: the vocabulary's texts all hash alike", t->name) : 0;
}

int pipeline_encode_words(const Tokenizer *t, const char *word, size_t n, Points *scratch, Ids *out) {
    const struct Pipeline *p = t->own;
    size_t before = out->n, len = 0;
    scratch->n = 0;
    int rc = characters(word, n, scratch), known = scratch->n <= p->max_chars;
    for (size_t i = 0; i < scratch->n && known && rc == 0; i += len) {
        int id = i && !p->goes_on ? -1
            : trie_longest(&p->words, i ? p->tail : 0, scratch->cp + i, scratch->n - i, &len);
        known = id >= 0;
        if (known) rc = ids_push(out, id);
    }
    if (known || rc) return rc;
    out->n = before;
    return t->unk < 0 ? -EINVAL : ids_push(out, t->unk);
}
