/* model/layers/scratch.h - what a batch needs beside scratch.h's arrays. */
#ifndef LAYER_SCRATCH_H
#define LAYER_SCRATCH_H

#include "layers.h"
#include "model/scratch.h"

/* B = n_batch, S = B * n_used. What a model has no use for has no room. */
typedef struct LayerScratch {
    float *branch;         /* [B, d_model]: what a branch gives */
    float *gated, *gates;  /* [B, 2 q], [B, q]: q with gates, and the gates; q = n_heads * head_dim */
    float *cos, *sin;      /* [B, local.rotary_dim / 2] */
    double *mean;          /* [d_model]: an encoder's classifier's */
    float *zeroes, *ones;  /* [head_dim, an encoder's d_model], [head_dim]: bias, weights of a norm that has none */
    Rope local;
    /* latent.c */
    float *low, *low_q;    /* [B, head_dim], [B, q_rank]: keys' short vector and what turns; queries' */
    float *own_q, *values; /* [B, n_heads, nope_dim + rotary_dim], [B, n_heads, v_dim] */
    uint8_t *head_packed;  /* [B, n_heads, packed nope_dim or kv_rank] */
    float *per_layer, *per_layer_row; /* [B, n_layers, per_layer] x 2: per_layer.c */
    /* experts.c */
    float *shares;         /* [B, n_experts]: the router's; then [B, n_used] the chosen ones' */
    int *chosen;           /* [B, n_used]: experts, the largest share first */
    size_t *slot;          /* [B, n_used]: where that expert has the token: slots are sorted by expert */
    size_t *token;         /* [S]: whose a slot is */
    size_t *first;         /* [n_experts + 1]: the first slot of each expert */
    float *slot_gate, *slot_up, *slot_out; /* [S, d_expert] x 2, [S, d_model] */
    uint8_t *slot_packed;  /* [S, packed d_model or d_expert] */
    /* delta.c */
    float *mix, *mixed;    /* [B, channels]: before and behind the convolution */
    float *z, *beta, *alpha; /* [B, values], [B, value_heads] x 2 */
} LayerScratch;

size_t layers_carve(Carver *k, Session *s); /* Family.carve (family.h) */

#endif
