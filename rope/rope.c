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
void rope_row(const Rope *r, int64_t pos, float *c, float *s) {
    for (int i = 0; i < r->rotary_dim / 2; i++) {
        double angle = (double)pos * r->inv_freq[i]; /* m * theta_i */
        c[i] = (float)(cos(angle) * r->scale);
        s[i] = (float)(sin(angle) * r->scale);
    }
}

void rope_rotate(float *x, const float *c, const float *s, int rotary_dim, RopePairing pairing) {
    int half = rotary_dim / 2;
    int step = pairing == ROPE_INTERLEAVED ? 2 : 1;    /* from one pair to the next */
    int gap = pairing == ROPE_INTERLEAVED ? 1 : half;  /* from a pair's first entry to its second */
    for (int i = 0; i < half; i++) {
        float *a = x + (size_t)i * step, *b = a + gap;
        float a0 = *a, b0 = *b;
        *a = a0 * c[i] - b0 * s[i]; /* | cos -sin | |a|            */
        *b = a0 * s[i] + b0 * c[i]; /* | sin  cos | |b|   eq. 34   */
    }
}
