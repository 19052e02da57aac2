/* train/feed_forward.c - what stands between a feed-forward network's matrices, and its gradients. With
 * s(x) = 1 / (1 + e^-x):
 *
 *     h = g s(g) u            dg = dh u s(g) (1 + g (1 - s(g)))      du = dh g s(g)
 *     h = x Phi(x)            dx = dh (Phi(x) + x phi(x)),           phi(x) = e^(-x^2/2) / sqrt(2 pi)
 *
 * The first is swiglu_back of kernels/ref_train.c. */
#include "kernels/encoder_kernels.h"
#include "parts.h"

#include <math.h>
#include <string.h>

enum { AT_ONCE = 512 };

/* Numbers first .. first + *n - 1 are this round's. */
static size_t lot(Share *i, size_t all, size_t *n) {
    size_t first = i->at * AT_ONCE;
    *n = all - first < AT_ONCE ? all - first : AT_ONCE;
    return first;
}

static size_t lots(size_t n) { return (n + AT_ONCE - 1) / AT_ONCE; }

void swiglu_forward(Work *k, float *h, const float *gate, const float *up, size_t n) {
    size_t m;
    for (Share i = team_share(&k->team, lots(n)); i.at < i.end; i.at++) {
        size_t first = lot(&i, n, &m);
        memcpy(h + first, gate + first, m * sizeof *h);
        k->kernels->vec->silu_mul(h + first, up + first, m);
    }
    team_wait(&k->team);
}

void swiglu_backward(Work *k, float *dgate, float *dup, const float *dh, const float *gate, const float *up, size_t n) {
    size_t m;
    for (Share i = team_share(&k->team, lots(n)); i.at < i.end; i.at++) {
        size_t first = lot(&i, n, &m);
        k->k->swiglu_back(dgate + first, dup + first, dh + first, gate + first, up + first, m);
    }
    team_wait(&k->team);
}

void gelu_forward(Work *k, float *h, const float *x, size_t n) {
    size_t m;
    for (Share i = team_share(&k->team, lots(n)); i.at < i.end; i.at++) {
        size_t first = lot(&i, n, &m);
        memcpy(h + first, x + first, m * sizeof *h);
        k->kernels->enc->activate(h + first, m, ACTIVATION_GELU);
    }
    team_wait(&k->team);
}

void gelu_backward(Work *k, float *dx, const float *dh, const float *x, size_t n) {
    size_t m;
    float h[AT_ONCE], density[AT_ONCE];
    for (Share i = team_share(&k->team, lots(n)); i.at < i.end; i.at++) {
        size_t first = lot(&i, n, &m);
        const float *a = x + first;
        memcpy(h, a, m * sizeof *h);
        k->kernels->enc->activate(h, m, ACTIVATION_GELU); /* x Phi(x), and Phi(x) is that over x */
        for (size_t j = 0; j < m; j++) density[j] = -0.5f * a[j] * a[j];
        k->k->exp(density, m, 1, 0);
        for (size_t j = 0; j < m; j++) {
            float below = fabsf(a[j]) < 1e-6f ? 0.5f : h[j] / a[j];
            dx[first + j] = dh[first + j] * (below + a[j] * density[j] * 0.3989422804f);
        }
    }
    team_wait(&k->team);
}
