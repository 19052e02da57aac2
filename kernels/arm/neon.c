/* kernels/arm/neon.c - the row for arm64 with no more than every arm64 CPU has. matmul is in neon_matmul.c and neon_floats.c,
 * attention in neon_attention.c; neondot.c is the row with the dot-product extension. Against ref: FMA rounds once where ref
 * rounds twice; exp is a polynomial. The steps are avx2.c's in the same order, and so are the bits. */
#include "neon.h"
#include "neon_vectors.h"

#include <math.h>

static float squares(const float *x, size_t n) {
    Vec8 acc = all8(0);
    for (size_t i = 0; i < n; i += 8) {
        Vec8 v = floats8(x, i, n - i);
        acc = fma8(acc, v, v);
    }
    return fold(acc);
}

static void rmsnorm(float *y, const float *x, const float *w, size_t n, float eps) {
    float r = 1 / sqrtf(squares(x, n) / (float)n + eps);
    for (size_t i = 0; i < n; i++) y[i] = x[i] * r * w[i]; /* vectorised by the compiler: no sum, no order */
}

/* Entries i .. i+7 of x, less mean; those behind the n-th are 0. */
INLINE Vec8 around(const float *x, size_t i, size_t n, float mean) {
    float part[8];
    Vec8 m = all8(mean);
    if (n - i < 8) {
        store8(part, m, 8);
        memcpy(part, x + i, (n - i) * sizeof *x);
        x = part, i = 0;
    }
    return (Vec8){vsubq_f32(vld1q_f32(x + i), m.lo), vsubq_f32(vld1q_f32(x + i + 4), m.hi)};
}

static void layernorm(float *y, const float *x, const float *w, const float *b, size_t n, float eps) {
    Vec8 sum = all8(0), square = all8(0);
    for (size_t i = 0; i < n; i += 8) sum = add8(sum, floats8(x, i, n - i));
    float mean = fold(sum) / (float)n;
    for (size_t i = 0; i < n; i += 8) {
        Vec8 d = around(x, i, n, mean);
        square = fma8(square, d, d);
    }
    float r = 1 / sqrtf(fold(square) / (float)n + eps);
    for (size_t i = 0; i < n; i++) y[i] = (x[i] - mean) * r * w[i] + b[i];
}

/* x / (1 + e^-u) */
INLINE float32x4_t logistic4(float32x4_t x, float32x4_t u) { return vdivq_f32(x, vaddq_f32(vdupq_n_f32(1), exp4(vnegq_f32(u)))); }

static void silu_mul(float *gate, const float *up, size_t n) {
    for (size_t i = 0; i < n; i += 8) {
        Vec8 g = floats8(gate, i, n - i), u = floats8(up, i, n - i);
        store8(gate + i, (Vec8){vmulq_f32(logistic4(g.lo, g.lo), u.lo), vmulq_f32(logistic4(g.hi, g.hi), u.hi)}, n - i);
    }
}

/* x Phi(x): with a = |x|, Phi(-a) is e^(-a^2/2) times a polynomial in 1 / (1 + 0.21 a) (relative error 1.2e-8; its numbers come
 * from tests/oracle/gelu.py), and Phi(a) = 1 - Phi(-a). So it is exact to some ulp on the left side too, where 1 + erf
 * cancels. */
INLINE float32x4_t gelu4(float32x4_t x) {
    static const float c[] = {-0.0722687054f, 0.28661303f,  -0.336640481f, 0.356924043f, -0.0993236242f,
                              0.127286522f,   0.0685361068f, 0.0851678824f, 0.0837052238f};
    const float32x4_t one = vdupq_n_f32(1);
    float32x4_t a = vabsq_f32(x), t = vdivq_f32(one, vfmaq_f32(one, vdupq_n_f32(0.21f), a)), p = vdupq_n_f32(c[0]);
    UNROLL
    for (int i = 1; i < 9; i++) p = vfmaq_f32(vdupq_n_f32(c[i]), p, t);
    float32x4_t tail = vmulq_f32(vmulq_f32(p, t), exp4(vmulq_f32(vdupq_n_f32(-0.5f), vmulq_f32(a, a))));
    uint32x4_t negative = vreinterpretq_u32_s32(vshrq_n_s32(vreinterpretq_s32_f32(x), 31)); /* by x's sign bit */
    return vmulq_f32(x, vbslq_f32(negative, tail, vsubq_f32(one, tail)));
}

INLINE float32x4_t activation4(float32x4_t x, Activation a) {
    if (a == ACTIVATION_GELU) return gelu4(x);
    if (a == ACTIVATION_RELU) return vmaxq_f32(vdupq_n_f32(0), x); /* a NaN passes */
    float32x4_t u = x;
    if (a == ACTIVATION_GELU_TANH) {
        u = vfmaq_f32(x, vmulq_f32(vdupq_n_f32(0.044715f), x), vmulq_f32(x, x));
        u = vmulq_f32(vdupq_n_f32(1.5957691f), u);
    }
    return logistic4(x, u);
}

static void activate(float *x, size_t n, Activation a) {
    for (size_t i = 0; i < n; i += 8) {
        Vec8 v = floats8(x, i, n - i);
        store8(x + i, (Vec8){activation4(v.lo, a), activation4(v.hi, a)}, n - i);
    }
}

/* The same four products, one subtraction and one addition a pair as rope_rotate: the same bits. */
static void rotate(float *x, const float *c, const float *s, int rotary_dim, RopePairing pairing) {
    int half = rotary_dim / 2, i = 0;
    for (; i + 4 <= half; i += 4) { /* four pairs */
        float32x4_t cc = vld1q_f32(c + i), ss = vld1q_f32(s + i);
        float32x4x2_t v = {{vld1q_f32(x + i), vld1q_f32(x + half + i)}};
        if (pairing == ROPE_INTERLEAVED) v = vld2q_f32(x + 2 * i);
        float32x4_t a = vsubq_f32(vmulq_f32(v.val[0], cc), vmulq_f32(v.val[1], ss));
        float32x4_t b = vaddq_f32(vmulq_f32(v.val[0], ss), vmulq_f32(v.val[1], cc));
        if (pairing == ROPE_INTERLEAVED) vst2q_f32(x + 2 * i, ((float32x4x2_t){{a, b}}));
        else vst1q_f32(x + i, a), vst1q_f32(x + half + i, b);
    }
    for (; i < half; i++) {
        float *p = pairing == ROPE_INTERLEAVED ? x + 2 * i : x + i, *q = pairing == ROPE_INTERLEAVED ? p + 1 : p + half;
        float a = *p, b = *q;
        *p = a * c[i] - b * s[i];
        *q = a * s[i] + b * c[i];
    }
}

/* As exp4, in double: e^f by its Taylor polynomial of degree 13 (remainder 5e-18 relative for |f| <= ln2/2). */
INLINE float64x2_t exp2_64(float64x2_t x) {
    static const double inverse_factorials[] = {1.0 / 6227020800, 1.0 / 479001600, 1.0 / 39916800, 1.0 / 3628800, 1.0 / 362880,
                                                1.0 / 40320,      1.0 / 5040,      1.0 / 720,      1.0 / 120,     1.0 / 24,
                                                1.0 / 6,          0.5,             1,              1};
    const float64x2_t lowest = vdupq_n_f64(-708);
    uint64x2_t tiny = vcltq_f64(x, lowest);
    x = vmaxq_f64(lowest, vminq_f64(vdupq_n_f64(709), x));
    float64x2_t n = vrndnq_f64(vmulq_f64(x, vdupq_n_f64(1.4426950408889634)));
    float64x2_t f = vfmsq_f64(x, n, vdupq_n_f64(0x1.62e42fee00000p-1)); /* ln2 in two parts: the first product is exact */
    f = vfmsq_f64(f, n, vdupq_n_f64(0x1.a39ef35793c76p-33));
    float64x2_t p = vdupq_n_f64(inverse_factorials[0]);
    UNROLL
    for (int i = 1; i < 14; i++) p = vfmaq_f64(vdupq_n_f64(inverse_factorials[i]), p, f);
    int64x2_t bits = vshlq_n_s64(vaddq_s64(vcvtq_s64_f64(n), vdupq_n_s64(1023)), 52); /* 2^n by way of its exponent */
    return vreinterpretq_f64_u64(vbicq_u64(vreinterpretq_u64_f64(vmulq_f64(p, vreinterpretq_f64_s64(bits))), tiny));
}

static void exp64(double *x, size_t n) {
    size_t i = 0;
    for (; i + 2 <= n; i += 2) vst1q_f64(x + i, exp2_64(vld1q_f64(x + i)));
    if (i < n) x[i] = vgetq_lane_f64(exp2_64(vdupq_n_f64(x[i])), 0);
}

const VectorKernels neon_vector = {
    .rmsnorm = rmsnorm, .layernorm = layernorm, .silu_mul = silu_mul, .activate = activate, .rotate = rotate, .exp64 = exp64,
};
