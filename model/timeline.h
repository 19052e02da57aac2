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

/* A way back for those: a copy of what they keep, [session_mark_bytes], 0 where session_rewind needs none; and to where
 * it was made, when s had read pos ids. */
size_t session_mark_bytes(const Session *s);
void session_mark(const Session *s, void *mark);
void session_return(Session *s, const void *mark, size_t pos);

/* Of `most` ids behind the next n: how many can be read with these n and leave the logits of the last of the n, and of
 * all behind it, the bits they have one by one. Fewer where the frequencies depend on the length, none where the text
 * decides what is seen. */
size_t session_together(const Session *s, size_t n, size_t most);

/* For encoder.c and state.c: s has read pos ids, and the logits of none; each(arg, first + i, logits) for tokens t + i
 * of the last batch, i < n, n_logits rows at a time: the last row ends up first in s->logits. */
void session_set_pos(Session *s, size_t pos);
void session_hand_out(Session *s, size_t t, size_t n, size_t first, SessionEach *each, void *arg);

#endif
