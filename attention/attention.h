/* attention/attention.h - softmax attention of queries against the keys and values of the past.
 *
 *     KVCache c;
 *     if (cache_init(&c, CACHE_F32, n_layers, n_kv_heads, head_dim, value_dim, n_ctx, err, errlen)) ...
 *     cache_store(&c, l, h, slot, k, v);                  one head's key (already turned) and value
 *     attention_softmax(out, q, &c, l, h_kv, first, end, scale, scores, kernels);
 *     cache_free(&c); */
#ifndef ATTENTION_H
#define ATTENTION_H

#include "../kernels/kernels.h"

typedef enum { CACHE_F32 } CacheType; /* f16 and q8_0 come with the speed work */

/* Keys and values, in slots: a decoder's are its positions, an encoder's the tokens that are not padding. Each (layer, head)
 * has its slots side by side, so that one head's scores are one stream through memory. Keys are stored rotated; where a
 * method changes the angle of keys already known (longrope beyond its border), the session evaluates its ids again. */
typedef struct {
    CacheType type;
    int n_layers, n_kv_heads, head_dim, value_dim;
    size_t n_ctx;
    float *k, *v; /* [n_layers, n_kv_heads, n_ctx, head_dim], [.., value_dim]; one allocation, owned by the cache */
} KVCache;

/* Errors: -ENOMEM, with the size in the line; -EOVERFLOW. The memory is taken as it is written to, not before. */
int cache_init(KVCache *c, CacheType type, int n_layers, int n_kv_heads, int head_dim, int value_dim, size_t n_ctx, char *err,
               size_t errlen);
void cache_free(KVCache *c); /* accepts a zeroed struct */
size_t cache_bytes(const KVCache *c);

/* Slot of layer l, head h: k [head_dim], v [value_dim]. slot < n_ctx. */
void cache_store(KVCache *c, int l, int h, size_t slot, const float *k, const float *v);

/* One head of one query against the cache:
 *   out [value_dim] = sum over j of softmax_j(scale * q . k_j) v_j,   first <= j < end
 * q [head_dim] (rotated); h: the key/value head (query head / (n_heads/n_kv_heads) with grouped queries); first, end: the
 * slots it sees, which is all that a mask is: causal ends behind the query's own, a window (Mistral 7B, arXiv:2310.06825)
 * begins later, an encoder's goes from the text's first slot to its last. No slot at all: out is 0. scores: scratch [n_ctx],
 * one for each thread. Two passes over the scores: the maximum is known before the first exp, so nothing overflows. Cannot
 * fail. Source: Vaswani et al. 2017, section 3.2.1. */
void attention_softmax(float *out, const float *q, const KVCache *c, int l, int h, size_t first, size_t end, float scale, float *scores,
                       const Kernels *kernels);

#endif
