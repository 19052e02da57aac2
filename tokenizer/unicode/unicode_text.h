/* tokenizer/unicode/unicode_text.h - UTF-8 in, UTF-8 out: repaired, in a normal form, in small letters, without
 * accents.
 *
 *     char *out;
 *     size_t len;
 *     if (utf8_form(UNICODE_NFC, s, n, &out, &len)) ... no memory
 *     if (out) s = out, n = len;            otherwise s is as it should be already
 *     ...
 *     free(out);
 *
 * Each function gives 0 or -ENOMEM, and *out in malloc'ed memory, not NUL-terminated, or NULL where nothing changes.
 * Work and memory are linear in the text. All but utf8_repair want well-formed UTF-8; they take ill-formed bytes for
 * U+FFFD each. */
#ifndef UNICODE_TEXT_H
#define UNICODE_TEXT_H

#include "unicode.h"

/* The length of the longest beginning of a character that s [n] begins with, at least 1; s begins with no whole one. */
size_t utf8_ill_formed(const char *s, size_t n);
/* One U+FFFD for each maximal ill-formed sequence, as Python's errors="replace" and Rust's from_utf8_lossy have it. */
int utf8_repair(const char *s, size_t n, char **out, size_t *len);

/* `tokenizers`' normalizers NFD, NFC, NFKD and NFKC; Lowercase; StripAccents (marks go, letters with marks stay
 * together). */
int utf8_form(UnicodeForm form, const char *s, size_t n, char **out, size_t *len);
int utf8_lower(const char *s, size_t n, char **out, size_t *len);
int utf8_strip_accents(const char *s, size_t n, char **out, size_t *len);

/* Its BertNormalizer. Where strip_accents is null in tokenizer.json, it is what lowercase is. */
typedef struct {
    int clean_text, handle_chinese_chars, strip_accents, lowercase;
} BertNormalizer;

int utf8_bert(const BertNormalizer *how, const char *s, size_t n, char **out, size_t *len);

#endif
