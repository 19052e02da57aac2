/* attention/cache.h - keys and values of the past, for softmax attention.
 *
 *     KVCache c;
 *     if (cache_init(&c, CACHE_F16, n_layers, n_kv_heads, head_dim, value_dim, n_ctx, err, errlen)) ...
 *     cache_store(&c, l, h, slot, k, v, kernels);         one head's key (already rotated) and value
 *     cache_free(&c); */
#ifndef CACHE_H
#define CACHE_H

#include "kernels/kernels.h"

typedef enum {
    CACHE_F32, /* what was stored, to the bit */
    CACHE_F16, /* rounded to the nearest half, ties to even; from 65520 on infinity, so that it stays visible */
    CACHE_Q8_0, /* 32 entries (a head's last: as many as are left) share a scale amax / 127, a half float; x / scale as
                   int8 */
} CacheType;

extern const char *const cache_type_names[]; /* "f32", "f16", "q8_0", NULL */

/* Keys and values, in slots: a decoder's are its positions, an encoder's the tokens that are not padding. Each (layer,
 * head) has its slots side by side, so that one head's keys are one stream through memory, and its values another. Keys
 * are stored rotated; where a method changes the angle of keys already known (longrope beyond its border), the session
 * evaluates its ids again.
 *
 * A head's keys come in groups of KEY_LANES slots, each [head_dim][KEY_LANES]: entry i of 16 keys is a vector. A value
 * is a row, [value_dim] with room behind up to value_width, which is computed with and never seen. In q8_0 a group (a
 * row) begins with its scales, half floats [blocks][KEY_LANES] ([blocks]), then its int8. */
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
int cache_init(KVCache *c, CacheType type, int n_layers, int n_kv_heads, int head_dim, int value_dim, size_t n_ctx,
               char *err, size_t errlen);
void cache_free(KVCache *c); /* accepts a zeroed struct */
size_t cache_bytes(const KVCache *c);

/* Slot of layer l, head h: k [head_dim], v [value_dim]. slot < n_ctx. Every row of kernels stores the same bytes. */
void cache_store(KVCache *c, int l, int h, size_t slot, const float *k, const float *v, const Kernels *kernels);

/* The bytes of a slot's key (values = 0) or value (1) in the order of its entries, scales first: what state files hold.
 * cache_slot_bytes of them, at most 4 for each entry. */
size_t cache_slot_bytes(const KVCache *c, int values);
void cache_get(const KVCache *c, int l, int h, size_t slot, int values, void *bytes);
void cache_put(KVCache *c, int l, int h, size_t slot, int values, const void *bytes);

#endif
