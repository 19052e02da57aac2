/* kernels/neon.h - what the two NEON rows share. Contracts: kernels.h. */
#ifndef NEON_H
#define NEON_H

#include "kernels.h"
#include "panel.h"

/* Rows of a panel; tokens of the widest tile, block formats and floats. */
enum { NEON_LANES = 8, NEON_BLOCKS = 4, NEON_FLOATS = 6 };

/* matmul for float weights (neon_floats.c; 0: these are none, and nothing was done), and for all without the dot-product extension
 * (neon_matmul.c). */
int neon_matmul_floats(float *y, size_t ldy, const Activations *a, const Matrix *w, size_t r0, size_t r1);
void neon_matmul(float *y, size_t ldy, const Activations *a, const Matrix *w, size_t r0, size_t r1);
size_t neon_packed_bytes(size_t n, size_t d, int group);
void neon_pack(void *out, const float *x, size_t n, size_t d, int group, size_t t);
void neon_quantize(int8_t *q, float *scale, const float *x, size_t d, int group);
void neon_rmsnorm(float *y, const float *x, const float *w, size_t n, float eps);
void neon_layernorm(float *y, const float *x, const float *w, const float *b, size_t n, float eps);
void neon_silu_mul(float *gate, const float *up, size_t n);
void neon_activate(float *x, size_t n, Activation a);
void neon_rotate(float *x, const float *c, const float *s, int rotary_dim, RopePairing pairing);
void neon_scores(float *s, const float *q, size_t n, Numbers k, size_t head_dim, size_t groups, Soon soon);
void neon_softmax(float *s, const Span *spans, Running *run, size_t n);
void neon_mix(float *acc, size_t lda, const float *p, const Span *spans, const Running *run, size_t n, Numbers v, size_t ldv,
              size_t width, Soon soon);
void neon_narrow(uint16_t *out, const float *x, size_t n);
void neon_widen(float *out, const uint16_t *x, size_t n);
void neon_widen_q8(float *out, const uint16_t *scales, const int8_t *q, size_t n, size_t lanes);
void neon_state_step(double *out, double *S, size_t rows, const double *b, const float *v, const double *a, size_t n, size_t lda);
void neon_exp64(double *x, size_t n);

#endif
