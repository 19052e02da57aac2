/* lab/lesson/encodings.c - see encodings.h. */
#include "encodings.h"

#include <math.h>

int encoding_t5_bucket(long distance, int n_buckets, int most, int both_ways) {
    int first = 0;
    if (both_ways) {
        n_buckets /= 2;
        if (distance < 0) first = n_buckets;
        distance = distance < 0 ? -distance : distance;
    } else if (distance < 0) distance = 0;
    int exact = n_buckets / 2;
    if (distance < exact) return first + (int)distance;
    double share = log((double)distance / exact) / log((double)most / exact);
    int bucket = exact + (int)(share * (n_buckets - exact) + 1e-12); /* an exact power is its own bucket */
    return first + (bucket < n_buckets ? bucket : n_buckets - 1);
}

void encoding_alibi(double *out, int n) {
    int power = 1, done;
    while (2 * power <= n) power *= 2;
    for (done = 0; done < power; done++) out[done] = pow(2, -8.0 * (done + 1) / power);
    for (int i = 0; done < n; done++, i += 2) out[done] = pow(2, -4.0 * (i + 1) / power); /* of twice as many heads */
}

void encoding_hierarchical(double *out, const double *e, size_t n, size_t d, double alpha, size_t k) {
    for (size_t i = 0; i < d; i++) {
        double high = (e[k / n * d + i] - alpha * e[i]) / (1 - alpha),
               low = (e[k % n * d + i] - alpha * e[i]) / (1 - alpha);
        out[i] = alpha * high + (1 - alpha) * low;
    }
}
