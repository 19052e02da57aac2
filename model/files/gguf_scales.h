/* model/files/gguf_scales.h - numbers that llama.cpp keeps beside matrices of NVFP4: of NAME.weight the tensor
 * NAME.scale, F32, is what the matrix's products are multiplied by, of a stack of experts one each; NAME.input_scale is
 * of activations, which the engine rounds to 8 bits beside any format, and is left out. */
#ifndef GGUF_SCALES_H
#define GGUF_SCALES_H

#include "weights.h"

/* The matrix of NVFP4 that the tensor of this name stands beside, or NULL. */
const Tensor *gguf_scaled(const Weights *w, const char *name);

/* Each matrix gets its numbers (Tensor.scales); the list stays as it is. 0, or -EINVAL (not F32, or not as many as
 * there are matrices) and one line. Of other formats than GGUF nothing is looked at. */
int gguf_find_scales(Weights *w, char *err, size_t errlen);
void gguf_drop_scales(Weights *w); /* then they leave the list: weights_index is next */

#endif
