/* kernels/train_kernels.h - the group of functions (kernels.h) that training needs beside: products of float matrices
 * that change with every step, any of the two transposed, e^x, and gradients of single vectors.
 *
 *     const TrainKernels *k = kernels->train;
 *     k->pack(panels, (Floats){w, 1, d}, d, out);                            x w^T: w^T is [d, out]
 *     k->multiply(y, out, 0, (Floats){x, d, 1}, panels_packed(k, panels, d), n, out, d);     y [n, out] = x [n, d] w^T
 *
 * matmul's weights never change and meet a few tokens; here both sides are new each time and meet by thousands. */
#ifndef TRAIN_KERNELS_H
#define TRAIN_KERNELS_H

#include "kernels.h"

/* A matrix as it lies: entry (i, j) is at[i * row + j * column]; row or column is 1. */
typedef struct {
    const float *at;
    size_t row, column;
} Floats;

/* A matrix as a product reads its right side: in panels of `width` columns. Row t of panel p, width floats, is at[p *
 * panel + t * row]: packed, or where a matrix lies whose columns are whole panels. */
typedef struct {
    const float *at;
    size_t row, panel;
} Panels;

enum { TRAIN_DEPTH = 256 }; /* terms of a sum that are added up before they are added to it */

typedef struct TrainKernels {
    size_t width; /* columns of a panel; a divisor of 256 */

    /* b [depth, n] as ceil(n / width) panels, panels[p][depth][width], the last one filled up with zeroes. */
    void (*pack)(float *panels, Floats b, size_t depth, size_t n);

    /* c[i*ldc + j] = (add ? c[i*ldc + j] : 0) + sum over t of a(i, t) b(t, j), i < m, j < n, t < depth: TRAIN_DEPTH
     * terms at a time, each lot summed in order from 0. An entry's bits depend on nothing but its row and column. */
    void (*multiply)(float *c, size_t ldc, int add, Floats a, Panels b, size_t m, size_t n, size_t depth);

    /* x[i] = e^y to 2 ulp, y = x[i] times - less rounded once; for y below -87.33 it is 0, NaN stays. Returns the sum
     * of these, taken in double. */
    double (*exp)(float *x, size_t n, float times, float less);

    float (*largest)(const float *x, size_t n); /* of n >= 1 numbers */

    /* d[j] = times p[j] (d[j] - along): from dP to dS (train/softmax.c). */
    void (*softmax_back)(float *d, const float *p, float along, float times, size_t n);

    /* dx += what train/norms.c derives, of one token; returns 1 / sqrt(mean(x^2) + eps). */
    float (*rmsnorm_back)(float *dx, const float *dy, const float *x, const float *w, size_t n, float eps);

    /* dgate and dup of dh, as train/feed_forward.c derives them. */
    void (*swiglu_back)(float *dgate, float *dup, const float *dh, const float *gate, const float *up, size_t n);
} TrainKernels;

/* Panels that k->pack has made of a matrix of so many rows; and b [.., n] as it lies, where it can be read so: at NULL
 * else. */
static inline Panels panels_packed(const TrainKernels *k, const float *panels, size_t depth) {
    return (Panels){panels, k->width, depth * k->width};
}
static inline Panels panels_as_they_lie(const TrainKernels *k, Floats b, size_t n) {
    return (Panels){b.column == 1 && n % k->width == 0 ? b.at : NULL, b.row, k->width};
}

extern const TrainKernels ref_train; /* ref_train.c: the specification */

#endif
