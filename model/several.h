/* model/several.h - several texts at once: sessions of their own whose ids share each read of the weights.
 *
 *     Several v;
 *     if (several_init(&v, &model, &options, 8, err, sizeof err)) ...              v.sessions[0 .. 7]
 *     session_eval(&v.sessions[i], prompt, n, &logits, err, sizeof err);           a text's prompt, by itself
 *     several_eval(&v, texts, ids, n, err, sizeof err);                            the next id of n of the texts
 *     several_logits(&v, k)                                                        behind ids[k]
 *     session_rewind(&v.sessions[i], 0);                                           another text takes its place
 *     several_free(&v);
 *
 * Each text's logits have the bits that they have alone. What any of this returns is good until the next call of any;
 * all of it belongs to one caller at a time. Of a small model, whose tokens are not worth a second thread
 * (SessionOptions.grain), threads with a Several of one thread each are fastest (cli/generate_lines.c). */
#ifndef SEVERAL_H
#define SEVERAL_H

#include "session.h"

typedef struct {
    Session *sessions; /* [n] */
    size_t n;
    Session host;      /* computes each batch; prompts are read in its scratch */
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

/* each(arg, k) for k < n, in any order, by the threads that read: it may ask for the logits behind an id. */
void several_each(Several *v, size_t n, void (*each)(void *arg, size_t k), void *arg);

#endif
