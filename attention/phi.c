/* attention/phi.c - the usual feature map and form of linear attention; the others are maps.c's. */
#include "phi.h"

#include "base/base.h"

#include <errno.h>
#include <math.h>
#include <string.h>

enum { MAX_DIM = 2 * ROPE_MAX_PAIRS };

/* x > 0 ? x + 1 : e^x. (Comparisons are written so that a NaN goes through and stays visible.) */
static double elu_plus_1(double *out, const double *x, const LinearConfig *c, const Kernels *kernels) {
    for (int i = 0; i < c->head_dim; i++) out[i] = x[i] > 0 ? 0 : x[i];
    kernels->vec->exp64(out, (size_t)c->head_dim);
    for (int i = 0; i < c->head_dim; i++) out[i] = x[i] > 0 ? x[i] + 1 : out[i];
    return 0;
}

const FeatureMap phi_elu_plus_1 = {
    "elu+1", NULL, "Katharopoulos et al. 2020, arXiv:2006.16236, eq. 7", elu_plus_1, NULL};

const LinearForm linear_numerator = {"numerator", 0, 1, 0, NULL, "RoFormer arXiv:2104.09864, eq. 19"};

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

const FeatureMap *linear_usual_map(const LinearForm *form) {
    return form->cosine ? feature_map("identity") : &phi_elu_plus_1;
}

const FeatureMap *linear_key_map(const LinearConfig *c) { return c->phi_key ? c->phi_key : c->phi; }

int linear_check(const LinearConfig *c, char *err, size_t errlen) {
    if (!c->phi)
        return base_error(err, errlen, -EINVAL, "form %s takes feature map identity, which is not known here",
                          c->form->name);
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

int linear_features_n(const LinearConfig *c) { return c->phi->projection ? c->favor_features : c->head_dim; }
int linear_rows(const LinearConfig *c) { return linear_features_n(c) + (c->form->cosine != NULL); }
