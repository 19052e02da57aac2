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

void attend_reference(double *out, const double *q, const double *k, size_t k_step, const double *v, size_t v_step,
                      size_t n, size_t head_dim, size_t value_dim, double scale) {
    double max = -INFINITY, sum = 0;
    for (size_t i = 0; i < value_dim; i++) out[i] = 0;
    for (size_t t = 0; t < n; t++) max = fmax(max, scale * dot(q, k + t * k_step, head_dim));
    for (size_t t = 0; t < n; t++) {
        double score = scale * dot(q, k + t * k_step, head_dim); /* eq. 16: (R_m q) . (R_t k) */
        double weight = exp(score - max);                        /* less max: e^score may be no number */
        for (size_t i = 0; i < value_dim; i++) out[i] += weight * v[t * v_step + i];
        sum += weight;
    }
    for (size_t i = 0; i < value_dim && n > 0; i++) out[i] /= sum; /* the weights sum to one; no keys: zeroes */
}

void attention_reference(double *out, const double *q, const double *k, const double *v, const AttentionShape *a) {
    size_t d = a->head_dim, vd = a->value_dim, k_step = a->n_kv_heads * d, v_step = a->n_kv_heads * vd;
    for (size_t m = 0; m < a->n; m++)
        for (size_t h = 0; h < a->n_heads; h++) {
            size_t at = m * a->n_heads + h, kv = h / (a->n_heads / a->n_kv_heads), first = first_of(a, m);
            attend_reference(out + at * vd, q + at * d, k + first * k_step + kv * d, k_step,
                             v + first * v_step + kv * vd, v_step, end_of(a, m) - first, d, vd, 1 / sqrt((double)d));
        }
}

void attention_reference_linear(double *out, const double *rq, const double *rk, const double *q, const double *k,
                                const double *v, const AttentionShape *a, double epsilon) {
    size_t r = a->head_dim, vd = a->value_dim, group = a->n_heads / a->n_kv_heads;
    for (size_t m = 0; m < a->n; m++)
        for (size_t h = 0; h < a->n_heads; h++) {
            size_t at = (m * a->n_heads + h) * r, kv = h / group;
            double *o = out + (m * a->n_heads + h) * vd, below = epsilon;
            for (size_t i = 0; i < vd; i++) o[i] = 0;
            for (size_t t = first_of(a, m); t < end_of(a, m); t++) {
                size_t key = (t * a->n_kv_heads + kv) * r;
                double above = dot(rq + at, rk + key, r); /* eq. 19, above the line: rotated */
                below += dot(q + at, k + key, r);         /* eq. 19, below it: not rotated */
                for (size_t i = 0; i < vd; i++) o[i] += above * v[(t * a->n_kv_heads + kv) * vd + i];
            }
            for (size_t i = 0; i < vd; i++) o[i] /= below;
        }
}
