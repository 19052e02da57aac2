/* model/load.h - taking tensors into a Model, each with its type and shape checked; for the families.
 *
 * Opening goes over the same list of tensors twice: first to check them and count what memory they want, then, with
 * room for it, to fill the model. */
#ifndef LOAD_H
#define LOAD_H

#include "model.h"

typedef struct Loader {
    Model *m;
    float *room;        /* NULL in the first pass */
    size_t n_room;      /* floats taken so far */
    size_t n_matrices;  /* of m->matrices */
    char *err;
    size_t errlen;
    int rc;             /* 0, or the first complaint's -EINVAL; what is loaded after it does not matter */
} Loader;

/* t as a matrix [rows, cols] into *to, which stays where it is; as a vector [n] of floats in the model's own memory. t
 * NULL is refused as missing. name is what error lines call it. */
void load_matrix(Loader *ld, Matrix *to, const Tensor *t, const char *name, size_t rows, size_t cols, MatrixUse use);
const float *load_vector(Loader *ld, const Tensor *t, const char *name, size_t n);
void load_tied(Loader *ld, Matrix *to, const Matrix *from); /* the output that is the embeddings' table once more */
const float *load_constant(Loader *ld, size_t n, float value); /* a vector that no file holds: n times value */
void load_refuse(Loader *ld, const char *name, const char *why); /* "file: tensor name why" */
void load_seen(Loader *ld, const Tensor *t); /* somebody reads it: it is not extra */

#endif
