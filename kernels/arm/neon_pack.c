/* kernels/arm/neon_pack.c - activations for the NEON rows: quantized, and packed in the order in which matmul reads them. */
#include "neon.h"
#include "neon_vectors.h"

#include <math.h>

/* The scale of n activations (a multiple of 32) as ref finds it: the largest bit pattern without its sign, one division. Returns
 * what x is multiplied by; 0 where all q are 0. */
INLINE float group_scale(float *scale, const float *x, size_t n) {
    uint32x4_t top = vdupq_n_u32(0);
    for (size_t j = 0; j < n; j += 4) top = vmaxq_u32(top, vreinterpretq_u32_f32(vabsq_f32(vld1q_f32(x + j))));
    uint32_t bits = vmaxvq_u32(top);
    float amax;
    memcpy(&amax, &bits, 4);
    float per = amax >= 1e-30f && amax <= 3.4028234e38f ? 127 / amax : 0;
    *scale = amax < 1e-30f ? 0 : per > 0 ? amax / 127 : NAN;
    return per;
}

INLINE int16x8_t quantize8(const float *x, float per) {
    int32x4_t lo = vcvtnq_s32_f32(vmulq_n_f32(vld1q_f32(x), per)), hi = vcvtnq_s32_f32(vmulq_n_f32(vld1q_f32(x + 4), per));
    return vcombine_s16(vmovn_s32(lo), vmovn_s32(hi));
}

/* 16 activations as bytes; per = 0 makes zeros of infinities and NaN too. */
INLINE int8x16_t quantize16(const float *x, float per) {
    if (per == 0) return vdupq_n_s8(0);
    return vcombine_s8(vmovn_s16(quantize8(x, per)), vmovn_s16(quantize8(x + 8, per)));
}

void neon_quantize(int8_t *q, float *scale, const float *x, size_t d, int group) {
    if (group % Q_BLOCK) {
        ref_matmul.quantize(q, scale, x, d, group);
        return;
    }
    for (size_t i = 0; i < d; i += (size_t)group) {
        float per = group_scale(scale++, x + i, (size_t)group);
        for (size_t j = i; j < i + (size_t)group; j += 16) vst1q_s8(q + j, quantize16(x + j, per));
    }
}

/* A token's x [d] to blocks `stride` apart. */
static void pack_blocks(ActBlock *out, size_t stride, const float *x, size_t d, int group) {
    float scale = 0, per = 0;
    for (size_t i = 0; i < d; i += Q_BLOCK, out += stride) {
        if (i % (size_t)group == 0) per = group_scale(&scale, x + i, (size_t)group);
        int8x16_t q0 = quantize16(x + i, per), q1 = quantize16(x + i + 16, per);
        int low = vaddlvq_s8(q0), high = vaddlvq_s8(q1);
        *out = (ActBlock){.scale = scale, .minus_sum = -(low + high), .minus_half = {-low, -high}};
        out->scaled_sum = scale * (float)(low + high);
        out->scaled_half[0] = scale * (float)low, out->scaled_half[1] = scale * (float)high;
        vst1q_s8(out->q, q0);
        vst1q_s8(out->q + 16, q1);
    }
}

size_t neon_packed_bytes(size_t n, size_t d, int group) { return panel_packed_bytes(n, d, group, NEON_LANES); }

void neon_pack(void *out, const float *x, size_t n, size_t d, int group, size_t t) {
    TokenTile tile = token_tile(t, n, NEON_BLOCKS);
    size_t blocks = d / Q_BLOCK;
    if (group == 0) pack_floats(out, x, n, d, t, NEON_LANES, NEON_FLOATS);
    else if (group % Q_BLOCK) ref_matmul.pack(out, x, n, d, group, t);
    else pack_blocks((ActBlock *)out + tile.first * blocks + (t - tile.first), tile.n, x, d, group);
}
