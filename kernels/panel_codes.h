/* kernels/panel_codes.h - reading a panel's codes and scales (panel.h), whatever the width of a vector: which plane
 * holds which bits. A row has its vectors (vectors.h) and `typedef .. Line`, a line of a panel, before it includes
 * this, and defines the functions declared first. */
#ifndef PANEL_CODES_H
#define PANEL_CODES_H

#include "inline.h"
#include "panel.h"

/* What codes stand for, where that is no straight line: a table of sixteen. */
enum { VALUES_IQ4 = 1, VALUES_MXFP4 };

/* A block format as constants: shift = log2 of its zero, 0: none. super: K formats, whose scales are d * sc. wide:
 * scales are bfloat16. */
typedef struct {
    int bits, sub, shift, minima, super, values, groups, wide;
} Form;

INLINE Line line_at(const uint8_t *lines, int j);
INLINE Line no_codes(void); /* zeros */
INLINE Line either(Line a, Line b); /* a | b */
/* The bits of v that `mask` names, moved from bit `from` of each byte to bit `to`. */
INLINE Line field(Line v, int from, int to, int mask);
INLINE Line values_of(int table, Line q); /* what the codes stand for, as the panel would hold bytes */

/* Codes of columns 4j .. 4j+3. */
INLINE Line codes_at(Form f, const uint8_t *lines, int j) {
    if (f.bits == 8) return line_at(lines, j);
    Line q = no_codes();
    int done = 0, line = 0;
    if (f.bits >= 4) {
        q = field(line_at(lines, j % 4), j / 4 * 4, 0, 15);
        line = done = 4;
    }
    if ((f.bits - done) & 2) {
        q = either(q, field(line_at(lines, line + j / 4), j % 4 * 2, done, 3));
        line += 2, done += 2;
    }
    if ((f.bits - done) & 1) q = either(q, field(line_at(lines, line), j, done, 1));
    return f.values ? values_of(f.values, q) : q;
}

/* Scales (or minima) of sub-block h of block b, a row a lane: d and sc begin at these offsets. */
INLINE Vec scales_at(Form f, const uint8_t *panel, size_t d, size_t sc, size_t b, int h) {
    if (f.groups) return vec_load(panel + d + b * 4 * VEC);
    if (f.wide) return vec_load_bf16(panel + d + b * 2 * VEC);
    if (!f.super) return vec_load_half(panel + d + b * 2 * VEC);
    size_t i = b * (size_t)(Q_BLOCK / f.sub) + (size_t)h;
    return vec_mul(vec_load_half(panel + d + b / 8 * 2 * VEC), vec_load_bytes(panel + sc + i * VEC));
}

#endif
