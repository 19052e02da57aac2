/* train/features.c - feature maps and their derivatives, a row each. */
#include "features.h"

#include "base/base.h"

#include <errno.h>
#include <math.h>
#include <string.h>

enum { MOST = 2 * ROPE_MAX_PAIRS };

/* y = phi(x) and dx from dy; d numbers, but for favor+, whose y has r. */
typedef struct {
    const char *name;
    void (*map)(const Work *w, float *y, const float *x, const LinearParts *p, FeatureSide side);
    void (*back)(float *dx, const float *dy, const float *y, const float *x, const LinearParts *p, FeatureSide side);
} MapRow;

#define EACH(i, p) for (size_t i = 0, d = (size_t)(p)->c->head_dim; i < d; i++)

static void elu_plus_1(const Work *w, float *y, const float *x, const LinearParts *p, FeatureSide side) {
    (void)side;
    EACH(i, p) y[i] = x[i] > 0 ? 0 : x[i];
    w->k->exp(y, (size_t)p->c->head_dim, 1, 0);
    EACH(i, p) y[i] = x[i] > 0 ? x[i] + 1 : y[i];
}
static void elu_plus_1_back(float *dx, const float *dy, const float *y, const float *x, const LinearParts *p,
                            FeatureSide side) {
    (void)side;
    EACH(i, p) dx[i] = x[i] > 0 ? dy[i] : dy[i] * y[i];
}

static void relu(const Work *w, float *y, const float *x, const LinearParts *p, FeatureSide side) {
    (void)w, (void)side;
    EACH(i, p) y[i] = x[i] < 0 ? 0 : x[i];
}
static void relu_back(float *dx, const float *dy, const float *y, const float *x, const LinearParts *p,
                      FeatureSide side) {
    (void)y, (void)side;
    EACH(i, p) dx[i] = x[i] < 0 ? 0 : dy[i];
}

static void relu_squared(const Work *w, float *y, const float *x, const LinearParts *p, FeatureSide side) {
    relu(w, y, x, p, side);
    EACH(i, p) y[i] *= y[i];
}
static void relu_squared_back(float *dx, const float *dy, const float *y, const float *x, const LinearParts *p,
                              FeatureSide side) {
    (void)y, (void)side;
    EACH(i, p) dx[i] = x[i] < 0 ? 0 : 2 * x[i] * dy[i];
}

static void exponential(const Work *w, float *y, const float *x, const LinearParts *p, FeatureSide side) {
    (void)side;
    EACH(i, p) y[i] = x[i] > 40 ? 40 : x[i]; /* q's times k's times a value is still a float */
    w->k->exp(y, (size_t)p->c->head_dim, 1, 0);
}
static void exponential_back(float *dx, const float *dy, const float *y, const float *x, const LinearParts *p,
                             FeatureSide side) {
    (void)side;
    EACH(i, p) dx[i] = x[i] > 40 ? 0 : dy[i] * y[i];
}

static void softmax(const Work *w, float *y, const float *x, const LinearParts *p, FeatureSide side) {
    size_t n = (size_t)p->c->head_dim;
    (void)side;
    memcpy(y, x, n * sizeof *y);
    float sum = (float)w->k->exp(y, n, 1, w->k->largest(x, n));
    EACH(i, p) y[i] /= sum;
}
static void softmax_back(float *dx, const float *dy, const float *y, const float *x, const LinearParts *p,
                         FeatureSide side) {
    float along = 0;
    (void)x, (void)side;
    EACH(i, p) along += dy[i] * y[i];
    EACH(i, p) dx[i] = y[i] * (dy[i] - along);
}

static void identity(const Work *w, float *y, const float *x, const LinearParts *p, FeatureSide side) {
    (void)w, (void)side;
    EACH(i, p) y[i] = x[i];
}
static void identity_back(float *dx, const float *dy, const float *y, const float *x, const LinearParts *p,
                          FeatureSide side) {
    (void)y, (void)x, (void)side;
    EACH(i, p) dx[i] = dy[i];
}

/* FAVOR+ (attention/favor.c): e^(w_j.x' - |x'|^2/2) / sqrt(r), x' = x / head_dim^(1/4). A query's factor, the same for
 * all of its features, stands above and below the line: it is left out, and the largest feature is 1 over sqrt(r).
 * Epsilon must be 0, else it would matter. */
static void favor(const Work *w, float *y, const float *x, const LinearParts *p, FeatureSide side) {
    size_t d = (size_t)p->c->head_dim, r = (size_t)p->c->favor_features;
    float shrink = 1 / sqrtf(sqrtf((float)d)), less = 0, size = 1 / sqrtf((float)r);
    memset(y, 0, r * sizeof *y);
    for (size_t i = 0; i < d; i++) {
        const float *column = p->projection + i * r, by = x[i] * shrink;
        for (size_t j = 0; j < r; j++) y[j] += column[j] * by;
    }
    if (side == FEATURES_OF_QUERY) {
        less = w->k->largest(y, r);
    } else
        for (size_t i = 0; i < d; i++) less += x[i] * x[i] * shrink * shrink / 2;
    w->k->exp(y, r, 1, less);
    for (size_t j = 0; j < r; j++) y[j] *= size;
}
static void favor_back(float *dx, const float *dy, const float *y, const float *x, const LinearParts *p,
                       FeatureSide side) {
    size_t d = (size_t)p->c->head_dim, r = (size_t)p->c->favor_features;
    float shrink = 1 / sqrtf(sqrtf((float)d)), all = 0, grown[MOST];
    for (size_t j = 0; j < r; j++) {
        grown[j] = dy[j] * y[j] * shrink;
        all += grown[j] * shrink;
    }
    for (size_t i = 0; i < d; i++) dx[i] = work_dot(p->projection + i * r, grown, r);
    for (size_t i = 0; side == FEATURES_OF_KEY && i < d; i++) dx[i] -= all * x[i];
}

static const MapRow rows[] = {
    {"elu+1", elu_plus_1, elu_plus_1_back}, {"relu", relu, relu_back}, {"relu2", relu_squared, relu_squared_back},
    {"exp", exponential, exponential_back}, {"softmax", softmax, softmax_back},
    {"identity", identity, identity_back}, {"favor+", favor, favor_back},
};

static const MapRow *row_of(const FeatureMap *map) {
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (strcmp(rows[i].name, map->name) == 0) return &rows[i];
    return NULL;
}

int states_check(const LinearParts *p, char *err, size_t errlen) {
    if (!row_of(p->c->phi) || !row_of(p->key_map))
        return base_error(err, errlen, -EINVAL, "feature map %s cannot be trained: it has no gradient here",
                          (row_of(p->c->phi) ? p->key_map : p->c->phi)->name);
    if (p->projection && p->c->epsilon != 0)
        return base_error(err, errlen, -EINVAL, "feature map favor+ is trained with an epsilon of 0");
    return 0;
}

/* ---- a token's ---- */

size_t features_rows(const LinearParts *p) { return (size_t)linear_rows(p->c); }

static void turn(const Work *w, float *x, size_t pos, const Turning *r, int back) {
    size_t half = (size_t)r->rotary_dim / 2;
    float s[ROPE_MAX_PAIRS];
    for (size_t i = 0; i < half; i++) s[i] = back ? -r->sin[pos * half + i] : r->sin[pos * half + i];
    w->kernels->vec->rotate(x, r->cos + pos * half, s, r->rotary_dim, r->pairing);
}

static float length_of(const float *x, size_t d) {
    float square = 0;
    for (size_t i = 0; i < d; i++) square += x[i] * x[i];
    return sqrtf(square);
}

/* What the map gets: x, as a unit vector in the cosine forms, rotated where the form rotates before phi. */
static void map_input(const Work *w, float *in, const float *x, size_t pos, const LinearParts *p) {
    size_t d = (size_t)p->c->head_dim;
    float length = p->c->form->cosine ? length_of(x, d) : 1;
    for (size_t i = 0; i < d; i++) in[i] = length > 0 ? x[i] / length : x[i];
    if (p->c->form->before_phi) turn(w, in, pos, p->r, 0);
}

void features_forward(const Work *w, float *above, float *below, const float *x, size_t pos, const LinearParts *p,
                      FeatureSide side) {
    const LinearForm *form = p->c->form;
    float in[MOST];
    map_input(w, in, x, pos, p);
    row_of(side == FEATURES_OF_KEY ? p->key_map : p->c->phi)->map(w, above, in, p, side);
    if (form->cosine) above[features_rows(p) - 1] = 1;
    memcpy(below, above, features_rows(p) * sizeof *below);
    if (form->in_numerator) turn(w, above, pos, p->r, 0);
    if (form->in_denominator) turn(w, below, pos, p->r, 0);
}

void features_backward(const Work *w, float *dx, float *dabove, float *dbelow, const float *x, size_t pos,
                       const LinearParts *p, FeatureSide side) {
    const MapRow *row = row_of(side == FEATURES_OF_KEY ? p->key_map : p->c->phi);
    const LinearForm *form = p->c->form;
    size_t d = (size_t)p->c->head_dim;
    float in[MOST], y[MOST];
    if (form->in_numerator) turn(w, dabove, pos, p->r, 1);
    if (form->in_denominator) turn(w, dbelow, pos, p->r, 1);
    for (size_t i = 0; i < features_rows(p); i++) dabove[i] += dbelow[i];
    map_input(w, in, x, pos, p);
    row->map(w, y, in, p, side);
    row->back(dx, dabove, y, in, p, side);
    if (form->before_phi) turn(w, dx, pos, p->r, 1);
    if (!form->cosine) return;
    float length = length_of(x, d), along = 0; /* u = x / |x|: dx = (du - u (u . du)) / |x| */
    for (size_t i = 0; i < d; i++) along += dx[i] * in[i];
    for (size_t i = 0; i < d && length > 0; i++) dx[i] = (dx[i] - in[i] * along) / length;
}
