/* attention/phi.c - feature maps, the forms of linear attention, and FAVOR+'s projection: a function and a row each. */
#include "linear.h"

#include "base/base.h"

#include <errno.h>
#include <math.h>
#include <string.h>

enum { MAX_DIM = 2 * ROPE_MAX_PAIRS, COLUMNS = STATE_COLUMNS };

/* ---- feature maps: phi(x) into out ---- */

/* x > 0 ? x + 1 : e^x. (Comparisons are written so that a NaN goes through and stays visible.) */
static double elu_plus_1(double *out, const double *x, const LinearConfig *c, const Kernels *kernels) {
    for (int i = 0; i < c->head_dim; i++) out[i] = x[i] > 0 ? 0 : x[i];
    kernels->vec->exp64(out, (size_t)c->head_dim);
    for (int i = 0; i < c->head_dim; i++) out[i] = x[i] > 0 ? x[i] + 1 : out[i];
    return 0;
}

static double relu(double *out, const double *x, const LinearConfig *c, const Kernels *kernels) {
    (void)kernels;
    for (int i = 0; i < c->head_dim; i++) out[i] = x[i] < 0 ? 0 : x[i];
    return 0;
}

static double relu_squared(double *out, const double *x, const LinearConfig *c, const Kernels *kernels) {
    relu(out, x, c, kernels);
    for (int i = 0; i < c->head_dim; i++) out[i] *= out[i];
    return 0;
}

/* Above 300 it stays e^300, so that q's feature times k's times a value is still a double. */
static double exponential(double *out, const double *x, const LinearConfig *c, const Kernels *kernels) {
    for (int i = 0; i < c->head_dim; i++) out[i] = x[i] > 300 ? 300 : x[i];
    kernels->vec->exp64(out, (size_t)c->head_dim);
    return 0;
}

static double largest(const double *x, size_t n) {
    double max = x[0];
    for (size_t i = 1; i < n; i++)
        if (x[i] > max) max = x[i];
    return max;
}

static double softmax_features(double *out, const double *x, const LinearConfig *c, const Kernels *kernels) {
    size_t d = (size_t)c->head_dim;
    double max = largest(x, d), sum = 0;
    for (size_t i = 0; i < d; i++) out[i] = x[i] - max;
    kernels->vec->exp64(out, d);
    for (size_t i = 0; i < d; i++) sum += out[i];
    for (size_t i = 0; i < d; i++) out[i] /= sum;
    return 0;
}

/* FAVOR+: e^(w.x' - |x'|^2/2) / sqrt(r) for each row w of W, x' = x / head_dim^(1/4). For random w the mean of
 * phi(q)_j phi(k)_j is e^(q.k/sqrt(head_dim)), softmax's own weight. The largest exponent is left out and returned. */
static double favor(double *out, const double *x, const LinearConfig *c, const Kernels *kernels) {
    size_t d = (size_t)c->head_dim, r = (size_t)c->favor_features;
    double scaled[MAX_DIM], u[MAX_DIM + COLUMNS] = {0}, half = 0, shrink = 1 / sqrt(sqrt((double)d)), size = 1 / sqrt((double)r);
    for (size_t i = 0; i < d; i++) {
        scaled[i] = x[i] * shrink;
        half += scaled[i] * scaled[i] / 2;
    }
    for (size_t j = 0; j < r; j += COLUMNS) /* favor_w is only read here */
        kernels->att->state_step(u + j, (double *)c->favor_w + j * d, d, NULL, NULL, scaled, 1, 0);
    double max = largest(u, r);
    for (size_t j = 0; j < r; j++) out[j] = u[j] - max;
    kernels->vec->exp64(out, r);
    for (size_t j = 0; j < r; j++) out[j] *= size;
    return max - half;
}

static double identity(double *out, const double *x, const LinearConfig *c, const Kernels *kernels) {
    (void)kernels;
    memcpy(out, x, (size_t)c->head_dim * sizeof *out);
    return 0;
}

static const FeatureMap maps[] = {
    {"elu+1", PHI_POSITIVE, 0, "Katharopoulos et al. 2020, arXiv:2006.16236, eq. 7", elu_plus_1},
    {"relu", PHI_NONNEGATIVE, 0, "Choromanski et al. 2021, arXiv:2009.14794, generalized attention without projection", relu},
    {"exp", PHI_POSITIVE, 0, "the keys' map of Shen et al. 2021, arXiv:1812.01243, in its causal form", exponential},
    {"softmax", PHI_POSITIVE, 0, "the queries' map of Shen et al. 2021, arXiv:1812.01243, here for keys too", softmax_features},
    {"relu2", PHI_NONNEGATIVE, 0, "squared ReLU: So et al. 2021, arXiv:2109.08668, taken as a feature map", relu_squared},
    {"favor+", PHI_POSITIVE, 1, "Choromanski et al. 2021, arXiv:2009.14794, lemma 1", favor},
    {"identity", PHI_SIGNED, 0, "none: the weights are the plain dot products", identity},
};

static const LinearForm forms[] = {
    /*               before phi, in S, in z, cosine */
    {"numerator",    0, 1, 0, 0, "RoFormer arXiv:2104.09864, eq. 19"},
    {"both",         0, 1, 1, 0, "the form that eq. 19 replaces: its denominator can vanish"},
    {"none",         0, 0, 0, 0, "Katharopoulos et al. 2020, arXiv:2006.16236: no position at all"},
    {"cosine",       0, 1, 1, 1, "1 + cos(q, k), the first-order Taylor polynomial of softmax's exp, turned"},
    {"cosine-none",  0, 0, 0, 1, "the same, not turned"},
    {"before-phi",   1, 0, 0, 0, "what performer-pytorch does: not a function of the distance (README.md)"},
};

const FeatureMap *feature_map_row(int i) { return i >= 0 && (size_t)i < sizeof maps / sizeof *maps ? &maps[i] : NULL; }
const LinearForm *linear_form_row(int i) { return i >= 0 && (size_t)i < sizeof forms / sizeof *forms ? &forms[i] : NULL; }

const FeatureMap *feature_map(const char *name) {
    for (size_t i = 0; i < sizeof maps / sizeof *maps; i++)
        if (strcmp(maps[i].name, name) == 0) return &maps[i];
    return NULL;
}

const LinearForm *linear_form(const char *name) {
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++)
        if (strcmp(forms[i].name, name) == 0) return &forms[i];
    return NULL;
}

int linear_check(const LinearConfig *c, char *err, size_t errlen) {
    if (c->form->cosine && c->phi->map != identity)
        return base_error(err, errlen, -EINVAL, "form %s takes the vectors as they are: feature map identity, not %s", c->form->name, c->phi->name);
    if (!(c->epsilon >= 0 && c->epsilon < 1)) return base_error(err, errlen, -EINVAL, "denominator_epsilon must be from 0 to below 1");
    if (c->phi->projected && (c->favor_features < 2 || c->favor_features > MAX_DIM || c->favor_features % 2))
        return base_error(err, errlen, -EINVAL, "favor_features must be even, from 2 to %d", MAX_DIM);
    return 0;
}

int linear_features_n(const LinearConfig *c) { return c->phi->projected ? c->favor_features : c->head_dim; }
int linear_rows(const LinearConfig *c) { return linear_features_n(c) + c->form->cosine; }

/* ---- FAVOR+'s projection ---- */

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

/* splitmix64, as 53 bits in (0, 1]. */
static double uniform(uint64_t *state) {
    uint64_t x = *state += 0x9e3779b97f4a7c15u;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return (double)(((x ^ (x >> 31)) >> 11) + 1) * 0x1p-53;
}

static double gaussian(uint64_t *state) { /* Box and Muller 1958 */
    double radius = sqrt(-2 * log(uniform(state)));
    return radius * cos(6.283185307179586 * uniform(state));
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
