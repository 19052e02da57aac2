/* model/layers/experts.h - a feed-forward network in parts, of which each token asks a few: mixtures of experts
 * (Shazeer et al., arXiv:1701.06538, as Mixtral has them, arXiv:2401.04088). */
#ifndef EXPERTS_H
#define EXPERTS_H

#include "model/session.h"

/* branch = what the chosen experts of layer l make of xn, each times its share, and the shared expert's branch, where
 * there is one, times its own. Every thread of the team calls it; a step (model/steps.h). Only the chosen are read, and
 * an expert once for all tokens that chose it. */
void experts_ask(Session *s, int l, size_t n);

/* gate = act(gate) * up, as the model's row says it; [n]. (forward.c) */
void layers_activate(const Session *s, float *gate, const float *up, size_t n);

#endif
