/* tests/tokenizer_files.c - files of tokenizers, and ids and texts compared. */
#include "tokenizer_files.h"
#include "test.h"

#include "base/base.h"

#include <stdlib.h>
#include <string.h>

char tokenizer_err[300];

void write_file(const char *path, const void *data, size_t n) {
    FILE *f = fopen(path, "wb");
    CHECK(f != NULL);
    if (!f) return;
    CHECK(fwrite(data, 1, n, f) == n);
    fclose(f);
}

void write_text(const char *path, const char *text) { write_file(path, text, strlen(text)); }

/* A file of ../shared/data, or nothing and a skip. */
int tokenizer_data(Tokenizer **t, const char *name) {
    const char *path = test_data(name);
    *t = NULL;
    if (!path) return 0;
    tokenizer_err[0] = 0;
    int rc = tokenizer_open(t, path, tokenizer_err, sizeof tokenizer_err);
    if (rc) printf("    %s\n", tokenizer_err);
    CHECK(rc == 0);
    return rc == 0;
}

int tokenizer_bytes(Tokenizer **t, const void *data, size_t n) {
    const char *path = test_tmp("tokenizer.file");
    write_file(path, data, n);
    tokenizer_err[0] = 0;
    return tokenizer_open(t, path, tokenizer_err, sizeof tokenizer_err);
}

/* Does text become exactly these ids? Says what it became instead. */
int encodes(const Tokenizer *t, const char *text, size_t len, int flags, const int *want, size_t n_want) {
    int *ids;
    size_t n;
    if (tokenizer_encode(t, text, len, flags, &ids, &n, tokenizer_err, sizeof tokenizer_err)) {
        printf("    %s\n", tokenizer_err);
        return 0;
    }
    int same = ids && n == n_want && memcmp(ids, want, n * sizeof *ids) == 0;
    if (!same) {
        printf("    \"%.*s\" became", (int)(len < 60 ? len : 60), text);
        for (size_t i = 0; i < n && i < 30; i++) printf(" %d", ids[i]);
        printf("\n");
    }
    free(ids);
    return same;
}

/* The ids decoded as a stream, into malloc'ed memory; no call writes more than the bound. */
char *decode_all(const Tokenizer *t, const int *ids, size_t n, size_t *len) {
    size_t bound = tokenizer_decode_bound(t);
    /* out by itself: the sanitizer sees a byte too many */
    char *text = malloc((n + 1) * bound + 1), *out = malloc(bound);
    TokenStream s = {0};
    *len = 0;
    for (size_t i = 0; i <= n; i++) {
        size_t k = i < n ? tokenizer_decode(t, &s, ids[i], out) : tokenizer_decode_end(t, &s, out);
        CHECK(k <= bound);
        memcpy(text + *len, out, k);
        *len += k;
    }
    free(out);
    return text;
}

int decodes(const Tokenizer *t, const int *ids, size_t n, const char *want, size_t n_want) {
    size_t len;
    char *text = decode_all(t, ids, n, &len);
    int same = len == n_want && memcmp(text, want, len) == 0;
    if (!same) printf("    decoded to \"%.*s\", not \"%.*s\"\n", (int)len, text, (int)n_want, want);
    free(text);
    return same;
}

/* A field of n bytes begins: its number, and the length in three bytes. */
static void spm_head(Bytes *b, int number, size_t n) {
    bytes_u8(b, (unsigned)number << 3 | 2);
    bytes_u8(b, (unsigned)(n & 0x7f) | 0x80);
    bytes_u8(b, (unsigned)(n >> 7 & 0x7f) | 0x80);
    bytes_u8(b, (unsigned)(n >> 14));
}

void spm_field(Bytes *b, int number, const void *data, size_t n) {
    spm_head(b, number, n);
    if (n) bytes_put(b, data, n);
}

void spm_piece(Bytes *b, const char *text, size_t len, float score, int kind) {
    spm_head(b, 1, 4 + len + 5 + 2);
    spm_field(b, 1, text, len);
    bytes_u8(b, 2 << 3 | 5);
    bytes_f32(b, score);
    bytes_u8(b, 3 << 3);
    bytes_u8(b, (unsigned)kind);
}

static void put_u32(uint8_t *p, uint32_t x) {
    for (int i = 0; i < 4; i++) p[i] = (uint8_t)(x >> 8 * i);
}

/* Each letter's unit stands in a block of 256 of its own (tokenizer/sentencepiece/charsmap.c has the format). */
size_t chain_map(uint8_t *out, size_t rule, size_t text) {
    size_t units = 256 * (rule + 2), n = 4 * units;
    memset(out, 0, 4 + n + text + 1);
    uint8_t *end = out + 4;
    put_u32(out, (uint32_t)n);
    put_u32(end, 256u << 10); /* the root: its children stand at 256 ^ byte */
    for (size_t i = 0; i < rule; i++) {
        uint32_t at = 256 * (uint32_t)(i + 1) ^ 'a', to = 256 * (uint32_t)(i + 2);
        put_u32(end + 4 * at, 'a' | (at ^ to) << 10 | (i + 1 == rule ? 0x100u : 0));
        if (i + 1 == rule) put_u32(end + 4 * to, 0x80000000u);
    }
    memset(end + n, 'b', text);
    return 4 + n + text + 1;
}

char *lines_bytes(Lines *l, size_t *n) {
    char *word = (char *)lines_word(l), *to = word;
    for (const char *s = word; *s; s++) {
        const char hex[] = {s[1], s[1] ? s[2] : 0, 0};
        if (*s != '%') *to++ = *s;
        else if (hex[0]) *to++ = (char)strtoul(hex, NULL, 16), s += 2;
    }
    *n = (size_t)(to - word);
    return word;
}
