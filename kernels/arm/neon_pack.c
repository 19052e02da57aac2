/* kernels/arm/neon_pack.c - activations for the NEON rows: quantized (block_activations.h), and packed in the order in
 * which matmul reads them. */
#include "neon.h"
#include "neon_vectors.h"

typedef int8x16x2_t Bytes32;

#include "kernels/block_activations.h"

INLINE float largest_magnitude(const float *x, size_t n) {
    uint32x4_t top = vdupq_n_u32(0);
    for (size_t j = 0; j < n; j += 4) top = vmaxq_u32(top, vreinterpretq_u32_f32(vabsq_f32(vld1q_f32(x + j))));
    uint32_t bits = vmaxvq_u32(top);
    float amax;
    memcpy(&amax, &bits, 4);
    return amax;
}

INLINE int8x8_t to_bytes8(const float *x, float per) {
    int32x4_t lo = vcvtnq_s32_f32(vmulq_n_f32(vld1q_f32(x), per));
    int32x4_t hi = vcvtnq_s32_f32(vmulq_n_f32(vld1q_f32(x + 4), per));
    return vmovn_s16(vcombine_s16(vmovn_s32(lo), vmovn_s32(hi)));
}

INLINE Bytes32 no_bytes(void) { return (Bytes32){{vdupq_n_s8(0), vdupq_n_s8(0)}}; }

INLINE Bytes32 to_bytes(const float *x, float per) {
    int8x16_t low = vcombine_s8(to_bytes8(x, per), to_bytes8(x + 8, per));
    return (Bytes32){{low, vcombine_s8(to_bytes8(x + 16, per), to_bytes8(x + 24, per))}};
}

INLINE void store_bytes(int8_t *q, Bytes32 v) {
    vst1q_s8(q, v.val[0]);
    vst1q_s8(q + 16, v.val[1]);
}

INLINE void store_sums(ActBlock *out, float scale, Bytes32 v, int pairs) {
    int first = vaddlvq_s8(v.val[0]), last = vaddlvq_s8(v.val[1]);
    (void)pairs; /* these rows have no sums of 16 bits */
    *out = (ActBlock){.scale = scale, .scaled_sum = scale * (float)(first + last),
                      .scaled_half = {scale * (float)first, scale * (float)last},
                      .minus_8_sum = {.whole = -8 * (first + last)},
                      .minus_half = {{.whole = -first}, {.whole = -last}}};
}

void neon_quantize(int8_t *q, float *scale, const float *x, size_t d, int group) {
    quantize_groups(q, scale, x, d, group);
}

static void pack_blocks(ActBlock *out, size_t stride, const float *x, size_t d, int group) {
    quantize_blocks(out, stride, x, d, group, 0);
}

static const Packing packing = {.lanes = VEC, .blocks = NEON_BLOCKS, .floats = NEON_FLOATS, .pack_blocks = pack_blocks};

size_t neon_packed_bytes(size_t n, size_t d, int group) { return packing_bytes(&packing, n, d, group); }

void neon_pack(void *out, const float *x, size_t n, size_t d, int group, size_t t) {
    packing_pack(&packing, out, x, n, d, group, t);
}
