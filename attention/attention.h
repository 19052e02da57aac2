/* attention/attention.h - softmax attention of queries against the keys and values of the past.
 *
 *     KVCache c;
 *     if (cache_init(&c, CACHE_F16, n_layers, n_kv_heads, head_dim, value_dim, n_ctx, err, errlen)) ...
 *     float *scratch = ... attention_scratch(..) floats, for each thread ...
 *     cache_store(&c, l, h, slot, k, v, kernels);         one head's key (already turned) and value
 *     AttentionQuery query = {.q = q, .out = out, .end = slot + 1, .scale = 1 / sqrtf(head_dim)};
 *     attention_softmax(&query, 1, &c, l, h, scratch, kernels);
 *     cache_free(&c); */
#ifndef ATTENTION_H
#define ATTENTION_H

#include "kernels/kernels.h"

typedef enum {
    CACHE_F32,  /* what was stored, to the bit */
    CACHE_F16,  /* rounded to the nearest half, ties to even; from 65520 on infinity, so that it stays visible */
    CACHE_Q8_0, /* 32 entries (a head's last: as many as are left) share a scale amax / 127, a half float; x / scale as int8 */
} CacheType;

extern const char *const cache_type_names[]; /* "f32", "f16", "q8_0", NULL */

/* Keys and values, in slots: a decoder's are its positions, an encoder's the tokens that are not padding. Each (layer, head)
 * has its slots side by side, so that one head's keys are one stream through memory, and its values another. Keys are stored
 * rotated; where a method changes the angle of keys already known (longrope beyond its border), the session evaluates its ids
 * again.
 *
 * A head's keys come in groups of KEY_LANES slots, each [head_dim][KEY_LANES]: entry i of 16 keys is a vector. A value is a row,
 * [value_dim] with room behind up to value_width, which is computed with and never seen. In q8_0 a group (a row) begins with its
 * scales, half floats [blocks][KEY_LANES] ([blocks]), then its int8. */
typedef struct {
    CacheType type;
    int n_layers, n_kv_heads, head_dim, value_dim;
    size_t value_width; /* whole_lanes(value_dim) */
    size_t n_ctx;
    size_t group_bytes, row_bytes; /* of KEY_LANES keys; of one value */
    size_t k_stride, v_stride;     /* bytes from a head's keys (values) to the next head's */
    uint8_t *k, *v;                /* [n_layers, n_kv_heads] of these, each begun at a cache line */
    void *block;                   /* owns both */
} KVCache;

/* Errors: -ENOMEM, with the size in the line; -EOVERFLOW. The memory is taken as it is written to, not before. */
int cache_init(KVCache *c, CacheType type, int n_layers, int n_kv_heads, int head_dim, int value_dim, size_t n_ctx, char *err,
               size_t errlen);
void cache_free(KVCache *c); /* accepts a zeroed struct */
size_t cache_bytes(const KVCache *c);

/* Slot of layer l, head h: k [head_dim], v [value_dim]. slot < n_ctx. Every row of kernels stores the same bytes. */
void cache_store(KVCache *c, int l, int h, size_t slot, const float *k, const float *v, const Kernels *kernels);

/* The bytes of a slot's key (values = 0) or value (1) in the order of its entries, scales first: what state files hold.
 * cache_slot_bytes of them, at most 4 for each entry. */
size_t cache_slot_bytes(const KVCache *c, int values);
void cache_get(const KVCache *c, int l, int h, size_t slot, int values, void *bytes);
void cache_put(KVCache *c, int l, int h, size_t slot, int values, const void *bytes);

/* One head of one query: out [value_dim] = sum over j of softmax_j(scale * q . k_j) v_j,   first <= j < end
 * q [head_dim] (rotated); first, end: the slots it sees, which is all that a mask is: causal ends behind the query's own, a
 * window (Mistral 7B, arXiv:2310.06825) begins later, an encoder's goes from the text's first slot to its last. No slot at
 * all: out is 0. text <= first: the slot where its text begins, from which sums are counted. out may not be q. */
typedef struct {
    const float *q;
    float *out;
    size_t text, first, end;
    float scale;
} AttentionQuery;

/* Queries that keys are loaded for at once. */
enum { ATTENTION_QUERIES = 96 };

/* n <= ATTENTION_QUERIES queries against layer l's key and value head h (with grouped queries all that share it, of several
 * tokens). A query's bits depend on its own fields (text, first and end only by their distances) and the slots it sees, not on
 * the queries beside it. scratch: attention_scratch floats, of each thread its own. Cannot fail. Sources: Vaswani et al. 2017,
 * section 3.2.1; the running maximum and sum are Milakov and Gimelshein's, arXiv:1805.02867; that the scores are never stored is
 * FlashAttention's idea, arXiv:2205.14135. */
void attention_softmax(const AttentionQuery *queries, size_t n, const KVCache *c, int l, int h, float *scratch,
                       const Kernels *kernels);
size_t attention_scratch(CacheType type, int head_dim, int value_dim);

#endif
