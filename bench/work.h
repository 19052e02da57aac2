/* bench/work.h - what a model's evaluation reads and multiplies, by the shapes alone: the numbers that speeds are
 * divided by.
 *
 * Counted are the matrices that a token is multiplied by, with their scales, a row of the embedding's table (where the
 * output shares that table, it counts as the output), and the keys and values that attention reads. Bytes are the
 * file's: a row of kernels may read a copy that is packed another way. Norms, biases and activations are not counted:
 * less than a thousandth in a model of any size, and they stay in cache. */
#ifndef WORK_H
#define WORK_H

#include "model/session.h"

typedef struct {
    double bytes;             /* read from the model and the cache */
    double f32, int8, int4; /* multiplications and additions, two for each weight: with float weights and in attention;
                             * with weights in blocks; with weights in blocks of 4 bits or less */
} Work;

Work work_sum(Work a, Work b);
double work_ops(Work w); /* all three kinds */

/* tokens through all layers' matrices, each of which is read once, and `heads` of them (0, 1 ..) through the output. */
Work work_matrices(const Model *m, size_t tokens, size_t heads);

/* Attention of one call with tokens at positions pos .. pos+n-1: each is multiplied by the keys and values of the
 * positions it sees (its own and those before it, or its window; all n under a mask that is not causal); a key that
 * several of them see is read once. Linear attention: the state, which is read once, whatever the position. */
Work work_attention(const Session *s, size_t pos, size_t n);

#endif
