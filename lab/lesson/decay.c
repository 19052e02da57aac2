/* lab/lesson/decay.c - see decay.h. */
#include "decay.h"

#include <math.h>

double decay_bound(const Rope *r, double distance) {
    int n = r->rotary_dim / 2;
    double re = 0, im = 0, sum = 0;
    for (int j = 0; j < n; j++) {
        re += cos(distance * r->inv_freq[j]), im += sin(distance * r->inv_freq[j]);
        sum += hypot(re, im); /* |S_j|, eq. 37 */
    }
    return sum / n * r->scale * r->scale;
}

double decay_score(const Rope *r, const double *q, const double *k, double distance) {
    double sum = 0;
    for (int i = 0; i < r->rotary_dim / 2; i++) {
        double qa = q ? q[2 * i] : 1, qb = q ? q[2 * i + 1] : 1, ka = k ? k[2 * i] : 1, kb = k ? k[2 * i + 1] : 1;
        double c = cos(distance * r->inv_freq[i]), s = sin(distance * r->inv_freq[i]);
        sum += (qa * ka + qb * kb) * c - (qb * ka - qa * kb) * s; /* Re(q conj(k) e^{i distance theta}), eq. 35 */
    }
    return sum * r->scale * r->scale;
}
