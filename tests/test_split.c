/* tests/test_split.c - tokenizer/split/ against `tokenizers` and tiktoken (golden/split.json), its behaviours, and its
 * time on hostile text. */
#include "base/base.h"
#include "base/hash.h"
#include "base/json.h"
#include "base/utf8.h"
#include "tokenizer/split/split.h"
#include "random_text.h"
#include "test.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* Of no rules where the regex, or the name, is unknown. */
static SplitPattern pattern_of(const char *regex) {
    SplitPattern p;
    CHECK(split_pattern(&p, regex, strlen(regex)) == (p.n > 0));
    return p;
}

static SplitPattern named(const char *name) {
    SplitPattern p;
    CHECK(split_named(&p, name) == (p.n > 0));
    return p;
}

static int open_golden(Json *j) {
    char err[200];
    int rc = json_open(j, "tests/golden/split.json", err, sizeof err);
    if (rc) test_fail(__FILE__, __LINE__, err);
    return rc == 0;
}

static size_t number(const Json *golden, const char *key) {
    const JsonValue *v = json_get(golden->root, key);
    CHECK(v && v->type == JSON_NUMBER);
    return v ? (size_t)v->number : 0;
}

static int hash_is(const JsonValue *v, uint64_t hash) {
    return v && v->type == JSON_STRING && strtoull(v->str, NULL, 16) == hash;
}

static uint64_t mix(uint64_t hash, uint64_t x) { return (hash ^ x) * 0x100000001b3u; }

/* pieces: a regex that matches only empty places is told by the pieces it cuts. */
static uint64_t hash_cuts(uint64_t hash, const SplitPattern *p, int pieces, const char *s, size_t n) {
    if (pieces) {
        Spans spans = {0};
        CHECK(split_apply(&(SplitStep){.pattern = *p}, s, 0, n, &spans) == 0);
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

/* {"regex": .., "strings": [hash of the literals, hash of so many random strings]} */
static void check_strings(const Json *golden, const JsonValue *row, size_t n_random) {
    const JsonValue *regex = json_get(row, "regex"), *hashes = json_get(row, "strings");
    const JsonValue *literal = json_get(golden->root, "literals");
    uint64_t literals = HASH_START, random = HASH_START, state = 1;
    SplitPattern p;
    int known = split_pattern(&p, regex->str, regex->len), pieces = json_is(json_get(row, "name"), "superbpe");
    for (literal = literal->child; literal; literal = literal->next)
        literals = hash_cuts(literals, &p, pieces, literal->str, literal->len);
    for (size_t i = 0; i < n_random; i++) {
        char s[RANDOM_TEXT_MAX];
        size_t n = random_text(&state, s);
        random = hash_cuts(random, &p, pieces, s, n);
    }
    int same = known && hash_is(hashes->child, literals) && hash_is(hashes->child->next, random);
    CHECK(same);
    if (!same) printf("    %s: %s\n", regex->str, known ? "cut elsewhere" : "unknown");
}

static void strings(void) {
    Json golden;
    if (!open_golden(&golden)) return;
    const JsonValue *row = json_get(golden.root, "regexes")->child;
    for (; row; row = row->next) check_strings(&golden, row, number(&golden, "random"));
    json_free(&golden);
}

/* Regexes that nobody published, made of alternatives that are known. */
static void combined(void) {
    Json golden;
    if (!open_golden(&golden)) return;
    const JsonValue *row = json_get(golden.root, "combined")->child;
    for (; row; row = row->next) check_strings(&golden, row, number(&golden, "combined random"));
    json_free(&golden);
}

/* The first `most` bytes of a text, less the character that the end cuts; malloc'ed, NULL where it is not there. */
static char *prefix(const char *name, size_t most, size_t *n) {
    const char *path = test_data(name);
    FILE *file = path ? fopen(path, "rb") : NULL;
    if (!file) return NULL;
    char *text = malloc(most);
    size_t back = 1;
    *n = text ? fread(text, 1, most, file) : 0;
    fclose(file);
    while (back < 4 && back < *n && ((unsigned char)text[*n - back] & 0xc0) == 0x80) back++;
    if (*n >= back && (size_t)utf8_length((unsigned char)text[*n - back]) > back) *n -= back;
    return text;
}

static const JsonValue *nth(const JsonValue *list, size_t i) {
    const JsonValue *v = list ? list->child : NULL;
    for (; v && i > 0; i--) v = v->next;
    return v;
}

static void check_file(const Json *golden, size_t f, const char *name, const char *text, size_t n) {
    for (const JsonValue *row = json_get(golden->root, "regexes")->child; row; row = row->next) {
        const JsonValue *want = nth(json_get(row, "texts"), f);
        if (!want) continue;
        SplitPattern p = pattern_of(json_get(row, "regex")->str);
        int same = hash_is(want, hash_cuts(HASH_START, &p, json_is(json_get(row, "name"), "superbpe"), text, n));
        CHECK(same);
        if (!same) printf("    %s, %s\n", json_get(row, "name")->str, name);
    }
}

static void files(void) {
    Json golden;
    if (!open_golden(&golden)) return;
    const JsonValue *names = json_get(golden.root, "files"), *name;
    for (size_t f = 0, n; (name = nth(names, f)); f++) {
        char *text = prefix(name->str, number(&golden, "prefix"), &n);
        if (!text) break;
        check_file(&golden, f, name->str, text, n);
        free(text);
    }
    json_free(&golden);
}

static int same_regex(const char *a, const char *b) {
    SplitPattern p = pattern_of(a), q = pattern_of(b);
    return p.n > 0 && split_same(&p, &q);
}

static void spellings(void) {
    static const char *const unknown[] = {"", "\\p{X}", "|", "\\p{N}|", "|\\p{N}", "\\p{N}||\\p{L}+", "\\p{N}{1,3}|",
        "[\r\\n", "[\r\\n]]", "\\p{N}{1,3",
        /* Oniguruma means another */
        "(?:", "(?:)", "()", "(\\s", "\\s)", "(?:\\s)|(?:\\d)", "(?i:\\p{N})", "\\p{N}{1,3}+", "\\p{N}{1,3}+|\\s",
        "\\A\\p{Nd}{3}", "\\s|\\d{1,3}(?=(?:\\d{3})*\\b)", "(?=(\\d{3})+(?!\\d))|\\s"};
    for (size_t i = 0; i < sizeof unknown / sizeof *unknown; i++) CHECK(pattern_of(unknown[i]).n == 0);
    SplitPattern p;
    CHECK(split_pattern(&p, "\\p{N}{1,3}", 5) && p.n == 1 && same_regex("\\p{N}", "[\\p{N}]"));
    CHECK(same_regex("[\r\n]", "[\\r\\n]") && same_regex("\\s|\\d", "(?:\\s|\\d)") &&
          same_regex("\\s|\\d", "([\\s]|\\p{Nd})"));
    CHECK(!same_regex("\\s|\\d", "\\d|\\s") && !same_regex("\\s|\\d", "\\s") &&
          same_regex("\\s+(?!\\S)|\\s", "\\s++$|\\s+(?!\\S)|\\s+"));
    CHECK(named("ByteLevel").n == 6 && named("Digits").n == 1 && !named("digits").n && !named("\\s").n);
    char many[SPLIT_ALTERNATIVES * 3 + 4] = "\\s"; /* as many as fit, and one more */
    for (size_t i = 1; i <= SPLIT_ALTERNATIVES; i++) {
        CHECK(pattern_of(many).n == i);
        strcat(many, "|\\s");
    }
    CHECK(pattern_of(many).n == 0);
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
    SplitStep punctuation = {.pattern = named("Punctuation")}, word = {.literal = "ab", .literal_len = 2};
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
    for (size_t i = 0; i < 4 && i < spans.n; i++)
        CHECK(spans.at[i].begin == want[i].begin && spans.at[i].end == want[i].end);
    CHECK(split_steps(steps, 0, "abc", 0, 3, &spans) == 0 && spans.n == 5);
    CHECK(split_steps(steps, 0, "abc", 3, 3, &spans) == 0 && spans.n == 5);
    spans_free(&spans);
}

static uint64_t hash_ends(uint64_t hash, const SplitStep *steps, size_t n_steps, const char *s, size_t n) {
    Spans spans = {0};
    CHECK(split_steps(steps, n_steps, s, 0, n, &spans) == 0);
    for (size_t i = 0; i < spans.n; i++) hash = mix(hash, spans.at[i].end);
    spans_free(&spans);
    return hash;
}

/* {"name": .., "ends": [hashes: the literals, the random strings, the second and the third text]} */
static void check_name(const Json *golden, const JsonValue *row) {
    const JsonValue *name = json_get(row, "name"), *ends = json_get(row, "ends");
    const JsonValue *literal = json_get(golden->root, "literals")->child;
    const PreTokenizer *p = split_gguf(name->str, name->len);
    SplitStep steps[SPLIT_GGUF_STEPS];
    CHECK(p != NULL);
    if (!p) return;
    size_t n_steps = split_gguf_steps(p, steps), n_random = number(golden, "random");
    uint64_t literals = HASH_START, random = HASH_START, state = 1;
    for (; literal; literal = literal->next) literals = hash_ends(literals, steps, n_steps, literal->str, literal->len);
    for (size_t i = 0; i < n_random; i++) {
        char s[RANDOM_TEXT_MAX];
        size_t n = random_text(&state, s);
        random = hash_ends(random, steps, n_steps, s, n);
    }
    int same = hash_is(nth(ends, 0), literals) && hash_is(nth(ends, 1), random);
    CHECK(same);
    if (!same) printf("    %s\n", p->name);
    for (size_t f = 1, n; f <= 2; f++) {
        char *text = prefix(nth(json_get(golden->root, "files"), f)->str, number(golden, "prefix"), &n);
        if (text) CHECK(hash_is(nth(ends, 1 + f), hash_ends(HASH_START, steps, n_steps, text, n)));
        free(text);
    }
}

/* The names of GGUF files do what the models' own tokenizer.json does. */
static void gguf(void) {
    Json golden;
    if (!open_golden(&golden)) return;
    for (const JsonValue *row = json_get(golden.root, "gguf")->child; row; row = row->next) check_name(&golden, row);
    json_free(&golden);
    for (size_t i = 0; split_gguf_list(i); i++) { /* every pattern that the table names is there */
        const PreTokenizer *p = split_gguf_list(i);
        SplitStep steps[SPLIT_GGUF_STEPS];
        size_t n = split_gguf_steps(p, steps);
        CHECK(split_gguf(p->name, strlen(p->name)) == p && (n > 0 || p->raw));
        for (size_t k = 0; k < n; k++) CHECK(steps[k].pattern.n > 0);
    }
    CHECK(split_gguf("gpt-3", 5) == NULL && split_gguf("gpt-22", 5) != NULL && split_gguf("", 0) == NULL);
}

/* From the end of one match to the begin of the next there is nothing, and nothing behind the last. */
static int leaves_nothing(const SplitPattern *p, const char *s, size_t n) {
    SplitText t;
    size_t begin, end, at = 0;
    split_begin(&t, s, 0, n);
    for (; at < n && split_find(p, &t, at, &begin, &end) && begin == at; at = end) {}
    return at == n;
}

/* The regexes that are said to match all do: each character alone, and random texts. */
static void whole(void) {
    int n_whole = 0;
    SplitPattern number = named("Digits");
    CHECK(!split_gguf_whole(&number));
    for (size_t i = 0; split_gguf_list(i); i++) {
        SplitStep steps[SPLIT_GGUF_STEPS];
        size_t n = split_gguf_steps(split_gguf_list(i), steps);
        int bad = 0;
        for (size_t k = 0; k < n; k++) {
            if (!split_gguf_whole(&steps[k].pattern) || (n_whole++, k > 0)) continue;
            uint64_t state = 1;
            char s[RANDOM_TEXT_MAX];
            for (int j = 0; j < 300; j++) bad += !leaves_nothing(&steps[k].pattern, s, random_text(&state, s));
            for (uint32_t c = 0; c < 0x110000; c += c < 0x3000 ? 1 : 61)
                if (c < 0xd800 || c > 0xdfff)
                    bad += !leaves_nothing(&steps[k].pattern, s, (size_t)utf8_encode(c, s));
        }
        CHECK(bad == 0);
    }
    CHECK(n_whole > 40);
}

static void no_long_time(const SplitPattern *p, const char *name, const char *unit, const char *s, size_t n) {
    clock_t start = clock();
    SplitText t;
    size_t begin, end, at = 0, count = 0;
    split_begin(&t, s, 0, n);
    for (; split_find(p, &t, at, &begin, &end) && begin >= at && end > begin && end <= n; at = end) count++;
    double seconds = (double)(clock() - start) / CLOCKS_PER_SEC;
    CHECK(count <= n && seconds < (test_sanitized ? 10 : 2));
    if (seconds >= 0.5) printf("    %s on %s: %.2f s\n", name, unit, seconds);
}

/* No text takes long: a megabyte of anything in well under a second (a quadratic scanner takes minutes). */
static void hostile(void) {
    enum { N = 1 << 20 };
    static const char *const units[] = {
        " ", "\n", "a", "A", "7", ".", "'", " \n", "aA", "Aa", " a", "7 ", "\r\n  ", "\xe3\x80\x80", "\xe4\xb8\xad",
        "\xcc\x81", "\xc2\xa0 ", "\xff", "\xe4\xb8", "\xd9\xa3", "7777a", "\xe1\xba\x9e\xcc\x81"};
    static const char *const names[] = {"Digits", "ByteLevel Digits", "Punctuation", "Whitespace", "WhitespaceSplit"};
    char *s = malloc(N + 8);
    Json golden;
    CHECK(s != NULL);
    if (!s || !open_golden(&golden)) {
        free(s);
        return;
    }
    for (size_t u = 0; u < sizeof units / sizeof *units; u++) {
        size_t len = strlen(units[u]), n = 0;
        for (; n + len <= N; n += len) memcpy(s + n, units[u], len);
        for (const JsonValue *row = json_get(golden.root, "regexes")->child; row; row = row->next) {
            SplitPattern p = pattern_of(json_get(row, "regex")->str);
            if (json_get(row, "texts")) no_long_time(&p, json_get(row, "name")->str, units[u], s, n);
        }
        for (size_t i = 0; i < 5; i++) {
            SplitPattern p = named(names[i]);
            no_long_time(&p, names[i], units[u], s, n);
        }
    }
    json_free(&golden);
    free(s);
}

const Test tests_split[] = {
    {"split/strings", strings},
    {"split/combined", combined},
    {"split/files", files},
    {"split/spellings", spellings},
    {"split/behaviours", behaviours},
    {"split/stretches", stretches},
    {"split/gguf", gguf},
    {"split/whole", whole},
    {"split/hostile", hostile},
    {0}
};
