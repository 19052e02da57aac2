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

/* A block format: of each sub-block  d * sc * scale_x * (integer sum, exact)  -  dmin * mn * scale_x * (sum of q). */
static float dot_blocks(const QuantFormat *f, const uint8_t *block, const int8_t *q, const float *scale, size_t cols) {
    Codes c;
    float sum = 0;
    for (size_t i = 0; i < cols; i += (size_t)f->block, block += f->bytes) {
        f->codes(&c, block);
        for (int s = 0; s < f->block / f->sub; s++) {
            const int8_t *x = q + i + (size_t)(s * f->sub);
            float sx = scale[(i + (size_t)(s * f->sub)) / Q_BLOCK];
            int isum = 0, xsum = 0;
            for (int j = 0; j < f->sub; j++) {
                isum += code_value(f, c.q[s * f->sub + j]) * x[j];
                xsum += x[j];
            }
            sum += f16_to_f32(c.d) * (float)c.sc[s] * sx * (float)isum;
            if (f->minima) sum -= f16_to_f32(c.dmin) * (float)c.mn[s] * (sx * (float)xsum);
        }
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

/* Packed as they come: floats [n, d]; or q [n, d], then scales [n, d/group]. */
static size_t packed_bytes(size_t n, size_t d, int group) {
    return group ? ((n * d + 3) & ~(size_t)3) + n * (d / (size_t)group) * sizeof(float) : n * d * sizeof(float);
}

static float *packed_scale(const void *data, size_t n, size_t d, int group, size_t t) {
    return (float *)((uintptr_t)data + ((n * d + 3) & ~(size_t)3)) + t * (d / (size_t)group);
}

static void pack(void *out, const float *x, size_t n, size_t d, int group, size_t t) {
    if (group) kernels_ref.quantize((int8_t *)out + t * d, packed_scale(out, n, d, group, t), x, d, group);
    else memcpy((float *)out + t * d, x, d * sizeof *x);
}

static float dot_row(const Matrix *w, size_t r, const Activations *a, size_t t) {
    if (!a->group) return dot_float(w, r, (const float *)a->data + t * a->d);
    const int8_t *q = (const int8_t *)a->data + t * a->d;
    const float *scale = packed_scale(a->data, a->n, a->d, a->group, t);
    if (w->type == TENSOR_I8_GROUPS) return dot_groups(w, r, q, scale);
    const QuantFormat *f = quant_format(w->type);
    return dot_blocks(f, (const uint8_t *)w->data + r * (w->cols / (size_t)f->block) * (size_t)f->bytes, q, scale, w->cols);
}

static void matmul(float *y, size_t ldy, const Activations *a, const Matrix *w, size_t r0, size_t r1) {
    for (size_t r = r0; r < r1; r++)
        for (size_t t = 0; t < a->n; t++) y[t * ldy + r] = dot_row(w, r, a, t);
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
    .packed_bytes = packed_bytes,
    .pack = pack,
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
