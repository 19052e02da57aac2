/* kernels/panel_codes.h - reading a panel's codes and scales (panel.h), whatever the width of a vector: which plane
 * holds which bits. A row has its vectors (vectors.h) and `typedef .. Line`, a line of a panel, before it includes
 * this, and defines the functions declared first. */
#ifndef PANEL_CODES_H
#define PANEL_CODES_H

#include "inline.h"
#include "panel.h"

/* What codes stand for, where that is no straight line: a table of sixteen. */
enum { VALUES_IQ4 = 1, VALUES_MXFP4, VALUES_IQ1, VALUES_IQ2, VALUES_IQ3_XXS, VALUES_IQ3_S, VALUES_TQ, VALUES_Q1,
       N_VALUES };

INLINE const int8_t *value_table(int values) {
    static const int8_t *const tables[N_VALUES] = {
        [VALUES_IQ4] = iq4_values, [VALUES_MXFP4] = mxfp4_values, [VALUES_IQ1] = iq1_values, [VALUES_IQ2] = iq2_values,
        [VALUES_IQ3_XXS] = iq3_xxs_values, [VALUES_IQ3_S] = iq3_s_values, [VALUES_TQ] = tq_values,
        [VALUES_Q1] = q1_values};
    return tables[values];
}

/* A block format as constants: shift = log2 of its zero, 0: none. super: K formats, whose scales are d * sc, and d is
 * divided by 2^halvings; otherwise 2^together blocks share d. wide: scales are bfloat16; mini: floats of 8 bits, times
 * a row's own. */
typedef struct {
    int bits, sub, shift, minima, super, values, groups, wide, halvings, together, mini;
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

/* Eight blocks' d, a row a lane. */
INLINE Vec super_d(Form f, const uint8_t *d) {
    Vec half = vec_load_half(d);
    return f.halvings ? vec_mul(half, vec_all(1.0f / (float)(1 << f.halvings))) : half;
}

/* Scales (or minima) of sub-block h of block b, a row a lane: d and sc begin at these offsets. */
INLINE Vec scales_at(Form f, const uint8_t *panel, size_t d, size_t sc, size_t b, int h) {
    if (f.groups) return vec_load(panel + d + b * 4 * VEC);
    if (f.wide) return vec_load_bf16(panel + d + b * 2 * VEC);
    size_t i = b * (size_t)(Q_BLOCK / f.sub) + (size_t)h;
    if (f.mini) return vec_mul(vec_load(panel + d), vec_load_mini(panel + sc + i * VEC));
    if (!f.super) return vec_load_half(panel + d + (b >> f.together) * 2 * VEC);
    return vec_mul(super_d(f, panel + d + b / 8 * 2 * VEC), vec_load_bytes(panel + sc + i * VEC));
}

#endif
