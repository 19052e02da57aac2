/* text/breakers.c - see breakers.h. A breaker seldom stands alone in a vocabulary: "\n" is in ".\n" and "\n\n", too. */
#include "breakers.h"

#include "base/base.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { TEXT_MOST = 40 };

typedef struct { SamplerBreaker *at; size_t n, cap; } Found;

/* An id, and the ids of what is left of the breaker behind it. Those found already are not added twice. */
static int add(Found *f, int id, const int *tail, size_t n_tail) {
    SamplerBreaker b = {.n = 1, .ids = {id}};
    for (size_t i = 0; i < n_tail && b.n < BREAKER_MOST; i++) b.ids[b.n++] = tail[i];
    for (size_t i = f->n; i > 0 && f->at[i - 1].ids[0] == id; i--)
        if (memcmp(&f->at[i - 1], &b, sizeof b) == 0) return 0;
    if (array_reserve(&f->at, &f->cap, f->n + 1, sizeof *f->at)) return -ENOMEM;
    f->at[f->n++] = b;
    return 0;
}

/* The id whose text is word [n] begins text [len] in its last bytes: each place where it does. */
static int add_ends(Found *f, const Tokenizer *t, int id, const char *word, size_t n, const char *text, size_t len,
                    char *err, size_t errlen) {
    for (size_t at = n > len ? n - len : 0; at < n; at++) {
        int *tail, rc;
        size_t n_tail, in = n - at;
        if (in >= len || memcmp(word + at, text, in) != 0) continue;
        rc = tokenizer_encode(t, text + in, len - in, ENCODE_CONTINUE, &tail, &n_tail, err, errlen);
        if (rc) return rc;
        rc = add(f, id, tail, n_tail);
        free(tail);
        if (rc) return base_error(err, errlen, rc, "out of memory for sequence breakers");
    }
    return 0;
}

/* Does word [n] hold text [len]? */
static int holds(const char *word, size_t n, const char *text, size_t len) {
    for (size_t i = 0; i + len <= n; i++)
        if (memcmp(word + i, text, len) == 0) return 1;
    return 0;
}

int breakers_find(SamplerBreaker **b, size_t *n, const Tokenizer *t, const char *const *texts, size_t n_texts,
                  char *err, size_t errlen) {
    static const char *const usual[] = {"\n", ":", "\"", "*"};
    Found f = {0};
    int rc = 0;
    if (!texts) texts = usual, n_texts = sizeof usual / sizeof *usual;
    char *word = malloc(2 * tokenizer_decode_bound(t) + 1);
    *b = NULL, *n = 0;
    if (!word) return base_error(err, errlen, -ENOMEM, "out of memory for sequence breakers");
    for (size_t id = 0; rc == 0 && id < tokenizer_size(t); id++) {
        TokenStream s = {.begun = 1};
        size_t size = tokenizer_decode(t, &s, (int)id, word);
        size += tokenizer_decode_end(t, &s, word + size);
        for (size_t i = 0; rc == 0 && i < n_texts; i++) {
            size_t len = strlen(texts[i]);
            if (len > TEXT_MOST) len = TEXT_MOST;
            if (!holds(word, size, texts[i], len))
                rc = add_ends(&f, t, (int)id, word, size, texts[i], len, err, errlen);
            else if (add(&f, (int)id, NULL, 0))
                rc = base_error(err, errlen, -ENOMEM, "out of memory for sequence breakers");
        }
    }
    free(word);
    if (rc) free(f.at);
    else *b = f.at, *n = f.n;
    return rc;
}
