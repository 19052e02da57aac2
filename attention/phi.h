/* attention/phi.h - linear attention's settings: feature maps phi: R^head_dim -> R^r, and where they are rotated.
 *
 *     LinearConfig c = {.phi = &phi_elu_plus_1, .form = &linear_numerator, .head_dim = 64, .epsilon = 1e-6};
 *
 * maps.h has the other rows by name, and checks what goes together. */
#ifndef PHI_H
#define PHI_H

#include "kernels/kernels.h"

typedef struct LinearConfig LinearConfig;

/* A feature map: a row of feature_maps. */
typedef struct {
    const char *name;
    /* NULL: r = head_dim. Projected maps, r = LinearConfig.favor_features: what favor_w is to be, malloc'ed, or NULL
     * without memory. */
    double *(*projection)(const LinearConfig *c);
    const char *source;
    /* phi(x) into out [r]; x [head_dim]. Returns the log of a factor left out of out (0 but for projected ones). */
    double (*map)(double *out, const double *x, const LinearConfig *c, const Kernels *kernels);
    /* projected: make a key [rows] fit to those before it. *top: the largest log factor so far, which left_out, the
     * key's, may raise; what S and z are to be multiplied by. */
    double (*fit)(double *top, double left_out, double *k_num, double *k_den, size_t rows);
} FeatureMap;
extern const FeatureMap *const feature_maps[]; /* NULL after the last (maps.c) */
extern const FeatureMap phi_elu_plus_1;        /* the usual one */

/* Where the rotation goes: a row of linear_forms. */
typedef struct {
    const char *name;
    int before_phi;     /* 1: q and k turn before the map */
    int in_numerator;   /* 1: the features in S turn */
    int in_denominator; /* 1: those in z too; then the denominator may vanish or be negative, as epsilon then is */
    void (*cosine)(double *x, size_t n); /* makes q and k unit vectors; a feature that is 1 and never turns is added */
    const FeatureMap *usual; /* where no map is named */
    const char *source;
} LinearForm;
extern const LinearForm *const linear_forms[]; /* NULL after the last (maps.c) */
extern const LinearForm linear_numerator;      /* eq. 19 */

struct LinearConfig {
    const FeatureMap *phi;
    const FeatureMap *phi_key; /* of keys, where theirs is another than the queries'; NULL: phi */
    const LinearForm *form;
    double epsilon;        /* added to every denominator; from 0 to below 1 */
    int head_dim;
    int favor_features;    /* favor+ only: r, even, 2 .. 1024 */
    uint64_t favor_seed;
    const double *favor_w; /* favor+ only: the projection; not owned */
};

const FeatureMap *linear_key_map(const LinearConfig *c); /* phi_key, or phi */
/* r: features of one head, those that may turn. rows = r, +1 in the cosine forms: what S and z have. */
int linear_features_n(const LinearConfig *c);
int linear_rows(const LinearConfig *c);

#endif
