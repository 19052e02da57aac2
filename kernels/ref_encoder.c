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

static float at_most(float x, float most) { return x > most ? most : x; }

static float activation(float x, Activation a) {
    switch (a) {
    case ACTIVATION_GELU: return 0.5f * x * erfcf(-0.70710678f * x); /* 1 + erf(u) = erfc(-u), which does not cancel */
    case ACTIVATION_GELU_TANH: /* (1 + tanh u)/2 = 1/(1 + e^-2u) */
        return x / (1 + expf(-1.5957691f * (x + 0.044715f * x * x * x)));
    case ACTIVATION_RELU: return x < 0 ? 0 : x; /* NaN stays */
    case ACTIVATION_QUICK_GELU: return x / (1 + expf(-1.702f * x));
    case ACTIVATION_GELU_10: return at_most(activation(x, ACTIVATION_GELU), 10);
    case ACTIVATION_RELU2: return x < 0 ? 0 : x * x;
    case ACTIVATION_RELU6: return at_most(x < 0 ? 0 : x, 6);
    case ACTIVATION_LEAKY_RELU: return x < 0 ? 0.01f * x : x;
    case ACTIVATION_TANH: return tanhf(x);
    case ACTIVATION_SIGMOID: return 1 / (1 + expf(-x));
    case ACTIVATION_LINEAR: return x;
    case ACTIVATION_MISH: return x > 20 ? x : x * tanhf(log1pf(expf(x)));
    case ACTIVATION_HARDSWISH: return x <= -3 ? 0 : x * at_most(x + 3, 6) / 6;
    case ACTIVATION_LAPLACE: return 0.5f * erfcf(-(x - 0.707107f) / (0.282095f * 1.41421356f));
    default: return x / (1 + expf(-x)); /* ACTIVATION_SILU */
    }
}

static void activate(float *x, size_t n, Activation a) {
    for (size_t i = 0; i < n; i++) x[i] = activation(x[i], a);
}

const EncoderKernels ref_encoder = {.layernorm = layernorm, .activate = activate};
