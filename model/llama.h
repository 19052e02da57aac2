/* model/llama.h - the decoder's forward pass, for its family's row (decoder.c); contracts: family.h. */
#ifndef LLAMA_H
#define LLAMA_H

#include <stddef.h>

typedef struct Session Session;

void llama_forward(Session *s, size_t n,
                   size_t n_last); /* the scratch's xn gets the final norm's output of each token */
void llama_logits(Session *s, size_t t, size_t n);

#endif
