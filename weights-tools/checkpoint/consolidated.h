/* weights-tools/checkpoint/consolidated.h - how Meta publishes LLaMA: consolidated.00.pth, or several of them, each
 * with a slice of every matrix for one of several GPUs, and params.json beside. Mistral's consolidated.safetensors has
 * the same names in one file. */
#ifndef CONSOLIDATED_H
#define CONSOLIDATED_H

#include "checkpoint.h"

enum { CONSOLIDATED_MAX_FILES = 100 }; /* two digits count them; LLaMA 3's largest has 16 */

/* The name of file number i, from 0, into name [24]. */
void consolidated_name(char name[24], size_t i);
/* 1 where path has the name of such a file; of Mistral's. */
int consolidated_is(const char *path);
int consolidated_is_mistrals(const char *path);
/* c holds the tensors of n files: the first ends [0] of the first, those up to ends [1] of the second .. Make each
 * matrix one (view_join). Queries, keys, values, the gate, up and output lie one below the other, wo and w2 side by
 * side, embeddings either way; vectors are the same in all files that have them. 0, or -EINVAL (files of several
 * models), -ENOMEM and a line. Source: transformers,
 * models/llama/convert_llama_weights_to_hf.py. */
int consolidated_join(Checkpoint *c, const size_t *ends, size_t n, const char *path, char *err, size_t errlen);

#endif
