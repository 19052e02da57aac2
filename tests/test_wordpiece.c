/* tests/test_wordpiece.c - WordPiece, BasicTokenizer, jieba and the Unicode tables against transformers, rjieba,
 * bert4keras and Python's unicodedata (tests/oracle/wordpiece.py); hostile vocabularies and dictionaries; speed in
 * print. */
#include "test.h"

#include "base/json.h"
#include "tokenizer/open.h"
#include "tokenizer/wordpiece/wordpiece.h"
#include "build.h"
#include "tests/golden/wordpiece.h"
#include "base/base.h"
#include "base/utf8.h"

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
    {"wordpiece/decodes", decodes},
    {"wordpiece/speed", speed},
    {0},
};
