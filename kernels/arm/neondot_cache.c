/* kernels/arm/neondot_cache.c - neon_cache.h with the dot-product extension. */
#include "neon_cache.h"

INLINE int32x4_t dot_four(int32x4_t sum, int8x16_t a, int8x16_t b) { return vdotq_s32(sum, a, b); }

const CacheKernels neondot_cache = {
    .narrow = narrow, .widen = widen, .widen_keys = widen_keys, .scores_q8 = scores_q8, .mix_q8 = mix_q8};
