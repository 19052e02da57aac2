/* kernels/arm/neon_cache.h - the cache's numbers for the NEON rows: cache_tiles.h. The file that includes it defines
 * dot_four. */
#ifndef NEON_CACHE_H
#define NEON_CACHE_H

#include "neon.h"
#include "neon_vectors.h"

enum { MOST_ROWS = 4, KEYS_OFF_128 = 0 };
typedef struct {
    int8x16_t half[2];
} Line;
typedef Line Keys;

#include "kernels/cache_tiles.h"

/* Lane by lane: sum + the products of four bytes. */
INLINE int32x4_t dot_four(int32x4_t sum, int8x16_t a, int8x16_t b);

INLINE Line line_load(const uint8_t *p) {
    return (Line){{vreinterpretq_s8_u8(vld1q_u8(p)), vreinterpretq_s8_u8(vld1q_u8(p + 16))}};
}

INLINE Line line_all(const int8_t *p) {
    int8x16_t all = broadcast4(p);
    return (Line){{all, all}};
}

INLINE float32x4_t byte_of(int8x16_t v, int i) {
    int32x4_t up = vshlq_s32(vreinterpretq_s32_s8(v), vdupq_n_s32(24 - 8 * i));
    return vcvtq_f32_s32(vshrq_n_s32(up, 24));
}

INLINE Vec line_floats(Line v, int i) { return (Vec){byte_of(v.half[0], i), byte_of(v.half[1], i)}; }

INLINE Keys keys_of(Line k) { return k; }
INLINE Ints dot_keys(Ints sum, Keys k, Line q) {
    return (Ints){{dot_four(sum.half[0], k.half[0], q.half[0]), dot_four(sum.half[1], k.half[1], q.half[1])}};
}
INLINE Ints dot_values(Ints sum, Line w, Line v) { return dot_keys(sum, w, v); }

INLINE size_t strips_at_once(size_t rows) { return 4 / rows; }
INLINE void weight_bytes(int Q, int8_t (*q)[WEIGHTS], float *scale, const WeightsJob *job) {
    weight_bytes_by(neon_quantize, Q, q, scale, job);
}

#endif
