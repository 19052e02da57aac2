/* kernels/ref.c - the reference row: what every kernel computes, written to be read. It really runs (--kernels ref);
 * the fast rows are tested against it. ref_encoder.c and ref_cache.c have what only some models and caches need.
 *
 * A long sum goes into REF_LANES partial sums, entry j into lane j % REF_LANES, and these are folded in halves at the
 * end: the rounding errors of a sum of n shrink by about as much, and a compiler can keep the lanes in vector registers
 * without being allowed to reorder anything. */
#include "kernels.h"

#include "base/base.h"

#include <math.h>
#include <string.h>

float ref_fold(float lane[REF_LANES]) {
    for (int half = REF_LANES / 2; half; half /= 2)
        for (int j = 0; j < half; j++) lane[j] += lane[j + half];
    return lane[0];
}

/* ---- matrices: y = W x ---- */

/* Float weights: sum_j w_j x_j. A row is decoded in pieces whose length is a multiple of REF_LANES. */
static float dot_floats(const Matrix *w, size_t r, const float *x) {
    enum { PIECE = 256 };
    float lane[REF_LANES] = {0}, piece[PIECE];
    for (size_t i = 0; i < w->cols; i += PIECE) {
        size_t n = w->cols - i < PIECE ? w->cols - i : PIECE;
        matrix_floats(piece, w, r * w->cols + i, n);
        for (size_t j = 0; j < n; j++) lane[j % REF_LANES] += piece[j] * x[i + j];
    }
    return ref_fold(lane);
}

/* Packed as they come: floats [n, d]; or q [n, d], then scales [n, d/group]. */
static size_t packed_bytes(size_t n, size_t d, int group) {
    return group ? ((n * d + 3) & ~(size_t)3) + n * (d / (size_t)group) * sizeof(float) : n * d * sizeof(float);
}

static float *packed_scale(const void *data, size_t n, size_t d, int group, size_t t) {
    return (float *)((uintptr_t)data + ((n * d + 3) & ~(size_t)3)) + t * (d / (size_t)group);
}

static void pack(void *out, const float *x, size_t n, size_t d, int group, size_t t) {
    if (group) ref_matmul.quantize((int8_t *)out + t * d, packed_scale(out, n, d, group, t), x, d, group);
    else memcpy((float *)out + t * d, x, d * sizeof *x);
}

static float dot_row(const Matrix *w, size_t r, const Activations *a, size_t t) {
    if (!a->group) return dot_floats(w, r, (const float *)a->data + t * a->d);
    return quant_format(w->type)->dot(w, r, (const int8_t *)a->data + t * a->d,
                                      packed_scale(a->data, a->n, a->d, a->group, t));
}

static void matmul(float *y, size_t ldy, const Activations *a, const Matrix *w, size_t r0, size_t r1) {
    for (size_t r = r0; r < r1; r++)
        for (size_t t = 0; t < a->n; t++) y[t * ldy + r] = dot_row(w, r, a, t); /* y_t = W x_t */
}

/* The largest magnitude; a NaN, once there, stays, for nothing is larger. */
static float magnitude(const float *x, int n) {
    float amax = 0;
    for (int i = 0; i < n; i++)
        if (fabsf(x[i]) > amax || isnan(x[i])) amax = fabsf(x[i]);
    return amax;
}

static void quantize(int8_t *q, float *scale, const float *x, size_t d, int group) {
    for (size_t g = 0; g < d / (size_t)group; g++, x += group, q += group) {
        float amax = magnitude(x, group);
        float per = amax >= 1e-30f && amax <= 3.4028234e38f ? 127 / amax : 0;
        scale[g] = amax < 1e-30f ? 0 : per > 0 ? amax / 127 : NAN;
        for (int j = 0; j < group; j++) q[j] = per > 0 ? (int8_t)rintf(x[j] * per) : 0; /* x = scale q, about */
    }
}

/* ---- attention ---- */

static float number(Numbers x, size_t i) {
    return x.half ? f16_to_f32(((const uint16_t *)x.at)[i]) : ((const float *)x.at)[i];
}

/* s_t = q . k_t: the exponents of RoFormer's eq. 2, but for 1 / sqrt(d), which is r->scale below. They come rotated,
 * q = R_m W_q x_m and k = R_n W_k x_n, so that of positions only n - m counts (RoFormer eq. 16). */
static void scores(float *s, const float *q, size_t n, Numbers k, size_t head_dim, size_t groups, Soon soon) {
    (void)soon;
    for (size_t g = 0; g < groups; g++)
        for (size_t j = 0; j < n; j++) {
            float sum[KEY_LANES] = {0};
            for (size_t i = 0, at = g * head_dim * KEY_LANES; i < head_dim; i++, at += KEY_LANES)
                for (size_t t = 0; t < KEY_LANES; t++) sum[t] += q[j * head_dim + i] * number(k, at + t); /* eq. 16 */
            memcpy(s + j * SCORE_ROW + g * KEY_LANES, sum, sizeof sum);
        }
}

/* p_t = exp(scale s_t - max), and their sum: numerator and denominator of eq. 2's weights, as far as the past has been
 * seen. Milakov and Gimelshein, arXiv:1805.02867, algorithm 3, with a block where they have one number. */
static void softmax(float *s, const Span *spans, Running *run, size_t n) {
    for (size_t j = 0; j < n; j++, s += SCORE_ROW) {
        Running *r = &run[j];
        float before = r->max, lane[REF_LANES] = {0};
        r->shrink = 1;
        if (spans[j].lo >= spans[j].hi) continue;
        for (int t = spans[j].lo; t < spans[j].hi; t++) {
            s[t] *= r->scale;
            if (s[t] > r->max) r->max = s[t];
        }
        if (r->max > before) r->shrink = expf(before - r->max);
        for (int t = spans[j].lo; t < spans[j].hi; t++) {
            s[t] = expf(s[t] - r->max); /* at most 1: it cannot overflow */
            lane[t % REF_LANES] += s[t];
        }
        r->sum = r->shrink * r->sum + ref_fold(lane);
    }
}

/* acc = shrink acc + sum_t p_t v_t: eq. 2's o_m, before it is divided by the sum. */
static void mix(float *acc, size_t lda, const float *p, const Span *spans, const Running *run, size_t n, Numbers v,
                size_t ldv, size_t width, Soon soon) {
    (void)soon;
    for (size_t j = 0; j < n; j++, acc += lda, p += SCORE_ROW) {
        if (run[j].shrink != 1)
            for (size_t i = 0; i < width; i++) acc[i] *= run[j].shrink;
        for (int t = spans[j].lo; t < spans[j].hi; t++)
            for (size_t i = 0; i < width; i++) acc[i] += p[t] * number(v, (size_t)t * ldv + i);
    }
}

/* S += b v^T, out = a S: with b = R_n phi(k_n) and a = R_m phi(q_m) RoFormer's eq. 19 above its line, n <= m. */
static void state_step(double *out, double *S, size_t rows, const double *b, const float *v, const double *a, size_t n,
                       size_t lda) {
    for (size_t i = 0; b && i < rows; i++)
        for (int j = 0; j < STATE_COLUMNS; j++) S[i * STATE_COLUMNS + j] += b[i] * (double)v[j]; /* eq. 19: its sum */
    for (size_t g = 0; g < n; g++) {
        double sum[STATE_COLUMNS] = {0};
        for (size_t i = 0; i < rows; i++)
            for (int j = 0; j < STATE_COLUMNS; j++) sum[j] += a[g * lda + i] * S[i * STATE_COLUMNS + j]; /* eq. 19 */
        memcpy(out + g * STATE_COLUMNS, sum, sizeof sum);
    }
}

static void narrow(uint16_t *out, const float *x, size_t n) {
    for (size_t i = 0; i < n; i++) out[i] = f32_to_f16(x[i]);
}

/* ---- vectors ---- */

/* y = x / sqrt(mean x^2 + eps) * w */
static void rmsnorm(float *y, const float *x, const float *w, size_t n, float eps) {
    float lane[REF_LANES] = {0};
    for (size_t i = 0; i < n; i++) lane[i % REF_LANES] += x[i] * x[i];
    float r = 1 / sqrtf(ref_fold(lane) / (float)n + eps);
    for (size_t i = 0; i < n; i++) y[i] = x[i] * r * w[i];
}

/* silu(g) u = g / (1 + e^-g) u */
static void silu_mul(float *gate, const float *up, size_t n) {
    for (size_t i = 0; i < n; i++) gate[i] = gate[i] / (1 + expf(-gate[i])) * up[i];
}

static void exp64(double *x, size_t n) {
    for (size_t i = 0; i < n; i++) x[i] = x[i] < -708 ? 0 : exp(x[i]);
}

const MatmulKernels ref_matmul = {.matmul = matmul, .packed_bytes = packed_bytes, .pack = pack, .quantize = quantize};
const AttentionKernels ref_attention = {
    .scores = scores, .softmax = softmax, .mix = mix, .state_step = state_step, .narrow = narrow};
const VectorKernels ref_vector = {.rmsnorm = rmsnorm, .silu_mul = silu_mul, .rotate = rope_rotate, .exp64 = exp64};
