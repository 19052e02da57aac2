/* model/shift.h - text without end in a context of fixed size: when it is full, the oldest positions leave it.
 *
 *     session_init(&s, &m, &(SessionOptions){.n_ctx = 1024, .shifts = 1}, err, sizeof err);
 *     session_eval_shifting(&s, 4, ids, n, &logits, err, sizeof err);          any n: 4 positions stay for good
 *
 * The first `keep` positions stay; of the others the older half, (n_ctx - keep) / 2, is dropped, and what is left moves
 * up. Keys are cached without rotation, so a key that has moved is rotated by its new place as if it had always been
 * there: nothing is rotated twice, and no magnitude (yarn's) is applied twice, however often the context shifts. */
#ifndef SHIFT_H
#define SHIFT_H

#include "session.h"

/* Can m's sessions shift, and keep so many of n_ctx? 0, or -EINVAL and one line: not with linear attention, which needs
 * no context; not where settings of RoPE depend on the text's length or on what was read. */
int session_can_shift(const Model *m, size_t keep, size_t n_ctx, char *err, size_t errlen);
/* Drop once. s is full, was made with `shifts`, and can shift. */
void session_shift(Session *s, size_t keep);
/* session_eval for a text of any length: the context shifts whenever it is full and another id comes, so the logits do
 * not depend on how the ids came in. Errors: session_eval's; those ids that were read before stay. */
int session_eval_shifting(Session *s, size_t keep, const int *ids, size_t n, const float **logits, char *err,
                          size_t errlen);

#endif
