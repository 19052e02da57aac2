/* kernels/ref.c - the reference row: what every kernel computes, written to be read. It really runs (--kernels ref), and it
 * is what the fast rows are tested against.
 *
 * A long sum goes into LANES partial sums, entry j into lane j % LANES, and these are folded in halves at the end: the
 * rounding errors of a sum of n shrink by about LANES, and a compiler can keep the lanes in vector registers without being
 * allowed to reorder anything. */
#include "kernels.h"

#include "../base/base.h"

#include <math.h>
#include <string.h>

enum { LANES = 8 };

static float fold(float *lane) {
    for (int half = LANES / 2; half; half /= 2)
        for (int j = 0; j < half; j++) lane[j] += lane[j + half];
    return lane[0];
}

static float dot(const float *a, const float *b, size_t n) {
    float lane[LANES] = {0};
    size_t i = 0;
    for (; i + LANES <= n; i += LANES)
        for (int j = 0; j < LANES; j++) lane[j] += a[i + j] * b[i + j];
    for (int j = 0; i < n; i++, j++) lane[j] += a[i] * b[i];
    return fold(lane);
}

/* Float weights: a row is decoded piece by piece (each a multiple of LANES long, so that lanes stay lanes) and meets the
 * floats of every token. */
enum { PIECE = 256 };

static void decode_piece(float *out, const Matrix *w, size_t first, size_t n) {
    const uint8_t *p = w->data;
    for (size_t i = 0; i < n; i++)
        out[i] = w->type == TENSOR_F32   ? load_f32(p + 4 * (first + i))
                 : w->type == TENSOR_F16 ? f16_to_f32(load_u16(p + 2 * (first + i)))
                                         : bf16_to_f32(load_u16(p + 2 * (first + i)));
}

static float dot_float(const Matrix *w, size_t r, const float *x) {
    float lane[LANES] = {0}, piece[PIECE];
    for (size_t i = 0; i < w->cols; i += PIECE) {
        size_t n = w->cols - i < PIECE ? w->cols - i : PIECE;
        decode_piece(piece, w, r * w->cols + i, n);
        for (size_t j = 0; j < n; j++) lane[j % LANES] += piece[j] * x[i + j];
    }
    return fold(lane);
}

/* Q8_0: block = f16 scale, 32 int8.  sum over blocks of  d_w * d_x * (integer sum, exact). */
static float dot_q8_0(const uint8_t *block, const int8_t *q, const float *scale, size_t n_blocks) {
    float sum = 0;
    for (size_t b = 0; b < n_blocks; b++, block += 34, q += Q_BLOCK) {
        int isum = 0;
        for (int j = 0; j < Q_BLOCK; j++) isum += (int8_t)block[2 + j] * q[j];
        sum += f16_to_f32(load_u16(block)) * scale[b] * (float)isum;
    }
    return sum;
}

/* Q4_0: block = f16 scale, 16 bytes; value j is the low nibble of byte j, value j+16 the high one; 8 is zero. */
static float dot_q4_0(const uint8_t *block, const int8_t *q, const float *scale, size_t n_blocks) {
    float sum = 0;
    for (size_t b = 0; b < n_blocks; b++, block += 18, q += Q_BLOCK) {
        int isum = 0;
        for (int j = 0; j < Q_BLOCK / 2; j++)
            isum += ((block[2 + j] & 15) - 8) * q[j] + ((block[2 + j] >> 4) - 8) * q[j + Q_BLOCK / 2];
        sum += f16_to_f32(load_u16(block)) * scale[b] * (float)isum;
    }
    return sum;
}

/* llama2.c version 2: int8 values, and a float scale for each group of them. */
static float dot_groups(const Matrix *w, size_t r, const int8_t *q, const float *scale) {
    size_t group = (size_t)w->group, n_groups = w->cols / group;
    const int8_t *wq = (const int8_t *)w->data + r * w->cols;
    const uint8_t *ws = (const uint8_t *)w->scales + 4 * r * n_groups;
    float sum = 0;
    for (size_t g = 0; g < n_groups; g++, wq += group, q += group) {
        int isum = 0;
        for (size_t j = 0; j < group; j++) isum += wq[j] * q[j];
        sum += load_f32(ws + 4 * g) * scale[g] * (float)isum;
    }
    return sum;
}

static float dot_row(const Matrix *w, size_t r, const Activations *acts, size_t t) {
    const int8_t *q = acts->q + t * acts->d;
    const float *scale = acts->group ? acts->scale + t * (acts->d / (size_t)acts->group) : NULL;
    size_t n_blocks = w->cols / Q_BLOCK;
    switch (w->type) {
    case TENSOR_Q8_0: return dot_q8_0((const uint8_t *)w->data + r * n_blocks * 34, q, scale, n_blocks);
    case TENSOR_Q4_0: return dot_q4_0((const uint8_t *)w->data + r * n_blocks * 18, q, scale, n_blocks);
    case TENSOR_I8_GROUPS: return dot_groups(w, r, q, scale);
    default: return dot_float(w, r, acts->x + t * acts->d);
    }
}

static void matmul(float *y, size_t ldy, const Activations *acts, size_t n, const Matrix *w, size_t r0, size_t r1) {
    for (size_t r = r0; r < r1; r++)
        for (size_t t = 0; t < n; t++) y[t * ldy + r] = dot_row(w, r, acts, t);
}

/* The largest magnitude, found among the bit patterns without their sign: ordered as integers, they are ordered as
 * magnitudes, with infinity and then NaN on top, so neither is ever lost. */
static float magnitude(const float *x, int n) {
    uint32_t top = 0;
    for (int i = 0; i < n; i++) {
        uint32_t u;
        memcpy(&u, x + i, 4);
        u &= 0x7fffffff;
        if (u > top) top = u;
    }
    float amax;
    memcpy(&amax, &top, 4);
    return amax;
}

static void quantize(int8_t *q, float *scale, const float *x, size_t d, int group) {
    for (size_t g = 0; g < d / (size_t)group; g++, x += group, q += group) {
        float amax = magnitude(x, group);
        float per = amax >= 1e-30f && amax <= 3.4028234e38f ? 127 / amax : 0;
        scale[g] = amax < 1e-30f ? 0 : per > 0 ? amax / 127 : NAN;
        for (int j = 0; j < group; j++) q[j] = per > 0 ? (int8_t)rintf(x[j] * per) : 0;
    }
}

static void rmsnorm(float *y, const float *x, const float *w, size_t n, float eps) {
    float r = 1 / sqrtf(dot(x, x, n) / (float)n + eps);
    for (size_t i = 0; i < n; i++) y[i] = x[i] * r * w[i];
}

static void layernorm(float *y, const float *x, const float *w, const float *b, size_t n, float eps) {
    float lane[LANES] = {0}, square[LANES] = {0};
    for (size_t i = 0; i < n; i++) lane[i % LANES] += x[i];
    float mean = fold(lane) / (float)n;
    for (size_t i = 0; i < n; i++) square[i % LANES] += (x[i] - mean) * (x[i] - mean);
    float r = 1 / sqrtf(fold(square) / (float)n + eps);
    for (size_t i = 0; i < n; i++) y[i] = (x[i] - mean) * r * w[i] + b[i];
}

static void softmax(float *x, size_t n) {
    float max = x[0];
    for (size_t i = 1; i < n; i++)
        if (x[i] > max) max = x[i];
    float lane[LANES] = {0};
    for (size_t i = 0; i < n; i++) {
        x[i] = expf(x[i] - max); /* at most 1: it cannot overflow */
        lane[i % LANES] += x[i];
    }
    float r = 1 / fold(lane);
    for (size_t i = 0; i < n; i++) x[i] *= r;
}

static void silu_mul(float *gate, const float *up, size_t n) {
    for (size_t i = 0; i < n; i++) gate[i] = gate[i] / (1 + expf(-gate[i])) * up[i];
}

static float activation(float x, Activation a) {
    switch (a) {
    case ACTIVATION_GELU: return 0.5f * x * erfcf(-0.70710678f * x); /* 1 + erf(u) = erfc(-u), which does not cancel */
    case ACTIVATION_GELU_TANH: return x / (1 + expf(-1.5957691f * (x + 0.044715f * x * x * x))); /* (1 + tanh u)/2 = 1/(1 + e^-2u) */
    case ACTIVATION_RELU: return x < 0 ? 0 : x; /* NaN stays */
    default: return x / (1 + expf(-x));
    }
}

static void activate(float *x, size_t n, Activation a) {
    for (size_t i = 0; i < n; i++) x[i] = activation(x[i], a);
}

static void scores(float *out, const float *q, const float *k, size_t n, size_t head_dim, float scale) {
    for (size_t t = 0; t < n; t++) out[t] = scale * dot(q, k + t * head_dim, head_dim);
}

static void mix(float *out, const float *p, const float *v, size_t n, size_t head_dim) {
    memset(out, 0, head_dim * sizeof *out);
    for (size_t t = 0; t < n; t++)
        for (size_t i = 0; i < head_dim; i++) out[i] += p[t] * v[t * head_dim + i];
}

static void state_step(double *out, double *S, size_t rows, const double *b, const float *v, const double *a, size_t n, size_t lda) {
    for (size_t i = 0; b && i < rows; i++)
        for (int j = 0; j < STATE_COLUMNS; j++) S[i * STATE_COLUMNS + j] += b[i] * (double)v[j];
    for (size_t g = 0; g < n; g++) {
        double sum[STATE_COLUMNS] = {0};
        for (size_t i = 0; i < rows; i++)
            for (int j = 0; j < STATE_COLUMNS; j++) sum[j] += a[g * lda + i] * S[i * STATE_COLUMNS + j];
        memcpy(out + g * STATE_COLUMNS, sum, sizeof sum);
    }
}

static void exp64(double *x, size_t n) {
    for (size_t i = 0; i < n; i++) x[i] = x[i] < -708 ? 0 : exp(x[i]);
}

const Kernels kernels_ref = {
    .name = "ref",
    .matmul = matmul,
    .quantize = quantize,
    .rmsnorm = rmsnorm,
    .layernorm = layernorm,
    .softmax = softmax,
    .silu_mul = silu_mul,
    .activate = activate,
    .rotate = rope_rotate,
    .scores = scores,
    .mix = mix,
    .state_step = state_step,
    .exp64 = exp64,
};
