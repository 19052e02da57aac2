/* tests/test_unicode.c - unicode_text.c: the normalizers of `tokenizers` (golden/unicode_forms.h), ill-formed
 * UTF-8. */
#include "base/base.h"
#include "base/hash.h"
#include "base/utf8.h"
#include "tokenizer/unicode/unicode_text.h"
#include "tests/golden/unicode_forms.h"
#include "test.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { N_OPS = sizeof unicode_forms_golden / sizeof *unicode_forms_golden };

static int normalize(int op, const char *s, size_t n, char **out, size_t *len) {
    static const int bert[] = {1, 2, 4, 8, 15};
    if (op < 4) return utf8_form((UnicodeForm)op, s, n, out, len);
    if (op == 4) return utf8_lower(s, n, out, len);
    if (op == 5) return utf8_strip_accents(s, n, out, len);
    int b = bert[op - 6];
    return utf8_bert(&(BertNormalizer){b & 1, b >> 1 & 1, b >> 2 & 1, b >> 3 & 1}, s, n, out, len);
}

static void forms(void) {
    uint64_t hash[N_OPS];
    for (int op = 0; op < N_OPS; op++) hash[op] = HASH_START;
    for (uint32_t c = 0; c < 0xe0200; c++) {
        if ((c >= 0xd800 && c < 0xe000) || (c >= 0x20000 && c < 0x2f800) || (c >= 0x2fa20 && c < 0xe0000)) continue;
        char s[16] = "a\xcd\x85";
        size_t n = 3 + (size_t)utf8_encode(c, s + 3);
        memcpy(s + n, "\xcc\x96\xe1\x85\xa1\xe1\x86\xa8", 8);
        n += 8;
        for (int op = 0; op < N_OPS; op++) {
            char *out;
            size_t len;
            CHECK(normalize(op, s, n, &out, &len) == 0);
            CHECK(out || len == n);
            hash[op] = hash_bytes(hash[op], out ? out : s, len);
            free(out);
        }
    }
    for (int op = 0; op < N_OPS; op++) {
        CHECK(hash[op] == unicode_forms_golden[op]);
        if (hash[op] != unicode_forms_golden[op]) printf("    %d\n", op);
    }
}

/* What does not change is not copied. */
static void same(void) {
    char *out;
    size_t len;
    for (int op = 0; op < N_OPS; op++) CHECK(normalize(op, "plain text", 10, &out, &len) == 0 && !out && len == 10);
    for (int op = 0; op < N_OPS; op++) CHECK(normalize(op, "", 0, &out, &len) == 0 && !out && len == 0);
    CHECK(utf8_form(UNICODE_NFC, "\xc3\xa9", 2, &out, &len) == 0 && !out);
    CHECK(utf8_form(UNICODE_NFC, "e\xcc\x81", 3, &out, &len) == 0 && out && len == 2 &&
          memcmp(out, "\xc3\xa9", 2) == 0);
    free(out);
    CHECK(utf8_repair("a\xe4\xb8\xad", 4, &out, &len) == 0 && !out && len == 4);
}

/* What NFC passes by in a hurry is what unicode_form would have left alone, also behind a letter. */
static void hurry(void) {
    Points p = {0};
    for (uint32_t c = 0x80; c < 0x20000; c++) {
        if (c >= 0xd800 && c < 0xe000) continue;
        static const uint32_t before[] = {'a', 0x41f, 0x304b, 0x1100, 0xac00, 0x11935};
        for (size_t i = 0; i < sizeof before / sizeof *before; i++) {
            uint32_t two[2] = {before[i], c};
            char s[8], want[16], *out;
            size_t n = (size_t)utf8_encode(two[0], s), len, m = 0;
            n += (size_t)utf8_encode(c, s + n);
            CHECK(unicode_form(UNICODE_NFC, two, 2, &p) == 0 && p.n <= 4 &&
                  utf8_form(UNICODE_NFC, s, n, &out, &len) == 0);
            for (size_t k = 0; k < p.n && k < 4; k++) m += (size_t)utf8_encode(p.cp[k], want + m);
            CHECK(m == len && memcmp(out ? out : s, want, m) == 0);
            free(out);
        }
    }
    points_free(&p);
}

/* As Python's bytes.decode("utf-8", "replace"): R stands for U+FFFD. */
static void repair(void) {
    static const struct { const char *bad, *good; } cases[] = {
        {"\x80", "R"}, {"a\xff\xfe", "aRR"}, {"\xe4\xb8", "R"}, {"\xe4\xb8x", "Rx"}, {"\xe4x", "Rx"},
        {"\xc0\x80", "RR"}, {"\xc3", "R"}, {"\xed\xa0\x80", "RRR"}, {"\xf4\x90\x80\x80", "RRRR"}, {"\xf0\x9f\xa6", "R"},
        {"\xf0\x9f\xa6\xf0", "RR"}, {"\xf0\x80\x80", "RRR"}, {"\xe0\x9f\xbf", "RRR"}, {"\xe0\xa0", "R"},
        {"\xf1\x80\x80\x80z", "\xf1\x80\x80\x80z"}, {"\xf5\x80", "RR"}, {"\xc3\xa9\xa9", "\xc3\xa9R"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char want[40], *out;
        size_t n = 0, len;
        for (const char *p = cases[i].good; *p; p++) {
            if (*p == 'R') n += (size_t)utf8_encode(0xfffd, want + n);
            else want[n++] = *p;
        }
        CHECK(utf8_repair(cases[i].bad, strlen(cases[i].bad), &out, &len) == 0);
        CHECK(len == n && memcmp(out ? out : cases[i].bad, want, n) == 0);
        free(out);
    }
}

/* A megabyte of anything: linear, whatever it is. */
static void long_texts(void) {
    enum { N = 1 << 20 };
    static const char *const units[] = {"a", "\xcc\x81", "\xcd\x85\xcc\x96", "\xe1\x84\x80\xe1\x85\xa1\xe1\x86\xa8",
                                        "\xef\xb7\xba", "\xff", "\xe4\xb8", "\xe4\xb8\xad"};
    char *s = malloc(N);
    CHECK(s != NULL);
    for (size_t u = 0; s && u < sizeof units / sizeof *units; u++) {
        size_t n = 0, len, k = strlen(units[u]);
        for (; n + k <= N; n += k) memcpy(s + n, units[u], k);
        for (int op = -1; op < N_OPS; op++) {
            char *out;
            clock_t start = clock();
            CHECK((op < 0 ? utf8_repair(s, n, &out, &len) : normalize(op, s, n, &out, &len)) == 0);
            double seconds = (double)(clock() - start) / CLOCKS_PER_SEC;
            CHECK(seconds < (test_sanitized ? 10 : 2));
            free(out);
        }
    }
    free(s);
}

const Test tests_unicode[] = {
    {"unicode/forms", forms},
    {"unicode/same", same},
    {"unicode/hurry", hurry},
    {"unicode/repair", repair},
    {"unicode/long", long_texts},
    {0}
};
