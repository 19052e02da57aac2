/* model/state.h - a session's past in a file, so that a prompt need not be read again. With softmax it grows with the
 * ids, with linear attention it does not. It holds the logits after the last id as well. */
#ifndef STATE_H
#define STATE_H

#include "session.h"

/* Save what s has read (after session_eval with logits) to path, whole or not at all. Errors: -errno of the file,
 * -EINVAL. */
int session_save(const Session *s, const char *path, char *err, size_t errlen);
/* How many ids the state in path has read, and, of softmax attention, what its keys and values are kept as (cache may
 * be NULL), so that a session can be made for them. */
int session_saved_ids(const char *path, size_t *n, CacheType *cache, char *err, size_t errlen);
/* Put s (nothing read yet, or anything: it is forgotten) where the saved one was. *logits as from session_eval. Errors,
 * with s as after session_rewind(s, 0): -EINVAL (not a state, damaged, of another model, another cache or other
 * settings), -ENOSPC (too long for n_ctx), -errno. Bits are those of the session that saved it; with another kernel row
 * the rest goes on in that row's. */
int session_load(Session *s, const char *path, const float **logits, char *err, size_t errlen);
/* The same from memory. */
int session_load_memory(Session *s, const void *bytes, size_t size, const char *name, const float **logits, char *err,
                        size_t errlen);

#endif
