/* attention/cache.h - keys and values of the past, for softmax attention.
 *
 *     KVCache c;
 *     if (cache_init(&c, CACHE_F16, n_layers, n_kv_heads, head_dim, value_dim, n_ctx, err, errlen)) ...
 *     cache_store(&c, l, h, slot, k, v, kernels);         one head's key (already rotated) and value
 *     cache_free(&c); */
#ifndef CACHE_H
#define CACHE_H

#include "kernels/cache_kernels.h"

/* Where a slot's n numbers lie: entry i is at entries + cache_entry(slot, i) entries, its scale at
 * scales + i / Q_BLOCK * KEY_LANES. */
typedef struct {
    uint16_t *scales;
    void *entries;
    size_t n, run, step; /* runs of so many entries side by side, 1 without scales, begin so many apart */
} CacheSlot;
static inline size_t cache_entry(const CacheSlot *s, size_t i) { return i / s->run * s->step + i % s->run; }

/* What numbers are kept as: a row of cache_formats, by CacheType. */
typedef struct {
    const char *name;     /* "f16" */
    size_t bytes, scaled; /* of an entry; 1: Q_BLOCK of them share a scale, a half float */
    void (*store)(CacheSlot to, const float *x, const Kernels *kernels);
    const struct CacheProducts *products; /* how they are multiplied (softmax.h); NULL: as kernels take them */
} CacheFormat;
extern const CacheFormat cache_formats[]; /* cache_formats.c */

/* Keys and values, in slots: a decoder's are its positions, an encoder's the tokens that are not padding. Each (layer,
 * head) has its slots side by side, so that one head's keys are one stream through memory, and its values another. Keys
 * are stored rotated; where a method changes the angle of keys already known (longrope beyond its border), the session
 * evaluates its ids again.
 *
 * A head's keys come in groups of KEY_LANES slots, each [head_dim][KEY_LANES]: entry i of 16 keys is a vector. A value
 * is a row, [value_dim] with room behind up to value_width, which is computed with and never seen. In q8_0 values come
 * in groups as well, and what lies in one is cache_kernels.h's. */
typedef struct {
    CacheType type;
    const CacheFormat *format;
    int n_layers, n_kv_heads, head_dim, value_dim;
    size_t value_width; /* whole_lanes(value_dim) */
    size_t n_ctx;
    size_t group_bytes, row_bytes; /* of KEY_LANES keys; of one value, and of each in a group */
    size_t k_stride, v_stride;     /* bytes from a head's keys (values) to the next head's */
    uint8_t *k, *v;                /* [n_layers, n_kv_heads] of these, each begun at a cache line */
    void *block;                   /* owns both */
    size_t pages;                  /* bytes of a block of pages_new; 0: it is calloc's */
} KVCache;

/* Errors: -ENOMEM, with the size in the line; -EOVERFLOW. Memory is taken as it is written to, a page at a time; from
 * 4 MB on pages are large where the system has such (cache.c). */
int cache_init(KVCache *c, CacheType type, int n_layers, int n_kv_heads, int head_dim, int value_dim, size_t n_ctx,
               char *err, size_t errlen);
void cache_free(KVCache *c); /* accepts a zeroed struct */

/* Slot of layer l, head h: k [head_dim], v [value_dim]. slot < n_ctx. Every row of kernels stores the same bytes. */
void cache_store(KVCache *c, int l, int h, size_t slot, const float *k, const float *v, const Kernels *kernels);

/* For rows of cache_formats, and for who reads slots: a slot's key (values = 0) or value (1); n numbers' bytes. */
CacheSlot cache_slot(const KVCache *c, int l, int h, size_t slot, int values);
size_t cache_packed_bytes(const CacheFormat *f, size_t n);
void cache_store_f32(CacheSlot to, const float *x, const Kernels *kernels);
void cache_store_f16(CacheSlot to, const float *x, const Kernels *kernels);

#endif
