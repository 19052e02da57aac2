/* lab/lesson/forms.h - the rotation in its other forms: as a matrix, as complex numbers, as the exponential of a
 * matrix. Slow, and literally so: to be held against rope_rotate. */
#ifndef FORMS_H
#define FORMS_H

#include "rope/rope.h"

/* Matrices [d, d], row by row, in double. */
void form_matrix(double *out, const Rope *r, int d, int64_t pos, RopePairing pairing); /* R_pos of eq. 15 */
void form_apply(double *out, const double *m, const double *x, int d);                 /* m x */
void form_product(double *out, const double *a, const double *b, int d);
/* The generator B with R_n = exp(n B): for each pair [[0, -theta_i], [theta_i, 0]], zeros elsewhere. */
void form_generator(double *out, const Rope *r, int d, RopePairing pairing);
/* exp(t B) by its series, 1 + tB + (tB)^2/2 + .., of t B / 2^k, squared k times; scratch [3, d, d]. */
void form_exponential(double *out, const double *B, double t, int d, double *scratch);
double form_apart(const double *a, const double *b, int n); /* the largest difference of n numbers */
/* eq. 12, pair by pair: (a + bi) e^{i pos theta}. x [d] into out [d]. */
void form_complex(double *out, const double *x, const Rope *r, int d, int64_t pos, RopePairing pairing);

#endif
