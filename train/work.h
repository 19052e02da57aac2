/* train/work.h - who computes a step, and with what: a team of threads, a row of kernels, and room to work in.
 *
 * As in the engine's forward pages every thread runs the same text and takes its share of each loop; what another
 * thread may read stands behind a team_wait. All functions here and in the parts (parts.h) that do not end in _nowait
 * wait before they return. Sums go over tokens in one order, whoever does them: the same bits for any number of
 * threads. */
#ifndef WORK_H
#define WORK_H

#include "base/threads.h"
#include "kernels/train_kernels.h"

typedef struct {
    Team team;
    const Kernels *kernels;
    const TrainKernels *k;  /* kernels->train */
    float *panels;          /* [panels_size]: the packed side of a product, shared by all threads */
    size_t panels_size;
    float *room;            /* [team.most, room_size]: a thread's own */
    size_t room_size;
    float *rows;            /* [rows_size]: a number a token, and the like */
    size_t rows_size;
    float *blocks;          /* [team.most, a block]: part of a product's right side, packed by a thread for itself */
} Work;

/* Room is taken by whoever knows the sizes (work_reserve) before the first step. threads 0: as many as are worth it.
 * 0, or -ENOMEM. */
int work_init(Work *w, const Kernels *kernels, int threads);
/* The largest needs, in floats; of a product by a matrix that lies by columns: work_panels(..). Called as often as
 * wanted, then work_allocate once. */
void work_reserve(Work *w, size_t panels, size_t room, size_t rows);
size_t work_bytes(const Work *w); /* what is allocated then */
int work_allocate(Work *w);
void work_free(Work *w); /* accepts a zeroed struct */

size_t work_panels(const Work *w, size_t n, size_t depth); /* floats of b [depth, n], packed */
static inline float *work_room(const Work *w) { return w->room + (size_t)team_member() * w->room_size; }

/* One of the products that share a right side: c [m, n], rows ldc apart, = or += a [m, depth] b [depth, n]. */
typedef struct {
    float *c;
    size_t ldc;
    int add;
    Floats a;
    size_t m;
} Product;
void work_products(Work *w, const Product *p, size_t products, Floats b, size_t n, size_t depth);
static inline void work_product(Work *w, float *c, size_t ldc, int add, Floats a, Floats b, size_t m, size_t n,
                                size_t depth) {
    work_products(w, &(Product){c, ldc, add, a, m}, 1, b, n, depth);
}

/* g[j] += sum over t of a[t][j] * b[t][j] * s[t], j < d, t < n; b or s may be NULL: 1. Sums of 64 tokens at a time. */
void work_sum_columns(Work *w, float *g, const float *a, const float *b, const float *s, size_t n, size_t d);

/* The sum of a[i] b[i], i < n, in lanes that the compiler keeps in vectors. One thread's. */
float work_dot(const float *a, const float *b, size_t n);

#endif
