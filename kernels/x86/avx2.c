/* kernels/x86/avx2.c - the row for x86-64 with AVX2, FMA and F16C; compiled with -mavx2 -mfma -mf16c, chosen at run time. the
 * other groups are in avx2_matmul.c and avx2_attention.c. Against ref: FMA rounds once where ref rounds twice; exp is a polynomial. */
#include "avx2.h"
#include "avx2_vectors.h"

#include "base/base.h"

#include <math.h>

INLINE float dot(const float *a, const float *b, size_t n) {
    __m256 acc = _mm256_setzero_ps();
    for (size_t i = 0; i < n; i += 8)
        acc = _mm256_fmadd_ps(load8(TENSOR_F32, (const uint8_t *)a, i, n - i), load8(TENSOR_F32, (const uint8_t *)b, i, n - i), acc);
    return fold(acc);
}

static void rmsnorm(float *y, const float *x, const float *w, size_t n, float eps) {
    float r = 1 / sqrtf(dot(x, x, n) / (float)n + eps);
    for (size_t i = 0; i < n; i++) y[i] = x[i] * r * w[i]; /* vectorised by the compiler: no sum, no order */
}

/* Entries i .. i+7 of x; those behind the n-th read as mean, so that they add nothing to a sum of squares around it. */
INLINE __m256 load_around(const float *x, size_t i, size_t n, __m256 mean) {
    if (n - i >= 8) return _mm256_loadu_ps(x + i);
    float part[8];
    _mm256_storeu_ps(part, mean);
    memcpy(part, x + i, (n - i) * sizeof *x);
    return _mm256_loadu_ps(part);
}

static void layernorm(float *y, const float *x, const float *w, const float *b, size_t n, float eps) {
    __m256 sum = _mm256_setzero_ps(), square = sum;
    for (size_t i = 0; i < n; i += 8) sum = _mm256_add_ps(sum, load_around(x, i, n, _mm256_setzero_ps()));
    float mean = fold(sum) / (float)n;
    __m256 m = _mm256_set1_ps(mean);
    for (size_t i = 0; i < n; i += 8) {
        __m256 d = _mm256_sub_ps(load_around(x, i, n, m), m);
        square = _mm256_fmadd_ps(d, d, square);
    }
    float r = 1 / sqrtf(fold(square) / (float)n + eps);
    for (size_t i = 0; i < n; i++) y[i] = (x[i] - mean) * r * w[i] + b[i];
}

static void store_part(float *out, __m256 v, size_t n) {
    float part[8];
    _mm256_storeu_ps(part, v);
    memcpy(out, part, n * sizeof *out);
}

static void silu_mul(float *gate, const float *up, size_t n) {
    const __m256 one = _mm256_set1_ps(1), zero = _mm256_setzero_ps();
    for (size_t i = 0; i < n; i += 8) {
        size_t left = n - i;
        __m256 g = load8(TENSOR_F32, (const uint8_t *)gate, i, left), u = load8(TENSOR_F32, (const uint8_t *)up, i, left);
        g = _mm256_mul_ps(_mm256_div_ps(g, _mm256_add_ps(one, exp8(_mm256_sub_ps(zero, g)))), u);
        if (left >= 8) _mm256_storeu_ps(gate + i, g);
        else store_part(gate + i, g, left);
    }
}

/* x Phi(x): with a = |x|, Phi(-a) is e^(-a^2/2) times a polynomial in 1 / (1 + 0.21 a) (relative error 1.2e-8; its numbers come
 * from tests/oracle/gelu.py), and Phi(a) = 1 - Phi(-a). So it is exact to some ulp on the left side too, where 1 + erf cancels. */
INLINE __m256 gelu8(__m256 x) {
    static const float c[] = {-0.0722687054f, 0.28661303f,  -0.336640481f, 0.356924043f, -0.0993236242f,
                              0.127286522f,   0.0685361068f, 0.0851678824f, 0.0837052238f};
    const __m256 one = _mm256_set1_ps(1), sign = _mm256_set1_ps(-0.0f);
    __m256 a = _mm256_andnot_ps(sign, x);
    __m256 t = _mm256_div_ps(one, _mm256_fmadd_ps(_mm256_set1_ps(0.21f), a, one)), p = _mm256_set1_ps(c[0]);
    for (int i = 1; i < 9; i++) p = _mm256_fmadd_ps(p, t, _mm256_set1_ps(c[i]));
    __m256 e = exp8(_mm256_mul_ps(_mm256_set1_ps(-0.5f), _mm256_mul_ps(a, a)));
    __m256 tail = _mm256_mul_ps(_mm256_mul_ps(p, t), e);
    return _mm256_mul_ps(x, _mm256_blendv_ps(_mm256_sub_ps(one, tail), tail, x)); /* chosen by x's sign bit */
}

INLINE __m256 activation8(__m256 x, Activation a) {
    if (a == ACTIVATION_GELU) return gelu8(x);
    if (a == ACTIVATION_RELU) return _mm256_max_ps(_mm256_setzero_ps(), x); /* in this order of operands a NaN passes */
    __m256 u = x;
    if (a == ACTIVATION_GELU_TANH) {
        u = _mm256_fmadd_ps(_mm256_mul_ps(_mm256_set1_ps(0.044715f), x), _mm256_mul_ps(x, x), x);
        u = _mm256_mul_ps(_mm256_set1_ps(1.5957691f), u);
    }
    return _mm256_div_ps(x, _mm256_add_ps(_mm256_set1_ps(1), exp8(_mm256_sub_ps(_mm256_setzero_ps(), u))));
}

static void activate(float *x, size_t n, Activation a) {
    for (size_t i = 0; i < n; i += 8) {
        __m256 v = activation8(load8(TENSOR_F32, (const uint8_t *)x, i, n - i), a);
        if (n - i >= 8) _mm256_storeu_ps(x + i, v);
        else store_part(x + i, v, n - i);
    }
}

/* The same four products, one subtraction and one addition a pair as rope_rotate: the same bits. */
static void rotate(float *x, const float *c, const float *s, int rotary_dim, RopePairing pairing) {
    int half = rotary_dim / 2, i = 0;
    if (pairing == ROPE_INTERLEAVED) {
        const __m256i twice = _mm256_setr_epi32(0, 0, 1, 1, 2, 2, 3, 3);
        for (; i + 4 <= half; i += 4) { /* four pairs a vector */
            __m256 cc = _mm256_permutevar8x32_ps(_mm256_castps128_ps256(_mm_loadu_ps(c + i)), twice);
            __m256 ss = _mm256_permutevar8x32_ps(_mm256_castps128_ps256(_mm_loadu_ps(s + i)), twice);
            __m256 v = _mm256_loadu_ps(x + 2 * i), swapped = _mm256_permute_ps(v, 0xb1);
            _mm256_storeu_ps(x + 2 * i, _mm256_addsub_ps(_mm256_mul_ps(v, cc), _mm256_mul_ps(swapped, ss)));
        }
        rope_rotate(x + 2 * i, c + i, s + i, rotary_dim - 2 * i, pairing);
        return;
    }
    for (; i + 8 <= half; i += 8) {
        __m256 a = _mm256_loadu_ps(x + i), b = _mm256_loadu_ps(x + half + i), cc = _mm256_loadu_ps(c + i), ss = _mm256_loadu_ps(s + i);
        _mm256_storeu_ps(x + i, _mm256_sub_ps(_mm256_mul_ps(a, cc), _mm256_mul_ps(b, ss)));
        _mm256_storeu_ps(x + half + i, _mm256_add_ps(_mm256_mul_ps(a, ss), _mm256_mul_ps(b, cc)));
    }
    for (; i < half; i++) {
        float a = x[i], b = x[half + i];
        x[i] = a * c[i] - b * s[i];
        x[half + i] = a * s[i] + b * c[i];
    }
}

/* As exp8, in double: e^f by its Taylor polynomial of degree 13 (remainder 5e-18 relative for |f| <= ln2/2). */
INLINE __m256d exp4(__m256d x) {
    static const double inverse_factorials[] = {1.0 / 6227020800, 1.0 / 479001600, 1.0 / 39916800, 1.0 / 3628800, 1.0 / 362880,
                                                1.0 / 40320,      1.0 / 5040,      1.0 / 720,      1.0 / 120,     1.0 / 24,
                                                1.0 / 6,          0.5,             1,              1};
    const __m256d lowest = _mm256_set1_pd(-708);
    __m256d tiny = _mm256_cmp_pd(x, lowest, _CMP_LT_OQ);
    x = _mm256_max_pd(lowest, _mm256_min_pd(_mm256_set1_pd(709), x)); /* in this order of operands a NaN passes */
    __m256d n = _mm256_round_pd(_mm256_mul_pd(x, _mm256_set1_pd(1.4426950408889634)), _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
    __m256d f = _mm256_fnmadd_pd(n, _mm256_set1_pd(0x1.62e42fee00000p-1), x); /* ln2 in two parts: the first product is exact */
    f = _mm256_fnmadd_pd(n, _mm256_set1_pd(0x1.a39ef35793c76p-33), f);
    __m256d p = _mm256_set1_pd(inverse_factorials[0]);
    UNROLL
    for (int i = 1; i < 14; i++) p = _mm256_fmadd_pd(p, f, _mm256_set1_pd(inverse_factorials[i]));
    __m256i bits = _mm256_cvtepi32_epi64(_mm256_cvtpd_epi32(n)); /* 2^n by way of its exponent; n = 1023 at most */
    bits = _mm256_slli_epi64(_mm256_add_epi64(bits, _mm256_set1_epi64x(1023)), 52);
    return _mm256_andnot_pd(tiny, _mm256_mul_pd(p, _mm256_castsi256_pd(bits)));
}

static void exp64(double *x, size_t n) {
    size_t i = 0;
    for (; i + 4 <= n; i += 4) _mm256_storeu_pd(x + i, exp4(_mm256_loadu_pd(x + i)));
    if (i < n) {
        double part[4] = {0};
        memcpy(part, x + i, (n - i) * sizeof *x);
        _mm256_storeu_pd(part, exp4(_mm256_loadu_pd(part)));
        memcpy(x + i, part, (n - i) * sizeof *x);
    }
}

const VectorKernels avx2_vector = {
    .rmsnorm = rmsnorm, .layernorm = layernorm, .silu_mul = silu_mul, .activate = activate, .rotate = rotate, .exp64 = exp64,
};

extern const Kernels kernels_avx2;
const Kernels kernels_avx2 = {.name = "avx2", .lanes = AVX2_LANES, .mat = &avx2_matmul, .att = &avx2_attention, .vec = &avx2_vector};
