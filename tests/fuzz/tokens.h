/* tests/fuzz/tokens.h - what holds for every tokenizer, whatever file it was read from. */
#ifndef TOKENS_H
#define TOKENS_H

#include "tokenizer/open.h"

#include <stddef.h>

/* The text of ids, malloc'ed; each piece of it within what tokenizer_decode_bound promises. */
char *tokens_text(const Tokenizer *t, const int *ids, size_t n, size_t *len);
/* Encode text: refused with a line, or ids that there are, the same once more, and they have a text. ids (may be NULL)
 * gets them: the caller frees; NULL where it is refused. */
void tokens_hold(const Tokenizer *t, const char *text, size_t size, int flags, int **ids, size_t *n);
/* As tokens_hold; and what the ids say, encoded, says the same again: for kinds where spaces and unknown characters
 * come back as they went. */
void tokens_settle(const Tokenizer *t, const char *text, size_t size, int flags);
/* Where GGUF can say t, a tokenizer from what it says gives the same ids of the text. */
void tokens_in_gguf(const Tokenizer *t, const char *text, size_t size, int flags);

#endif
