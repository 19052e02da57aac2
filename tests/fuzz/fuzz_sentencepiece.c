/* tests/fuzz/fuzz_sentencepiece.c - libFuzzer target for unigram models and character maps. The first byte chooses:
 *   0  a character map: what opens is asked about the map's own bytes, both ways
 *   1  a unigram vocabulary, a piece a line, and a text behind an empty line: what is not unknown must spell the text
 *   2  text through a model with a map in its normalizer and its denormalizer
 *   3  text in grapheme clusters: they must be whole characters, and all of it
 *   4  as 1, by tokenizers' rules
 *   5  a good map with bytes changed: two bytes say where, one what */
#include "tokens.h"

#include "tokenizer/sentencepiece/model.h"
#include "tokenizer/unicode/grapheme.h"
#include "tests/golden/sentencepiece.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static char err[200];

static void map(const uint8_t *data, size_t size) {
    CharsMap *m;
    Text out = {0};
    int rc = charsmap_open(&m, data, size, "fuzz", "it", err, sizeof err);
    if (rc && rc != -22 && rc != -12) abort();
    if (rc) return;
    for (size_t i = 0; i < size; i++) {
        const char *to;
        size_t len, used = charsmap_longest(m, (const char *)data + i, size - i, &to, &len);
        if (used > size - i || used > charsmap_longest_rule(m) || (used && len > charsmap_longest_text(m))) abort();
        for (size_t b = 0; used && b < len; b++)
            if (to[b] == 0) abort();
    }
    if (charsmap_precompiled(m, (const char *)data, size, &out)) abort();
    free(out.p);
    charsmap_free(m);
}

static void patched_map(const uint8_t *data, size_t size) {
    size_t n = sizeof golden_map - 1;
    uint8_t *blob = malloc(n);
    if (!blob) abort();
    memcpy(blob, golden_map, n);
    for (size_t i = 0; i + 3 <= size; i += 3) blob[(data[i] | (size_t)data[i + 1] << 8) % n] = data[i + 2];
    map(blob, n);
    free(blob);
}

static void check_ids(const Tokenizer *t, const char *text, size_t size, const int *ids, size_t n) {
    size_t at = 0;
    for (size_t i = 0; i < n; i++) {
        size_t len;
        const char *p = tokenizer_piece(t, ids[i], &len);
        if (ids[i] == t->unk) return; /* what it stands for is not said */
        if (len > size - at || memcmp(p, text + at, len) != 0) abort();
        at += len;
    }
    if (at != size) abort();
}

typedef struct {
    const char *s; /* [size] pieces, then a text */
    size_t size, used;
} Lines;

static int read_lines(Tokenizer *t, const void *from, char *e, size_t e_len) {
    Lines *lines = (Lines *)(uintptr_t)from;
    const char *s = lines->s;
    size_t i = 0, size = lines->size;
    if (spm_model_begin(t, e, e_len) || pieces_add(t, "<unk>", 5, 0, PIECE_UNKNOWN, e, e_len)) abort();
    t->unk = 0;
    for (size_t end; i < size && s[i] != '\n'; i = end + 1) {
        for (end = i; end < size && s[end] != '\n'; end++) continue;
        int kind = s[i] & 16 ? PIECE_NORMAL : s[i] & 8 ? PIECE_USER_DEFINED : PIECE_UNUSED;
        if (pieces_add(t, s + i, end - i, -(float)(s[i] & 15), kind, e, e_len)) abort();
        if (end == size) break;
    }
    lines->used = i < size ? i : 0;
    return 0;
}

static void vocabulary(const char *s, size_t size, UnigramRules rules) {
    Tokenizer *t;
    Unigram *u = NULL;
    UnigramRun run = {0};
    Ids ids = {0};
    Lines lines = {s, size, 0};
    int rc = tokenizer_make(&t, "fuzz", read_lines, &lines, err, sizeof err);
    if (rc && rc != -22 && rc != -12) abort();
    if (rc) return;
    s += lines.used;
    size -= lines.used;
    if (unigram_build(&u, t, rules, 0, err, sizeof err) == 0) {
        if (unigram_encode(u, t, s, size, &run, &ids)) abort();
        if (rules == UNIGRAM_LIBRARY) check_ids(t, s, size, ids.ids, ids.n);
    }
    free(ids.ids);
    unigram_run_free(&run);
    unigram_free(u);
    tokenizer_free(t);
}

static int read_with_maps(Tokenizer *t, const void *from, char *e, size_t e_len) {
    static const char *const pieces[] = {"a", "b", "ab", "\xe2\x96\x81", ("\xe2\x96\x81" "a"), "zhong", "fi", "1", "x"};
    (void)from;
    if (spm_model_begin(t, e, e_len) || pieces_add(t, "<unk>", 5, 0, PIECE_UNKNOWN, e, e_len)) abort();
    for (size_t i = 0; i < sizeof pieces / sizeof *pieces; i++)
        if (pieces_add(t, pieces[i], strlen(pieces[i]), -(float)i, PIECE_NORMAL, e, e_len)) abort();
    SpmModel *m = t->own;
    t->unk = 0;
    m->kind = SPM_UNIGRAM;
    t->dummy_prefix = m->remove_extra_whitespaces = 1;
    if (charsmap_open(&m->map, (const uint8_t *)golden_map, sizeof golden_map - 1, "fuzz", "it", e, e_len)) abort();
    if (charsmap_open(&m->unmap, (const uint8_t *)golden_map, sizeof golden_map - 1, "fuzz", "it", e, e_len)) abort();
    return spm_model_finish(t, 1, e, e_len);
}

static Tokenizer *with_maps(void) {
    Tokenizer *t;
    if (tokenizer_make(&t, "fuzz", read_with_maps, NULL, err, sizeof err)) abort();
    return t;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static Tokenizer *t;
    if (!t) t = with_maps();
    if (size == 0) return 0;
    int what = *data++ % 6;
    size--;
    if (what == 0) map(data, size);
    if (what == 1) vocabulary((const char *)data, size, UNIGRAM_LIBRARY);
    if (what == 2) tokens_hold(t, (const char *)data, size, ENCODE_BARE, NULL, NULL);
    if (what == 3)
        for (size_t i = 0, len; i < size; i += len) {
            len = grapheme_next((const char *)data + i, size - i);
            if (len == 0 || len > size - i) abort();
        }
    if (what == 4) vocabulary((const char *)data, size, UNIGRAM_TOKENIZERS);
    if (what == 5) patched_map(data, size);
    return 0;
}
