/* attention/cache_bytes.c - see cache_bytes.h. */
#include "cache_bytes.h"

#include "kernels/quants.h"

#include <string.h>

size_t cache_bytes(const KVCache *c) {
    return (size_t)c->n_layers * (size_t)c->n_kv_heads * (c->k_stride + c->v_stride);
}

size_t cache_slot_bytes(const KVCache *c, int values) {
    return cache_packed_bytes(c->format, (size_t)(values ? c->value_dim : c->head_dim));
}

void cache_get(const KVCache *c, int l, int h, size_t slot, int values, void *bytes) {
    CacheSlot p = cache_slot(c, l, h, slot, values);
    size_t scales = c->format->scaled ? scale_blocks(p.n) : 0, each = c->format->bytes;
    uint8_t *to = bytes;
    for (size_t i = 0; i < scales; i++, to += 2) memcpy(to, p.scales + i * KEY_LANES, 2);
    for (size_t i = 0; i < p.n; i++, to += each)
        memcpy(to, (const uint8_t *)p.entries + cache_entry(&p, i) * each, each);
}

void cache_put(KVCache *c, int l, int h, size_t slot, int values, const void *bytes) {
    CacheSlot p = cache_slot(c, l, h, slot, values);
    size_t scales = c->format->scaled ? scale_blocks(p.n) : 0, each = c->format->bytes;
    const uint8_t *from = bytes;
    for (size_t i = 0; i < scales; i++, from += 2) memcpy(p.scales + i * KEY_LANES, from, 2);
    for (size_t i = 0; i < p.n; i++, from += each) memcpy((uint8_t *)p.entries + cache_entry(&p, i) * each, from, each);
}

void cache_floats(const KVCache *c, int l, int h, size_t slot, int values, float *out) {
    CacheSlot p = cache_slot(c, l, h, slot, values);
    for (size_t i = 0; i < p.n; i++) {
        size_t at = cache_entry(&p, i);
        if (c->type == CACHE_F32) out[i] = ((const float *)p.entries)[at];
        else if (c->type == CACHE_F16) out[i] = f16_to_f32(((const uint16_t *)p.entries)[at]);
        else out[i] = f16_to_f32(p.scales[i / Q_BLOCK * KEY_LANES]) * (float)((const int8_t *)p.entries)[at];
    }
}
