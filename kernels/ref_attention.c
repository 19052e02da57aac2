/* kernels/ref_attention.c - the reference of what attention in tiles and strips is written with. */
#include "attention_kernels.h"

#include <math.h>
#include <string.h>

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

/* eq. 34, for keys that lie side by side. */
static void rotate(float *out, Numbers k, size_t head_dim, const KeyAngles *a, size_t first, size_t groups) {
    size_t half = (size_t)a->rotary_dim / 2, step = a->pairing == ROPE_HALF ? 1 : 2;
    size_t gap = (a->pairing == ROPE_HALF ? half : 1) * KEY_LANES;
    for (size_t g = 0, at = 0; g < groups; g++, at += head_dim * KEY_LANES) {
        const float *c = a->cos + (first + g) * half * KEY_LANES, *s = a->sin + (first + g) * half * KEY_LANES;
        for (size_t i = 0; i < half * KEY_LANES; i++) {
            size_t x = at + i / KEY_LANES * step * KEY_LANES + i % KEY_LANES, y = x + gap;
            out[x] = number(k, x) * c[i] - number(k, y) * s[i];
            out[y] = number(k, x) * s[i] + number(k, y) * c[i];
        }
        for (size_t i = 2 * half * KEY_LANES; i < head_dim * KEY_LANES; i++) out[at + i] = number(k, at + i);
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

/* S <- g S, S <- S + k (b (v - S^T k))^T, o = S^T q; arXiv:2412.06464, eq. 10. */
static void delta(float *S, size_t ld, size_t rows, size_t columns, size_t n, const DeltaTokens *x) {
    for (size_t t = 0; t < n; t++) {
        const float *q = x->q + t * x->ld_qk, *k = x->k + t * x->ld_qk, *v = x->v + t * x->ld_v;
        float g = x->g[t * x->ld_gb], b = x->b[t * x->ld_gb];
        for (size_t j = 0; j < columns; j++) {
            float known = 0, read = 0; /* what k would read; what q reads */
            for (size_t i = 0; i < rows; i++) known += k[i] * (S[i * ld + j] *= g);
            for (size_t i = 0; i < rows; i++) read += q[i] * (S[i * ld + j] += k[i] * (b * (v[j] - known)));
            x->out[t * x->ld_out + j] = read;
        }
    }
}

const AttentionKernels ref_attention = {
    .scores = scores, .rotate = rotate, .softmax = softmax, .mix = mix, .state_step = state_step, .delta = delta};
