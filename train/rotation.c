/* train/rotation.c - RoPE backward. y = R x with R orthogonal: dx = R^T dy, the rotation by the negative angle. And a
 * pair's y turns with its angle as (-y_1, y_0) does, so the loss grows with the angle by dy_1 y_0 - dy_0 y_1. */
#include "parts.h"

/* A head's pairs by their magnitudes. */
static void grow(float *x, const float *by, const Turning *r) {
    size_t half = (size_t)r->rotary_dim / 2, step = r->pairing == ROPE_HALF ? 1 : 2,
           other = r->pairing == ROPE_HALF ? half : 1;
    for (size_t i = 0; i < half; i++) x[i * step] *= by[i], x[i * step + other] *= by[i];
}

/* back: what comes last comes first, and the sine is taken negative. */
void rotate_heads(Work *k, float *x, const Turning *r, TurningSide side, size_t n, size_t heads, int back) {
    size_t half = (size_t)r->rotary_dim / 2;
    float negative[ROPE_MAX_PAIRS];
    for (Share t = team_share(&k->team, n); t.at < t.end; t.at++) {
        const float *c = r->cos + t.at % r->length * half, *s = r->sin + t.at % r->length * half;
        for (size_t i = 0; back && i < half; i++) negative[i] = -s[i];
        const float *by = r->grow[side] ? r->grow[side] + t.at % r->length * half : NULL;
        for (size_t h = 0; h < heads; h++) {
            float *head = x + (t.at * heads + h) * r->head_dim;
            if (by && back) grow(head, by, r);
            k->kernels->vec->rotate(head, c, back ? negative : s, r->rotary_dim, r->pairing);
            if (by && !back) grow(head, by, r);
        }
    }
    team_wait(&k->team);
}

void rotate_frequencies(Work *k, double *g, const float *y, const float *dy, const Turning *r, size_t n, size_t heads) {
    size_t half = (size_t)r->rotary_dim / 2, step = r->pairing == ROPE_HALF ? 1 : 2,
           other = r->pairing == ROPE_HALF ? half : 1;
    for (Share i = team_share(&k->team, half); i.at < i.end; i.at++)
        for (size_t t = 0; t < n; t++) {
            double turned = 0;
            for (size_t h = 0; h < heads; h++) {
                size_t at = (t * heads + h) * r->head_dim + i.at * step;
                turned += dy[at + other] * y[at] - dy[at] * y[at + other];
            }
            g[i.at] += (double)(t % r->length) * turned;
        }
    team_wait(&k->team);
}
