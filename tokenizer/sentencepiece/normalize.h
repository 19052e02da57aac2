/* tokenizer/sentencepiece/normalize.h - a text as SentencePiece's pieces spell it. */
#ifndef SPM_NORMALIZE_H
#define SPM_NORMALIZE_H

#include "model.h"
#include "tokenizer/text.h"

/* text [n], behind what is in out; first: nothing of the whole was written yet. 0, -ENOMEM, or -EFBIG (above
 * INT32_MAX). */
int spm_normalize(const Tokenizer *t, const char *text, size_t n, int first, Text *out);

#endif
