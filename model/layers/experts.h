/* model/layers/experts.h - a feed-forward network in parts, of which each token asks a few: mixtures of experts
 * (Shazeer et al., arXiv:1701.06538, as Mixtral has them, arXiv:2401.04088). */
#ifndef EXPERTS_H
#define EXPERTS_H

#include "model/session.h"

/* branch = what the chosen experts of layer l make of xn, each times its share, and the shared expert's branch, where
 * there is one, times its own. Every thread of the team calls it; a step (model/steps.h). Only the chosen are read, and
 * an expert once for all tokens that chose it. */
void experts_ask(Session *s, int l, size_t n);

/* What the rest of the pass does as well (forward.c): gate = act(gate) * up, as the model's row says it, [n]; xn =
 * norm(x), or x where there is no weight; x [n, d_model] times `by`. A thread has the tokens of its team_share. */
void layers_activate(const Session *s, float *gate, const float *up, size_t n);
void layers_take_in_nowait(Session *s, const float *weight, const float *bias, size_t n);
void layers_scale_nowait(Session *s, float *x, float by, size_t n);

#endif
