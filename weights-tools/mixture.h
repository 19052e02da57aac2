/* weights-tools/mixture.h - which type each tensor of a quantized model gets: llama.cpp's choice, by the tensor's name.
 *
 * Source: llama_tensor_get_type and tensor_type_fallback in llama.cpp's src/llama-quant.cpp (as of ggml 0.25).
 * README.md of this folder has the table. */
#ifndef MIXTURE_H
#define MIXTURE_H

#include "source.h"

/* What a rule gives is a GGML type; 0: there is no such rule. */
typedef struct {
    const char *name;  /* "Q4_K_M": what the command line says */
    int type;          /* of what has no rule of its own */
    int file_type;     /* general.file_type: llama.cpp's LLAMA_FTYPE */
    int more;          /* attn_v and ffn_down of the first and last eighth of layers, and of each third one between */
    int early, early_v;      /* attn_v of the first `early` layers; */
    int shared_v, v;         /* where four heads or more share keys and values; else */
    int share, early_down;   /* ffn_down of the first 1/share of layers; */
    int down;                /* of the others */
    int output, output_of_8; /* attn_output; of a model of eight experts */
} Mixture;

/* Row i, from 0 on, NULL after the last; and the row of that name, upper or lower case, or NULL. */
const Mixture *mixture_row(int i);
const Mixture *mixture_find(const char *name);

/* Set the types of all of s's items. A row that the wanted type's blocks do not divide gets another type, and r a note
 * of it; returns how many did. */
size_t mixture_apply(const Mixture *m, Source *s, const Report *r);

#endif
