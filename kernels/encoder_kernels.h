/* kernels/encoder_kernels.h - the group of functions (kernels.h) that RoFormer's layers have in the place of rmsnorm
 * and silu_mul. */
#ifndef ENCODER_KERNELS_H
#define ENCODER_KERNELS_H

#include "kernels.h"

/* The functions between two matrices of a feed-forward network that has no gate. */
typedef enum {
    ACTIVATION_GELU,      /* x Phi(x) = x/2 (1 + erf(x / sqrt 2)); Hendrycks and Gimpel, arXiv:1606.08415 */
    ACTIVATION_GELU_TANH, /* its approximation there: x/2 (1 + tanh(sqrt(2/pi) (x + 0.044715 x^3))) */
    ACTIVATION_RELU,      /* max(x, 0) */
    ACTIVATION_SILU,      /* x / (1 + e^-x); also called swish */
    ACTIVATION_QUICK_GELU, /* x / (1 + e^-1.702x); as the rest, from transformers' activations.py: */
    ACTIVATION_GELU_10,   /* GELU, at most 10 */
    ACTIVATION_RELU2, ACTIVATION_RELU6, ACTIVATION_LEAKY_RELU, /* max(x, 0)^2; at most 6; x/100 on the left side */
    ACTIVATION_TANH, ACTIVATION_SIGMOID, ACTIVATION_LINEAR,
    ACTIVATION_MISH,      /* x tanh(ln(1 + e^x)) */
    ACTIVATION_HARDSWISH, /* x min(max(x + 3, 0), 6) / 6 */
    ACTIVATION_LAPLACE,   /* Phi of a normal distribution around 0.707107 of width 0.282095 */
} Activation;

typedef struct EncoderKernels {
    /* y[i] = (x[i] - mean(x)) / sqrt(mean((x - mean(x))^2) + eps) * w[i] + b[i]; [n]; y may be x. arXiv:1607.06450. */
    void (*layernorm)(float *y, const float *x, const float *w, const float *b, size_t n, float eps);

    /* x [n] in place. */
    void (*activate)(float *x, size_t n, Activation a);
} EncoderKernels;

extern const EncoderKernels ref_encoder; /* ref_encoder.c: the specification */

#endif
