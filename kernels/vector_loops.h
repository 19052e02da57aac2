/* kernels/vector_loops.h - one vector at a time (kernels.h and encoder_kernels.h), for rows of eight lanes: ref's
 * sums have eight. A row includes it behind its vectors (vectors.h) and defines what it declares first. */
#ifndef VECTOR_LOOPS_H
#define VECTOR_LOOPS_H

#include "encoder_kernels.h"
#include "inline.h"
#include "kernels.h"

#include <math.h>

INLINE Vec vec_div(Vec a, Vec b);
INLINE Vec vec_abs(Vec x);
INLINE Vec vec_positive(Vec x);                            /* max(x, 0); NaN stays */
INLINE Vec vec_by_sign(Vec x, Vec negative, Vec positive); /* lane by lane, by x's sign bit */
/* Interleaved pairs, as many as fill vectors, rotated as rope_rotate does it: two products and a sum each. How many. */
INLINE int rotate_pairs(float *x, const float *c, const float *s, int half);

/* What exp needs in double, as vectors.h has it in float: x within [-708, 709]; p * 2^n, but 0 where x was
 * below -708. */
INLINE Vec64 vec64_exp_argument(Vec64 x);
INLINE Vec64 vec64_times_power(Vec64 p, Vec64 n, Vec64 x);
INLINE Vec64 vec64_round(Vec64 x);
INLINE Vec64 vec64_mul(Vec64 a, Vec64 b);
INLINE Vec64 vec64_fnma(Vec64 acc, Vec64 a, Vec64 b);

static void rmsnorm(float *y, const float *x, const float *w, size_t n, float eps) {
    Vec squares = vec_zero();
    for (size_t i = 0; i < n; i += VEC) {
        Vec v = vec_load_some(TENSOR_F32, x + i, n - i);
        squares = vec_fma(squares, v, v);
    }
    float r = 1 / sqrtf(vec_sum(squares) / (float)n + eps);
    for (size_t i = 0; i < n; i++) y[i] = x[i] * r * w[i]; /* vectorised by the compiler: no sum, no order */
}

/* Entries i .. of x, less their mean; those behind the n-th are 0. */
INLINE Vec around(const float *x, size_t i, size_t n, float mean) {
    float part[VEC];
    if (n - i >= VEC) return vec_sub(vec_load(x + i), vec_all(mean));
    vec_store(part, vec_all(mean));
    memcpy(part, x + i, (n - i) * sizeof *x);
    return vec_sub(vec_load(part), vec_all(mean));
}

static void layernorm(float *y, const float *x, const float *w, const float *b, size_t n, float eps) {
    Vec sum = vec_zero(), squares = sum;
    for (size_t i = 0; i < n; i += VEC) sum = vec_add(sum, vec_load_some(TENSOR_F32, x + i, n - i));
    float mean = vec_sum(sum) / (float)n;
    for (size_t i = 0; i < n; i += VEC) {
        Vec d = around(x, i, n, mean);
        squares = vec_fma(squares, d, d);
    }
    float r = 1 / sqrtf(vec_sum(squares) / (float)n + eps);
    for (size_t i = 0; i < n; i++) y[i] = (x[i] - mean) * r * w[i] + b[i];
}

/* x / (1 + e^-u) */
INLINE Vec logistic(Vec x, Vec u) { return vec_div(x, vec_add(vec_all(1), vec_exp(vec_sub(vec_zero(), u)))); }

static void silu_mul(float *gate, const float *up, size_t n) {
    for (size_t i = 0; i < n; i += VEC) {
        Vec g = vec_load_some(TENSOR_F32, gate + i, n - i), u = vec_load_some(TENSOR_F32, up + i, n - i);
        vec_store_some(gate + i, vec_mul(logistic(g, g), u), n - i);
    }
}

/* x Phi(x): with a = |x|, Phi(-a) is e^(-a^2/2) times a polynomial in 1 / (1 + 0.21 a) (relative error 1.2e-8; its
 * numbers come from tests/oracle/gelu.py), and Phi(a) = 1 - Phi(-a). So it is exact to some ulp on the left side too,
 * where 1 + erf cancels. */
INLINE Vec gelu(Vec x) {
    static const float c[] = {-0.0722687054f, 0.28661303f,   -0.336640481f, 0.356924043f, -0.0993236242f,
                              0.127286522f,   0.0685361068f, 0.0851678824f, 0.0837052238f};
    const Vec one = vec_all(1), a = vec_abs(x), t = vec_div(one, vec_fma(one, vec_all(0.21f), a));
    Vec p = vec_all(c[0]);
    UNROLL
    for (int i = 1; i < 9; i++) p = vec_fma(vec_all(c[i]), p, t);
    Vec tail = vec_mul(vec_mul(p, t), vec_exp(vec_mul(vec_all(-0.5f), vec_mul(a, a))));
    return vec_mul(x, vec_by_sign(x, tail, vec_sub(one, tail)));
}

INLINE Vec activation(Vec x, Activation a) {
    if (a == ACTIVATION_GELU) return gelu(x);
    if (a == ACTIVATION_RELU) return vec_positive(x);
    Vec u = x;
    if (a == ACTIVATION_QUICK_GELU) u = vec_mul(vec_all(1.702f), x);
    if (a == ACTIVATION_GELU_TANH) { /* (1 + tanh u)/2 = 1/(1 + e^-2u) */
        u = vec_fma(x, vec_mul(vec_all(0.044715f), x), vec_mul(x, x));
        u = vec_mul(vec_all(1.5957691f), u);
    }
    return logistic(x, u);
}

static void activate(float *x, size_t n, Activation a) {
    if (a > ACTIVATION_QUICK_GELU) { /* rare ones */
        ref_encoder.activate(x, n, a);
        return;
    }
    for (size_t i = 0; i < n; i += VEC)
        vec_store_some(x + i, activation(vec_load_some(TENSOR_F32, x + i, n - i), a), n - i);
}

/* The same four products, one subtraction and one addition a pair as rope_rotate: the same bits. */
static void rotate(float *x, const float *c, const float *s, int rotary_dim, RopePairing pairing) {
    const int half = rotary_dim / 2, interleaved = pairing == ROPE_INTERLEAVED;
    const int step = interleaved ? 2 : 1, apart = interleaved ? 1 : half; /* from pair to pair, and in a pair */
    int i = 0;
    if (interleaved) i = rotate_pairs(x, c, s, half);
    else
        for (; i + VEC <= half; i += VEC) {
            Vec a = vec_load(x + i), b = vec_load(x + half + i), cc = vec_load(c + i), ss = vec_load(s + i);
            vec_store(x + i, vec_sub(vec_mul(a, cc), vec_mul(b, ss)));
            vec_store(x + half + i, vec_add(vec_mul(a, ss), vec_mul(b, cc)));
        }
    for (; i < half; i++) {
        float *p = x + step * i, a = p[0], b = p[apart];
        p[0] = a * c[i] - b * s[i];
        p[apart] = a * s[i] + b * c[i];
    }
}

/* As vec_exp, in double: e^f by its Taylor polynomial of degree 13 (remainder 5e-18 relative for |f| <= ln2/2). */
INLINE Vec64 vec64_exp(Vec64 x) {
    static const double inverse_factorial[] = {
        1.0 / 6227020800, 1.0 / 479001600, 1.0 / 39916800, 1.0 / 3628800, 1.0 / 362880, 1.0 / 40320, 1.0 / 5040,
        1.0 / 720,        1.0 / 120,       1.0 / 24,       1.0 / 6,       0.5,          1,           1,
    };
    Vec64 at = vec64_exp_argument(x), n = vec64_round(vec64_mul(at, vec64_all(1.4426950408889634)));
    Vec64 f = vec64_fnma(at, n, vec64_all(0x1.62e42fee00000p-1)); /* ln2 in two parts: the first product is exact */
    f = vec64_fnma(f, n, vec64_all(0x1.a39ef35793c76p-33));
    Vec64 p = vec64_all(inverse_factorial[0]);
    UNROLL
    for (int i = 1; i < 14; i++) p = vec64_fma(vec64_all(inverse_factorial[i]), p, f);
    return vec64_times_power(p, n, x);
}

static void exp64(double *x, size_t n) {
    size_t i = 0;
    for (; i + VEC64 <= n; i += VEC64) vec64_store(x + i, vec64_exp(vec64_load(x + i)));
    if (i == n) return;
    double part[VEC64] = {0};
    memcpy(part, x + i, (n - i) * sizeof *x);
    vec64_store(part, vec64_exp(vec64_load(part)));
    memcpy(x + i, part, (n - i) * sizeof *x);
}

#endif
