/* model/steps.h - the steps that the forward passes of llama.c and roformer.c share. Every thread of a parallel region calls
 * them together: a loop under `omp for` is shared out among the threads. Which thread computes an output never changes its
 * bits. A step ends in a barrier unless it says otherwise. */
#ifndef STEPS_H
#define STEPS_H

#include "session.h"

/* How many threads so many multiplications are worth: they wait for each other some dozen times a layer, and where another
 * program takes a core they wait long. A model that one core runs through in a fraction of a millisecond is left to one. */
int step_threads(const Session *s, size_t multiplications);

/* Activations x [n, d] as the weights w will want them: as they are, or quantized in w's groups. */
Activations step_activations(const Session *s, const float *x, size_t n, size_t d, const Matrix *w);

/* y[t] = W x[t] + b (b NULL: none), y [n, w->rows]; no barrier behind it. *a may be quantized anew, where a file mixes types. */
void step_linear(const Session *s, float *y, Activations *a, size_t n, const Matrix *w, const float *b);

/* x += y, n numbers. */
void step_add(float *x, const float *y, size_t n);

/* The angles of n tokens' positions, for all layers. Call it for each token t of an `omp for`. */
void step_angles(Session *s, size_t t);

/* s->att = attention of layer l for the n tokens of s->tokens, from s->q, s->k, s->v: heads are normalised where the model
 * does so, turned, stored, and meet the keys that the tokens see; or, linear attention, the state. */
void step_attend(Session *s, int l, size_t n);

#endif
