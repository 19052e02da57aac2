/* tests/fuzz/fuzz_split.c - libFuzzer target for tokenizer/split/ and unicode_text.c. The first bytes choose the
 * alternatives of a regex and what becomes of its matches, the rest is the text, of any bytes: matches go forward and
 * stay inside, pieces follow each other, repaired text is well-formed, and normalizing twice changes nothing more. The
 * text as a regex, too. */
#include "base/base.h"
#include "tokenizer/split/split.h"
#include "tokenizer/unicode/unicode_text.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void split(const SplitStep *step, const char *s, size_t n) {
    Spans spans = {0};
    size_t last = 0, covered = 0;
    if (split_apply(step, s, 0, n, &spans)) abort();
    for (size_t i = 0; i < spans.n; i++) {
        if (spans.at[i].begin < last || spans.at[i].end <= spans.at[i].begin || spans.at[i].end > n) abort();
        last = spans.at[i].end;
        covered += spans.at[i].end - spans.at[i].begin;
    }
    if (step->behavior != SPLIT_REMOVED && covered != n) abort();
    spans_free(&spans);
}

static void name(size_t which, const char *s, size_t n) {
    SplitStep steps[SPLIT_GGUF_STEPS];
    Spans spans = {0};
    size_t count = 0, covered = 0;
    while (split_gguf_list(count)) count++;
    const PreTokenizer *p = split_gguf_list(which % count);
    if (split_steps(steps, split_gguf_steps(p, steps), s, 0, n, &spans)) abort();
    for (size_t i = 0; i < spans.n; i++) covered += spans.at[i].end - spans.at[i].begin;
    if (covered > n || (covered < n && strcmp(p->name, "whitespace") != 0)) abort();
    spans_free(&spans);
}

static void normalize(const char *s, size_t n) {
    for (int form = UNICODE_NFD; form <= UNICODE_NFKC; form++) {
        char *once, *twice;
        size_t len, again;
        if (utf8_form((UnicodeForm)form, s, n, &once, &len)) abort();
        if (once && (utf8_form((UnicodeForm)form, once, len, &twice, &again) || twice)) abort();
        free(once);
    }
    char *out;
    size_t len;
    if (utf8_bert(&(BertNormalizer){1, 1, 1, 1}, s, n, &out, &len)) abort();
    free(out);
}

/* Three alternatives, or what the third byte names; -1: they are no regex together. */
static int choose(SplitPattern *p, const uint8_t *data) {
    static const char *const names[] = {"Digits", "ByteLevel Digits", "Punctuation", "Whitespace", "WhitespaceSplit"};
    char regex[8192];
    size_t count = 0, n = 0;
    while (split_alternative(count)) count++;
    if (data[2] < 5) return split_named(p, names[data[2]]) ? 0 : -1;
    for (int i = 0; i < (data[2] & 3); i++)
        n += (size_t)snprintf(regex + n, sizeof regex - n, "%s%s", i ? "|" : "",
                              split_alternative((data[i] ^ i * 37u) % count));
    return split_pattern(p, regex, n) ? 0 : -1;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (size < 4) return -1;
    size_t n = size - 4, len;
    char *s = malloc(n ? n : 1), *good; /* of its own, so that one byte too far is seen */
    if (!s) abort();
    memcpy(s, data + 4, n);
    SplitStep step = {.behavior = (SplitBehavior)(data[3] % 5), .invert = data[3] >> 7};
    if (split_pattern(&step.pattern, s, n) || choose(&step.pattern, data) == 0) split(&step, s, n);
    name(data[0] ^ data[1], s, n);
    if (utf8_repair(s, n, &good, &len)) abort();
    for (size_t i = 0; good && i < len;) {
        uint32_t cp;
        int k = utf8_decode(good + i, len - i, &cp);
        if (k == 0) abort();
        i += (size_t)k;
    }
    normalize(good ? good : s, len);
    free(good);
    free(s);
    return 0;
}
