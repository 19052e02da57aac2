/* weights-tools/training/words.c - words counted, and written by how often they came. */
#include "words.h"

#include "base/base.h"
#include "base/utf8.h"
#include "tokenizer/wordpiece/basic.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static int count_word(Words *w, const uint32_t *cp, size_t n) {
    uint32_t node = 0;
    int rc = 0;
    if (n > WORD_MAX) return 0;
    for (size_t i = 0; i < n && rc == 0; i++) rc = trie_add(&w->trie, node, cp[i], &node);
    if (rc) return -ENOMEM;
    if (w->trie.nodes[node].value < 0) {
        if (array_reserve(&w->words, &w->cap, w->n + 1, sizeof *w->words)) return -ENOMEM;
        w->trie.nodes[node].value = (int32_t)w->n;
        w->words[w->n] = (Word){0, w->text.n, 0};
        for (size_t i = 0; i < n; i++) {
            char utf8[4];
            buffer_bytes(&w->text, utf8, (size_t)utf8_encode(cp[i], utf8));
        }
        w->words[w->n].len = w->text.n - w->words[w->n].at;
        w->n++;
    }
    w->words[w->trie.nodes[node].value].times++;
    return w->text.failed ? -ENOMEM : 0;
}

static int count_line(Words *w, const char *text, size_t len, Points *line, Points *tmp, Points *clean) {
    static const BasicRules rules = {.lower = 1, .strip = 1, .chinese = 1};
    line->n = 0;
    if (points_reserve(line, len)) return -ENOMEM;
    for (size_t i = 0; i < len;) {
        uint32_t c = 0xfffd;
        int n = utf8_decode(text + i, len - i, &c);
        line->cp[line->n++] = c;
        i += n ? (size_t)n : 1;
    }
    int rc = basic_clean(&rules, line->cp, line->n, tmp, clean);
    for (size_t i = 0, n; rc == 0 && (n = basic_stretch(clean->cp, clean->n, &i)) > 0; i += n)
        for (size_t j = 0, part; j < n && rc == 0; j += part) {
            part = basic_word(clean->cp + i + j, n - j);
            rc = count_word(w, clean->cp + i + j, part);
            for (size_t k = 0; k < part && part > 1 && rc == 0; k++) rc = count_word(w, clean->cp + i + j + k, 1);
        }
    return rc;
}

int words_count(Words *w, const char *text, size_t n) {
    Points line = {0}, tmp = {0}, clean = {0};
    int rc = w->trie.nodes ? 0 : trie_init(&w->trie, 1 << 16);
    for (size_t i = 0, len; i < n && rc == 0; i += len + 1) {
        const char *newline = memchr(text + i, '\n', n - i);
        len = newline ? (size_t)(newline - text) - i : n - i;
        rc = count_line(w, text + i, len, &line, &tmp, &clean);
    }
    points_free(&line);
    points_free(&tmp);
    points_free(&clean);
    return rc;
}

/* ---- vocab.txt ---- */

typedef struct { const Word *word; const char *text; } Entry;

static int is_character(const Entry *e) {
    uint32_t cp;
    return (size_t)utf8_decode(e->text, e->word->len, &cp) == e->word->len;
}

/* Characters first, then by times, then by spelling. */
static int by_rank(const void *a, const void *b) {
    const Entry *x = a, *y = b;
    int cx = is_character(x), cy = is_character(y);
    if (cx != cy) return cy - cx;
    if (!cx && x->word->times != y->word->times) return x->word->times > y->word->times ? -1 : 1;
    size_t n = x->word->len < y->word->len ? x->word->len : y->word->len;
    int order = memcmp(x->text, y->text, n);
    return order ? order : (x->word->len > y->word->len) - (x->word->len < y->word->len);
}

static void put(Buffer *b, const char *prefix, const Entry *e) {
    buffer_bytes(b, prefix, strlen(prefix));
    buffer_bytes(b, e->text, e->word->len);
    buffer_bytes(b, "\n", 1);
}

char *words_vocabulary(Words *w, size_t most, size_t *n) {
    static const char specials[] = "[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\n";
    Buffer b = {0};
    Entry *entries = calloc(w->n + 1, sizeof *entries);
    size_t lines = 5, characters = 0;
    for (size_t i = 0; entries && i < w->n; i++)
        entries[i] = (Entry){&w->words[i], (const char *)w->text.data + w->words[i].at};
    if (entries) qsort(entries, w->n, sizeof *entries, by_rank);
    buffer_bytes(&b, specials, sizeof specials - 1);
    for (; entries && characters < w->n && is_character(&entries[characters]); characters++, lines += 2) {
        put(&b, "", &entries[characters]);
        put(&b, "##", &entries[characters]);
    }
    for (size_t i = characters; entries && i < w->n && lines < most; i++, lines++) put(&b, "", &entries[i]);
    int failed = !entries || b.failed;
    free(entries);
    *n = b.n;
    if (!failed) return (char *)b.data;
    free(b.data);
    return NULL;
}

void words_free(Words *w) {
    if (w->trie.nodes) trie_free(&w->trie);
    free(w->words);
    free(w->text.data);
    *w = (Words){0};
}
