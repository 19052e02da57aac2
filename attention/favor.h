/* attention/favor.h - FAVOR+: random features whose dot products estimate softmax's own weight. Choromanski et al.
 * 2021, arXiv:2009.14794. */
#ifndef FAVOR_H
#define FAVOR_H

#include "phi.h"

extern const FeatureMap phi_favor;

/* The projection W [r, head_dim] from a seed: blocks of head_dim orthogonal directions (Gram-Schmidt of Gaussian
 * vectors), each as long as a Gaussian vector of its own; Choromanski et al. 2021, arXiv:2009.14794, section 3.4.
 * Stored as linear_features reads it: linear_projection_size doubles, strips of STATE_COLUMNS rows of W.
 * linear_projection_set stores a W of the caller's instead, [r, head_dim] row-major; linear_projection_get reads
 * W[j][i]. */
size_t linear_projection_size(const LinearConfig *c);
void linear_projection(double *w, const LinearConfig *c);
void linear_projection_set(double *w, const LinearConfig *c, const double *given);
double linear_projection_get(const double *w, const LinearConfig *c, size_t j, size_t i);

#endif
