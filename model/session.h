/* model/session.h - one timeline through a model: what has been read so far, and the memory to read on.
 *
 *     Session s;
 *     if (session_init(&s, &model, &(SessionOptions){.n_ctx = 256}, err, sizeof err)) ...
 *     const float *logits;
 *     session_eval(&s, prompt, n_prompt, &logits, err, sizeof err);      a prompt is one call
 *     session_eval(&s, &next, 1, &logits, err, sizeof err);
 *     session_free(&s);
 *
 * The logits after an id have the same bits however the ids came in: in one call, in pieces, one by one, with any
 * number of threads. A session belongs to one caller at a time. timeline.h has more to do with it. */
#ifndef SESSION_H
#define SESSION_H

#include "model.h"

typedef struct Session Session;

typedef struct {
    size_t n_ctx;    /* positions to make room for; 0: the trained context. Causal linear attention ignores it */
    int threads;     /* 0: one for each core */
    size_t n_batch;  /* tokens computed at a time; 0: 192 or 512 (session.c). Memory and speed only, never results.
                      * Where a mask is not causal, a text is computed whole: n_ctx */
    size_t grain;    /* multiplications that are worth one more thread; 0: 2,000,000. Speed only */
    CacheType cache; /* what keys and values are kept as: CACHE_F32, exactly, unless told otherwise */
    size_t origin;   /* where the first id stands. Distances do not depend on it, and so neither do logits, but with
                      * methods that go by absolute positions, as power and log-n (lab/proof.h) */
    int shifts;      /* 1: keys are cached without rotation, so that positions may leave the context (shift.h) */
    size_t n_logits; /* tokens whose logits session_eval_each computes at a time; 0: 1 */
    const struct Attention *attention;  /* NULL: the program's (scratch.h) */
    const struct LinearSteps *linear; /* its linear attention in another way (attend_texts.h); NULL: its family's */
    size_t chunk;    /* .. in chunks of so many ids, where it knows chunks; 0: one by one. Last bits differ */
    /* Called between batches of a long call, with the ids done and the ids of the call; non-zero stops it (-EINTR). */
    int (*progress)(void *arg, size_t done, size_t total);
    void *progress_arg;
} SessionOptions;

struct Session {
    const Model *model;
    SessionOptions options;  /* as in force: no zeroes left */
    size_t pos;              /* ids evaluated so far */
    int *ids;                /* [n_ctx]: these ids; softmax only */
    Rope rope;               /* the frequencies in force */
    int rotates;             /* 1: attention rotates by itself: q and k come to it as they are */
    struct Past *past;       /* what attention keeps of them: past.h */
    float *logits;           /* [n_logits, vocab_size]; the first row: after the last id, where has_logits */
    int has_logits;
    struct Scratch *scratch; /* what a batch needs while it is computed (steps.h) */
};

/* m must outlive s. All memory is taken here. Errors: -ENOMEM, -EINVAL. */
int session_init(Session *s, const Model *m, const SessionOptions *options, char *err, size_t errlen);
void session_free(Session *s); /* accepts a zeroed struct */

/* What fits m: CACHE_F16 for a decoder whose weights are 16 bits or fewer, which have lost more already; CACHE_F32 for
 * others, and where the whole trained context takes no more than 4 MB as f32. It depends on the model alone, so a text
 * does not depend on -c. */
CacheType session_usual_cache(const Model *m);

/* Read n >= 1 more ids. *logits (may be NULL): [vocab_size] after the last of them, owned by s, valid until the next
 * call. Errors, with nothing read: -EINVAL (an id outside the vocabulary, no head for logits, a model that reads no
 * single ids), -ENOSPC (the context is full); -EINTR (progress said stop; whole batches read so far are kept, s->pos
 * says how many). A call that makes the text cross the border of a rope method whose frequencies depend on the length
 * reads the kept ids again first, which progress does not see. */
int session_eval(Session *s, const int *ids, size_t n, const float **logits, char *err, size_t errlen);

/* Its parts, in order: ids may be read, and the frequencies become those of the longer text (0 or the errors above);
 * at most n_batch of them at a time, the last n_last with logits; progress is told, behind each batch but the last. */
int session_begin(Session *s, const int *ids, size_t n, int wants_logits, char *err, size_t errlen);
void session_batch(Session *s, const int *ids, size_t n, size_t n_last);
int session_progress(Session *s, size_t done, size_t total, char *err, size_t errlen);

#endif
