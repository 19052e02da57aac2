/* model/llama.h - the decoder's forward pass, for session.c. */
#ifndef LLAMA_H
#define LLAMA_H

#include "session.h"

/* Ids [n], n <= n_batch, at positions s->pos .. s->pos+n-1: the cache is filled; s->xn gets the final norm's output of each;
 * s->logits gets the logits of the last n_last of them (0 <= n_last <= n_logits). Cannot fail. */
void llama_forward(Session *s, const int *ids, size_t n, size_t n_last);

/* The logits of tokens t .. t+n-1 of the last batch, from s->xn, into s->logits (n <= n_logits). */
void llama_logits(Session *s, size_t t, size_t n);

#endif
