/* model/steps.h - the steps that forward passes share. Every thread of the session's team calls them together and takes
 * its share; which thread computes an output never changes its bits. A step ends in a team_wait unless its name ends in
 * _nowait: then the others' results may be read behind the next team_wait only. */
#ifndef STEPS_H
#define STEPS_H

#include "scratch.h"
#include "session.h"

/* What a team's threads are given: tokens t .. t+n-1, the last n_last of which want logits; or layer l of them. */
typedef struct {
    Session *s;
    size_t t, n, n_last;
    int l;
} Batch;

/* A team of as many threads as so many multiplications are worth runs text(batch): they wait for each other some dozen
 * times a layer, so a model that one core runs through in a fraction of a millisecond is left to one. */
void step_run(Session *s, size_t multiplications, void (*text)(void *batch), Batch batch);

/* A batch as matrices want it: packed in pieces of `most` tokens, whose activations stay in the second-level cache
 * while all of a matrix passes (float weights: one piece). Piece i begins at packed + i * most * token_bytes. */
typedef struct {
    const float *x; /* [n, d] */
    size_t n, d;
    int group;      /* matrix_group of the weights it was packed for */
    size_t most, token_bytes;
} Packed;

/* x [n, d] packed for w: the tokens of a thread's team_share by that thread. */
Packed step_pack(Session *s, const float *x, size_t n, size_t d, const Matrix *w);

/* y[t] = W x[t] + b (b NULL: none), y [n, w->rows]. *a is packed anew where a file mixes groups. */
void step_linear_nowait(Session *s, float *y, Packed *a, const Matrix *w, const float *b);

/* The angles of token t's position, for all layers: what rope_rotate takes. */
void step_angles_nowait(Session *s, size_t t);

void step_attend(Session *s, int l, size_t n); /* Attention.attend (scratch.h) */

#endif
