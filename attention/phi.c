/* attention/phi.c - the usual feature map and form of linear attention; the others are maps.c's. */
#include "phi.h"

/* x > 0 ? x + 1 : e^x. (Comparisons are written so that a NaN goes through and stays visible.) */
static double elu_plus_1(double *out, const double *x, const LinearConfig *c, const Kernels *kernels) {
    for (int i = 0; i < c->head_dim; i++) out[i] = x[i] > 0 ? 0 : x[i];
    kernels->vec->exp64(out, (size_t)c->head_dim);
    for (int i = 0; i < c->head_dim; i++) out[i] = x[i] > 0 ? x[i] + 1 : out[i];
    return 0;
}

const FeatureMap phi_elu_plus_1 = {
    "elu+1", NULL, "Katharopoulos et al. 2020, arXiv:2006.16236, eq. 7", elu_plus_1, NULL};

const LinearForm linear_numerator = {
    "numerator", 0, 1, 0, NULL, &phi_elu_plus_1, "RoFormer arXiv:2104.09864, eq. 19"};

const FeatureMap *linear_key_map(const LinearConfig *c) { return c->phi_key ? c->phi_key : c->phi; }

int linear_features_n(const LinearConfig *c) { return c->phi->projection ? c->favor_features : c->head_dim; }
int linear_rows(const LinearConfig *c) { return linear_features_n(c) + (c->form->cosine != NULL); }
