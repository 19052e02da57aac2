/* kernels/avx2.h - what the AVX2 row lends to the AVX-512 rows. Contracts: kernels.h. */
#ifndef AVX2_H
#define AVX2_H

#include "kernels.h"
#include "panel.h"

void avx2_matmul(float *y, size_t ldy, const Activations *a, const Matrix *w, size_t r0, size_t r1);
size_t avx2_packed_bytes(size_t n, size_t d, int group);
void avx2_pack(void *out, const float *x, size_t n, size_t d, int group, size_t t);
void avx2_quantize(int8_t *q, float *scale, const float *x, size_t d, int group);
/* A token's x [d], group a multiple of 32, to blocks `stride` apart. */
void avx2_pack_blocks(ActBlock *out, size_t stride, const float *x, size_t d, int group);
void avx2_rmsnorm(float *y, const float *x, const float *w, size_t n, float eps);
void avx2_layernorm(float *y, const float *x, const float *w, const float *b, size_t n, float eps);
void avx2_silu_mul(float *gate, const float *up, size_t n);
void avx2_activate(float *x, size_t n, Activation a);
void avx2_rotate(float *x, const float *c, const float *s, int rotary_dim, RopePairing pairing);
/* avx2_attention.c */
void avx2_scores(float *s, const float *q, size_t n, Numbers k, size_t head_dim, size_t groups, Soon soon);
void avx2_softmax(float *s, const Span *spans, Running *run, size_t n);
void avx2_mix(float *acc, size_t lda, const float *p, const Span *spans, const Running *run, size_t n, Numbers v, size_t ldv,
              size_t width, Soon soon);
void avx2_narrow(uint16_t *out, const float *x, size_t n);
void avx2_widen(float *out, const uint16_t *x, size_t n);
void avx2_widen_q8(float *out, const uint16_t *scales, const int8_t *q, size_t n, size_t lanes);
void avx2_state_step(double *out, double *S, size_t rows, const double *b, const float *v, const double *a, size_t n, size_t lda);
void avx2_exp64(double *x, size_t n);

#endif
