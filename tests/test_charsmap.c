/* tests/test_charsmap.c - SentencePiece's character maps: which rule wins, maps that are damaged or have no end; and
 * the borders of grapheme clusters. */
#include "test.h"
#include "tokenizer_files.h"

#include "tokenizer/open.h"
#include "tokenizer/sentencepiece/charsmap.h"
#include "tokenizer/sentencepiece/model.h"
#include "tokenizer/unicode/grapheme.h"
#include "tests/golden/sentencepiece.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static char err[300];

static CharsMap *open_map(const void *blob, size_t n) {
    CharsMap *m;
    err[0] = 0;
    return charsmap_open(&m, blob, n, "map", "the test", err, sizeof err) ? NULL : m;
}

static int becomes(const CharsMap *m, const char *s, size_t used, const char *text) {
    const char *to;
    size_t len;
    return charsmap_longest(m, s, strlen(s), &to, &len) == used &&
        (!used || (len == strlen(text) && memcmp(to, text, len) == 0));
}

static void rules(void) {
    CharsMap *m = open_map(golden_map, sizeof golden_map - 1);
    CHECK(m != NULL);
    if (!m) return;
    CHECK(becomes(m, "A", 1, "a") && becomes(m, "ABx", 2, "x") && becomes(m, "ABCD", 3, ""));
    CHECK(becomes(m, "e\xcc\x81x", 3, "\xc3\xa9") && becomes(m, "\xc3\xa9", 2, "e") &&
          becomes(m, "\xef\xac\x81", 3, "fi"));
    CHECK(becomes(m, "e", 0, NULL) && becomes(m, "B", 0, NULL) && becomes(m, "", 0, NULL) &&
          becomes(m, "\xef\xac", 0, NULL));
    CHECK(charsmap_longest_rule(m) == 3 && charsmap_longest_text(m) == 7);
    size_t n;
    CHECK(memcmp(charsmap_blob(m, &n), golden_map, sizeof golden_map - 1) == 0 && n == sizeof golden_map - 1);
    charsmap_free(m);
}

/* Of the trie of golden_map only some bits mean anything: whatever stands there, the map is refused or can be
 * walked. */
static void hostile_maps(void) {
    size_t n = sizeof golden_map - 1;
    uint32_t trie = load_u32(golden_map);
    CHECK(trie % 4 == 0 && trie + 4 < n);
    int opened = 0, refused = 0;
    for (size_t cut = 0; cut < n; cut++) { /* at every length: a cut text may end where another one did */
        char *copy = malloc(cut + 1); /* by itself: the sanitizer sees a byte too many */
        memcpy(copy, golden_map, cut);
        CharsMap *m = open_map(copy, cut);
        CHECK(cut > trie + 4 || m == NULL);
        charsmap_free(m);
        free(copy);
    }
    for (size_t i = 0; i < n; i++)
        for (int bit = 0; bit < 8; bit++) {
            char *copy = malloc(n), text[] = "ABCe\xcc\x81\xef\xac\x81 \xe4\xb8\xad" "aa\xe3\x80\x80\xe2\x91\xa0";
            memcpy(copy, golden_map, n);
            copy[i] = (char)(copy[i] ^ 1 << bit);
            CharsMap *m = open_map(copy, n);
            const char *to;
            size_t len, used;
            for (size_t k = 0; m && k < sizeof text; k++) {
                used = charsmap_longest(m, text + k, sizeof text - k, &to, &len);
                CHECK(used <= sizeof text - k && (!used || len <= CHARSMAP_TEXT_MAX));
                for (size_t b = 0; used && b < len; b++) CHECK(to[b] != 0);
            }
            if (m) opened++;
            else refused++;
            charsmap_free(m);
            free(copy);
        }
    CHECK(opened > 0 && refused > 0);
}

/* A trie of one block in which 'a' leads back to itself. */
static void map_without_end(void) {
    uint8_t blob[4 + 1024 + 2] = {0, 4};
    uint32_t root = 1 << 10, loop = 'a'; /* the root's base is 1, and 'a' stands at 1 ^ 'a' = '`' */
    loop |= (uint32_t)('`' ^ 1) << 10;    /* so base 1 again */
    for (int i = 0; i < 4; i++) {
        blob[4 + i] = (uint8_t)(root >> 8 * i);
        blob[4 + 4 * '`' + i] = (uint8_t)(loop >> 8 * i);
    }
    CHECK(open_map(blob, sizeof blob) == NULL && strstr(err, "character map"));
    blob[4 + 4 * '`' + 1] ^= 8; /* another base, without children: now it ends */
    CharsMap *m = open_map(blob, sizeof blob);
    CHECK(m != NULL);
    charsmap_free(m);
    blob[0] = blob[1] = blob[2] = blob[3] = 0xff; /* a trie of 4 GB */
    CHECK(open_map(blob, sizeof blob) == NULL);
}

/* Rules and texts have a bound; so has a rule whose end another one shares. */
static void longest_maps(void) {
    static const struct { size_t rule, text; int opens; } rows[] = {
        {1, 1, 1}, {CHARSMAP_RULE_MAX, 1, 1}, {CHARSMAP_RULE_MAX + 1, 1, 0}, {1, CHARSMAP_TEXT_MAX, 1},
        {1, CHARSMAP_TEXT_MAX + 1, 0}, {2, CHARSMAP_TEXT_MAX + 70, 0}};
    static uint8_t blob[CHAIN_MAP_MAX];
    for (size_t i = 0; i < COUNT(rows); i++) {
        CharsMap *m = open_map(blob, chain_map(blob, rows[i].rule, rows[i].text));
        CHECK((m != NULL) == rows[i].opens);
        CHECK(m ? charsmap_longest_rule(m) == rows[i].rule && charsmap_longest_text(m) == rows[i].text
              : strstr(err, "character map is broken") != NULL);
        charsmap_free(m);
    }
    for (uint32_t rule = CHARSMAP_RULE_MAX - 1; rule <= CHARSMAP_RULE_MAX; rule++) {
        /* beside "aa.." there is "bca..", a byte longer: 'b' leads to base 1, 'c' there where the first 'a' leads */
        const uint32_t b = 256 ^ 'b', c = 1 ^ 'c';
        const uint32_t units[][2] = {{b, 'b' | (b ^ 1) << 10}, {c, 'c' | (c ^ 512) << 10}};
        size_t n = chain_map(blob, rule, 1);
        for (int i = 0; i < 8; i++) blob[4 + 4 * units[i / 4][0] + i % 4] = (uint8_t)(units[i / 4][1] >> 8 * (i % 4));
        CharsMap *m = open_map(blob, n);
        CHECK((m != NULL) == (rule < CHARSMAP_RULE_MAX));
        CHECK(m ? charsmap_longest_rule(m) == rule + 1 : strstr(err, "character map is broken") != NULL);
        charsmap_free(m);
    }
}

static int clusters(const char *s, size_t n, size_t first) { return grapheme_next(s, n) == first; }

static void graphemes(void) {
    CHECK(clusters("ab", 2, 1) && clusters("a", 1, 1) && clusters("\r\n", 2, 2));
    CHECK(clusters("\n\r", 2, 1) && clusters("a\n", 2, 1));
    CHECK(clusters("e\xcc\x81\xcc\x88x", 6, 5) && clusters("\xcc\x81" "e", 3, 2));
    CHECK(clusters("\x80\x80", 2, 1) && clusters("e\x80", 2, 1));
    CHECK(clusters("\xe1\x84\x80\xe1\x85\xa1\xe1\x86\xa8\xe1\x84\x80", 12, 9));                     /* L V T, L */
    CHECK(clusters("\xea\xb0\x80\xe1\x86\xa8", 6, 6) && clusters("\xea\xb0\x81\xe1\x85\xa1", 6, 3)); /* LV T; LVT, V */
    /* two regionals, one more */
    CHECK(clusters("\xf0\x9f\x87\xa6\xf0\x9f\x87\xa7\xf0\x9f\x87\xa6", 12, 8));
    /* woman ZWJ woman */
    CHECK(clusters("\xf0\x9f\x91\xa9\xe2\x80\x8d\xf0\x9f\x91\xa9", 11, 11));
    CHECK(clusters("a\xe2\x80\x8d\xf0\x9f\x91\xa9", 8, 4));
    /* ka, virama, ta: GB9c */
    CHECK(clusters("\xe0\xa4\x95\xe0\xa5\x8d\xe0\xa4\xa4", 9, 9));
    /* ka, ta; a prepended one */
    CHECK(clusters("\xe0\xa4\x95\xe0\xa4\xa4", 6, 3) && clusters("\xd8\x80" "a", 3, 3));
}

const Test tests_charsmap[] = {
    {"charsmap/rules", rules},
    {"charsmap/hostile_maps", hostile_maps},
    {"charsmap/map_without_end", map_without_end},
    {"charsmap/longest_maps", longest_maps},
    {"charsmap/graphemes", graphemes},
    {0},
};
