/* rope/rope.c - rotary position embedding, the reference: RoFormer section 3.2.2, in the order of README.md. */
#include "rope.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>

/* ---- frequencies ---- */

void rope_init(Rope *r, const RopeConfig *c, int64_t n) {
    r->rotary_dim = c->rotary_dim;
    r->choice = rope_choice(c, n);
    r->angle = c->angle;
    for (int i = 0; i < c->rotary_dim / 2; i++)
        r->inv_freq[i] = pow(c->theta, -2.0 * i / c->rotary_dim); /* eq. 15: theta_i */
    r->scale = c->scaling->fill ? c->scaling->fill(r->inv_freq, c, r->choice) : 1;
}

int64_t rope_choice(const RopeConfig *c, int64_t n) {
    return c->scaling->choice ? c->scaling->choice(c, n) : 0;
}

/* ---- angles ---- */

/* Why double: a float has 24 bits. At position 131071 the first pair's angle would be off by 4e-3 rad, and the model
 * would read a slightly different position. Rounding comes last, when cos and sin are known. */
void rope_row64(const Rope *r, int64_t pos, double *c, double *s) {
    for (int i = 0; i < r->rotary_dim / 2; i++) {
        double angle = (double)pos * r->inv_freq[i]; /* m theta_i, the angles in the matrix of eq. 15 */
        if (r->angle) angle = r->angle(r, pos, i);
        c[i] = cos(angle) * r->scale;
        s[i] = sin(angle) * r->scale;
    }
}

void rope_row(const Rope *r, int64_t pos, float *c, float *s) {
    double c64[ROPE_MAX_PAIRS], s64[ROPE_MAX_PAIRS];
    rope_row64(r, pos, c64, s64);
    for (int i = 0; i < r->rotary_dim / 2; i++) {
        c[i] = (float)c64[i];
        s[i] = (float)s64[i];
    }
}

/* ---- the rotation ---- */

/* eq. 34: the matrix of eq. 15 times x, entry by entry; its zeros are never multiplied. step: from one pair to the
 * next, gap: from a pair's first entry to its second. */
void rope_rotate(float *x, const float *c, const float *s, int rotary_dim, RopePairing pairing) {
    int half = rotary_dim / 2, step = pairing == ROPE_HALF ? 1 : 2, gap = pairing == ROPE_HALF ? half : 1;
    for (int i = 0; i < half; i++) {
        float *a = x + (size_t)i * step, *b = a + gap;
        float a0 = *a, b0 = *b;
        *a = a0 * c[i] - b0 * s[i]; /* | cos -sin | |a|            */
        *b = a0 * s[i] + b0 * c[i]; /* | sin  cos | |b|   eq. 13   */
    }
}

void rope_rotate64(double *x, const double *c, const double *s, int rotary_dim, RopePairing pairing) {
    int half = rotary_dim / 2, step = pairing == ROPE_HALF ? 1 : 2, gap = pairing == ROPE_HALF ? half : 1;
    for (int i = 0; i < half; i++) {
        double *a = x + (size_t)i * step, *b = a + gap;
        double a0 = *a, b0 = *b;
        *a = a0 * c[i] - b0 * s[i];
        *b = a0 * s[i] + b0 * c[i];
    }
}

/* ---- settings ---- */

int rope_check(const RopeConfig *c, char *err, size_t errlen) {
    const char *why = !isfinite(c->theta) ? "a setting is not a finite number" : "rope_theta must be above 0";
    if (c->rotary_dim < 2 || c->rotary_dim % 2 || c->rotary_dim / 2 > ROPE_MAX_PAIRS)
        snprintf(err, errlen, "rope: rotary_dim is %d, it must be even, from 2 to %d", c->rotary_dim,
                 2 * ROPE_MAX_PAIRS);
    else if (!(c->theta > 0) || isinf(c->theta)) snprintf(err, errlen, "rope method %s: %s", c->scaling->name, why);
    else return c->scaling->check ? c->scaling->check(c, err, errlen) : 0;
    return -EINVAL;
}
