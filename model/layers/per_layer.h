/* model/layers/per_layer.h - per-layer embeddings (Gemma 3n and 4): a token has a short vector for every layer, which
 * tells that layer of the token once more, whatever became of its x on the way.
 *
 *     e = (sqrt(p) E[id] + norm(P x_0 / sqrt(d_model))) / sqrt(2)      E[id], P x_0: [n_layers, p], norm by layer
 *     x += norm(W_out (act(W_gate x) * e_l))                           behind layer l's feed-forward network
 *
 * E is as large as all the layers together and is never multiplied with: a token reads one row of it. p is
 * Decoder.per_layer. Source: transformers' Gemma4TextModel. */
#ifndef PER_LAYER_H
#define PER_LAYER_H

#include "model/session.h"

/* Steps (model/steps.h), which every thread of the team calls. The first: e of all tokens, from x as it was embedded.
 * The second: branch = W_out (..) of layer l, which is not yet normalised. */
void per_layer_embed(Session *s, size_t n);
void per_layer_branch(Session *s, int l, size_t n);

#endif
