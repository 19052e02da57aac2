/* train/norms.c - RMSNorm and LayerNorm backward. With r = 1 / sqrt(mean(x^2) + eps), y_i = x_i r w_i, g_i = dy_i w_i:
 *
 *     dx_i = r g_i - x_i r^3 / d * sum_j g_j x_j            dw_i = sum over tokens of dy_i x_i r
 *
 * LayerNorm is that of x less its mean, whose gradient loses its own mean. */
#include "kernels/encoder_kernels.h"
#include "parts.h"

#include <math.h>

void rmsnorm_forward(Work *k, float *y, const float *x, const Param *w, size_t n, float eps) {
    size_t d = w->cols;
    for (Share t = team_share(&k->team, n); t.at < t.end; t.at++)
        k->kernels->vec->rmsnorm(y + t.at * d, x + t.at * d, w->w, d, eps);
    team_wait(&k->team);
}

/* The sums of x^2 and of dy w x, in double, in lanes. */
static double sums(double *square, const float *x, const float *dy, const float *w, size_t d) {
    enum { LANES = 8 };
    double xx[LANES] = {0}, dx[LANES] = {0}, along = *square = 0;
    size_t i = 0;
    for (; i + LANES <= d; i += LANES)
        for (size_t j = 0; j < LANES; j++) {
            xx[j] += (double)x[i + j] * (double)x[i + j];
            dx[j] += (double)(dy[i + j] * w[i + j]) * (double)x[i + j];
        }
    for (; i < d; i++) xx[0] += (double)x[i] * (double)x[i], dx[0] += (double)(dy[i] * w[i]) * (double)x[i];
    for (size_t j = 0; j < LANES; j++) *square += xx[j], along += dx[j];
    return along;
}

void rmsnorm_backward_add(Work *k, float *dx, const float *dy, const float *x, const Param *w, size_t n, float eps) {
    size_t d = w->cols;
    float *r = k->rows;
    for (Share t = team_share(&k->team, n); t.at < t.end; t.at++) {
        const float *xt = x + t.at * d, *dyt = dy + t.at * d;
        double square, along = sums(&square, xt, dyt, w->w, d), by = 1 / sqrt(square / (double)d + eps);
        float a = r[t.at] = (float)by, b = (float)(by * by * by / (double)d * along);
        for (size_t i = 0; i < d; i++) dx[t.at * d + i] += a * dyt[i] * w->w[i] - b * xt[i];
    }
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
