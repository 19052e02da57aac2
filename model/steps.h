/* model/steps.h - the steps that the forward passes of llama.c and roformer.c share. Every thread of the session's team calls
 * them together and takes its share. Which thread computes an output never changes its bits. A step ends in a team_wait
 * unless it says otherwise. */
#ifndef STEPS_H
#define STEPS_H

#include "session.h"

/* What a team's threads are given: tokens t .. t+n-1, the last n_last of which want logits; or layer l of them. */
typedef struct {
    Session *s;
    size_t t, n, n_last;
    int l;
} Batch;

/* How many threads so many multiplications are worth: they wait for each other some dozen times a layer, and where another
 * program takes a core they wait long. A model that one core runs through in a fraction of a millisecond is left to one. */
int step_threads(const Session *s, size_t multiplications);

/* A batch as matrices want it: packed in pieces of `most` tokens, whose activations stay in the second-level cache while all
 * of a matrix passes (float weights: one piece). Piece i begins at s->packed + i * most * token_bytes. */
typedef struct {
    const float *x; /* [n, d] */
    size_t n, d;
    int group;      /* matrix_group of the weights it was packed for */
    size_t most, token_bytes;
} Packed;

/* x [n, d] packed for w: the tokens of a thread's team_share by that thread, and a team_wait behind it. */
Packed step_pack(Session *s, const float *x, size_t n, size_t d, const Matrix *w);
/* The bytes of s->packed that n tokens, none wider than d, take for matrices of that group. */
size_t step_packed_bytes(const Kernels *k, size_t n, size_t d, int group);

/* y[t] = W x[t] + b (b NULL: none), y [n, w->rows]; no team_wait behind it. *a is packed anew where a file mixes groups. */
void step_linear(Session *s, float *y, Packed *a, const Matrix *w, const float *b);

/* The angles of token t's position, for all layers; for each token of a share, with no team_wait behind it. */
void step_angles(Session *s, size_t t);

/* s->att = attention of layer l for the n tokens of s->tokens, from s->q, s->k, s->v: heads are normalised where the model
 * does so, turned, stored, and meet the keys that the tokens see; or, linear attention, the state. */
void step_attend(Session *s, int l, size_t n);

#endif
