/* tests/test_jieba.c - jieba's words against rjieba and Python's jieba (golden/wordpiece.h); hostile dictionaries. */
#include "base/base.h"
#include "base/utf8.h"
#include "test.h"

#include "tokenizer/wordpiece/wordpiece.h"
#include "tests/golden/wordpiece.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define COUNT(a) (sizeof (a) / sizeof *(a))

static const uint64_t FNV = 0xcbf29ce484222325u;
static char err[600];

static uint64_t fnv(uint64_t h, uint64_t v) { return (h ^ v) * 0x100000001b3u; }

static size_t put(char *out, const char *s, size_t n) {
    memcpy(out, s, n);
    return n;
}

/* The cut of a text, '/' between the words; malloc'ed. */
static char *cut(const Jieba *j, const char *text, int narrow) {
    size_t len = strlen(text), n = 0, at[1000] = {0};
    uint32_t cp[1000] = {0}, next[1000];
    double score[1001];
    char *out = malloc(2 * len + 1), *o = out;
    while (at[n] < len && n < 998) { /* character n begins at byte at[n] */
        at[n + 1] = at[n] + (size_t)utf8_decode(text + at[n], len - at[n], &cp[n]);
        n++;
    }
    jieba_route(j, cp, n, narrow, score, next);
    for (size_t i = 0, e; i < n; i = e) {
        e = jieba_word(cp, n, next, i);
        CHECK(e > i && e <= n);
        if (i) *o++ = '/';
        o += put(o, text + at[i], at[e] - at[i]);
    }
    *o = 0;
    return out;
}

static void jieba_cuts(void) {
    const char *path = test_data("jieba/dict.txt");
    Jieba whole = {0}, small = {0};
    if (path) CHECK(jieba_open(&whole, path, err, sizeof err) == 0);
    for (size_t i = 0; i < COUNT(golden_cuts); i++) {
        const GoldenCut *g = &golden_cuts[i];
        if (!g->dict && !path) continue;
        if (g->dict) CHECK(jieba_read(&small, g->dict, strlen(g->dict), "small", err, sizeof err) == 0);
        char *words = cut(g->dict ? &small : &whole, g->text, 0);
        if (strcmp(words, g->words) != 0) printf("    %s: not %s\n", words, g->words);
        CHECK(strcmp(words, g->words) == 0);
        free(words);
        jieba_close(&small);
    }
    /* the second is the size of Python jieba's FREQ */
    if (path) CHECK(whole.n == 349044 && whole.words.n - 1 == 498113);
    jieba_close(&whole);
}

static void jieba_book(void) {
    const char *path = test_data("jieba/dict.txt"), *book = test_data("text/hongloumeng_utf8.txt");
    Jieba j;
    MappedFile f;
    if (!path || !book) return;
    CHECK(jieba_open(&j, path, err, sizeof err) == 0 && file_map(&f, book, err, sizeof err) == 0);
    size_t n = 0, words = 0;
    uint64_t h = FNV;
    uint32_t *cp = malloc(f.size * sizeof *cp), *next = malloc(f.size * sizeof *next);
    double *score = malloc((f.size + 1) * sizeof *score);
    for (size_t i = 0; i < f.size; n++) i += (size_t)utf8_decode((const char *)f.data + i, f.size - i, &cp[n]);
    /* the newlines are words here and not in the reference, which cuts each line */
    jieba_route(&j, cp, n, 0, score, next);
    for (size_t i = 0, e; i < n; i = e) {
        uint64_t bytes = 0;
        char utf8[4];
        e = jieba_word(cp, n, next, i);
        for (size_t k = i; k < e; k++) bytes += (uint64_t)utf8_encode(cp[k], utf8);
        if (cp[i] == '\n') continue;
        words++;
        h = fnv(h, bytes);
    }
    CHECK(words == GOLDEN_WORDS && h == golden_words);
    free(cp);
    free(next);
    free(score);
    file_unmap(&f);
    jieba_close(&j);
}

/* Which characters stand in words: each doubled is a word of the dictionary, and is one in the text only if words may
 * hold it. */
static void jieba_characters(void) {
    char *dict = malloc((size_t)0x110000 * 11), *p = dict;
    Jieba j;
    for (uint32_t c = 0x21; c < 0x110000; c++) {
        if (c >= 0xd800 && c < 0xe000) continue;
        p += utf8_encode(c, p);
        p += utf8_encode(c, p);
        p += put(p, " 1\n", 3);
    }
    CHECK(jieba_read(&j, dict, (size_t)(p - dict), "doubles", err, sizeof err) == 0);
    uint64_t wide = FNV, narrow = FNV, want = FNV;
    for (uint32_t c = 1; c < 0x110000; c++) {
        uint32_t text[2] = {c, c}, next[2];
        double score[3];
        jieba_route(&j, text, 2, 0, score, next);
        if (next[0] == 2) wide = fnv(wide, c);
        jieba_route(&j, text, 2, 1, score, next);
        if (next[0] == 2) narrow = fnv(narrow, c);
        static const char ascii[] = "+#&._%-0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
        if (c < 128 ? strchr(ascii, (int)c) != NULL : c >= 0x4e00 && c <= 0x9fd5) want = fnv(want, c);
    }
    CHECK(wide == golden_in_words && narrow == want);
    jieba_close(&j);
    free(dict);
}

/* Frequencies that are more than 64 bits hold together. */
static void jieba_large(void) {
    enum { LINES = 18448, LINE = 23 };
    char *large = malloc(LINES * LINE + 1);
    Jieba j;
    for (int i = 0; i < LINES; i++) sprintf(large + i * LINE, "w%05d 999999999999999\n", i);
    CHECK(jieba_read(&j, large, (size_t)(LINES - 2) * LINE, "large", err, sizeof err) == 0 && j.n == LINES - 2);
    jieba_close(&j);
    CHECK(jieba_read(&j, large, (size_t)LINES * LINE, "large", err, sizeof err) == -EINVAL &&
          strstr(err, "large: line 18447: the frequencies are too large together"));
    free(large);
}

static void jieba_hostile(void) {
    static const struct { const char *text, *says; } bad[] = {
        {"", "no word"}, {"\n\n \n", "no word"}, {"abc", "line 1: no word and frequency"}, {"abc \n", "line 1"},
        {"a 1\nb x\n", "line 2"}, {"a 1.5", "line 1"}, {"a -1", "line 1"}, {"a 1\nb 1234567890123456", "line 2"},
        {"\xff 1", "line 1: this is not UTF-8"}, {"a 1\n\n\xc0\x80 1", "line 3: this is not UTF-8"},
        {"\xed\xa0\x80 1", "not UTF-8"}, {"a 0\nb 0", "no word with a frequency"},
        {"a 1\n\xcc\xec\xc6\xf8 2657 n", "line 2: this is not UTF-8"}, /* GBK */
    };
    Jieba j;
    for (size_t i = 0; i < COUNT(bad); i++) {
        int rc = jieba_read(&j, bad[i].text, strlen(bad[i].text), "bad.dict", err, sizeof err);
        if (rc != -EINVAL || !strstr(err, bad[i].says)) printf("    %d %s\n", rc, err);
        CHECK(rc == -EINVAL && strstr(err, bad[i].says) && strstr(err, "bad.dict") && j.weight == NULL &&
              j.words.nodes == NULL);
    }
    CHECK(jieba_read(&j, "a\0b 3", 5, "nul", err, sizeof err) == 0 && j.n == 1); /* odd, but a word */
    jieba_close(&j);
    static const char good[] = "\xef\xbb\xbf\xe5\xa4\xa9 5 n\r\n  \xe5\xa4\xa9\xe6\xb0\x94\t7\tn\r\n\r\n\xe6\xb0\x94 2 "
                               "\xff\xfe\n"
                               "ab 0\n\xe5\xa4\xa9\xe6\xb0\x94 9";
    CHECK(jieba_read(&j, good, sizeof good - 1, "good", err, sizeof err) == 0 && j.n == 4);
    NEAR(j.alone, -log(16), 0, 1e-15); /* 5 + 9 + 2: what stands twice counts once; one rounding of log */
    char *words = cut(&j, "\xe5\xa4\xa9\xe6\xb0\x94" "ab", 0);
    CHECK(strcmp(words, "\xe5\xa4\xa9\xe6\xb0\x94/ab") == 0);
    free(words);
    jieba_close(&j);
    char copy[sizeof good];
    for (size_t n = 0; n < sizeof good; n++) { /* cut anywhere, changed anywhere: a line, or a dictionary that cuts */
        for (int byte = 0; byte < 256; byte++) {
            memcpy(copy, good, sizeof good);
            copy[n ? n - 1 : 0] = (char)byte;
            int rc = jieba_read(&j, copy, n, "cut", err, sizeof err);
            CHECK(rc == 0 || rc == -EINVAL);
            if (rc) continue;
            free(cut(&j, "\xe5\xa4\xa9\xe6\xb0\x94 a", 0));
            jieba_close(&j);
        }
    }
}

/* Words of any length, lines of any length, and words that were made to fall on one slot. */
static void jieba_sizes(void) {
    enum { N = 3 << 20 };
    char *text = malloc(N + 100);
    Jieba j;
    memset(text, 'a', N + 100);
    memcpy(text + WORD_MAX, " 3\n", 4);
    CHECK(jieba_read(&j, text, WORD_MAX + 2, "long", err, sizeof err) == 0 && j.words.n == WORD_MAX + 1);
    uint32_t *cp = malloc(N * sizeof *cp), *next = malloc(N * sizeof *next);
    double *score = malloc((N + 1) * sizeof *score);
    for (size_t i = 0; i < N; i++) cp[i] = 'a';
    jieba_route(&j, cp, 200000, 0, score, next); /* the worst case: each character looks 256 ahead */
    CHECK(next[0] == WORD_MAX);
    jieba_close(&j);
    free(cp);
    free(next);
    free(score);
    memset(text, 'a', N);
    memcpy(text + WORD_MAX + 1, " 3\n", 4);
    CHECK(jieba_read(&j, text, WORD_MAX + 3, "long", err, sizeof err) == -EINVAL &&
          strstr(err, "more than 256 characters"));
    memset(text, 'a', N);
    CHECK(jieba_read(&j, text, N, "long", err, sizeof err) == -EINVAL && strstr(err, "line 1: no word and frequency"));
    memset(text, ' ', N);
    memcpy(text + N - 4, "x 12", 4);
    CHECK(jieba_read(&j, text, N, "spaces", err, sizeof err) == 0 && j.n == 1);
    jieba_close(&j);
    free(text);
    Trie t;
    uint32_t child;
    int rc = trie_init(&t, 2000), n = 0;
    /* trie.c's hash, with node 0: only these all fall on the first slots */
    for (uint32_t c = 1; c < 0x110000 && rc == 0; c++) {
        uint64_t h = (uint64_t)c * 0x9e3779b97f4a7c15u;
        h = (h ^ h >> 32) * 0xd6e8feb86659fd93u;
        if (((h ^ h >> 32) & 4095) < 4) rc = trie_add(&t, 0, c, &child), n++;
    }
    CHECK(rc == -EINVAL && n > 500 && n < 600);
    trie_free(&t);
}

const Test tests_jieba[] = {
    {"jieba/cuts", jieba_cuts},
    {"jieba/book", jieba_book},
    {"jieba/characters", jieba_characters},
    {"jieba/large", jieba_large},
    {"jieba/hostile", jieba_hostile},
    {"jieba/sizes", jieba_sizes},
    {0},
};
