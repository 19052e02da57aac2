/* attention/phi.c - feature maps and the forms of linear attention: a function and a row each. */
#include "phi.h"

#include "base/base.h"

#include <errno.h>
#include <math.h>
#include <string.h>

enum { MAX_DIM = 2 * ROPE_MAX_PAIRS };

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

static double identity(double *out, const double *x, const LinearConfig *c, const Kernels *kernels) {
    (void)kernels;
    memcpy(out, x, (size_t)c->head_dim * sizeof *out);
    return 0;
}

const FeatureMap phi_elu_plus_1 = {
    "elu+1", PHI_POSITIVE, 0, NULL, "Katharopoulos et al. 2020, arXiv:2006.16236, eq. 7", elu_plus_1};
const FeatureMap phi_relu = {
    "relu", PHI_NONNEGATIVE, 0, NULL, "Choromanski et al. 2021, arXiv:2009.14794, without projection", relu};
const FeatureMap phi_exp = {"exp",      PHI_POSITIVE, 0, NULL, "the keys' map of Shen et al. 2021, arXiv:1812.01243",
                            exponential};
const FeatureMap phi_softmax = {
    "softmax", PHI_POSITIVE, 0, NULL, "the queries' map of Shen et al. 2021, for keys too", softmax_features};
const FeatureMap phi_relu_squared = {
    "relu2", PHI_NONNEGATIVE, 0, NULL, "squared ReLU: So et al. 2021, arXiv:2109.08668", relu_squared};
const FeatureMap phi_identity = {"identity", PHI_SIGNED, 0, NULL, "none: the weights are the plain dot products",
                                 identity};

static const LinearForm forms[] = {
    /*               before phi, in S, in z, cosine */
    {"numerator",    0, 1, 0, 0, "RoFormer arXiv:2104.09864, eq. 19"},
    {"both",         0, 1, 1, 0, "the form that eq. 19 replaces: its denominator can vanish"},
    {"none",         0, 0, 0, 0, "Katharopoulos et al. 2020, arXiv:2006.16236: no position at all"},
    {"cosine",       0, 1, 1, 1, "1 + cos(q, k), the first-order Taylor polynomial of softmax's exp, rotated"},
    {"cosine-none",  0, 0, 0, 1, "the same, not rotated"},
    {"before-phi",   1, 0, 0, 0, "what performer-pytorch does: not a function of the distance (README.md)"},
};

const FeatureMap *feature_map_row(int i) {
    for (int k = 0; k < i; k++)
        if (!feature_maps[k]) return NULL;
    return feature_maps[i];
}

const LinearForm *linear_form_row(int i) { return (size_t)i < sizeof forms / sizeof *forms ? &forms[i] : NULL; }

const FeatureMap *feature_map(const char *name) {
    for (const FeatureMap *const *m = feature_maps; *m; m++)
        if (strcmp((*m)->name, name) == 0) return *m;
    return NULL;
}

const LinearForm *linear_form(const char *name) {
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++)
        if (strcmp(forms[i].name, name) == 0) return &forms[i];
    return NULL;
}

const FeatureMap *linear_usual_map(const LinearForm *form) { return form->cosine ? &phi_identity : &phi_elu_plus_1; }

int linear_check(const LinearConfig *c, char *err, size_t errlen) {
    if (c->form->cosine && c->phi->map != identity)
        return base_error(err, errlen, -EINVAL, "form %s takes the vectors as they are: feature map identity, not %s",
                          c->form->name, c->phi->name);
    if (!(c->epsilon >= 0 && c->epsilon < 1))
        return base_error(err, errlen, -EINVAL, "denominator_epsilon must be from 0 to below 1");
    if (c->phi->projected && (c->favor_features < 2 || c->favor_features > MAX_DIM || c->favor_features % 2))
        return base_error(err, errlen, -EINVAL, "favor_features must be even, from 2 to %d", MAX_DIM);
    return 0;
}

int linear_features_n(const LinearConfig *c) { return c->phi->projected ? c->favor_features : c->head_dim; }
int linear_rows(const LinearConfig *c) { return linear_features_n(c) + c->form->cosine; }
