/* lab/explain/filling.h - linear attention's state as a text fills it. */
#ifndef FILLING_H
#define FILLING_H

#include "trace.h"

typedef struct {
    double S, z;          /* norms of S (Frobenius) and z after the token, mean over key heads of the layer */
    double sum, negative; /* of the token's weights, mean over heads: what they add up to, the share below zero */
} Filling;

/* A row for each token of t, of layer l, which is kept; t is of linear attention. weights [n, n]: scratch. 0, or
 * -ENOMEM. */
int filling_of(Filling *out, const Trace *t, int l, double *weights, char *err, size_t errlen);
/* Bytes of the past after n tokens: of the model's state, and of a cache of keys and values in f32 for softmax. */
double filling_state_bytes(const Model *m);
double filling_cache_bytes(const Model *m, size_t n);

#endif
