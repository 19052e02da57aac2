/* tests/test_wordpiece.c - WordPiece, BasicTokenizer, jieba and the Unicode tables against transformers, rjieba,
 * bert4keras and Python's unicodedata (tests/oracle/wordpiece.py); hostile vocabularies and dictionaries; speed in
 * print. */
#include "test.h"

#include "base/json.h"
#include "tokenizer/open.h"
#include "tokenizer/wordpiece/wordpiece.h"
#include "build.h"
#include "tests/golden/wordpiece.h"
#include "base/file.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define COUNT(a) (sizeof (a) / sizeof *(a))

static const uint64_t FNV = 0xcbf29ce484222325u;
static char err[600];

static uint64_t fnv(uint64_t h, uint64_t v) { return (h ^ v) * 0x100000001b3u; }

/* ---- Unicode ---- */

static uint64_t fnv_points(uint64_t h, const Points *p) {
    for (size_t i = 0; i < p->n; i++) h = fnv(h, p->cp[i]);
    return h;
}

static void unicode_all(void) {
    uint64_t h[5] = {FNV, FNV, FNV, FNV, FNV};
    Points p = {0};
    CHECK(strcmp(unicode_version(), golden_unicode_version) == 0);
    for (uint32_t c = 0; c < 0x110000; c++) {
        uint32_t low[2];
        int k = unicode_lower(c, low);
        h[0] = fnv(h[0], unicode_category(c));
        h[1] = fnv(h[1], (uint64_t)unicode_combining_class(c));
        for (int i = 0; i < k; i++) h[2] = fnv(h[2], low[i]);
        p.n = 0;
        CHECK(unicode_decompose(&c, 1, &p) == 0);
        h[3] = fnv_points(h[3], &p);
        unicode_compose(&p);
        h[4] = fnv_points(h[4], &p);
    }
    for (int i = 0; i < 5; i++) CHECK(h[i] == golden_unicode[i]);
    uint32_t low[2], beyond = 0xffffffffu;
    CHECK(unicode_category(beyond) == CATEGORY_CN && unicode_combining_class(beyond) == 0);
    CHECK(unicode_lower(beyond, low) == 1 && low[0] == beyond);
    p.n = 0;
    CHECK(unicode_decompose(&beyond, 1, &p) == 0 && p.n == 1 && p.cp[0] == beyond);
    points_free(&p);
}

static uint64_t state;

static uint32_t rnd(uint32_t n) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(state >> 33) % n;
}

static uint32_t from_range(const uint32_t range[2]) { return range[0] + rnd(range[1] - range[0] + 1); }

static void unicode_sequences(void) {
    static const uint32_t letters[] = {'a', 'E', 'i', 'o', 'u', '\'', '.', 0x3a3, 0x391, 0x3c3};
    static const uint32_t ranges[][2] = {{0xc0, 0x24f}, {0x370, 0x3ff}, {0x1f00, 0x1fff}, {0x1100, 0x11ff},
                                         {0xac00, 0xd7a3}};
    uint64_t h[3] = {FNV, FNV, FNV};
    Points p = {0};
    state = 11;
    for (int k = 0; k < 5000; k++) {
        uint32_t s[24];
        size_t n = 1 + rnd(24);
        for (size_t i = 0; i < n; i++) {
            uint32_t kind = rnd(6);
            if (kind < 2) s[i] = from_range(golden_marks[rnd(COUNT(golden_marks))]);
            else if (kind == 2) s[i] = letters[rnd(10)];
            else s[i] = from_range(ranges[rnd(5)]);
        }
        p.n = 0;
        CHECK(unicode_lower_text(s, n, &p) == 0);
        h[0] = fnv_points(h[0], &p);
        p.n = 0;
        CHECK(unicode_decompose(s, n, &p) == 0);
        h[1] = fnv_points(h[1], &p);
        unicode_compose(&p);
        h[2] = fnv_points(h[2], &p);
    }
    for (int i = 0; i < 3; i++) CHECK(h[i] == golden_sequences[i]);
    points_free(&p);
}

/* A letter with a million marks is ordered in one pass over them, and by class: the order of equal ones stays. */
static void unicode_marks(void) {
    enum { N = 1000000 };
    uint32_t *s = malloc((N + 1) * sizeof *s);
    Points p = {0};
    s[0] = 'a';
    for (int i = 1; i <= N; i++) s[i] = i & 1 ? 0x301 : 0x327; /* classes 230 and 202 */
    clock_t t0 = clock();
    CHECK(unicode_decompose(s, N + 1, &p) == 0 && p.n == N + 1 && p.cp[0] == 'a');
    for (int i = 1; i <= N; i++)
        if (p.cp[i] != (i <= N / 2 ? 0x327u : 0x301u)) {
            CHECK(!"marks in order");
            break;
        }
    unicode_compose(&p);
    CHECK(p.cp[0] == 0xe1 && p.n == N); /* the cedilla does not join, the first acute behind it does */
    printf("    a letter with a million marks: %.3f s\n", (double)(clock() - t0) / CLOCKS_PER_SEC);
    points_free(&p);
    free(s);
}

/* ---- opening ---- */

static void copy_file(const char *from, const char *to) {
    size_t n;
    char *data = file_read(from, &n);
    CHECK(data != NULL);
    if (data) file_write(to, data, n);
    free(data);
}

static int open_with(Tokenizer **t, const char *path, const TokenizerOptions *o) {
    err[0] = 0;
    int rc = tokenizer_open_with(t, path, o, err, sizeof err);
    CHECK((rc == 0) == (*t != NULL) && (rc == 0) == (err[0] == 0));
    return rc;
}

/* The tokenizer of a setup, or a skip. One with a configuration is opened as a folder. */
static int open_setup(Tokenizer **t, int i) {
    const GoldenSetup *g = &golden_setups[i];
    const char *vocab = test_data(g->vocab), *dict = test_data("jieba/dict.txt");
    char file[600];
    *t = NULL;
    if (!vocab || !dict) return 0;
    TokenizerOptions o = {.jieba = g->jieba ? dict : NULL, .lower_case = g->lower_case, .bert4keras = g->bert4keras};
    if (*g->config) {
        const char *folder = test_tmp("wordpiece-setup");
        mkdir(folder, 0700);
        snprintf(file, sizeof file, "%s/vocab.txt", folder);
        copy_file(vocab, file);
        snprintf(file, sizeof file, "%s/tokenizer_config.json", folder);
        file_write(file, g->config, strlen(g->config));
        vocab = folder;
    }
    int rc = open_with(t, vocab, &o);
    if (rc) printf("    %s: %s\n", g->name, err);
    CHECK(rc == 0);
    return rc == 0;
}

/* Ids of one text behind hash h, and their number added to *n. */
static uint64_t hash_ids(const Tokenizer *t, uint64_t h, const char *text, size_t len, size_t *n) {
    int *ids;
    size_t k;
    CHECK(tokenizer_encode(t, text, len, ENCODE_ADDED, &ids, &k, err, sizeof err) == 0);
    for (size_t i = 0; ids && i < k; i++) h = fnv(h, (uint64_t)ids[i]);
    free(ids);
    *n += k;
    return h;
}

static int same_ids(const Tokenizer *t, const char *text, size_t len, int flags, const int *want, size_t n_want) {
    int *ids;
    size_t n;
    if (tokenizer_encode(t, text, len, flags, &ids, &n, err, sizeof err)) {
        printf("    %s\n", err);
        return 0;
    }
    int same = n == n_want && memcmp(ids, want, n * sizeof *ids) == 0;
    if (!same) printf("    \"%.*s\" became", (int)(len < 60 ? len : 60), text);
    for (size_t i = 0; !same && i < n && i < 40; i++) printf(" %d", ids[i]);
    if (!same) printf("\n");
    free(ids);
    return same;
}

#define ENCODES(t, text, flags, ...) do { \
    static const int want_[] = {__VA_ARGS__}; \
    CHECK(same_ids(t, text, sizeof (text) - 1, flags, want_, COUNT(want_))); } while (0)

/* ---- against transformers and bert4keras ---- */

static void golden_ids(void) {
    Tokenizer *t = NULL;
    for (size_t i = 0; i < COUNT(golden_lists); i++) {
        const GoldenList *g = &golden_lists[i];
        if (i == 0 || g->setup != golden_lists[i - 1].setup) {
            tokenizer_free(t);
            if (!open_setup(&t, g->setup)) return;
        }
        CHECK(same_ids(t, g->text, g->len, ENCODE_ADDED, g->ids, (size_t)g->n));
    }
    tokenizer_free(t);
}

static void pairs(void) {
    for (size_t i = 0; i < COUNT(golden_pairs); i++) {
        const GoldenPair *g = &golden_pairs[i];
        Tokenizer *t;
        int *ids, *types;
        size_t n;
        if (!open_setup(&t, g->setup)) return;
        size_t a = strlen(g->a), b = strlen(g->b);
        CHECK(tokenizer_encode_pair(t, g->a, a, g->b, b, ENCODE_ADDED, &ids, &types, &n, err, sizeof err) == 0);
        CHECK(n == (size_t)g->n && memcmp(ids, g->ids, n * sizeof *ids) == 0 &&
              memcmp(types, g->types, n * sizeof *types) == 0);
        free(ids);
        free(types);
        CHECK(tokenizer_encode_pair(t, g->a, a, g->b, b, ENCODE_BARE, &ids, NULL, &n, err, sizeof err) == 0);
        CHECK(n == (size_t)g->n - 3 && (a == 0 || ids[0] == g->ids[1]));
        free(ids);
        CHECK(tokenizer_encode_pair(t, g->a, a, NULL, 0, ENCODE_ADDED, &ids, &types, &n, err, sizeof err) == 0);
        for (size_t k = 0; k < n; k++) CHECK(types[k] == 0);
        CHECK(n >= 2 && ids[0] == tokenizer_bos(t) && ids[n - 1] == tokenizer_eos(t));
        free(ids);
        free(types);
        tokenizer_free(t);
    }
}

/* Whole books, line by line. */
static void texts(void) {
    for (size_t i = 0; i < COUNT(golden_texts); i++) {
        const GoldenFile *g = &golden_texts[i];
        const char *path = test_data(g->text);
        Tokenizer *t;
        MappedFile f;
        if (!path || !open_setup(&t, g->setup)) return;
        CHECK(file_map(&f, path, err, sizeof err) == 0);
        const char *p = (const char *)f.data, *end = p + f.size;
        for (int b = 0; b < g->n_blocks; b++) {
            uint64_t h = FNV;
            size_t n = 0;
            for (int line = 0; line < GOLDEN_BLOCK && p < end; line++) {
                const char *stop = memchr(p, '\n', (size_t)(end - p));
                if (!stop) stop = end;
                h = hash_ids(t, h, p, (size_t)(stop - p), &n);
                p = stop + 1;
            }
            int same = n == g->blocks[b].n && h == g->blocks[b].hash;
            if (!same) printf("    setup %d: %s, from line %d: %zu ids\n", g->setup, g->text, b * GOLDEN_BLOCK + 1, n);
            CHECK(same);
        }
        CHECK(p >= end);
        file_unmap(&f);
        tokenizer_free(t);
    }
}

static size_t put(char *out, const char *s, size_t n) {
    memcpy(out, s, n);
    return n;
}

/* The random string of tests/oracle/wordpiece.py, into out [room for 12 of the longest parts]. */
static size_t random_string(const Tokenizer *t, char *out) {
    char *o = out;
    for (uint32_t k = 1 + rnd(12); k-- > 0;) {
        uint32_t kind = rnd(14);
        size_t len;
        if (kind < 4) o += utf8_encode(from_range(golden_ranges[rnd(COUNT(golden_ranges))]), o);
        else if (kind < 6) o += utf8_encode(golden_odd[rnd(COUNT(golden_odd))], o);
        else if (kind < 9) {
            const char *piece = tokenizer_piece(t, (int)rnd((uint32_t)tokenizer_size(t)), &len);
            o += put(o, piece, len);
        } else if (kind == 9) {
            const GoldenText *f = &golden_fixed[rnd(COUNT(golden_fixed))];
            o += put(o, f->text, f->len);
        } else if (kind == 10) {
            char letter = (char)(97 + rnd(26));
            for (int r = golden_repeat[rnd(COUNT(golden_repeat))]; r > 0; r--) *o++ = letter;
        } else if (kind == 11) {
            uint32_t c = rnd(0x110000);
            o += utf8_encode(c >= 0xd800 && c < 0xe000 ? 'x' : c, o);
        } else if (kind == 12) *o++ = ' ';
        else o += utf8_encode(0x4e00 + rnd(0x51a6), o);
    }
    return (size_t)(o - out);
}

static int holds_special(const char *s, size_t n) {
    static const char *const special[] = {"[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"};
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < COUNT(special); k++)
            if (n - i >= strlen(special[k]) && memcmp(s + i, special[k], strlen(special[k])) == 0) return 1;
    return 0;
}

static void random_strings(void) {
    for (int i = 0; i < (int)COUNT(golden_setups); i++) {
        Tokenizer *t;
        if (!open_setup(&t, i)) return;
        uint64_t h = FNV;
        size_t n = 0;
        state = (uint64_t)i + 1;
        for (int k = 0; k < GOLDEN_RANDOM; k++) {
            char s[12 * 256];
            size_t len = random_string(t, s);
            if (k % GOLDEN_PER_HASH == 0) h = FNV;
            if (!golden_setups[i].bert4keras || !holds_special(s, len)) h = hash_ids(t, h, s, len, &n);
            int same = k % GOLDEN_PER_HASH != GOLDEN_PER_HASH - 1 || h == golden_random[i][k / GOLDEN_PER_HASH];
            if (!same) printf("    %s: strings up to %d\n", golden_setups[i].name, k);
            CHECK(same);
        }
        tokenizer_free(t);
    }
}

/* A text of swift-transformers' tests: its tokens, as strings. */
static void swift_vector(void) {
    const char *path = test_data("tok/vectors/bert_uncased_encoded.json"), *vocab = test_data(golden_setups[2].vocab);
    Tokenizer *t;
    Json j;
    if (!path || !vocab || open_with(&t, vocab, NULL)) return;
    CHECK(json_open(&j, path, err, sizeof err) == 0);
    const JsonValue *text = json_get(j.root, "text"), *ids = json_get(j.root, "token_ids");
    CHECK(text && ids && ids->len > 100);
    int *got = NULL;
    size_t n = 0, i = 0;
    CHECK(text && tokenizer_encode(t, text->str, text->len, ENCODE_ADDED, &got, &n, err, sizeof err) == 0);
    CHECK(ids && n == ids->len);
    for (const JsonValue *v = ids ? ids->child : NULL; v && i < n; v = v->next, i++) CHECK(v->number == got[i]);
    free(got);
    json_free(&j);
    tokenizer_free(t);
}

/* ---- jieba ---- */

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

/* ---- small vocabularies ---- */

static const char bert[] =
    "[UNK]\n[CLS]\n[SEP]\n[PAD]\n[MASK]\nwant\n##want\n##ed\nwa\nun\nrunn\n##ing\n,\nlow\nlowest\n";

static int open_text(Tokenizer **t, const char *text, size_t n, const TokenizerOptions *o) {
    const char *path = test_tmp("wordpiece.txt");
    file_write(path, text, n);
    return open_with(t, path, o);
}

static void small_vocabulary(void) {
    Tokenizer *t;
    int *ids;
    size_t n, len;
    CHECK(open_text(&t, bert, sizeof bert - 1, NULL) == 0);
    if (!t) return;
    CHECK(tokenizer_size(t) == 15 && tokenizer_bos(t) == 1 && tokenizer_eos(t) == 2);
    CHECK(strcmp(tokenizer_kind(t), "WordPiece") == 0);
    CHECK(tokenizer_named(t, "[MASK]") == 4 && tokenizer_named(t, "##ing") == 11 && tokenizer_named(t, "x") == -1);
    CHECK(memcmp(tokenizer_piece(t, 6, &len), "##want", 6) == 0 && len == 6 && tokenizer_piece(t, 15, &len) == NULL);
    ENCODES(t, "UNwant\xc3\xa9" "d,running", ENCODE_BARE, 9, 6, 7, 12, 10, 11);
    ENCODES(t, "unwantedX running", ENCODE_BARE, 0, 10, 11);
    ENCODES(t, "UNwant\xc3\xa9" "d,running", ENCODE_ADDED, 1, 9, 6, 7, 12, 10, 11, 2);
    ENCODES(t, "low", ENCODE_BOS, 1, 13);
    ENCODES(t, "low[MASK]low[SEP][mask]", ENCODE_EOS, 13, 4, 13, 2, 0, 0, 0, 2);
    ENCODES(t, "\xff\xfelow\x80 \xe2\x82low", ENCODE_BARE, 13, 13); /* bad bytes are no text */
    CHECK(tokenizer_encode(t, "", 0, ENCODE_BARE, &ids, &n, err, sizeof err) == 0 && ids && n == 0);
    free(ids);
    CHECK(tokenizer_encode(t, "\n \n\n\0", 5, ENCODE_ADDED, &ids, &n, err, sizeof err) == 0 && n == 2);
    free(ids);
    CHECK(tokenizer_probe(test_tmp("wordpiece.txt")) == 1);
    tokenizer_free(t);
    CHECK(open_text(&t, bert, sizeof bert - 1, &(TokenizerOptions){.lower_case = 0}) == 0);
    /* no space before the '[' */
    ENCODES(t, "low Low want\xc3\xa9" "d want[MA\0SK]", ENCODE_BARE, 13, 0, 0, 5, 0, 0, 0);
    ENCODES(t, "[MA\0SK] low", ENCODE_BARE, 4, 13);
    tokenizer_free(t);
    /* without "##" pieces, [CLS], [SEP]; a piece twice, empty lines, "\r\n" and "\r" */
    CHECK(open_text(&t, "a\r\nb\r[UNK]\n\na\n\n\n", 16, NULL) == 0 && tokenizer_size(t) == 7);
    ENCODES(t, "a b ab c", ENCODE_ADDED, 4, 1, 2, 2);
    CHECK(tokenizer_bos(t) == -1 && tokenizer_named(t, "[MASK]") == -1);
    tokenizer_free(t);
}

static void hostile_vocabularies(void) {
    static const struct { const char *text; size_t n; const char *says; } bad[] = {
        {"a\nb\n", 4, "neither"}, {"[UNK] \n", 7, "neither"}, {"\x01[UNK]\n[UNK]", 12, "neither"},
        {"\xff\n[UNK]\n", 8, "piece 0 is not UTF-8"},
        {"[UNK]\na\0b\n\xc3", 11, "piece 2 is not UTF-8"}, {"{\n[UNK]\n}", 9, NULL},
    };
    Tokenizer *t;
    for (size_t i = 0; i < COUNT(bad); i++) {
        int rc = open_text(&t, bad[i].text, bad[i].n, NULL);
        if (rc && bad[i].says && !strstr(err, bad[i].says)) printf("    %s\n", err);
        CHECK(bad[i].says ? rc == -EINVAL && strstr(err, bad[i].says) != NULL : rc == 0);
        tokenizer_free(t);
    }
    char *big = malloc(1 << 20);
    memset(big, 'a', 1 << 20);
    memcpy(big, "[UNK]\n", 6);
    CHECK(open_text(&t, big, 6 + WORD_MAX, NULL) == 0);
    tokenizer_free(t);
    CHECK(open_text(&t, big, 7 + WORD_MAX, NULL) == -EINVAL && strstr(err, "more than 256"));
    CHECK(open_text(&t, big, 1 << 20, NULL) == -EINVAL && strstr(err, "more than 256"));
    for (size_t i = 6; i < 1 << 20; i++) big[i] = i & 1 ? 'a' : '\n'; /* half a million times the same piece */
    CHECK(open_text(&t, big, 1 << 20, NULL) == 0 && tokenizer_size(t) > 500000);
    if (t) ENCODES(t, "a", ENCODE_BARE, 524286);
    tokenizer_free(t);
    free(big);
    char copy[sizeof bert];
    for (size_t n = 1; n < sizeof bert; n++)
        for (int byte = 0; byte < 256; byte += n % 8 ? 37 : 1) {
            memcpy(copy, bert, sizeof bert);
            copy[n - 1] = (char)byte;
            int rc = open_text(&t, copy, n, NULL), *ids;
            size_t k;
            CHECK(rc == 0 || (rc == -EINVAL && err[0]));
            if (rc) continue;
            CHECK(tokenizer_encode(t, bert, sizeof bert - 1, ENCODE_ADDED, &ids, &k, err, sizeof err) == 0);
            for (size_t i = 0; i < k; i++) CHECK(ids[i] >= 0 && (size_t)ids[i] < tokenizer_size(t));
            free(ids);
            tokenizer_free(t);
        }
}

/* ---- folders, dictionaries, GGUF ---- */

#define YONGHE "\xe6\xb0\xb8\xe5\x92\x8c"
static const char words[] =
    "[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\n" YONGHE "\n\xe6\xb0\xb8\n\xe5\x92\x8c\nabc\n\xc3\xa9\ne\n";

static char *in(const char *folder, const char *name) {
    static char path[4][700];
    static int turn;
    snprintf(path[turn = (turn + 1) % 4], sizeof path[0], "%s/%s", folder, name);
    return path[turn];
}

static void put_text(const char *path, const char *text) { file_write(path, text, strlen(text)); }

static void dictionaries(void) {
    const char *folder = test_tmp("wordpiece-words");
    Tokenizer *t;
    mkdir(folder, 0700);
    put_text(in(folder, "vocab.txt"), words);
    CHECK(open_with(&t, folder, NULL) == -EINVAL && strstr(err, "its 1 Chinese words need jieba's dictionary"));
    CHECK(strstr(err, "dict.txt") && strstr(err, "beside the vocabulary") && strstr(err, "--jieba"));
    CHECK(tokenizer_probe(folder) == 1);
    put_text(in(folder, "dict.txt"), YONGHE " 5 n\n\xe6\xb0\xb8 1\n\xe5\x92\x8c 1\n");
    CHECK(open_with(&t, folder, NULL) == 0 && strcmp(tokenizer_kind(t), "WordPiece with jieba") == 0);
    ENCODES(t, YONGHE "ABC\xc3\x89", ENCODE_ADDED, 2, 5, 8, 9, 3); /* "\u00e9" is a word of jieba's, and a piece */
    tokenizer_free(t);
    CHECK(open_with(&t, in(folder, "vocab.txt"), NULL) == 0); /* the file itself: beside it */
    tokenizer_free(t);
    CHECK(open_with(&t, folder, &(TokenizerOptions){.lower_case = -1, .bert4keras = 1}) == 0);
    CHECK(t && strcmp(tokenizer_kind(t), "WordPiece with jieba (bert4keras' order)") == 0);
    ENCODES(t, YONGHE "ABC\xc3\x89", ENCODE_ADDED, 2, 5, 1, 3); /* accents go first: one word "abce", unknown */
    tokenizer_free(t);
    put_text(in(folder, "jieba.dict"), "\xe6\xb0\xb8 1\n"); /* this name comes first */
    CHECK(open_with(&t, folder, NULL) == 0);
    ENCODES(t, YONGHE, ENCODE_BARE, 6, 7);
    tokenizer_free(t);
    CHECK(open_with(&t, folder, &(TokenizerOptions){.jieba = in(folder, "dict.txt"), .lower_case = -1}) == 0);
    ENCODES(t, YONGHE, ENCODE_BARE, 5);
    tokenizer_free(t);
    put_text(in(folder, "jieba.dict"), "\xe6\xb0\xb8\n");
    CHECK(open_with(&t, folder, NULL) == -EINVAL && strstr(err, "jieba.dict: line 1"));
    CHECK(open_with(&t, folder, &(TokenizerOptions){.jieba = in(folder, "none")}) == -ENOENT && strstr(err, "none"));
    const char *other = test_tmp("wordpiece-other");
    mkdir(other, 0700);
    CHECK(open_with(&t, folder, &(TokenizerOptions){.folder = other}) == -EINVAL && strstr(err, "jieba's dictionary"));
    remove(in(folder, "jieba.dict"));
}

static void config(void) {
    const char *folder = test_tmp("wordpiece-config");
    Tokenizer *t;
    mkdir(folder, 0700);
    put_text(in(folder, "vocab.txt"), "<p>\n<u>\n<c>\n<s>\n<m>\nA\na\n##b\nx\n[UNK]\ndo\n'\nn\n.\n");
    put_text(in(folder, "tokenizer_config.json"),
             "{\"do_lower_case\": false, \"cls_token\": \"<c>\", \"sep_token\": {\"content\": \"<s>\"}, \"unk_token\": "
             "\"<u>\","
             " \"mask_token\": \"<m>\", \"pad_token\": \"<p>\", \"clean_up_tokenization_spaces\": false,"
             " \"added_tokens_decoder\": {\"8\": {\"content\": \"x\", \"special\": false},"
             " \"20\": {\"content\": \"[new]\", \"special\": true}}}");
    CHECK(open_with(&t, folder, NULL) == 0);
    if (!t) return;
    CHECK(tokenizer_size(t) == 21 && tokenizer_bos(t) == 2 && tokenizer_eos(t) == 3);
    ENCODES(t, "Aab<m>axb[new]zb<u><p>", ENCODE_ADDED, 2, 1, 4, 6, 8, 1, 20, 1, 1, 0, 3); /* "Aab": there is no ##a */
    ENCODES(t, "[UNK]ab", ENCODE_BARE, 1, 1, 1, 6, 7);
    char out[64];
    TokenStream s = {0};
    CHECK(tokenizer_decode(t, &s, 10, out) == 2 && tokenizer_decode(t, &s, 13, out) == 2 && memcmp(out, " .", 2) == 0);
    tokenizer_free(t);
    CHECK(open_with(&t, folder, &(TokenizerOptions){.lower_case = 1}) == 0); /* the option is stronger than the file */
    ENCODES(t, "AB", ENCODE_BARE, 6, 7);
    tokenizer_free(t);
    put_text(in(folder, "tokenizer_config.json"), "{\"do_basic_tokenize\": false}");
    CHECK(open_with(&t, folder, NULL) == -EINVAL && strstr(err, "do_basic_tokenize"));
    put_text(in(folder, "tokenizer_config.json"), "{\"do_lower_case\": 1}");
    CHECK(open_with(&t, folder, NULL) == -EINVAL && strstr(err, "do_lower_case"));
    put_text(in(folder, "tokenizer_config.json"), "{\"unk_token\": \"<none>\"}");
    CHECK(open_with(&t, folder, NULL) == 0); /* a name that is none: the usual one holds */
    tokenizer_free(t);
}

static void gguf(void) {
    Piece p[] = {{"[UNK]", 5, 0, PIECE_UNKNOWN}, {"[CLS]", 5, 0, PIECE_CONTROL}, {"[SEP]", 5, 0, PIECE_CONTROL},
                 {"a", 1, 0, PIECE_NORMAL}, {"##b", 3, 0, PIECE_NORMAL}, {"<x>", 3, 0, PIECE_USER_DEFINED},
                 {"[unused]", 8, 0, PIECE_UNUSED}, {YONGHE, 6, 0, PIECE_NORMAL}};
    Vocabulary v = {.model = "wordpiece", .pieces = p, .n = 7, .bos_id = -1, .eos_id = -1, .unk_id = -1};
    TokenizerOptions cased = {.lower_case = 0};
    Tokenizer *t;
    CHECK(tokenizer_from_vocabulary(&t, &v, "made", err, sizeof err) == 0);
    ENCODES(t, "AB<x>a[UNK]", ENCODE_ADDED, 1, 3, 4, 5, 3, 0, 2);
    tokenizer_free(t);
    CHECK(tokenizer_from_vocabulary_with(&t, &v, &cased, "made", err, sizeof err) == 0);
    ENCODES(t, "Ab ab", ENCODE_BARE, 0, 3, 4);
    tokenizer_free(t);
    v.n = 8; /* now one piece of eight is a Chinese word */
    CHECK(tokenizer_from_vocabulary(&t, &v, "made.gguf", err, sizeof err) == -EINVAL && t == NULL);
    CHECK(strstr(err, "made.gguf: its 1 Chinese words need jieba"));
    const char *folder = test_tmp("wordpiece-beside");
    mkdir(folder, 0700);
    put_text(in(folder, "dict.txt"), YONGHE " 5 n\n");
    TokenizerOptions beside = {.folder = folder, .lower_case = -1};
    CHECK(tokenizer_from_vocabulary_with(&t, &v, &beside, "made", err, sizeof err) == 0);
    ENCODES(t, YONGHE "a", ENCODE_BARE, 7, 3);
    tokenizer_free(t);
    v.n = 7;
    v.eos_id = 3;
    CHECK(tokenizer_from_vocabulary(&t, &v, "made", err, sizeof err) == 0 && tokenizer_eos(t) == 3);
    tokenizer_free(t);
    v.eos_id = 7;
    CHECK(tokenizer_from_vocabulary(&t, &v, "made", err, sizeof err) == -EINVAL && strstr(err, "eos id is 7"));
    v.eos_id = -1;
    p[6].type = PIECE_BYTE;
    CHECK(tokenizer_from_vocabulary(&t, &v, "made", err, sizeof err) == -EINVAL && strstr(err, "piece 6"));
    p[6] = (Piece){"\xff", 1, 0, PIECE_NORMAL};
    CHECK(tokenizer_from_vocabulary(&t, &v, "made", err, sizeof err) == -EINVAL && strstr(err, "piece 6 is not UTF-8"));
    v.n = 6;
    p[0].text = "[unk]";
    CHECK(tokenizer_from_vocabulary(&t, &v, "made", err, sizeof err) == -EINVAL && strstr(err, "no piece [UNK]"));
    v.n = 0;
    CHECK(tokenizer_from_vocabulary(&t, &v, "made", err, sizeof err) == -EINVAL);
}

/* ---- ids to text ---- */

static void decodes(void) {
    Tokenizer *t = NULL;
    for (size_t i = 0; i < COUNT(golden_decodes); i++) {
        const GoldenDecode *g = &golden_decodes[i];
        if (i == 0 || g->setup != golden_decodes[i - 1].setup) {
            tokenizer_free(t);
            if (!open_setup(&t, g->setup)) return;
        }
        /* out by itself: the sanitizer sees a byte too many */
        char text[1000], *out = malloc(tokenizer_decode_bound(t));
        size_t len = 0;
        TokenStream s = {0};
        for (int k = 0; k <= g->n; k++) {
            size_t n = k < g->n ? tokenizer_decode(t, &s, g->ids[k], out) : tokenizer_decode_end(t, &s, out);
            CHECK(n <= tokenizer_decode_bound(t));
            len += put(text + len, out, n);
        }
        text[len] = 0;
        if (strcmp(text, g->text) != 0) printf("    \"%s\", not \"%s\"\n", text, g->text);
        CHECK(strcmp(text, g->text) == 0);
        s = (TokenStream){.begun = 1}; /* behind a prompt the first word has its space */
        if (g->setup == 2 && g->ids[0] == 2123)
            CHECK(tokenizer_decode(t, &s, 2123, out) == 4 && memcmp(out, " don", 4) == 0);
        free(out);
    }
    tokenizer_free(t);
}

/* ---- speed, in print ---- */

static void speed(void) {
    const char *book = test_data("text/hongloumeng_utf8.txt"), *dict = test_data("jieba/dict.txt");
    Tokenizer *t;
    MappedFile f;
    Jieba j;
    if (!book || !dict) return;
    clock_t t0 = clock();
    CHECK(jieba_open(&j, dict, err, sizeof err) == 0);
    double seconds = (double)(clock() - t0) / CLOCKS_PER_SEC;
    size_t bytes = j.words.cap * sizeof *j.words.nodes + (j.words.mask + 1) * sizeof *j.words.slots +
                   j.cap * sizeof *j.weight;
    printf("    jieba's dictionary: %.3f s, %.1f MB\n", seconds, 1e-6 * (double)bytes);
    jieba_close(&j);
    if (!open_setup(&t, 0)) return;
    CHECK(file_map(&f, book, err, sizeof err) == 0);
    size_t n = 0;
    t0 = clock();
    hash_ids(t, FNV, (const char *)f.data, f.size, &n);
    printf("    a book of %.1f MB: %.3f s, %zu ids\n", 1e-6 * (double)f.size, (double)(clock() - t0) / CLOCKS_PER_SEC,
           n);
    file_unmap(&f);
    tokenizer_free(t);
}

extern const Test tests_wordpiece[];
const Test tests_wordpiece[] = {
    {"wordpiece/unicode_all", unicode_all},
    {"wordpiece/unicode_sequences", unicode_sequences},
    {"wordpiece/unicode_marks", unicode_marks},
    {"wordpiece/ids", golden_ids},
    {"wordpiece/pairs", pairs},
    {"wordpiece/texts", texts},
    {"wordpiece/random_strings", random_strings},
    {"wordpiece/swift_vector", swift_vector},
    {"wordpiece/jieba_cuts", jieba_cuts},
    {"wordpiece/jieba_book", jieba_book},
    {"wordpiece/jieba_characters", jieba_characters},
    {"wordpiece/jieba_hostile", jieba_hostile},
    {"wordpiece/jieba_sizes", jieba_sizes},
    {"wordpiece/small_vocabulary", small_vocabulary},
    {"wordpiece/hostile_vocabularies", hostile_vocabularies},
    {"wordpiece/dictionaries", dictionaries},
    {"wordpiece/config", config},
    {"wordpiece/gguf", gguf},
    {"wordpiece/decodes", decodes},
    {"wordpiece/speed", speed},
    {0},
};
