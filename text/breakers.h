/* text/breakers.h - texts that DRY must not repeat across (model/sampler_more.h), as the ids that spell them.
 *
 *     SamplerBreaker *b;
 *     size_t n;
 *     if (breakers_find(&b, &n, tokenizer, texts, n_texts, err, sizeof err)) ...
 *     free(b); */
#ifndef TEXT_BREAKERS_H
#define TEXT_BREAKERS_H

#include "model/sampler_more.h"
#include "tokenizer/tokenizer.h"

/* All ways in which a vocabulary spells the texts [n_texts] (NULL: the usual ones, a newline, a
 * colon, a quote and a star; none empty; of each 40 bytes count, as llama.cpp has it):
 * an id whose text holds one whole; or one whose text ends with its beginning, then the ids of the rest, at most 20.
 * *b [*n] is malloc'ed, the caller's (NULL where there is none). -ENOMEM, -EINVAL (what no piece spells) and a line.
 * Control pieces have no text, so they are no breakers. */
int breakers_find(SamplerBreaker **b, size_t *n, const Tokenizer *t, const char *const *texts, size_t n_texts,
                  char *err, size_t errlen);

#endif
