/* train/adamw.h - AdamW: Loshchilov and Hutter, arXiv:1711.05101, as PyTorch has it; gradients cut to a norm before. */
#ifndef ADAMW_H
#define ADAMW_H

#include "params.h"
#include "work.h"

typedef struct {
    double beta1, beta2, eps;
    double decay; /* of Params that decay: w loses rate * decay of itself each step */
    double clip;  /* gradients longer than this, all together, are made so long; 0: never */
} AdamW;
extern const AdamW adamw_usual; /* 0.9, 0.95, 1e-8, 0.1, 1 */

/* Step `step` (from 1) at this rate. Returns the length of all gradients before they were cut; where that is no number,
 * nothing has changed. Its sums are in double, of 4,096 numbers at a time: the same bits for any number of threads. */
double adamw_step(Work *w, Params *p, const AdamW *o, double rate, uint64_t step);

/* The rate of step `step` of `steps`: rises over `warmup` steps, then falls by a cosine to `least` times itself. */
double rate_at(double rate, double least, uint64_t warmup, uint64_t step, uint64_t steps);

#endif
