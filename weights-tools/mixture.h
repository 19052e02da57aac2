/* weights-tools/mixture.h - which type each tensor of a quantized model gets: llama.cpp's choice, by the tensor's name.
 *
 * Source: llama_tensor_get_type and tensor_type_fallback in llama.cpp's src/llama-quant.cpp (as of ggml 0.25).
 * README.md of this folder has the table. */
#ifndef MIXTURE_H
#define MIXTURE_H

#include "source.h"

typedef struct {
    const char *name; /* "Q4_K_M": what the command line says */
    int type;         /* GGML type of what has no rule of its own */
    int file_type;    /* general.file_type: llama.cpp's LLAMA_FTYPE */
} Mixture;

/* Row i, from 0 on, NULL after the last; and the row of that name, upper or lower case, or NULL. */
const Mixture *mixture_row(int i);
const Mixture *mixture_find(const char *name);

/* Set the types of all of s's items. A row that the wanted type's blocks do not divide gets another type, and r a note
 * of it; returns how many did. */
size_t mixture_apply(const Mixture *m, Source *s, const Report *r);

#endif
