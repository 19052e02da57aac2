/* kernels/encode.h - floats into the layouts of kernels/quants.h: what quantize writes.
 *
 *     uint8_t block_row[...];                               n / block * bytes of the type's QuantFormat
 *     if (quant_encode(TENSOR_Q4_K, block_row, x, n)) ...            some of x cannot be held
 *
 * Q8_0, Q4_0, Q4_1, Q5_0, Q5_1, F16 and BF16 give the bytes of ggml's reference quantizer. The K formats, IQ4_NL and
 * IQ4_XS search for scales by least squares, as ggml does, by code of our own: their error is ggml's within 2 %
 * (tests/test_encode.c). */
#ifndef ENCODE_H
#define ENCODE_H

#include "quants.h"

/* 1 where quant_encode writes that GGML type: F32, F16, BF16, Q4_0, Q4_1, Q5_0, Q5_1, Q8_0, Q2_K to Q6_K,
 * IQ4_NL, IQ4_XS. */
int quant_encodes(int type);

/* x [n] into out, n / block * bytes of the type's format; n is a whole number of blocks, out may be unaligned. Returns
 * how much was lost: finite values that became infinite (F16, BF16), or blocks that hold a number that is not finite or
 * too large for a scale in half precision (they become zeros). 0: all is well. Only types that quant_encodes knows.
 * Source: GGML's block layouts. */
size_t quant_encode(int type, void *out, const float *x, size_t n);

#endif
