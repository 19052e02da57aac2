/* kernels/ref_encoder.c - the reference of what RoFormer's layers have in the place of rmsnorm and silu_mul. */
#include "encoder_kernels.h"

#include <math.h>

/* y = (x - mean) / sqrt(mean (x - mean)^2 + eps) * w + b */
static void layernorm(float *y, const float *x, const float *w, const float *b, size_t n, float eps) {
    float lane[REF_LANES] = {0}, square[REF_LANES] = {0};
    for (size_t i = 0; i < n; i++) lane[i % REF_LANES] += x[i];
    float mean = ref_fold(lane) / (float)n;
    for (size_t i = 0; i < n; i++) square[i % REF_LANES] += (x[i] - mean) * (x[i] - mean);
    float r = 1 / sqrtf(ref_fold(square) / (float)n + eps);
    for (size_t i = 0; i < n; i++) y[i] = (x[i] - mean) * r * w[i] + b[i];
}

static float activation(float x, Activation a) {
    switch (a) {
    case ACTIVATION_GELU: return 0.5f * x * erfcf(-0.70710678f * x); /* 1 + erf(u) = erfc(-u), which does not cancel */
    case ACTIVATION_GELU_TANH: /* (1 + tanh u)/2 = 1/(1 + e^-2u) */
        return x / (1 + expf(-1.5957691f * (x + 0.044715f * x * x * x)));
    case ACTIVATION_RELU: return x < 0 ? 0 : x; /* NaN stays */
    default: return x / (1 + expf(-x));
    }
}

static void activate(float *x, size_t n, Activation a) {
    for (size_t i = 0; i < n; i++) x[i] = activation(x[i], a);
}

const EncoderKernels ref_encoder = {.layernorm = layernorm, .activate = activate};
