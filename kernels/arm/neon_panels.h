/* kernels/arm/neon_panels.h - reading panels of 8 rows with vectors of 4 rows: panel_codes.h's words. */
#ifndef NEON_PANELS_H
#define NEON_PANELS_H

#include "neon_vectors.h"

typedef int8x16_t Line; /* half a line, four rows: `lines` and 16 bytes behind it are where the halves begin */

#include "kernels/codes.h"
#include "kernels/panel_codes.h"

INLINE Line line_at(const uint8_t *lines, int j) { return vreinterpretq_s8_u8(vld1q_u8(lines + 32 * j)); }
INLINE Line no_codes(void) { return vdupq_n_s8(0); }
INLINE Line either(Line a, Line b) { return vorrq_s8(a, b); }

INLINE Line field(Line v, int from, int to, int mask) {
    uint8x16_t moved = vreinterpretq_u8_s8(v);
    if (from > to) moved >>= vdupq_n_u8((uint8_t)(from - to));
    if (from < to) moved <<= vdupq_n_u8((uint8_t)(to - from));
    return vreinterpretq_s8_u8(vandq_u8(moved, vdupq_n_u8((uint8_t)(mask << to))));
}

INLINE Line values_of(int table, Line q) {
    return vqtbl1q_s8(vld1q_s8(value_table(table)), vreinterpretq_u8_s8(q));
}

#endif
