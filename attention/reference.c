/* attention/reference.c - attention as its formulas stand. */
#include "reference.h"

#include <math.h>

static double dot(const double *a, const double *b, size_t n) {
    double sum = 0;
    for (size_t i = 0; i < n; i++) sum += a[i] * b[i];
    return sum;
}

/* The positions that a query at m sees: first <= t < end. */
static size_t end_of(const AttentionShape *a, size_t m) { return a->causal ? m + 1 : a->n; }
static size_t first_of(const AttentionShape *a, size_t m) {
    return a->window && end_of(a, m) > a->window ? end_of(a, m) - a->window : 0;
}

void attention_reference(double *out, const double *q, const double *k, const double *v, const AttentionShape *a) {
    size_t d = a->head_dim, vd = a->value_dim, group = a->n_heads / a->n_kv_heads;
    for (size_t m = 0; m < a->n; m++)
        for (size_t h = 0; h < a->n_heads; h++) {
            const double *qm = q + (m * a->n_heads + h) * d, *kh = k + h / group * d, *vh = v + h / group * vd;
            double *o = out + (m * a->n_heads + h) * vd, max = -INFINITY, sum = 0;
            for (size_t i = 0; i < vd; i++) o[i] = 0;
            for (size_t t = first_of(a, m); t < end_of(a, m); t++)
                max = fmax(max, dot(qm, kh + t * a->n_kv_heads * d, d) / sqrt((double)d));
            for (size_t t = first_of(a, m); t < end_of(a, m); t++) {
                double s = dot(qm, kh + t * a->n_kv_heads * d, d) / sqrt((double)d);     /* how well key t fits  */
                double p = exp(s - max);                                                 /* its weight, so far   */
                for (size_t i = 0; i < vd; i++) o[i] += p * vh[t * a->n_kv_heads * vd + i];
                sum += p;
            }
            for (size_t i = 0; i < vd; i++) o[i] /= sum;                                 /* weights sum to one   */
        }
}

void attention_reference_linear(double *out, const double *rq, const double *rk, const double *q, const double *k, const double *v,
                                const AttentionShape *a, double epsilon) {
    size_t r = a->head_dim, vd = a->value_dim, group = a->n_heads / a->n_kv_heads;
    for (size_t m = 0; m < a->n; m++)
        for (size_t h = 0; h < a->n_heads; h++) {
            size_t at = (m * a->n_heads + h) * r, kv = h / group;
            double *o = out + (m * a->n_heads + h) * vd, below = epsilon;
            for (size_t i = 0; i < vd; i++) o[i] = 0;
            for (size_t t = first_of(a, m); t < end_of(a, m); t++) {
                size_t key = (t * a->n_kv_heads + kv) * r;
                double above = dot(rq + at, rk + key, r);                                /* eq. 19, numerator    */
                below += dot(q + at, k + key, r);                                        /* eq. 19, denominator  */
                for (size_t i = 0; i < vd; i++) o[i] += above * v[(t * a->n_kv_heads + kv) * vd + i];
            }
            for (size_t i = 0; i < vd; i++) o[i] /= below;
        }
}
