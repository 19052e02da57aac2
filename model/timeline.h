/* model/timeline.h - what a session (session.h) can do beside reading on: logits of every id, a way back. */
#ifndef TIMELINE_H
#define TIMELINE_H

#include "session.h"

size_t session_bytes(const Session *s); /* scratch, and cache or state */

/* session_eval, and each(arg, i, logits) is called with the logits after every id i of the call, in order. Where a rope
 * method's frequencies depend on the length, all rows have those of the whole call. */
typedef void SessionEach(void *arg, size_t i, const float *logits);
int session_eval_each(Session *s, const int *ids, size_t n, SessionEach *each, void *arg, char *err, size_t errlen);

/* Forget all but the first pos ids (pos <= s->pos). 0, or -EINVAL, nothing done: linear attention and delta nets keep
 * no past to go back to; they can only forget all of it. */
int session_rewind(Session *s, size_t pos);

/* For encoder.c and state.c: s has read pos ids, and the logits of none; each(arg, first + i, logits) for tokens t + i
 * of the last batch, i < n, n_logits rows at a time: the last row ends up first in s->logits. */
void session_set_pos(Session *s, size_t pos);
void session_hand_out(Session *s, size_t t, size_t n, size_t first, SessionEach *each, void *arg);

#endif
