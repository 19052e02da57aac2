/* model/session.h - one timeline through a model: what has been read so far, and the memory to read on.
 *
 *     Session s;
 *     if (session_init(&s, &model, &(SessionOptions){.n_ctx = 256}, err, sizeof err)) ...
 *     const float *logits;
 *     session_eval(&s, prompt, n_prompt, &logits, err, sizeof err);      a prompt is one call
 *     session_eval(&s, &next, 1, &logits, err, sizeof err);
 *     session_rewind(&s, 10);                                            forget all but the first ten ids
 *     session_free(&s);
 *
 * The logits after an id have the same bits however the ids came in: in one call, in pieces, one by one, with any number
 * of threads. A session belongs to one caller at a time. */
#ifndef SESSION_H
#define SESSION_H

#include "attention/attention.h"
#include "attention/linear.h"
#include "base/threads.h"
#include "model.h"

typedef struct {
    size_t n_ctx;   /* positions to make room for; 0: the model's trained context. Causal linear attention has no limit and ignores it */
    int threads;    /* 0: one for each core */
    size_t n_batch; /* tokens computed at a time; 0: 192 or 512 (session.c). Memory and speed only, never results. Where a mask is
                     * not causal, a text is computed whole: n_ctx */
    size_t grain;   /* multiplications that are worth one more thread; 0: 2,000,000. Speed only */
    size_t chunk;   /* linear attention: read a call's ids in chunks of so many; 0: one by one (attention/README.md). Last bits differ */
    CacheType cache; /* what keys and values are kept as: CACHE_F32, exactly, unless told otherwise */
    size_t n_logits; /* tokens whose logits session_eval_each computes at a time; 0: 1 */
    /* Called between batches of a long call, with the ids done and the ids of the call; non-zero stops it (-EINTR). */
    int (*progress)(void *arg, size_t done, size_t total);
    void *progress_arg;
} SessionOptions;

/* A token of a batch: where it stands, and the keys that it sees. */
typedef struct {
    int id, type;      /* type: RoFormer's token type, 0 for decoders */
    size_t pos;        /* in its text: the angle */
    size_t slot;       /* where its key and value go; TOKEN_PADDING: nowhere */
    size_t first, end; /* the slots it sees, before a layer's window */
} Token;
#define TOKEN_PADDING SIZE_MAX

/* Tokens of a batch that linear attention reads alike. */
typedef struct {
    size_t from, n;
    int causal; /* 1: one after the other; 0: all at once, each sees all */
    int fresh;  /* 1: another text begins */
} Block;

typedef struct {
    const Model *model;
    SessionOptions options; /* as in force: no zeroes left */
    size_t pos;             /* ids evaluated so far */
    int *ids;               /* [n_ctx]: these ids; softmax only */
    Rope rope;              /* the frequencies in force */
    KVCache cache;          /* softmax attention's past */
    LinearState state;      /* linear attention's */
    /* Scratch for a batch of n_batch tokens, carved from one block (session.c); vd = value_dim, head_dim but for GAU-alpha. */
    Token *tokens;          /* [n_batch] */
    Block *blocks;          /* [n_blocks]; room for n_batch */
    size_t n_blocks;
    float *x, *xn;          /* [n_batch, d_model]: residual; normalised (RoFormer: as wide as the embeddings where those are wider) */
    float *q, *k;           /* [n_batch, n_heads*head_dim], [n_batch, n_kv_heads*head_dim] */
    float *att, *v;         /* [n_batch, n_heads*vd], [n_batch, n_kv_heads*vd] */
    float *gate, *up;       /* [n_batch, d_ff]; GAU-alpha's gate: [n_batch, 2 d_ff + head_dim] */
    float *head;            /* RoFormer: [n_logits, d_embed]: the language model head's own layer */
    float *cos, *sin;       /* [n_batch, rotary_dim/2] */
    float *attend;          /* [threads, attend_floats]: softmax's scratch */
    size_t attend_floats;
    double *cos64, *sin64;  /* [n_batch, rotary_dim/2]; linear, as the next two */
    LinearBatch batch;      /* features of n_batch tokens */
    double *chunk;          /* [threads, chunk_doubles]: scratch of the chunked form */
    size_t chunk_doubles;
    float *logits;          /* [n_logits, vocab_size]; the first row: after the last id, where has_logits */
    int has_logits;
    Team team;              /* the threads that compute a batch */
    size_t piece_bytes;     /* of packed activations that stay in a core's second-level cache */
    uint8_t *packed;        /* [step_packed_bytes]: activations as matmul wants them */
    void *block;            /* owns the scratch: block_bytes of it */
    size_t block_bytes;
} Session;

/* m must outlive s. All memory is taken here. Errors: -ENOMEM, -EINVAL. */
int session_init(Session *s, const Model *m, const SessionOptions *options, char *err, size_t errlen);
void session_free(Session *s); /* accepts a zeroed struct */
size_t session_bytes(const Session *s); /* scratch, and cache or state */

/* What fits m: CACHE_F16 for a decoder whose weights are 16 bits or fewer, which have lost more already; CACHE_F32 for others, and where
 * the whole trained context takes no more than 4 MB as f32. It depends on the model alone, so a text does not depend on -c. */
CacheType session_usual_cache(const Model *m);

/* For a RoFormer whose mask is not causal this is half of it: encoder.h reads a text whole; what follows it here are tokens of
 * type 1 under the UniLM mask, and none at all under a padding mask (-EINVAL).
 * Read n >= 1 more ids. *logits (may be NULL): [vocab_size] after the last of them, owned by s, valid until the next call.
 * Errors, with nothing read: -EINVAL (an id outside the vocabulary, no head for logits), -ENOSPC (the context is full); -EINTR (progress said
 * stop; whole batches read so far are kept, s->pos says how many). A call that makes the text cross the border of a rope
 * method whose frequencies depend on the length reads the kept ids again first, which progress does not see. */
int session_eval(Session *s, const int *ids, size_t n, const float **logits, char *err, size_t errlen);

/* The same, and each(arg, i, logits) is called with the logits after every id i of the call, in order. Where a rope method's
 * frequencies depend on the length, all rows have those of the whole call. */
typedef void SessionEach(void *arg, size_t i, const float *logits);
int session_eval_each(Session *s, const int *ids, size_t n, SessionEach *each, void *arg, char *err, size_t errlen);

/* Forget all but the first pos ids (pos <= s->pos). 0, or -EINVAL, nothing done: linear attention keeps no past to go back
 * to; it can only forget all of it. */
int session_rewind(Session *s, size_t pos);

/* state.c: the past in a file, so that a prompt need not be read again. With softmax it grows with the ids, with linear
 * attention it does not. It holds the logits after the last id as well.
 * Save what s has read (after session_eval with logits) to path, whole or not at all. Errors: -errno of the file, -EINVAL. */
int session_save(const Session *s, const char *path, char *err, size_t errlen);
/* How many ids the state in path has read, and, of softmax attention, what its keys and values are kept as (cache may be NULL), so
 * that a session can be made for them. */
int session_saved_ids(const char *path, size_t *n, CacheType *cache, char *err, size_t errlen);
/* Put s (nothing read yet, or anything: it is forgotten) where the saved one was. *logits as from session_eval. Errors, with
 * s as after session_rewind(s, 0): -EINVAL (not a state, damaged, of another model, another cache or other settings), -ENOSPC (too long
 * for n_ctx), -errno. Bits are those of the session that saved it; with another kernel row the rest goes on in that row's. */
int session_load(Session *s, const char *path, const float **logits, char *err, size_t errlen);
/* The same from memory. */
int session_load_memory(Session *s, const void *bytes, size_t size, const char *name, const float **logits, char *err, size_t errlen);

#endif
