/* model/layers/latent.h - latent attention: what is kept of a token is one short vector c, of which every head makes
 * its own key and value, and a key that turns and is the same for all heads (DeepSeek-V2, arXiv:2405.04434).
 *
 *     c = rmsnorm(W_a xn), r = R_m (W_r xn)                       c [kv_rank], r [rotary_dim]; kept
 *     k_h = [r, K_h c],  v_h = V_h c                              K_h [nope_dim, kv_rank], V_h [v_dim, kv_rank]
 *     q_h = [R_m p_h, n_h]                                        p and n of W_q xn, or of W_q rmsnorm(W_b xn)
 *
 * A score needs no key of a head's own, nor does the sum of values: the matrices go to the query and behind the sum,
 *     q_h . k_h = p_h . r + n_h . (K_h c) = [p_h, K_h^T n_h] . [r, c]
 *     sum_t w_t v_t = V_h (sum_t w_t c_t)
 * so the layer attends with one head of keys [r, c], whose values are c, and n_heads queries. The cache holds
 * rotary_dim + 2 kv_rank numbers a token, whatever n_heads is. */
#ifndef LATENT_H
#define LATENT_H

#include "layers.h"
#include "model/session.h"

/* values [n, n_heads, v_dim] of the layers' scratch = attention of layer l, from xn. rotate_nowait turns q and k. Every
 * thread of the team calls it; a step (model/steps.h). */
void latent_attend(Session *s, int l, size_t n, void (*rotate_nowait)(Session *s, int l, size_t n));

#endif
