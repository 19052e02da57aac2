/* tokenizer/wordpiece/jieba.c - cutting Chinese into words by a dictionary: jieba's accurate mode without its hidden
 * Markov model.
 *
 * A text could be cut in many ways. The one taken makes the product of its words' probabilities largest, a word's being
 * its frequency over all words' frequencies. That is a shortest path: from the last character to the first,
 *
 *     score[i] = max over the words i..e of  ln(freq(word) / total) + score[e]
 *
 * and of equal scores the longer word wins. A character that begins no word counts as a word of frequency 1. So it is
 * done in rjieba 0.2 (jieba-rs), which transformers calls, and in Python's jieba 0.42: in the same order of float
 * operations, for words of equal frequencies make ties, and the last bit decides them. The total counts a word that
 * stands twice once, as rjieba does. A frequency of 0 is the beginning of other words only, as in Python's jieba. */
#include "jieba.h"

#include "base/base.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

const char *const jieba_names[3] = {"jieba.dict", "jieba.dict.utf8", "dict.txt"};

enum { MAX_DIGITS = 15 };              /* of a frequency: what a double holds exactly */
enum { MAX_BYTES = 64 << 20 };         /* of a dictionary; jieba's has 5 MB, its big one 8 */

/* ---- the dictionary ---- */

typedef struct {
    Jieba *j;
    uint64_t total;
    uint32_t word[WORD_MAX], node[WORD_MAX]; /* the last word and the nodes of its beginnings: neighbours begin alike */
    size_t n;
    const char *name;
    size_t line;
    char *err;
    size_t errlen;
} DictReader;

static int refuse(DictReader *r, const char *why) {
    return base_error(r->err, r->errlen, -EINVAL, "%s: line %zu: %s", r->name, r->line, why);
}

static int set_frequency(DictReader *r, uint32_t node, uint64_t frequency) {
    Jieba *j = r->j;
    int32_t *value = &j->words.nodes[node].value;
    if (*value < 0) {
        if (j->n == j->cap) {
            size_t cap = j->cap ? j->cap * 2 : 1024;
            double *p = realloc(j->weight, cap * sizeof *p);
            if (!p) return -ENOMEM;
            j->weight = p;
            j->cap = cap;
        }
        j->weight[j->n] = 0;
        *value = (int32_t)j->n++;
    }
    r->total -= (uint64_t)j->weight[*value];
    if (r->total > UINT64_MAX - frequency) return refuse(r, "the frequencies are too large together");
    r->total += frequency;
    j->weight[*value] = (double)frequency;
    return 0;
}

static int add_word(DictReader *r, const char *text, size_t len, uint64_t frequency) {
    uint32_t word[WORD_MAX];
    int too_long;
    size_t n = word_decode(text, len, word, WORD_MAX, &too_long), same = 0;
    if (n == 0)
        return refuse(r, too_long ? "a word of more than 256 characters"
                                  : "this is not UTF-8 (a dictionary in another encoding must be converted first)");
    while (same < n && same < r->n && word[same] == r->word[same]) same++;
    for (size_t i = same; i < n; i++) {
        int rc = trie_add(&r->j->words, i ? r->node[i - 1] : 0, word[i], &r->node[i]);
        if (rc == -EINVAL) return refuse(r, "the words all hash alike");
        if (rc) return rc;
        r->word[i] = word[i];
    }
    r->n = n;
    return set_frequency(r, r->node[n - 1], frequency);
}

static int is_space(char c) { return c == ' ' || c == '\t' || c == '\r'; }

/* "word frequency [anything]"; an empty line says nothing. */
static int read_line(DictReader *r, const char *p, const char *end) {
    while (p < end && is_space(*p)) p++;
    const char *word = p;
    while (p < end && !is_space(*p)) p++;
    size_t len = (size_t)(p - word);
    if (len == 0) return 0;
    while (p < end && is_space(*p)) p++;
    const char *digits = p;
    uint64_t frequency = 0;
    for (; p < end && *p >= '0' && *p <= '9' && p - digits < MAX_DIGITS; p++)
        frequency = frequency * 10 + (uint64_t)(*p - '0');
    if (p == digits || (p < end && !is_space(*p)))
        return refuse(r, "no word and frequency, as in \"\xe5\xa4\xa9\xe6\xb0\x94 2657 n\"");
    return add_word(r, word, len, frequency);
}

static void set_weights(Jieba *j, uint64_t total) {
    double log_total = log((double)total);
    j->alone = 0.0 - log_total;
    for (size_t i = 0; i < j->n; i++) j->weight[i] = j->weight[i] > 0 ? log(j->weight[i]) - log_total : -INFINITY;
}

int jieba_read(Jieba *j, const char *data, size_t size, const char *name, char *err, size_t errlen) {
    memset(j, 0, sizeof *j);
    if (size > MAX_BYTES)
        return base_error(err, errlen, -EINVAL, "%s: %zu bytes are too many for a dictionary", name, size);
    size_t lines = 1;
    for (const char *p = data; (p = memchr(p, '\n', (size_t)(data + size - p))) != NULL; p++) lines++;
    /* jieba's own has 1.43 nodes a line */
    size_t expected = lines + lines / 2 < size / 8 ? lines + lines / 2 : size / 8;
    DictReader *r = calloc(1, sizeof *r);
    int rc = r && trie_init(&j->words, expected) == 0 ? 0 : -ENOMEM;
    if (rc == 0) {
        *r = (DictReader){.j = j, .name = name, .err = err, .errlen = errlen};
        size_t bom = size >= 3 && memcmp(data, "\xef\xbb\xbf", 3) == 0 ? 3 : 0;
        for (const char *p = data + bom, *end = data + size; p < end && rc == 0;) {
            const char *stop = memchr(p, '\n', (size_t)(end - p));
            r->line++;
            rc = read_line(r, p, stop ? stop : end);
            p = stop ? stop + 1 : end;
        }
        if (rc == 0 && r->total == 0) rc = base_error(err, errlen, -EINVAL, "%s: no word with a frequency in it", name);
        if (rc == 0) set_weights(j, r->total);
    }
    free(r);
    if (rc == -ENOMEM) base_error(err, errlen, rc, "%s: no memory for a dictionary of %zu lines", name, lines);
    if (rc) jieba_close(j);
    return rc;
}

int jieba_open(Jieba *j, const char *path, char *err, size_t errlen) {
    MappedFile f;
    memset(j, 0, sizeof *j);
    int rc = file_map(&f, path, err, errlen);
    if (rc) return rc;
    rc = jieba_read(j, (const char *)f.data, f.size, path, err, errlen);
    file_unmap(&f);
    return rc;
}

void jieba_close(Jieba *j) {
    trie_free(&j->words);
    free(j->weight);
    memset(j, 0, sizeof *j);
}

/* ---- the cut ---- */

static int is_alnum(uint32_t c) { return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z'); }

/* The characters that words are made of. All others stand alone. */
static int in_words(uint32_t c, int narrow) {
    if (c < 0x80) return is_alnum(c) || (c && memchr("+#&._%-", (int)c, 7) != NULL);
    if (c >= 0x4e00 && c <= 0x9fff) return !narrow || c <= 0x9fd5;
    return !narrow && ((c >= 0x3400 && c <= 0x4dbf) || (c >= 0xf900 && c <= 0xfaff) || (c >= 0x20000 && c <= 0x2a6df) ||
                       (c >= 0x2a700 && c <= 0x2ebef) || (c >= 0x2f800 && c <= 0x2fa1f));
}

void jieba_route(const Jieba *j, const uint32_t *text, size_t n, int narrow, double *score, uint32_t *next) {
    size_t block_end = n; /* words end here at the latest */
    score[n] = 0;
    for (size_t i = n; i-- > 0;) {
        next[i] = (uint32_t)i + 1;
        if (!in_words(text[i], narrow)) {
            if (text[i] == '\r' && i + 1 < n && text[i + 1] == '\n') next[i]++;
            score[i] = 0;
            block_end = i;
            continue;
        }
        double best = -INFINITY;
        uint32_t node = 0;
        for (size_t e = i; e < block_end && (node = trie_child(&j->words, node, text[e])) != 0; e++) {
            int32_t word = j->words.nodes[node].value;
            if (word < 0 || j->weight[word] == -INFINITY) continue;
            double s = j->weight[word] + score[e + 1];
            if (s < best) continue;
            best = s;
            next[i] = (uint32_t)e + 1;
        }
        score[i] = best == -INFINITY ? j->alone + score[i + 1] : best;
    }
}

size_t jieba_word(const uint32_t *text, size_t n, const uint32_t *next, size_t i) {
    size_t e = next[i];
    if (e != i + 1 || !is_alnum(text[i])) return e;
    while (e < n && next[e] == e + 1 && is_alnum(text[e])) e++;
    return e;
}
