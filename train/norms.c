/* train/norms.c - RMSNorm and LayerNorm backward. With r = 1 / sqrt(mean(x^2) + eps), y_i = x_i r w_i, g_i = dy_i w_i:
 *
 *     dx_i = r g_i - x_i r^3 / d * sum_j g_j x_j            dw_i = sum over tokens of dy_i x_i r
 *
 * (rmsnorm_back of kernels/ref_train.c). LayerNorm is that of x less its mean, whose gradient loses its own mean. */
#include "kernels/encoder_kernels.h"
#include "parts.h"

#include <math.h>

void rmsnorm_forward(Work *k, float *y, const float *x, const Param *w, size_t n, float eps) {
    size_t d = w->cols;
    for (Share t = team_share(&k->team, n); t.at < t.end; t.at++)
        k->kernels->vec->rmsnorm(y + t.at * d, x + t.at * d, w->w, d, eps);
    team_wait(&k->team);
}

void rmsnorm_backward_add(Work *k, float *dx, const float *dy, const float *x, const Param *w, size_t n, float eps) {
    size_t d = w->cols;
    float *r = k->rows;
    for (Share t = team_share(&k->team, n); t.at < t.end; t.at++)
        r[t.at] = k->k->rmsnorm_back(dx + t.at * d, dy + t.at * d, x + t.at * d, w->w, d, eps);
    team_wait(&k->team);
    work_sum_columns(k, w->g, dy, x, r, n, d);
}

void layernorm_forward(Work *k, float *y, const float *x, const Param *w, const Param *b, size_t n, float eps) {
    size_t d = w->cols;
    for (Share t = team_share(&k->team, n); t.at < t.end; t.at++)
        k->kernels->enc->layernorm(y + t.at * d, x + t.at * d, w->w, b->w, d, eps);
    team_wait(&k->team);
}

/* Row by row dx, and the normalised x for dw in the work's rows. */
void layernorm_backward(Work *k, float *dx, const float *dy, const float *x, const Param *w, const Param *b, size_t n,
                        float eps) {
    size_t d = w->cols;
    float *normed = k->rows;
    for (Share t = team_share(&k->team, n); t.at < t.end; t.at++) {
        const float *xt = x + t.at * d, *dyt = dy + t.at * d;
        float *y = normed + t.at * d, *out = dx + t.at * d;
        double mean = 0, square = 0, sum = 0, along = 0;
        for (size_t i = 0; i < d; i++) mean += xt[i];
        mean /= (double)d;
        for (size_t i = 0; i < d; i++) square += (xt[i] - mean) * (xt[i] - mean);
        double by = 1 / sqrt(square / (double)d + eps);
        for (size_t i = 0; i < d; i++) {
            y[i] = (float)((xt[i] - mean) * by);
            sum += dyt[i] * w->w[i];
            along += dyt[i] * w->w[i] * y[i];
        }
        float r = (float)by, level = (float)(sum / (double)d), slope = (float)(along / (double)d);
        for (size_t i = 0; i < d; i++) out[i] = r * (dyt[i] * w->w[i] - level - slope * y[i]);
    }
    team_wait(&k->team);
    work_sum_columns(k, w->g, dy, normed, NULL, n, d);
    work_sum_columns(k, b->g, dy, NULL, NULL, n, d);
}

void parts_reserve(Work *k, size_t n, size_t d) { work_reserve(k, 0, 0, n * d); }
