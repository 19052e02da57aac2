/* model/layers/delta.h - a gated delta net: linear attention that, before it writes a key's value, takes away what the
 * key would have read (Yang et al., arXiv:2412.06464; as Qwen3-Next and Qwen3.5 have it). A layer's memory is constant:
 * a matrix S [key_dim, value_dim] a value head, and the last conv - 1 inputs of its convolution.
 *
 *     S <- g S                      g = e^(-e^A softplus(a + dt)), 0 < g < 1
 *     S <- S + k (b (v - S^T k))^T  b = sigmoid(beta), |k| = 1
 *     o = S^T q                     |q| = 1 / sqrt(key_dim) */
#ifndef DELTA_H
#define DELTA_H

#include "layers.h"
#include "model/session.h"

/* What a text has left in these layers, or in those of a convolution alone, which have no S. */
typedef struct DeltaState {
    size_t n_layers, conv_floats, S_floats; /* of a layer */
    float *conv;  /* [n_layers, conv - 1, channels]: the last inputs, the oldest first */
    float *S;     /* [n_layers, value_heads, key_dim, value_dim] */
    void *block;  /* owns both: */
    size_t bytes;
} DeltaState;

/* *out: NULL for a model without such layers. 0, -ENOMEM, or -EINVAL: sizes that a small file may claim. */
int delta_init(DeltaState **out, const Model *m, char *err, size_t errlen);
void delta_clear(DeltaState *d); /* nothing has been read; NULL: nothing to do */
void delta_free(DeltaState *d);  /* accepts NULL */

/* branch = Wo (norm(o) * silu(z)) of layer l, from xn. Every thread of the team calls it; a step (model/steps.h). The
 * tokens are taken in one by one, whatever the batch. */
void delta_mix(Session *s, int l, size_t n);
/* The same of LFM2's short convolution: branch = Wo (c * conv(b * x)), where b, c and x are of xn, a number a channel.
 * Source: Lfm2ShortConv in transformers. */
void conv_mix(Session *s, int l, size_t n);

#endif
