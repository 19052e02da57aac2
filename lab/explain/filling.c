/* lab/explain/filling.c - see filling.h. */
#include "filling.h"

#include "attention/linear.h"
#include "base/base.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

static double norm(const double *x, size_t n) {
    double sum = 0;
    for (size_t i = 0; i < n; i++) sum += x[i] * x[i];
    return sqrt(sum);
}

/* S = sum (R phi(k)) v^T, z = sum phi(k) of key head h, one token after the other. FAVOR+'s features are divided by the
 * largest factor so far, and when that rises the sums shrink. */
static void fill(Filling *out, const Trace *t, int l, size_t h, double *S, double *z) {
    const Config *c = &t->model->config;
    size_t kv = (size_t)c->n_kv_heads, r = t->rows, vd = (size_t)c->value_dim, at = (size_t)(l - t->first);
    double top = -INFINITY;
    for (size_t i = 0; i < r * vd; i++) S[i] = 0;
    for (size_t i = 0; i < r; i++) z[i] = 0;
    for (size_t m = 0; m < t->n; m++) {
        size_t row = (at * kv + h) * t->n + m;
        const double *num = t->k_num + row * r, *den = t->k_den + row * r;
        const float *v = t->v + ((at * t->n + m) * kv + h) * vd;
        double was = top;
        top = fmax(top, t->k_log[row]);
        for (size_t i = 0; top > was && i < r * vd; i++) S[i] *= exp(was - top);
        for (size_t i = 0; i < r; i++) z[i] = (top > was ? exp(was - top) * z[i] : z[i]) + den[i];
        for (size_t i = 0; i < r; i++)
            for (size_t k = 0; k < vd; k++) S[i * vd + k] += num[i] * (double)v[k];
        out[m].S += norm(S, r * vd) / (double)kv;
        out[m].z += norm(z, r) / (double)kv;
    }
}

int filling_of(Filling *out, const Trace *t, int l, double *weights, char *err, size_t errlen) {
    const Config *c = &t->model->config;
    double *S = calloc(t->rows * (size_t)c->value_dim + t->rows, sizeof *S);
    if (!S) return base_error(err, errlen, -ENOMEM, "out of memory");
    for (size_t m = 0; m < t->n; m++) out[m] = (Filling){0};
    for (int h = 0; h < c->n_kv_heads; h++) fill(out, t, l, (size_t)h, S, S + t->rows * (size_t)c->value_dim);
    for (int h = 0; h < c->n_heads; h++) {
        trace_weights(t, l, h, weights);
        for (size_t m = 0; m < t->n; m++) {
            size_t seen = 0, below = 0;
            for (size_t j = 0; j < t->n; j++) {
                double w = weights[m * t->n + j];
                if (isnan(w)) continue;
                seen++;
                below += w < 0;
                out[m].sum += w / c->n_heads;
            }
            out[m].negative += seen ? (double)below / (double)seen / c->n_heads : 0;
        }
    }
    free(S);
    return 0;
}

double filling_state_bytes(const Model *m) {
    const Config *c = &m->config;
    return 8.0 * c->n_layers * c->n_kv_heads * linear_rows(&c->linear) * (c->value_dim + 1.0);
}

double filling_cache_bytes(const Model *m, size_t n) {
    const Config *c = &m->config;
    return 4.0 * (double)n * c->n_layers * c->n_kv_heads * (c->head_dim + c->value_dim);
}
