/* model/several.h - several texts at once: sessions of their own whose ids share each read of the weights.
 *
 *     Several v;
 *     if (several_init(&v, &model, &options, 8, err, sizeof err)) ...              v.sessions[0 .. 7]
 *     session_eval(&v.sessions[i], prompt, n, &logits, err, sizeof err);           a text's prompt, by itself
 *     several_eval(&v, texts, ids, n, err, sizeof err);                            the next id of n of the texts
 *     several_logits(&v, k)                                                        behind ids[k]
 *     several_write(&v, texts, ids, n, next, arg, err, sizeof err);                or many, until one is at its end
 *     session_rewind(&v.sessions[i], 0);                                           another text takes its place
 *     several_free(&v);
 *
 * Each text's logits have the bits that they have alone. What any of this returns is good until the next call of any;
 * all of it belongs to one caller at a time. */
#ifndef SEVERAL_H
#define SEVERAL_H

#include "session.h"

typedef struct {
    Session *sessions; /* [n] */
    size_t n;
    Session host;      /* computes a batch where no host of `own` does; prompts are read in its scratch */
    Session *own;      /* [n_own]: hosts of one thread each, for models that are not worth sharing; NULL: none */
    size_t n_own;
    float *logits;     /* [n, vocab_size] */
    struct SeveralPart *parts; /* [n]: ids under way, and how each session sees the scratch */
} Several;

/* n >= 1 sessions of one model and the same options. -ENOMEM; -EINVAL and a line: a model that reads texts
 * whole. */
int several_init(Several *v, const Model *m, const SessionOptions *options, size_t n, char *err, size_t errlen);
void several_free(Several *v); /* accepts a zeroed struct */
size_t several_bytes(const Several *v);

/* Read ids[k], k < n <= v->n, behind what session texts[k] has read, each of which comes once. Errors are
 * session_eval's, with nothing read. */
int several_eval(Several *v, const size_t *texts, const int *ids, size_t n, char *err, size_t errlen);
const float *several_logits(const Several *v, size_t k); /* [vocab_size] */

/* Given the logits [vocab_size] behind ids[k]: the next id to *id, which is ids[k], and 0; or 1: text texts[k] is at
 * its end. Called by the threads that read, for different k at a time: it may look at that text's session, and calls
 * nothing of these. */
typedef int SeveralNext(void *arg, size_t k, const float *logits, int *id);

/* Read ids[k] as several_eval does, then what next puts there, and so on until some text is at its end: each at least
 * once, and not all equally often. 0, and the other texts' ids[k] are to be read next; or several_eval's errors, texts
 * being anywhere. */
int several_write(Several *v, const size_t *texts, int *ids, size_t n, SeveralNext *next, void *arg, char *err,
                  size_t errlen);

#endif
