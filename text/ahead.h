/* text/ahead.h - several ids a read: what comes next is guessed, all of it is read as one batch, and what the sampler
 * draws anyway is kept (Leviathan et al., arXiv:2211.17192, for the idea; here nothing is accepted by chance: ids are
 * drawn one by one from logits that have the bits they have alone, so the text is the one without guesses, byte for
 * byte, sampled or greedy).
 *
 *     Ahead a;
 *     if (ahead_init(&a, &session, draft, 8, err, sizeof err)) ...      the session's n_logits is 9 or more
 *     TextWriter w = {.session = &session, .ahead = &a, ..};
 *     ahead_free(&a);
 *
 * How many guesses are read with an id follows from what was measured while the text came: the seconds that k ids take
 * at once, and how often guesses of this kind held. Where no number of them pays, none is read. */
#ifndef TEXT_AHEAD_H
#define TEXT_AHEAD_H

#include "model/sampler.h"
#include "model/session.h"

enum { AHEAD_MOST = 32, AHEAD_KINDS = 5 };

/* Who guesses. */
typedef struct {
    /* At most `most` >= 1 ids that may follow ids [n], the text so far; how many. *kind: below AHEAD_KINDS, guesses
     * that hold alike often. sampler is who will draw: not to be changed. */
    size_t (*guess)(void *arg, const Sampler *sampler, const int *ids, size_t n, int *guesses, size_t most, int *kind);
    /* NULL where a guess costs nothing. Else (a model's) how many are wanted is settled before, their kind is 0, and
     * this, whose time is not counted, comes first: read ids, if they are many. */
    void (*follow)(void *arg, const int *ids, size_t n);
    void *arg;
    double usual[AHEAD_KINDS]; /* how often they are thought to hold before any was seen */
} Draft;

typedef struct Ahead {
    /* For who reports: ids that were guessed and read, and those of them that held. */
    size_t n_guessed, n_held;
    int always; /* the caller's, for tests: what is guessed is read, whether it pays or not */

    Session *session;
    Draft draft;
    size_t most;                     /* guesses a batch */
    int ids[2 * AHEAD_MOST + 2];     /* the last batch: [n_ids], of which the first n_text are the text's */
    size_t n_ids, n_text, first_row; /* the id whose logits are in row 0 */
    size_t base;                     /* the session's position before it */
    int kind, next;                  /* of its guesses; the guess at what follows the text, -1: none */
    void *mark;                      /* what session_rewind cannot bring back, from before it */
    double seconds[2 * AHEAD_MOST + 3]; /* that a batch of so many ids takes; 0: not known */
    size_t n_seen[2 * AHEAD_MOST + 3];
    double guess_seconds;            /* that one guess takes */
    double holds[AHEAD_KINDS];       /* the share of guesses that hold */
    size_t n_tried[AHEAD_KINDS], since; /* since: ids read since a guess was */
} Ahead;

/* The session must outlive it; most <= AHEAD_MOST and below its n_logits. -ENOMEM, -EINVAL and a line. */
int ahead_init(Ahead *a, Session *s, Draft draft, size_t most, char *err, size_t errlen);
void ahead_free(Ahead *a); /* accepts a zeroed struct */

/* Read id, the last of ids [n], and guesses with it, of which there are to be at most room. *logits: after id. Errors
 * are the session's. */
int ahead_read(Ahead *a, const Sampler *sampler, const int *ids, size_t n, size_t room, const float **logits,
               char *err, size_t errlen);
/* The positions that the text has: the session may be ahead of it. */
size_t ahead_pos(const Ahead *a);
/* The session becomes what it is without guesses: at ahead_pos, its logits those after the text's last id. */
int ahead_settle(Ahead *a, char *err, size_t errlen);

#endif
