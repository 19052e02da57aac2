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

static double exp_all(float *x, size_t n, float less) {
    double sum = 0;
    for (size_t i = 0; i < n; i++) {
        x[i] -= less;
        x[i] = x[i] < -87.33f ? 0 : expf(x[i]);
        sum += x[i];
    }
    return sum;
}

const TrainKernels ref_train = {.width = WIDTH, .pack = pack, .multiply = multiply, .exp = exp_all};
