/* attention/cache_bytes.h - what a cache (cache.h) holds, slot by slot, for state files. */
#ifndef CACHE_BYTES_H
#define CACHE_BYTES_H

#include "cache.h"

size_t cache_bytes(const KVCache *c); /* of all of it */

/* The bytes of a slot's key (values = 0) or value (1) in the order of its entries, scales first: what state files hold.
 * cache_slot_bytes of them, at most 4 for each entry. */
size_t cache_slot_bytes(const KVCache *c, int values);
void cache_get(const KVCache *c, int l, int h, size_t slot, int values, void *bytes);
void cache_put(KVCache *c, int l, int h, size_t slot, int values, const void *bytes);

/* A slot's numbers as floats, out [head_dim] or [value_dim]. */
void cache_floats(const KVCache *c, int l, int h, size_t slot, int values, float *out);

#endif
