/* model/layers/tensors.h - a model in layers loaded by its table of tensors, and its matrices one by one. */
#ifndef LAYER_TENSORS_H
#define LAYER_TENSORS_H

#include "parts.h"

void layers_load(Loader *ld); /* family.h */
/* Where the part of layer l (-1: the model's) is kept: of a Matrix, a Matrix * of experts or a const float *. */
void *layer_place(const Model *m, const LayerPart *p, int l);

/* 1 where a tensor's name is that of keys or values in a layer that borrows an earlier one's: files may have them. */
int layer_has_lent(const Model *m, const char *name);

/* Matrix i of layer l, 0 <= i < layer_matrices(c); without data where the layer has none there. *expert: 1 for one of
 * those of which a token chooses some. */
size_t layer_matrices(const Config *c);
Matrix *layer_matrix(const Model *m, int l, size_t i, int *expert);

#endif
