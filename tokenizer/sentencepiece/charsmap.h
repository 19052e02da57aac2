/* tokenizer/sentencepiece/charsmap.h - a SentencePiece model's character map: rules "these bytes become those", NFKC
 * and the like.
 *
 * The map is a blob: the size of a trie in bytes, four bytes; the trie, Darts' double array of 32-bit units; texts,
 * each ended by NUL. Walking a rule's bytes through the trie leads to the place of its text. */
#ifndef CHARSMAP_H
#define CHARSMAP_H

#include "base/base.h"
#include "tokenizer/text.h"

typedef struct CharsMap CharsMap;

enum {
    CHARSMAP_RULE_MAX = 256,  /* bytes of the longest rule .. */
    CHARSMAP_TEXT_MAX = 1024, /* .. and of what it becomes: bounds the work a character */
};

/* Check and copy blob [size]. *m is the caller's. Errors: -ENOMEM, -EINVAL (sizes that do not fit, a node outside the
 * trie, a walk without end, a text that is not there, or longer than the above); name and what ("its normalizer") are
 * for the line. */
int charsmap_open(CharsMap **m, const uint8_t *blob, size_t size, const char *name, const char *what, char *err,
                  size_t errlen);
void charsmap_free(CharsMap *m); /* accepts NULL */
const uint8_t *charsmap_blob(const CharsMap *m, size_t *size); /* what it was opened from, a copy that m owns */
size_t charsmap_longest_rule(const CharsMap *m); /* bytes */
/* bytes of the longest text in it, whether a rule leads there or not */
size_t charsmap_longest_text(const CharsMap *m);

/* The longest rule that s [n] begins with: its bytes, 0 where none does. *to [*to_len] is what it becomes, owned by m;
 * it may be empty. */
size_t charsmap_longest(const CharsMap *m, const char *s, size_t n, const char **to, size_t *to_len);

/* Hugging Face's "Precompiled" normalizer (tokenizers 0.23, crate spm_precompiled): s [n], well-formed UTF-8, behind
 * what is in out. It asks another question than SentencePiece: each grapheme cluster shorter than 6 bytes, else each of
 * its characters, becomes what the shortest rule that it begins with says. 0, -ENOMEM or -EFBIG. */
int charsmap_precompiled(const CharsMap *m, const char *s, size_t n, Text *out);

#endif
