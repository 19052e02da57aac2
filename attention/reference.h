/* attention/reference.h - attention as its formulas stand, in double: the specification that everything else here is
 * tested against, and the page to read first. */
#ifndef REFERENCE_H
#define REFERENCE_H

#include <stddef.h>

/* Softmax attention of one query: out = sum_t softmax_t(scale q . k_t) v_t. Vaswani et al. 2017, section 3.2.1.
 * q [head_dim] and the keys, t < n, k_step apart, rotated; the values, v_step apart; out [value_dim]. */
void attend_reference(double *out, const double *q, const double *k, size_t k_step, const double *v, size_t v_step,
                      size_t n, size_t head_dim, size_t value_dim, double scale);

/* n tokens. Query head h reads key and value head h / (n_heads / n_kv_heads). A query at m sees positions up to m,
 * where causal is not 0, else all n; of these the last `window`, its own included, where window is not 0. */
typedef struct {
    size_t n, n_heads, n_kv_heads, head_dim, value_dim;
    int causal;
    size_t window;
} AttentionShape;

/* The same for a text, its scale 1 / sqrt(head_dim). q [n, n_heads, head_dim] and k [n, n_kv_heads, head_dim], rotated;
 * v [n, n_kv_heads, value_dim]; out [n, n_heads, value_dim]. */
void attention_reference(double *out, const double *q, const double *k, const double *v, const AttentionShape *a);

/* Linear attention, RoFormer eq. 19:
 *     o_m = sum_t (R_m phi(q_m)) . (R_t phi(k_t)) v_t / (sum_t phi(q_m) . phi(k_t) + epsilon)
 * head_dim counts features. rq, rk: rotated, what stands above the line; q, k: not rotated, what stands below it. */
void attention_reference_linear(double *out, const double *rq, const double *rk, const double *q, const double *k,
                                const double *v, const AttentionShape *a, double epsilon);

#endif
