/* lab/recall.h - what a model makes of what it has read before: how much easier a span is the second time, and which
 * ids need the far text at all.
 *
 *     RecallTrial t;
 *     rc = recall_trial(&t, &session, ids, n, bos, &(RecallCut){.span = 64, .between = 512, .at = 100, .other = 9000},
 *                       err, errlen);
 *     t.nll[0] - t.nll[1]                     nats a token that the second reading is easier by */
#ifndef RECALL_H
#define RECALL_H

#include "model/session.h"

/* Read: BOS, `span` ids that lead in, the span itself at `at` of the text, `between` ids of the text from `other` on,
 * the span again. */
typedef struct { size_t span, between, at, other; } RecallCut;
size_t recall_length(const RecallCut *c, int bos); /* ids that a trial reads */

typedef struct {
    double nll[2];   /* mean loss of the span's ids, the first time and the second */
    double right[2]; /* the share of them that were the most probable id */
} RecallTrial;

/* ids [n], a text's; bos -1: none. The session is rewound, its n_ctx >= recall_length. 0, or a negative errno and a
 * line (-EINVAL: the text has not so many ids). */
int recall_trial(RecallTrial *out, Session *s, const int *ids, size_t n, int bos, const RecallCut *c, char *err,
                 size_t errlen);

/* LongPPL (Fang et al., arXiv:2410.23771): key ids are those that the whole context makes easier by more than `easier`
 * nats than a short one does, and foresees with a loss below `below`; both 2 in the paper. The mean loss of these with
 * the whole context, of n ids' losses with either; *keys: how many there are. 0 where there is none. */
double recall_long_nll(const double *whole, const double *brief, size_t n, double easier, double below, size_t *keys);

/* The losses of ids [n] behind the first: whole[i] of ids[i] with all ids before it, brief[i] with at most n_short ids
 * before it (and no fewer than three quarters of these). s has n_ctx > n. whole, brief [n]; entry 0 is not set. */
int recall_losses(double *whole, double *brief, Session *s, const int *ids, size_t n, int bos, size_t n_short,
                  char *err, size_t errlen);

#endif
