/* model/files/gguf_fused.h - q, k and v as one matrix of a GGUF file, taken apart. */
#ifndef GGUF_FUSED_H
#define GGUF_FUSED_H

#include "weights.h"

/* llama.cpp's converter can write blk.N.attn_qkv (--fuse-qkv): rows of q, of k, of v, one behind the other. For
 * architectures of the core's family, whose layers have three matrices, each becomes three tensors of the same bytes.
 * What does not fit stays, for the model's loader to name. weights_index is next. 0 or -ENOMEM and a line. */
int gguf_take_apart(Weights *w, char *err, size_t errlen);

#endif
