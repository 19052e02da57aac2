/* kernels/ref.c - the reference row: what every kernel computes, written to be read. It really runs (--kernels ref), and it
 * is what the fast rows are tested against.
 *
 * A long sum goes into LANES partial sums, entry j into lane j % LANES, and these are folded in halves at the end: the
 * rounding errors of a sum of n shrink by about LANES, and a compiler can keep the lanes in vector registers without being
 * allowed to reorder anything. */
#include "kernels.h"

#include "base/base.h"

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
    if (group) ref_matmul.quantize((int8_t *)out + t * d, packed_scale(out, n, d, group, t), x, d, group);
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

static float number(Numbers x, size_t i) {
    return x.half ? f16_to_f32(((const uint16_t *)x.at)[i]) : ((const float *)x.at)[i];
}

static void scores(float *s, const float *q, size_t n, Numbers k, size_t head_dim, size_t groups, Soon soon) {
    (void)soon;
    for (size_t g = 0; g < groups; g++)
        for (size_t j = 0; j < n; j++) {
            float sum[KEY_LANES] = {0};
            for (size_t i = 0; i < head_dim; i++)
                for (int t = 0; t < KEY_LANES; t++) sum[t] += q[j * head_dim + i] * number(k, (g * head_dim + i) * KEY_LANES + (size_t)t);
            memcpy(s + j * SCORE_ROW + g * KEY_LANES, sum, sizeof sum);
        }
}

/* Milakov and Gimelshein, arXiv:1805.02867, algorithm 3, with a block where they have one number. */
static void softmax(float *s, const Span *spans, Running *run, size_t n) {
    for (size_t j = 0; j < n; j++, s += SCORE_ROW) {
        Running *r = &run[j];
        float before = r->max, lane[LANES] = {0};
        r->shrink = 1;
        if (spans[j].lo >= spans[j].hi) continue;
        for (int t = spans[j].lo; t < spans[j].hi; t++) {
            s[t] *= r->scale;
            if (s[t] > r->max) r->max = s[t];
        }
        if (r->max > before) r->shrink = expf(before - r->max);
        for (int t = spans[j].lo; t < spans[j].hi; t++) {
            s[t] = expf(s[t] - r->max); /* at most 1: it cannot overflow */
            lane[t % LANES] += s[t];
        }
        r->sum = r->shrink * r->sum + fold(lane);
    }
}

static void mix(float *acc, size_t lda, const float *p, const Span *spans, const Running *run, size_t n, Numbers v, size_t ldv,
                size_t width, Soon soon) {
    (void)soon;
    for (size_t j = 0; j < n; j++, acc += lda, p += SCORE_ROW) {
        if (run[j].shrink != 1)
            for (size_t i = 0; i < width; i++) acc[i] *= run[j].shrink;
        for (int t = spans[j].lo; t < spans[j].hi; t++)
            for (size_t i = 0; i < width; i++) acc[i] += p[t] * number(v, (size_t)t * ldv + i);
    }
}

/* binary32 to binary16, ties to even: rounding by adding, which carries from fraction to exponent as it should. */
static uint16_t half_of(float x) {
    uint32_t u;
    memcpy(&u, &x, 4);
    uint32_t sign = u >> 16 & 0x8000, magnitude = u & 0x7fffffff;
    if (magnitude > 0x7f800000) return (uint16_t)(sign | 0x7e00 | (magnitude >> 13 & 0x3ff)); /* NaN */
    if (magnitude >= 0x477ff000) return (uint16_t)(sign | 0x7c00);                            /* from 65520 on */
    if (magnitude >= 0x38800000)                                                              /* from 2^-14 on: normal; the bias is 112 less */
        return (uint16_t)(sign | ((magnitude - 0x38000000 + 0xfff + (magnitude >> 13 & 1)) >> 13));
    float f;
    memcpy(&f, &magnitude, 4);
    return (uint16_t)(sign | (uint16_t)rintf(f * 0x1p24f)); /* subnormal: so many 2^-24 */
}

static void narrow(uint16_t *out, const float *x, size_t n) {
    for (size_t i = 0; i < n; i++) out[i] = half_of(x[i]);
}

static void widen(float *out, const uint16_t *x, size_t n) {
    for (size_t i = 0; i < n; i++) out[i] = f16_to_f32(x[i]);
}

static void widen_q8(float *out, const uint16_t *scales, const int8_t *q, size_t n, size_t lanes) {
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < lanes; j++)
            out[i * lanes + j] = f16_to_f32(scales[i / Q_BLOCK * lanes + j]) * (float)q[i * lanes + j];
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

const MatmulKernels ref_matmul = {.matmul = matmul, .packed_bytes = packed_bytes, .pack = pack, .quantize = quantize};

const AttentionKernels ref_attention = {
    .scores = scores, .softmax = softmax, .mix = mix, .narrow = narrow, .widen = widen, .widen_q8 = widen_q8, .state_step = state_step,
};

const VectorKernels ref_vector = {
    .rmsnorm = rmsnorm, .layernorm = layernorm, .silu_mul = silu_mul, .activate = activate, .rotate = rope_rotate, .exp64 = exp64,
};

const Kernels kernels_ref = {.name = "ref", .mat = &ref_matmul, .att = &ref_attention, .vec = &ref_vector};
