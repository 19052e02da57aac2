/* kernels/ref.c - the reference row: what every kernel computes, written to be read. It really runs (--kernels ref);
 * the fast rows are tested against it. ref_attention.c, ref_encoder.c and ref_cache.c go on.
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
const VectorKernels ref_vector = {.rmsnorm = rmsnorm, .silu_mul = silu_mul, .rotate = rope_rotate, .exp64 = exp64};
