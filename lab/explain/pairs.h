/* lab/explain/pairs.h - a score of attention, split by frequency: what each pair of a head adds to it.
 *
 *     s = scale (sum_i Re(q_i conj(k_i) e^{i (m-j) theta_i}) + sum of the entries that do not turn)       eq. 16
 *
 * q_i, k_i: pair i of query and key before rotation, as complex numbers. Softmax attention. */
#ifndef PAIRS_H
#define PAIRS_H

#include "trace.h"

typedef struct {
    double q[2], k[2];       /* before rotation */
    double angle_q, angle_k; /* m theta_i, j theta_i, radians */
    double term;             /* what it adds to the score */
} PairTerm;

/* The pairs [rotary_dim/2] of head h of the query at m and the key at j, both places in t's text, in layer l; *rest:
 * what the entries add that do not turn. In double, of the trace's floats. */
void pairs_of(const Trace *t, int l, int h, size_t m, size_t j, PairTerm *out, double *rest);
/* The score of the same q and k, were they so many positions apart. */
double pairs_score_at(const Trace *t, int l, int h, size_t m, size_t j, double distance);
/* The score as attention computes it: the kernels' product of the rotated vectors, in float. */
double pairs_engine_score(const Trace *t, int l, int h, size_t m, size_t j);

#endif
