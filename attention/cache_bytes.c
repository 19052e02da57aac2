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

/* n elements of size bytes, step elements apart in one place and side by side in the other. */
static void gather(uint8_t *to, const uint8_t *from, size_t n, size_t step, size_t size) {
    for (size_t i = 0; i < n; i++) memcpy(to + i * size, from + i * step * size, size);
}

static void scatter(uint8_t *to, const uint8_t *from, size_t n, size_t step, size_t size) {
    for (size_t i = 0; i < n; i++) memcpy(to + i * step * size, from + i * size, size);
}

void cache_get(const KVCache *c, int l, int h, size_t slot, int values, void *bytes) {
    CacheSlot p = cache_slot(c, l, h, slot, values);
    size_t scales = c->format->scaled ? (p.n + Q_BLOCK - 1) / Q_BLOCK : 0;
    gather(bytes, (const uint8_t *)p.scales, scales, p.step, sizeof *p.scales);
    gather((uint8_t *)bytes + scales * sizeof *p.scales, p.entries, p.n, p.step, c->format->bytes);
}

void cache_put(KVCache *c, int l, int h, size_t slot, int values, const void *bytes) {
    CacheSlot p = cache_slot(c, l, h, slot, values);
    size_t scales = c->format->scaled ? (p.n + Q_BLOCK - 1) / Q_BLOCK : 0;
    scatter((uint8_t *)p.scales, bytes, scales, p.step, sizeof *p.scales);
    scatter(p.entries, (const uint8_t *)bytes + scales * sizeof *p.scales, p.n, p.step, c->format->bytes);
}

void cache_floats(const KVCache *c, int l, int h, size_t slot, int values, float *out) {
    CacheSlot p = cache_slot(c, l, h, slot, values);
    for (size_t i = 0; i < p.n; i++) {
        size_t at = i * p.step;
        if (c->type == CACHE_F32) out[i] = ((const float *)p.entries)[at];
        else if (c->type == CACHE_F16) out[i] = f16_to_f32(((const uint16_t *)p.entries)[at]);
        else out[i] = f16_to_f32(p.scales[i / Q_BLOCK * p.step]) * (float)((const int8_t *)p.entries)[at];
    }
}
