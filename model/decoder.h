/* model/decoder.h - what decoders of the LLaMA family are made of: one table of keys, one of tensors, for
 * whoever reads such models (decoder.c) or writes them (weights-tools). */
#ifndef DECODER_H
#define DECODER_H

#include "family.h"

extern const KeySource keys_gguf; /* of llama2.c's header too, which is handed out in the same form */

extern const KeyField decoder_keys[];     /* sizes, the vocabulary's first; ended by a zeroed row */

/* A tensor: '#' in its names is the layer, ".weight" or ".bias" stands behind. Rows and columns in letters: V
 * vocabulary, D d_model, F d_ff, Q, K and W all heads of queries, keys and values, H one head; cols 0: a vector. */
typedef struct {
    const char *gguf, *hf;
    char rows, cols;
    char bias;             /* one beside it: where (a) qkv_bias, (o) o_bias, (m) mlp_bias says; 0 never */
    size_t at, bias_at;    /* its place in a Layer (names with '#') or in the Model */
} DecoderTensor;
extern const DecoderTensor decoder_tensors[]; /* in the order in which files list them; ended by a zeroed row */

size_t decoder_size(const Config *c, char letter);
/* 1 where the model must have the tensor (its bias), 0 not, -1: where the file has it. */
int decoder_has(const Config *c, const DecoderTensor *t);
int decoder_has_bias(const Config *c, const DecoderTensor *t);

void decoder_read_config(KeyReader *r, Config *c, const Architecture *a); /* of the row family_llama: family.h */
void decoder_load(Loader *ld);
extern const Family family_llama; /* llama.c */

#endif
