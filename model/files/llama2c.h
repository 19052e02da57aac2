/* model/files/llama2c.h - the .bin files of llama2.c. */
#ifndef LLAMA2C_H
#define LLAMA2C_H

#include "weights.h"

/* What llama2.c's run reads: version 0. */
int llama2c_is(const uint8_t *data, size_t size);
/* Append the tensors under GGUF's names, and what the header says under GGUF's keys, beside "llama2c.version"; finish.
 * 0, or -EINVAL, -ENOMEM and one line. */
int llama2c_open(Weights *w, const uint8_t *data, size_t size, char *err, size_t errlen);

/* An array, under GGUF's name (# is the layer: one for each; NULL: not needed); its rows and columns in letters: D dim,
 * F hidden_dim, K all key heads, V vocab_size, S seq_len, R a head; no columns: a vector. */
typedef struct { const char *name; char rows, cols; } Llama2cArray;

/* A header, of any version. */
typedef struct {
    int version, dim, hidden_dim, n_layers, n_heads, n_kv_heads, vocab_size, seq_len;
    int shared_classifier;      /* output.weight is the embedding, and not there */
    int group_size;             /* version 2: matrices are int8, then a float32 scale for so many values; else 0 */
    size_t bytes;               /* the header's own */
    const Llama2cArray *arrays; /* behind it, in order; ended by a zeroed row */
} Llama2cHeader;

void llama2c_numbers(Llama2cHeader *h, const uint8_t *p); /* the seven numbers from dim on */
const char *llama2c_implausible(const Llama2cHeader *h); /* NULL where they can be a model's, else what is wrong */
/* llama2c_open of a file whose header has been read, and is plausible. */
int llama2c_read(Weights *w, const Llama2cHeader *h, const uint8_t *data, size_t size, char *err, size_t errlen);

#endif
