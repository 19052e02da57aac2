/* model/matrices.h - the matrices of a model, one by one, and when each is multiplied by. */
#ifndef MATRICES_H
#define MATRICES_H

#include "model.h"

/* For every token; for tokens that choose it; where logits are wanted; once a text; never, its rows are looked up. */
typedef enum { USE_TOKEN, USE_EXPERT, USE_HEAD, USE_TEXT, USE_LOOKUP } MatrixUse;

typedef struct {
    Matrix *matrix; /* without data where the model has none in this place */
    MatrixUse use;
} MatrixEntry;

/* Matrix i, i = 0, 1 .., into *out: 1, or 0 after the last. */
int model_matrix(const Model *m, size_t i, MatrixEntry *out);

#endif
