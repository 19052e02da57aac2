/* attention/maps.c - the feature maps that this program knows: a function, phi(x) into out, and a row each; and the
 * forms of linear attention. */
#include "maps.h"

#include "base/base.h"
#include "favor.h"

#include <errno.h>
#include <math.h>
#include <string.h>

enum { MAX_DIM = 2 * ROPE_MAX_PAIRS };

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

static const FeatureMap phi_relu = {
    "relu", NULL, "Choromanski et al. 2021, arXiv:2009.14794, without projection", relu, NULL};
static const FeatureMap phi_exp = {
    "exp", NULL, "the keys' map of Shen et al. 2021, arXiv:1812.01243", exponential, NULL};
static const FeatureMap phi_softmax = {
    "softmax", NULL, "the queries' map of Shen et al. 2021, for keys too", softmax_features, NULL};
static const FeatureMap phi_relu_squared = {
    "relu2", NULL, "squared ReLU: So et al. 2021, arXiv:2109.08668", relu_squared, NULL};
static const FeatureMap phi_identity = {"identity", NULL, "none: the weights are the plain dot products",
                                 identity, NULL};

const FeatureMap *const feature_maps[] = {&phi_elu_plus_1,   &phi_relu,  &phi_exp,      &phi_softmax,
                                          &phi_relu_squared, &phi_favor, &phi_identity, NULL};

/* q or k of a cosine form. */
static void make_unit(double *x, size_t n) {
    double square = 0;
    for (size_t i = 0; i < n; i++) square += x[i] * x[i];
    for (size_t i = 0; i < n && square > 0; i++) x[i] /= sqrt(square); /* a vector of zeroes fits every other equally */
}

/* Behind the name: 1 where q and k turn before the map, in S, in z; what the cosine forms begin with; the usual map. */
static const LinearForm rows[] = {
    {"both", 0, 1, 1, NULL, &phi_elu_plus_1, "the form that eq. 19 replaces: its denominator can vanish"},
    {"none", 0, 0, 0, NULL, &phi_elu_plus_1, "Katharopoulos et al. 2020, arXiv:2006.16236: no position at all"},
    {"cosine", 0, 1, 1, make_unit, &phi_identity,
     "1 + cos(q, k), the first-order Taylor polynomial of softmax's exp, rotated"},
    {"cosine-none", 0, 0, 0, make_unit, &phi_identity, "the same, not rotated"},
    {"before-phi", 1, 0, 0, NULL, &phi_elu_plus_1,
     "what performer-pytorch does: not a function of the distance (README.md)"},
};

const LinearForm *const linear_forms[] = {&linear_numerator, &rows[0], &rows[1], &rows[2], &rows[3], &rows[4], NULL};

int linear_check(const LinearConfig *c, char *err, size_t errlen) {
    const FeatureMap *maps[] = {c->phi, linear_key_map(c)};
    for (int i = 0; i < 2 && c->form->cosine; i++)
        if (strcmp(maps[i]->name, "identity") != 0)
            return base_error(err, errlen, -EINVAL, "form %s takes the vectors as they are: feature map identity, not "
                              "%s", c->form->name, maps[i]->name);
    if (!maps[0]->projection != !maps[1]->projection)
        return base_error(err, errlen, -EINVAL, "feature map %s projects, and %s does not: queries and keys must have "
                          "the same features", maps[!maps[0]->projection]->name, maps[!!maps[0]->projection]->name);
    if (!(c->epsilon >= 0 && c->epsilon < 1))
        return base_error(err, errlen, -EINVAL, "denominator_epsilon must be from 0 to below 1");
    if (c->phi->projection && (c->favor_features < 2 || c->favor_features > MAX_DIM || c->favor_features % 2))
        return base_error(err, errlen, -EINVAL, "favor_features must be even, from 2 to %d", MAX_DIM);
    return 0;
}

const FeatureMap *feature_map(const char *name) {
    for (const FeatureMap *const *m = feature_maps; *m; m++)
        if (strcmp((*m)->name, name) == 0) return *m;
    return NULL;
}

const LinearForm *linear_form(const char *name) {
    for (const LinearForm *const *f = linear_forms; *f; f++)
        if (strcmp((*f)->name, name) == 0) return *f;
    return NULL;
}

const FeatureMap *feature_map_row(int i) {
    return i >= 0 && i < (int)(sizeof feature_maps / sizeof *feature_maps) ? feature_maps[i] : NULL;
}

const LinearForm *linear_form_row(int i) {
    return i >= 0 && i < (int)(sizeof linear_forms / sizeof *linear_forms) ? linear_forms[i] : NULL;
}

const char *feature_map_name(int i) { return feature_map_row(i) ? feature_map_row(i)->name : NULL; }
const char *linear_form_name(int i) { return linear_form_row(i) ? linear_form_row(i)->name : NULL; }

const char *const attention_names[] = {"softmax", "linear", NULL};
