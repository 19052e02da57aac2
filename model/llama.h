/* model/llama.h - the forward passes, llama.c's and roformer.c's, for session.c and encoder.c. */
#ifndef LLAMA_H
#define LLAMA_H

#include "session.h"

/* The n tokens of s->tokens, n <= n_batch: the cache or state takes them in; s->xn gets the final norm's output of each;
 * s->logits gets the logits of the last n_last of them (0 <= n_last <= n_logits). Cannot fail. */
void llama_forward(Session *s, size_t n, size_t n_last);
/* The same for RoFormer, but the last layer's output stands in s->x. n_last 0 where there is no head for logits. */
void roformer_forward(Session *s, size_t n, size_t n_last);
/* The same in steps, for who wants to be asked between them: first l = -1, the embeddings, then every layer. */
void roformer_step(Session *s, int l, size_t n);

/* The logits of tokens t .. t+n-1 of the last batch, from s->xn (s->x), into s->logits (n <= n_logits). */
void llama_logits(Session *s, size_t t, size_t n);
void roformer_logits(Session *s, size_t t, size_t n);

/* session.c, for encoder.c: s has read pos ids, and the logits of none. */
void session_set_pos(Session *s, size_t pos);
/* session.c: each(arg, first + i, logits) for tokens t + i of the last batch, i < n, n_logits rows at a time; the last row ends
 * up first in s->logits. */
void session_hand_out(Session *s, size_t t, size_t n, size_t first, SessionEach *each, void *arg);

#endif
