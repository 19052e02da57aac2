/* model/load.h - taking tensors into a Model, each with its type and shape checked; for model.c and roformer_load.c.
 *
 * Opening goes over the same list of tensors twice: first to check them and count the floats of norms and biases, then,
 * with room for these, to fill the model. */
#ifndef LOAD_H
#define LOAD_H

#include "model.h"

typedef struct {
    Model *m;
    float *room;   /* NULL in the first pass */
    size_t n_room; /* floats taken so far */
    char *err;
    size_t errlen;
    int rc;        /* 0, or the first complaint's -EINVAL; what is loaded after it does not matter */
} Loader;

/* t as a matrix [rows, cols], or as a vector [n] of floats in the model's own memory; t NULL is refused as missing. name is
 * what error lines call it. */
Matrix load_matrix(Loader *ld, const Tensor *t, const char *name, size_t rows, size_t cols);
const float *load_vector(Loader *ld, const Tensor *t, const char *name, size_t n);
/* A vector that no file holds: n times value. */
const float *load_constant(Loader *ld, size_t n, float value);
void load_refuse(Loader *ld, const char *name, const char *why); /* "file: tensor name why" */
void load_seen(Loader *ld, const Tensor *t); /* somebody reads it: it is not extra */

/* repack.c: m->panels and the matrices' panels or copies, where m->kernels or the options (NULL: none) want them. 0, or -ENOMEM and a line. */
int model_repack(Model *m, const ModelOptions *o, char *err, size_t errlen);

/* roformer_load.c: all of a RoFormer's tensors. */
void roformer_load(Loader *ld);

#endif
