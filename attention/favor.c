/* attention/favor.c - FAVOR+'s features and its projection. */
#include "favor.h"

#include "base/base.h"
#include "base/hash.h"
#include "kernels/attention_kernels.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_DIM = 2 * ROPE_MAX_PAIRS, COLUMNS = STATE_COLUMNS };

/* FAVOR+: e^(w.x' - |x'|^2/2) / sqrt(r) for each row w of W, x' = x / head_dim^(1/4). For random w the mean of
 * phi(q)_j phi(k)_j is e^(q.k/sqrt(head_dim)), softmax's own weight. The largest exponent is left out and returned. */
static double favor(double *out, const double *x, const LinearConfig *c, const Kernels *kernels) {
    size_t d = (size_t)c->head_dim, r = (size_t)c->favor_features;
    double scaled[MAX_DIM], u[MAX_DIM + COLUMNS] = {0}, half = 0, shrink = 1 / sqrt(sqrt((double)d)),
                                        size = 1 / sqrt((double)r);
    for (size_t i = 0; i < d; i++) {
        scaled[i] = x[i] * shrink;
        half += scaled[i] * scaled[i] / 2;
    }
    for (size_t j = 0; j < r; j += COLUMNS) /* favor_w is only read here */
        kernels->att->state_step(u + j, (double *)c->favor_w + j * d, d, NULL, NULL, scaled, 1, 0);
    double max = u[0];
    for (size_t j = 1; j < r; j++)
        if (u[j] > max) max = u[j];
    for (size_t j = 0; j < r; j++) out[j] = u[j] - max;
    kernels->vec->exp64(out, r);
    for (size_t j = 0; j < r; j++) out[j] *= size;
    return max - half;
}

/* ---- the projection ---- */

size_t linear_projection_size(const LinearConfig *c) {
    size_t strips = ((size_t)c->favor_features + COLUMNS - 1) / COLUMNS;
    return strips * COLUMNS * (size_t)c->head_dim;
}

/* Where W[j][i] is stored: favor() reads it as the columns of a matrix [head_dim, r]. */
static double *projection_at(double *w, const LinearConfig *c, size_t j, size_t i) {
    return w + (j / COLUMNS * (size_t)c->head_dim + i) * COLUMNS + j % COLUMNS;
}

void linear_projection_set(double *w, const LinearConfig *c, const double *given) {
    size_t d = (size_t)c->head_dim;
    memset(w, 0, linear_projection_size(c) * sizeof *w);
    for (size_t j = 0; j < (size_t)c->favor_features; j++)
        for (size_t i = 0; i < d; i++) *projection_at(w, c, j, i) = given[j * d + i];
}

double linear_projection_get(const double *w, const LinearConfig *c, size_t j, size_t i) {
    return *projection_at((double *)(uintptr_t)w, c, j, i);
}

/* splitmix64, as 53 bits in (0, 1]. */
static double uniform(uint64_t *state) {
    return (double)((hash_mix(*state += 0x9e3779b97f4a7c15u) >> 11) + 1) * 0x1p-53;
}

static double gaussian(uint64_t *state) { /* Box and Muller 1958 */
    double radius = sqrt(-2 * log(uniform(state)));
    return radius * cos(TURN * uniform(state));
}

static double norm(const double *x, size_t n) {
    double sum = 0;
    for (size_t i = 0; i < n; i++) sum += x[i] * x[i];
    return sqrt(sum);
}

/* Row j of W: orthogonal to the rows before it in its block of d (Gram-Schmidt, twice against rounding), then given the
 * length that a Gaussian vector has. */
static void projection_row(double *w, const LinearConfig *c, size_t j, uint64_t *state) {
    size_t d = (size_t)c->head_dim;
    double g[MAX_DIM], length[MAX_DIM];
    for (size_t i = 0; i < d; i++) g[i] = gaussian(state);
    for (size_t k = j - j % d, twice = 0; twice < 2; k = j - j % d, twice++)
        for (; k < j; k++) {
            double dot = 0, square = 0;
            for (size_t i = 0; i < d; i++) {
                double e = *projection_at(w, c, k, i);
                dot += g[i] * e, square += e * e;
            }
            for (size_t i = 0; i < d; i++) g[i] -= dot / square * *projection_at(w, c, k, i);
        }
    for (size_t i = 0; i < d; i++) length[i] = gaussian(state);
    double scale = norm(length, d) / norm(g, d);
    for (size_t i = 0; i < d; i++) *projection_at(w, c, j, i) = g[i] * scale;
}

void linear_projection(double *w, const LinearConfig *c) {
    uint64_t state = c->favor_seed;
    memset(w, 0, linear_projection_size(c) * sizeof *w);
    for (size_t j = 0; j < (size_t)c->favor_features; j++) projection_row(w, c, j, &state);
}

static double *projection(const LinearConfig *c) {
    double *w = calloc(linear_projection_size(c), sizeof *w);
    if (w) linear_projection(w, c);
    return w;
}

/* All keys so far are held divided by e^top, top the largest log factor among them. When a key raises it, what was held
 * shrinks by e^(old - new). Numerator and denominator shrink alike, so this changes no weight. */
static double fit(double *top, double left_out, double *k_num, double *k_den, size_t rows) {
    double old = *top, take;
    if (left_out > old) *top = left_out;
    take = exp(left_out - *top);
    for (size_t i = 0; i < rows && take != 1; i++) k_num[i] *= take, k_den[i] *= take;
    return *top == old ? 1 : exp(old - *top);
}

const FeatureMap phi_favor = {
    "favor+", projection, "Choromanski et al. 2021, arXiv:2009.14794, lemma 1", favor, fit};
