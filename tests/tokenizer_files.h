/* tests/tokenizer_files.h - what the tests of tokenizers share: files to open, ids and texts to compare. */
#ifndef TOKENIZER_FILES_H
#define TOKENIZER_FILES_H

#include "build.h"
#include "lines.h"
#include "tokenizer/open.h"

#include <stdint.h>

#define COUNT(a) (sizeof (a) / sizeof *(a))

extern char tokenizer_err[300]; /* the last error line */

void write_file(const char *path, const void *data, size_t n);
void write_text(const char *path, const char *text);
int tokenizer_data(Tokenizer **t, const char *name); /* a file of ../shared/data: 1, or 0 and a skip */
int tokenizer_bytes(Tokenizer **t, const void *data, size_t n); /* what tokenizer_open says of a file of these bytes */

/* Does text become exactly these ids? Do ids become this text? Says what they became instead. */
int encodes(const Tokenizer *t, const char *text, size_t len, int flags, const int *want, size_t n_want);
int decodes(const Tokenizer *t, const int *ids, size_t n, const char *want, size_t n_want);
char *decode_all(const Tokenizer *t, const int *ids, size_t n, size_t *len); /* as a stream; malloc'ed */

#define ENCODES(t, text, flags, ...) do { \
    static const int want_[] = {__VA_ARGS__}; \
    CHECK(encodes(t, text, sizeof (text) - 1, flags, want_, COUNT(want_))); } while (0)

/* What a tokenizer.model is made of, behind what b has: a field of bytes, and a piece, which is field 1. */
void spm_field(Bytes *b, int number, const void *data, size_t n);
void spm_piece(Bytes *b, const char *text, size_t len, float score, int kind);

/* A character map of one rule: `rule` times "a" become `text` times "b". out [CHAIN_MAP_MAX]; its bytes. */
enum { CHAIN_RULE_MAX = 300, CHAIN_TEXT_MAX = 1100, CHAIN_MAP_MAX = 4 + 1024 * (CHAIN_RULE_MAX + 2) + CHAIN_TEXT_MAX };
size_t chain_map(uint8_t *out, size_t rule, size_t text);

/* The line's next word as bytes, in place; %41 is a byte, a % alone is nothing. */
char *lines_bytes(Lines *l, size_t *n);

#endif
