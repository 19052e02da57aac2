/* train/features.h - a head's features for linear attention, in float, and their gradients: what attention/phi.h maps
 * and linear.c rotates, the other way round. */
#ifndef FEATURES_H
#define FEATURES_H

#include "attention.h"

typedef enum { FEATURES_OF_QUERY, FEATURES_OF_KEY } FeatureSide;

size_t features_rows(const LinearParts *p); /* r, and one more in the cosine forms */
/* x [head_dim] of a token at pos: above [rows] is what stands above the line of eq. 19, below [rows] below it. */
void features_forward(const Work *w, float *above, float *below, const float *x, size_t pos, const LinearParts *p,
                      FeatureSide side);
/* dx [head_dim] from the gradients of both, which are spoiled. */
void features_backward(const Work *w, float *dx, float *dabove, float *dbelow, const float *x, size_t pos,
                       const LinearParts *p, FeatureSide side);

#endif
