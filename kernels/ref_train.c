/* kernels/ref_train.c - what training needs, as it stands: the specification. */
#include "train_kernels.h"

#include <math.h>

enum { WIDTH = 8 };

static void pack(float *panels, Floats b, size_t depth, size_t n) {
    for (size_t first = 0; first < n; first += WIDTH)
        for (size_t t = 0; t < depth; t++)
            for (size_t j = first; j < first + WIDTH; j++)
                *panels++ = j < n ? b.at[t * b.row + j * b.column] : 0;
}

static void multiply(float *c, size_t ldc, int add, Floats a, Panels b, size_t m, size_t n, size_t depth) {
    for (size_t i = 0; i < m; i++)
        for (size_t j = 0; j < n; j++) {
            const float *column = b.at + j / WIDTH * b.panel + j % WIDTH;
            float total = add ? c[i * ldc + j] : 0;
            for (size_t from = 0; from < depth; from += TRAIN_DEPTH) {
                float sum = 0;
                for (size_t t = from; t < depth && t < from + TRAIN_DEPTH; t++)
                    sum += a.at[i * a.row + t * a.column] * column[t * b.row];
                total += sum;
            }
            c[i * ldc + j] = total;
        }
}

static double exp_all(float *x, size_t n, float times, float less) {
    double sum = 0;
    for (size_t i = 0; i < n; i++) {
        float y = fmaf(x[i], times, -less);
        x[i] = y < -87.33f ? 0 : expf(y);
        sum += x[i];
    }
    return sum;
}

static float largest(const float *x, size_t n) {
    float most = x[0];
    for (size_t i = 1; i < n; i++) most = x[i] > most ? x[i] : most;
    return most;
}

static void softmax_back(float *d, const float *p, float along, float times, size_t n) {
    for (size_t j = 0; j < n; j++) d[j] = times * (p[j] * (d[j] - along));
}

static float rmsnorm_back(float *dx, const float *dy, const float *x, const float *w, size_t n, float eps) {
    double square = 0, along = 0;
    for (size_t i = 0; i < n; i++) {
        square += (double)x[i] * (double)x[i];
        along += (double)(dy[i] * w[i]) * (double)x[i];
    }
    double r = 1 / sqrt(square / (double)n + eps);
    float a = (float)r, b = (float)(r * r * r / (double)n * along);
    for (size_t i = 0; i < n; i++) dx[i] += a * (dy[i] * w[i]) - b * x[i];
    return a;
}

static void swiglu_back(float *dgate, float *dup, const float *dh, const float *gate, const float *up, size_t n) {
    for (size_t i = 0; i < n; i++) {
        float s = 1 / (1 + expf(gate[i] < -87 ? 87 : -gate[i])); /* e^87 is still a float */
        dup[i] = dh[i] * gate[i] * s;
        dgate[i] = dh[i] * up[i] * s * (1 + gate[i] * (1 - s));
    }
}

const TrainKernels ref_train = {.width = WIDTH, .pack = pack, .multiply = multiply, .exp = exp_all,
                                .largest = largest, .softmax_back = softmax_back, .rmsnorm_back = rmsnorm_back,
                                .swiglu_back = swiglu_back};
