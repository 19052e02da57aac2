/* kernels/block_activations.h - activations made blocks of bytes (MatmulKernels.quantize, and ActBlocks of panel.h),
 * whatever the width of a vector. A row has `typedef .. Bytes32`, 32 bytes, before it includes this, and defines the
 * functions declared first. */
#ifndef BLOCK_ACTIVATIONS_H
#define BLOCK_ACTIVATIONS_H

#include "inline.h"
#include "kernels.h"
#include "panel.h"

/* Of n, a multiple of 32: the largest of the bit patterns without their sign, which are ordered as magnitudes are, with
 * infinity and then NaN on top: neither is lost. */
INLINE float largest_magnitude(const float *x, size_t n);
INLINE Bytes32 no_bytes(void);
INLINE Bytes32 to_bytes(const float *x, float per); /* x * per, to the nearest whole number, halves to even */
INLINE void store_bytes(int8_t *q, Bytes32 v);
INLINE void store_sums(ActBlock *out, float scale, Bytes32 v, int pairs); /* all but q; pairs: minus sums in two */

/* 32 activations as bytes; zeros where the scale is 0 or NaN. */
INLINE Bytes32 block_bytes(const float *x, float per) { return per == 0 ? no_bytes() : to_bytes(x, per); }

INLINE void quantize_groups(int8_t *q, float *scale, const float *x, size_t d, int group) {
    if (group % Q_BLOCK) {
        ref_matmul.quantize(q, scale, x, d, group);
        return;
    }
    for (size_t i = 0; i < d; i += (size_t)group) {
        float per = bytes_scale(scale++, largest_magnitude(x + i, (size_t)group));
        for (size_t j = i; j < i + (size_t)group; j += Q_BLOCK) store_bytes(q + j, block_bytes(x + j, per));
    }
}

/* A token's x [d], group a multiple of 32, to blocks `stride` apart. pairs: sums begin as two of 16 bits. */
INLINE void quantize_blocks(ActBlock *out, size_t stride, const float *x, size_t d, int group, int pairs) {
    float scale = 0, per = 0;
    for (size_t i = 0; i < d; i += Q_BLOCK, out += stride) {
        if (i % (size_t)group == 0) per = bytes_scale(&scale, largest_magnitude(x + i, (size_t)group));
        Bytes32 q = block_bytes(x + i, per);
        store_sums(out, scale, q, pairs);
        store_bytes(out->q, q);
    }
}

#endif
