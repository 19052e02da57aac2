/* kernels/encode_parts.h - what encode.c and encode_k.c have of each other; nobody else includes it. */
#ifndef ENCODE_PARTS_H
#define ENCODE_PARTS_H

#include "quants.h"

/* One block of x into out: 1, or 0 where its scale does not fit a half. No value of x is out of reach (encode.c). */
typedef int EncodeBlock(uint8_t *out, const float *x);
EncodeBlock encode_q2_k, encode_q3_k, encode_q4_k, encode_q5_k, encode_q6_k, encode_iq4_nl, encode_iq4_xs;

/* d as a half at p: 1, or 0 where it is infinite. */
int encode_scale(uint8_t *p, float d);
/* The value of the largest magnitude, the first of equals; 0 of none. */
float encode_extreme(const float *x, int n);
/* 1 / d; 0 for a d so small that there is none: its half is 0 too. */
float encode_inverse(float d);

#endif
