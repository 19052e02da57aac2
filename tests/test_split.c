/* tests/test_split.c - tokenizer/split.c against `tokenizers` and tiktoken (golden/split.h), its behaviours, and its time on hostile text. */
#include "base/base.h"
#include "tokenizer/split/split.h"
#include "tests/golden/split.h"
#include "random_text.h"
#include "test.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static const SplitPattern *pattern_of(const char *regex) { return split_pattern(regex, strlen(regex)); }

static uint64_t mix(uint64_t hash, uint64_t x) { return (hash ^ x) * 0x100000001b3u; }

/* A regex that matches only empty places is told by the pieces it cuts. */
static uint64_t hash_cuts(uint64_t hash, const SplitPattern *p, int pieces, const char *s, size_t n) {
    if (pieces) {
        Spans spans = {0};
        CHECK(split_apply(&(SplitStep){.pattern = p}, s, 0, n, &spans) == 0);
        for (size_t i = 0; i < spans.n; i++) hash = mix(mix(hash, spans.at[i].begin), spans.at[i].end);
        spans_free(&spans);
        return hash;
    }
    SplitText t;
    size_t begin, end, at = 0;
    split_begin(&t, s, 0, n);
    for (; split_find(p, &t, at, &begin, &end); at = end) {
        if (begin < at || end <= begin || end > n) {
            CHECK(!"a match goes forward and is not empty");
            return 0;
        }
        hash = mix(mix(hash, begin), end);
    }
    return hash;
}

static void strings(void) {
    for (size_t g = 0; split_golden[g].name; g++) {
        const SplitPattern *p = pattern_of(split_golden[g].regex);
        int pieces = strcmp(split_golden[g].name, "superbpe") == 0;
        uint64_t literals = HASH_START, random = HASH_START, state = 1;
        CHECK(p != NULL);
        if (!p) continue;
        CHECK(strcmp(split_name(p), split_golden[g].name) == 0);
        for (size_t i = 0; split_literals[i]; i++) literals = hash_cuts(literals, p, pieces, split_literals[i], strlen(split_literals[i]));
        for (int i = 0; i < SPLIT_RANDOM; i++) {
            char s[RANDOM_TEXT_MAX];
            size_t n = random_text(&state, s);
            random = hash_cuts(random, p, pieces, s, n);
        }
        CHECK(literals == split_golden[g].literals);
        CHECK(random == split_golden[g].random);
        if (literals != split_golden[g].literals || random != split_golden[g].random) printf("    %s\n", split_name(p));
    }
}

/* The first SPLIT_PREFIX bytes of a text, less the character that the end cuts; malloc'ed, NULL where it is not there. */
static char *prefix(const char *name, size_t *n) {
    const char *path = test_data(name);
    FILE *file = path ? fopen(path, "rb") : NULL;
    if (!file) return NULL;
    char *text = malloc(SPLIT_PREFIX);
    size_t back = 1;
    *n = text ? fread(text, 1, SPLIT_PREFIX, file) : 0;
    fclose(file);
    while (back < 4 && back < *n && ((unsigned char)text[*n - back] & 0xc0) == 0x80) back++;
    if (*n >= back && (size_t)utf8_length((unsigned char)text[*n - back]) > back) *n -= back;
    return text;
}

static void files(void) {
    for (size_t f = 0; split_files[f]; f++) {
        size_t n;
        char *text = prefix(split_files[f], &n);
        if (!text) break;
        for (size_t g = 0; split_golden[g].name; g++) {
            const SplitPattern *p = pattern_of(split_golden[g].regex);
            if (!p || !split_golden[g].texts[f]) continue;
            int same = hash_cuts(HASH_START, p, strcmp(split_golden[g].name, "superbpe") == 0, text, n) == split_golden[g].texts[f];
            CHECK(same);
            if (!same) printf("    %s, %s\n", split_name(p), split_files[f]);
        }
        free(text);
    }
}

static void spellings(void) {
    CHECK(pattern_of("\\p{X}") == NULL && pattern_of("") == NULL && pattern_of("\\p{N}{1,3}|") == NULL);
    CHECK(split_pattern("\\p{N}{1,3}", 5) == pattern_of("\\p{N}"));
    CHECK(pattern_of("[\r\n]") != NULL && pattern_of("[\r\n]") == pattern_of("[\\r\\n]"));
    CHECK(pattern_of("[\r\\n") == NULL && pattern_of("[\r\\n]]") == NULL);
    CHECK(split_named("ByteLevel") == split_list(0) && split_named("Digits") && !split_named("digits") && !split_named("number"));
    for (size_t i = 0; split_list(i); i++) /* every spelling leads to its own row, and no name stands twice */
        for (size_t j = 0; split_regex(split_list(i), j); j++) CHECK(pattern_of(split_regex(split_list(i), j)) == split_list(i));
    for (size_t i = 0; split_list(i); i++)
        for (size_t j = 0; j < i; j++) CHECK(strcmp(split_name(split_list(i)), split_name(split_list(j))) != 0);
}

/* The pieces of s, a bar between them. */
static const char *cut(const SplitStep *step, const char *s) {
    static char out[300];
    Spans spans = {0};
    size_t n = 0;
    CHECK(split_apply(step, s, 0, strlen(s), &spans) == 0);
    for (size_t i = 0; i < spans.n; i++) {
        size_t len = spans.at[i].end - spans.at[i].begin;
        if (i) out[n++] = '|';
        memcpy(out + n, s + spans.at[i].begin, len);
        n += len;
    }
    out[n] = 0;
    spans_free(&spans);
    return out;
}

/* What `tokenizers` 0.23.3 makes of these with Punctuation(behavior) and Split(pattern, behavior, invert). */
static void behaviours(void) {
    SplitStep punctuation = {.pattern = split_named("Punctuation")}, word = {.literal = "ab", .literal_len = 2};
    static const char *const five[] = {"a|!|!| b|.|c|?", "a| b|c", "a!|!| b.|c?", "a|!|! b|.c|?", "a|!!| b|.|c|?"};
    static const char *const inverted[] = {"a|!|!| b|.|c|?", "!|!|.|?", "a|!|! b|.c|?", "a!|!| b.|c?", "a|!!| b|.|c|?"};
    for (int b = 0; b < 5; b++) {
        punctuation.behavior = (SplitBehavior)b;
        punctuation.invert = 0;
        CHECK(strcmp(cut(&punctuation, "a!! b.c?"), five[b]) == 0);
        punctuation.invert = 1;
        CHECK(strcmp(cut(&punctuation, "a!! b.c?"), inverted[b]) == 0);
    }
    CHECK(strcmp(cut(&word, "abcababdab"), "ab|c|ab|ab|d|ab") == 0);
    word.behavior = SPLIT_MERGED_WITH_NEXT;
    CHECK(strcmp(cut(&word, "abcababdab"), "abc|ab|abd|ab") == 0);
    word.literal_len = 0;
    CHECK(strcmp(cut(&word, "abc"), "abc") == 0 && strcmp(cut(&word, ""), "") == 0);
}

/* A pattern sees nothing outside the stretch it is given. */
static void stretches(void) {
    SplitStep steps[] = {{.pattern = pattern_of("[0-9]")}, {.pattern = pattern_of("\\s+$")}};
    Spans spans = {0};
    CHECK(split_steps(steps, 2, "xa  1 bx", 1, 7, &spans) == 0 && spans.n == 4);
    static const Span want[] = {{1, 2}, {2, 4}, {4, 5}, {5, 7}};
    for (size_t i = 0; i < 4 && i < spans.n; i++) CHECK(spans.at[i].begin == want[i].begin && spans.at[i].end == want[i].end);
    CHECK(split_steps(steps, 0, "abc", 0, 3, &spans) == 0 && spans.n == 5 && split_steps(steps, 0, "abc", 3, 3, &spans) == 0 && spans.n == 5);
    spans_free(&spans);
}

static uint64_t hash_ends(uint64_t hash, const SplitStep *steps, size_t n_steps, const char *s, size_t n) {
    Spans spans = {0};
    CHECK(split_steps(steps, n_steps, s, 0, n, &spans) == 0);
    for (size_t i = 0; i < spans.n; i++) hash = mix(hash, spans.at[i].end);
    spans_free(&spans);
    return hash;
}

/* The names of GGUF files do what the models' own tokenizer.json does. */
static void gguf(void) {
    for (size_t g = 0; split_gguf_golden[g].name; g++) {
        const PreTokenizer *p = split_gguf(split_gguf_golden[g].name, strlen(split_gguf_golden[g].name));
        SplitStep steps[SPLIT_GGUF_STEPS];
        CHECK(p != NULL);
        if (!p) continue;
        size_t n_steps = split_gguf_steps(p, steps);
        uint64_t literals = HASH_START, random = HASH_START, state = 1;
        for (size_t i = 0; split_literals[i]; i++) literals = hash_ends(literals, steps, n_steps, split_literals[i], strlen(split_literals[i]));
        for (int i = 0; i < SPLIT_RANDOM; i++) {
            char s[RANDOM_TEXT_MAX];
            size_t n = random_text(&state, s);
            random = hash_ends(random, steps, n_steps, s, n);
        }
        CHECK(literals == split_gguf_golden[g].literals && random == split_gguf_golden[g].random);
        if (literals != split_gguf_golden[g].literals || random != split_gguf_golden[g].random) printf("    %s\n", p->name);
        for (int f = 0; f < 2; f++) {
            size_t n;
            char *text = prefix(split_files[f + 1], &n);
            if (text) CHECK(hash_ends(HASH_START, steps, n_steps, text, n) == split_gguf_golden[g].texts[f]);
            free(text);
        }
    }
    for (size_t i = 0; split_gguf_list(i); i++) { /* every pattern that the table names is there */
        const PreTokenizer *p = split_gguf_list(i);
        SplitStep steps[SPLIT_GGUF_STEPS];
        size_t n = split_gguf_steps(p, steps);
        CHECK(split_gguf(p->name, strlen(p->name)) == p && (n > 0 || p->raw));
        for (size_t k = 0; k < n; k++) CHECK(steps[k].pattern != NULL);
    }
    CHECK(split_gguf("gpt-3", 5) == NULL && split_gguf("gpt-22", 5) != NULL && split_gguf("", 0) == NULL);
}

/* No text takes long: a megabyte of anything in well under a second (a quadratic scanner takes minutes). */
static void hostile(void) {
    enum { N = 1 << 20 };
    static const char *const units[] = {" ", "\n", "a", "A", "7", ".", "'", " \n", "aA", "Aa", " a", "7 ", "\r\n  ", "\xe3\x80\x80", "\xe4\xb8\xad",
        "\xcc\x81", "\xc2\xa0 ", "\xff", "\xe4\xb8", "\xd9\xa3", "7777a", "\xe1\xba\x9e\xcc\x81"};
    char *s = malloc(N + 8);
    CHECK(s != NULL);
    for (size_t u = 0; s && u < sizeof units / sizeof *units; u++) {
        size_t len = strlen(units[u]), n = 0;
        for (; n + len <= N; n += len) memcpy(s + n, units[u], len);
        for (size_t i = 0; split_list(i); i++) {
            clock_t start = clock();
            SplitText t;
            size_t begin, end, at = 0, count = 0;
            split_begin(&t, s, 0, n);
            for (; split_find(split_list(i), &t, at, &begin, &end) && begin >= at && end > begin && end <= n; at = end) count++;
            double seconds = (double)(clock() - start) / CLOCKS_PER_SEC;
            CHECK(count <= n && seconds < (test_sanitized ? 10 : 2));
            if (seconds >= 0.5) printf("    %s on %s: %.2f s\n", split_name(split_list(i)), units[u], seconds);
        }
    }
    free(s);
}

const Test tests_split[] = {
    {"split/strings", strings},
    {"split/files", files},
    {"split/spellings", spellings},
    {"split/behaviours", behaviours},
    {"split/stretches", stretches},
    {"split/gguf", gguf},
    {"split/hostile", hostile},
    {0}
};
