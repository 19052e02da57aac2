/* tokenizer/inspect.h - what one may ask of a tokenizer besides tokenizer.h: its kind, its pieces by their texts; and
 * pairs of texts, for encoders (in a file, a tab between the two; the caller cuts there). */
#ifndef TOKENIZER_INSPECT_H
#define TOKENIZER_INSPECT_H

#include "tokenizer.h"

const char *tokenizer_kind(const Tokenizer *t); /* "SentencePiece BPE", "WordPiece with jieba": for -v */
int tokenizer_named(const Tokenizer *t, const char *piece); /* the id of the piece spelled so ("[MASK]"), or -1 */
/* The piece of an id as its file spells it (U+2581 for a space), not NUL-terminated, owned by t; NULL: id is out of
 * range. */
const char *tokenizer_piece(const Tokenizer *t, int id, size_t *len);

/* Two texts as one sequence: BOS a EOS b EOS, which for WordPiece is [CLS] a [SEP] b [SEP], or what the file's template
 * says; (*types)[i] is 1 for b and its EOS, otherwise 0. b NULL: one text, all types 0. Both arrays [n] are malloc'ed,
 * the caller frees them; types may be NULL. Errors as tokenizer_encode. */
int tokenizer_encode_pair(const Tokenizer *t, const char *a, size_t a_len, const char *b, size_t b_len, int flags,
                          int **ids, int **types, size_t *n, char *err, size_t errlen);

#endif
