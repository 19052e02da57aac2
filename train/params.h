/* train/params.h - what is learned: matrices and vectors by name, each with its gradient and AdamW's two moments.
 *
 *     Params p = {0};
 *     params_add(&p, "output_norm.weight", 1, d, 0) ..           what a model has
 *     if (params_allocate(&p)) ...                               all of it zero; 16 bytes a number
 *     Param *w = params_find(&p, "output_norm.weight");
 *     params_free(&p); */
#ifndef PARAMS_H
#define PARAMS_H

#include "model/files/weights.h"

typedef struct {
    char name[TENSOR_NAME]; /* GGUF's */
    size_t rows, cols;      /* a vector is one row */
    int is_vector;
    int decays;             /* 1: weight decay pulls it to 0: matrices, but no norms, biases, tables of positions */
    float *w, *g, *m, *v;   /* [rows, cols]: the weights, their gradient, the means of it and of its square */
} Param;

typedef struct {
    Param *at;
    size_t n, cap;
    size_t floats;  /* of all, each rounded up to 16 */
    float *memory;  /* [4, floats]: w, g, m, v of all, in that order; owned */
} Params;

/* One more; cols 0: a vector of `rows`. 0 or -ENOMEM. */
int params_add(Params *p, const char *name, size_t rows, size_t cols, int decays);
int params_allocate(Params *p); /* 0 or -ENOMEM; after it nothing is added */
void params_free(Params *p);    /* accepts a zeroed struct */
Param *params_find(const Params *p, const char *name); /* NULL: there is none */
size_t params_numbers(const Params *p); /* how many there are to learn */

/* Where training begins: vectors that end in "norm.weight" or "rope_freqs.weight" 1, other vectors 0, matrices normal
 * with deviation 0.02, those that end a branch (attn_output, ffn_down) divided by sqrt(2 n_layers), as GPT-2 begins.
 * Each parameter has a generator of its own, from seed and its name. */
void params_begin(Params *p, uint64_t seed, int n_layers);

#endif
