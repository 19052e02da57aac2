/* model/lora.h - a low-rank adapter, merged into the weights as they are read. */
#ifndef LORA_H
#define LORA_H

#include "model/layers/layers.h"

/* spec is FILE or FILE:SCALE (1): a GGUF adapter (llama.cpp's) for a GGUF model, a PEFT folder or its
 * adapter_model.safetensors for a Hugging Face one; told by the bytes. Each matrix W [rows, cols] that it names becomes
 * W + scale alpha/r B A in F32, w's memory, whatever it was: A [r, cols], B [rows, r]. traits are those of a model in
 * layers, whose tensors have parts.c's names by now; NULL: it is another. To be called before anything looks at w's
 * tensors; several add up. 0, or a negative errno and one line naming the file and the tensor; w is then only to be
 * closed. */
int lora_merge(Weights *w, const LayerTraits *traits, const char *spec, char *err, size_t errlen);

#endif
