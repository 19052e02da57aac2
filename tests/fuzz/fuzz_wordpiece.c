/* tests/fuzz/fuzz_wordpiece.c - libFuzzer target for WordPiece, BasicTokenizer, jieba and the Unicode tables. The first
 * byte:
 *   bits 0-2   lower case, bert4keras' order, a dictionary
 *   bits 3-4   0: what follows is vocab.txt, a byte 0xf8, dict.txt, a byte 0xf8, a text (0xf8 is never in UTF-8)
 *              1: a text for a vocabulary and a dictionary that have a little of everything
 *              2: ids for it      3: code points for the Unicode tables */
#include "tokens.h"

#include "tokenizer/wordpiece/wordpiece.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char vocab[] =
    "[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\na\nab\n##a\n##b\n##ab\nn\n'\n.\n#\n##\n##'\n\xe4\xb8\x80\n"
    "\xc3\xa9\n##\xcc\x81\n\xe4\xba\x8c\n\n\xcf\x82\n\xe1\x84\x80\n##\xe1\x85\xa1\n1\n##1\n\xef\xa4\x80\n"
    "\xe4\xb8\x80\xe4\xba\x8c"; /* this makes it a word model */
enum { WITHOUT_WORD = sizeof vocab - 8 };
static const char dict[] = "\xe4\xb8\x80 5 n\n\xe4\xb8\x80\xe4\xba\x8c 3\n\xe4\xba\x8c\xe4\xb8\x80 3\n\xe4\xba\x8c "
                           "5\nab+ 2\n"
                           "ab+c#ab 1\n\xe4\xb8\x80\xe4\xba\x8c\xe4\xb8\x80 0\n";

static char err[400], dict_path[64];

static void remove_dict(void) { remove(dict_path); }

static void write_dict(const char *text, size_t n) {
    FILE *f = fopen(dict_path, "wb");
    if (!f || fwrite(text, 1, n, f) != n || fclose(f)) abort();
}

typedef struct {
    const char *vocab;
    size_t n;
    int flags;
} Files;

static int read_files(Tokenizer *t, const void *from, char *e, size_t e_len) {
    const Files *f = from;
    const WordPieceChoice o = {f->flags & 4 ? dict_path : NULL, NULL, f->flags & 1, f->flags >> 1 & 1};
    int rc = wordpiece_vocab_read(t, (const uint8_t *)f->vocab, f->n, e, e_len);
    return rc ? rc : wordpiece_finish(t, &o, e, e_len);
}

/* A tokenizer of these texts, or NULL where they were refused with a line. */
static Tokenizer *opened(const char *v, size_t v_n, const char *d, size_t d_n, int flags) {
    const Files f = {v, v_n, flags};
    Tokenizer *t;
    err[0] = 0;
    if (flags & 4) write_dict(d, d_n);
    if (tokenizer_make(&t, "fuzz", read_files, &f, err, sizeof err) == 0) return t;
    if (err[0] == 0 || strchr(err, '\n')) abort();
    return NULL;
}

static int *encoded(const Tokenizer *t, const char *text, size_t len, size_t *n) {
    int *ids;
    if (tokenizer_encode(t, text, len, ENCODE_BARE, &ids, n, err, sizeof err)) abort();
    for (size_t i = 0; i < *n; i++)
        if (ids[i] < 0 || (size_t)ids[i] >= tokenizer_size(t)) abort();
    return ids;
}

/* A newline cuts: the ids of both halves are those of the whole. */
static void encode(const Tokenizer *t, const char *text, size_t len) {
    const char *newline = memchr(text, '\n', len);
    size_t n, n_a, n_b, half = newline ? (size_t)(newline - text) : len;
    int *ids = encoded(t, text, len, &n);
    int *a = encoded(t, text, half, &n_a), *b = encoded(t, text + half, len - half, &n_b);
    if (n != n_a + n_b || memcmp(ids, a, n_a * sizeof *a) != 0 || memcmp(ids + n_a, b, n_b * sizeof *b) != 0) abort();
    tokens_settle(t, text, len, ENCODE_BARE);
    free(ids);
    free(a);
    free(b);
}

static void whole_files(const char *p, size_t size, int flags) {
    const char *end = p + size, *v_end = memchr(p, 0xf8, size);
    if (!v_end) v_end = end;
    const char *d = v_end < end ? v_end + 1 : end, *d_end = memchr(d, 0xf8, (size_t)(end - d));
    if (!d_end) d_end = end;
    const char *text = d_end < end ? d_end + 1 : end;
    wordpiece_vocab_is((const uint8_t *)p, (size_t)(v_end - p));
    Tokenizer *t = opened(p, (size_t)(v_end - p), d, (size_t)(d_end - d), flags);
    if (t) encode(t, text, (size_t)(end - text));
    tokenizer_free(t);
}

static void same(const Points *a, const Points *b) {
    if (a->n != b->n || (a->n && memcmp(a->cp, b->cp, a->n * sizeof *a->cp) != 0)) abort();
}

/* NFD of NFC is NFD, NFC of NFC is itself; no capital is left behind lower case. */
static void tables(const uint8_t *p, size_t size) {
    uint32_t *cp = malloc(size / 3 * sizeof *cp + 1);
    size_t n = size / 3;
    Points d = {0}, c = {0}, again = {0}, low = {0};
    if (!cp) abort();
    for (size_t i = 0; i < n; i++) cp[i] = p[3 * i] | (uint32_t)p[3 * i + 1] << 8 | (uint32_t)(p[3 * i + 2] & 31) << 16;
    if (unicode_decompose(cp, n, &d) || unicode_decompose(cp, n, &c)) abort();
    unicode_compose(&c);
    if (unicode_decompose(c.cp, c.n, &again)) abort();
    same(&again, &d);
    unicode_compose(&again);
    same(&again, &c);
    again.n = 0;
    if (unicode_lower_text(cp, n, &low) || unicode_lower_text(low.cp, low.n, &again)) abort();
    same(&again, &low);
    points_free(&d);
    points_free(&c);
    points_free(&again);
    points_free(&low);
    free(cp);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static Tokenizer *made[8];
    if (!dict_path[0]) {
        snprintf(dict_path, sizeof dict_path, "/tmp/fuzz-wordpiece-%ld.dict", (long)getpid());
        atexit(remove_dict);
        for (int i = 0; i < 8; i++)
            if (!(made[i] = opened(vocab, i & 4 ? sizeof vocab - 1 : WITHOUT_WORD, dict, sizeof dict - 1, i))) abort();
    }
    if (size == 0) return 0;
    int flags = *data & 7, what = *data >> 3 & 3;
    data++;
    size--;
    if (what == 0) whole_files((const char *)data, size, flags);
    if (what == 1) encode(made[flags], (const char *)data, size);
    if (what == 2) {
        int *ids = malloc((size + 1) * sizeof *ids);
        size_t len;
        if (!ids) abort();
        for (size_t i = 0; i < size; i++) ids[i] = data[i] % 32 - 1;
        free(tokens_text(made[flags], ids, size, &len));
        free(ids);
    }
    if (what == 3) tables(data, size);
    return 0;
}
