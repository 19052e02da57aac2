/* rope/rope.c - rotary position embedding, the reference: RoFormer section 3.2.2, in the order of the chapter (README.md). */
#include "rope.h"

#include <math.h>

void rope_init(Rope *r, const RopeConfig *c, int64_t n) {
    r->rotary_dim = c->rotary_dim;
    r->choice = rope_choice(c, n);
    r->scale = c->scaling->fill(r->inv_freq, c, r->choice);
    if (c->attention_multiplier > 0) r->scale *= c->attention_multiplier;
    for (int i = 0; i < c->n_divisors; i++) r->inv_freq[i] /= c->divisors[i];
}

int64_t rope_choice(const RopeConfig *c, int64_t n) {
    return c->scaling->keys == ROPE_KEYS_BY_LENGTH ? c->scaling->choice(c, n) : 0;
}

/* Why double: a float has 24 bits. At position 131071 the first pair's angle would be off by 4e-3 rad, and the model would
 * read a slightly different position. Rounding comes last, when cos and sin are known. */
void rope_row64(const Rope *r, int64_t pos, double *c, double *s) {
    for (int i = 0; i < r->rotary_dim / 2; i++) {
        double angle = (double)pos * r->inv_freq[i]; /* m * theta_i */
        c[i] = cos(angle) * r->scale;
        s[i] = sin(angle) * r->scale;
    }
}

void rope_row(const Rope *r, int64_t pos, float *c, float *s) {
    double c64[ROPE_MAX_PAIRS], s64[ROPE_MAX_PAIRS];
    rope_row64(r, pos, c64, s64);
    for (int i = 0; i < r->rotary_dim / 2; i++) c[i] = (float)c64[i], s[i] = (float)s64[i];
}

/* The two entries of pair i of x, and the next pair a step further. */
static void pairs(RopePairing pairing, int half, int *step, int *gap) {
    *step = pairing == ROPE_INTERLEAVED ? 2 : 1;   /* from one pair to the next */
    *gap = pairing == ROPE_INTERLEAVED ? 1 : half; /* from a pair's first entry to its second */
}

void rope_rotate(float *x, const float *c, const float *s, int rotary_dim, RopePairing pairing) {
    int half = rotary_dim / 2, step, gap;
    pairs(pairing, half, &step, &gap);
    for (int i = 0; i < half; i++) {
        float *a = x + (size_t)i * step, *b = a + gap;
        float a0 = *a, b0 = *b;
        *a = a0 * c[i] - b0 * s[i]; /* | cos -sin | |a|            */
        *b = a0 * s[i] + b0 * c[i]; /* | sin  cos | |b|   eq. 34   */
    }
}

void rope_rotate64(double *x, const double *c, const double *s, int rotary_dim, RopePairing pairing) {
    int half = rotary_dim / 2, step, gap;
    pairs(pairing, half, &step, &gap);
    for (int i = 0; i < half; i++) {
        double *a = x + (size_t)i * step, *b = a + gap;
        double a0 = *a, b0 = *b;
        *a = a0 * c[i] - b0 * s[i];
        *b = a0 * s[i] + b0 * c[i];
    }
}
