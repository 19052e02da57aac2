/* kernels/arm/neon_attention.c - attention for the NEON rows: attention_tiles.h, softmax_rows.h, state_tiles.h. */
#include "neon.h"
#include "neon_vectors.h"
#include "kernels/attention_tiles.h"
#include "kernels/softmax_rows.h"
#include "kernels/state_tiles.h"
#include "kernels/delta_tiles.h"

/* 6 queries x 16 columns, 2 x 32 or 1 x 64: 24 or 16 of the 32 registers are sums. */
INLINE size_t groups_at_once(size_t rows) { return rows == 1 ? 4 : rows == 2 ? 2 : 1; }

INLINE Vec vec_max_seen(Vec max, Vec x) { return (Vec){vmaxnmq_f32(max.lo, x.lo), vmaxnmq_f32(max.hi, x.hi)}; }
INLINE float vec_first(Vec v) { return vgetq_lane_f32(v.lo, 0); }
INLINE float vec_largest(Vec v) { return vmaxnmvq_f32(vmaxnmq_f32(v.lo, v.hi)); }

/* vec_inside for slots t .. t+3. */
INLINE float32x4_t inside4(float32x4_t x, int t, Span span) {
    static const int32_t lane[4] = {0, 1, 2, 3};
    int32x4_t at = vaddq_s32(vdupq_n_s32(t), vld1q_s32(lane));
    uint32x4_t inside = vandq_u32(vcgeq_s32(at, vdupq_n_s32(span.lo)), vcltq_s32(at, vdupq_n_s32(span.hi)));
    return vbslq_f32(inside, x, vdupq_n_f32(-INFINITY));
}

INLINE Vec vec_inside(Vec x, int t, Span span) { return (Vec){inside4(x.lo, t, span), inside4(x.hi, t + 4, span)}; }

const AttentionKernels neon_attention = {
    .scores = scores, .rotate = rotate, .softmax = softmax, .mix = mix, .state_step = state_step, .delta = delta};
