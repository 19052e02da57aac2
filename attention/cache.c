/* attention/cache.c - keys and values of the past, as floats, half floats or bytes with a scale (cache.h has the
 * layout). */
#include "cache.h"

#include "base/base.h"
#include "kernels/cache_kernels.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

const char *const cache_type_names[] = {"f32", "f16", "q8_0", NULL};

static size_t entry_bytes(CacheType type) { return type == CACHE_F32 ? 4 : type == CACHE_F16 ? 2 : 1; }

/* Scales of n entries. */
static size_t n_scales(CacheType type, size_t n) { return type == CACHE_Q8_0 ? (n + Q_BLOCK - 1) / Q_BLOCK : 0; }

static size_t packed_bytes(CacheType type, size_t n) {
    return n_scales(type, n) * sizeof(uint16_t) + n * entry_bytes(type);
}

size_t cache_bytes(const KVCache *c) {
    return (size_t)c->n_layers * (size_t)c->n_kv_heads * (c->k_stride + c->v_stride);
}

size_t cache_slot_bytes(const KVCache *c, int values) {
    return packed_bytes(c->type, (size_t)(values ? c->value_dim : c->head_dim));
}

/* a * b bytes, up to the end of a cache line; 0 where that wraps. */
static int lines(size_t a, size_t b, size_t *out) {
    if (!size_mul(a, b, out) || !size_add(*out, 63, out)) return 0;
    *out &= ~(size_t)63;
    return 1;
}

int cache_init(KVCache *c, CacheType type, int n_layers, int n_kv_heads, int head_dim, int value_dim, size_t n_ctx,
               char *err, size_t errlen) {
    memset(c, 0, sizeof *c);
    KVCache made = {.type = type, .n_layers = n_layers, .n_kv_heads = n_kv_heads};
    made.head_dim = head_dim, made.value_dim = value_dim, made.n_ctx = n_ctx;
    made.group_bytes = KEY_LANES * packed_bytes(type, (size_t)head_dim);
    made.value_width = whole_lanes((size_t)value_dim);
    made.row_bytes = packed_bytes(type, made.value_width);
    size_t groups = n_ctx / KEY_LANES + (n_ctx % KEY_LANES > 0), n;
    if (!lines(made.group_bytes, groups, &made.k_stride) || !lines(made.row_bytes, n_ctx, &made.v_stride) ||
        !size_add(made.k_stride, made.v_stride, &n) || !size_mul(n, (size_t)n_layers * (size_t)n_kv_heads, &n) ||
        !size_add(n, 63, &n))
        return base_error(err, errlen, -EOVERFLOW,
                          "a context of %zu is too long for this machine; give a smaller one (-c)", n_ctx);
    made.block = calloc(1, n); /* of this size it comes as zero pages, taken as they are written */
    if (!made.block)
        return base_error(
            err, errlen, -ENOMEM,
            "a context of %zu needs %.1f GB for keys and values, more than there is; give a smaller one (-c)", n_ctx,
            (double)n / 1e9);
    made.k = (uint8_t *)(((uintptr_t)made.block + 63) & ~(uintptr_t)63);
    made.v = made.k + (size_t)n_layers * (size_t)n_kv_heads * made.k_stride;
    *c = made;
    return 0;
}

void cache_free(KVCache *c) {
    free(c->block);
    memset(c, 0, sizeof *c);
}

/* ---- where things lie ---- */

/* A slot's scales and entries; entry i is at entries + i * step entries, its scale at scales + i / Q_BLOCK * step. */
typedef struct {
    uint16_t *scales;
    void *entries;
    size_t n, step;
} Packed;

static Packed slot_of(const KVCache *c, int l, int h, size_t slot, int values) {
    size_t head = (size_t)l * (size_t)c->n_kv_heads + (size_t)h, n = (size_t)(values ? c->value_dim : c->head_dim);
    size_t step = values ? 1 : KEY_LANES, lane = values ? 0 : slot % KEY_LANES;
    uint8_t *p = values ? c->v + head * c->v_stride + slot * c->row_bytes
                        : c->k + head * c->k_stride + slot / KEY_LANES * c->group_bytes;
    uint8_t *entries = p + n_scales(c->type, n) * step * sizeof(uint16_t);
    return (Packed){
        .scales = (uint16_t *)(void *)p + lane, .entries = entries + lane * entry_bytes(c->type), .n = n, .step = step};
}

/* n elements of size bytes, step elements apart in one place and side by side in the other. */
static void gather(uint8_t *to, const uint8_t *from, size_t n, size_t step, size_t size) {
    for (size_t i = 0; i < n; i++) memcpy(to + i * size, from + i * step * size, size);
}

static void scatter(uint8_t *to, const uint8_t *from, size_t n, size_t step, size_t size) {
    for (size_t i = 0; i < n; i++) memcpy(to + i * step * size, from + i * size, size);
}

void cache_get(const KVCache *c, int l, int h, size_t slot, int values, void *bytes) {
    Packed p = slot_of(c, l, h, slot, values);
    size_t scales = n_scales(c->type, p.n);
    gather(bytes, (const uint8_t *)p.scales, scales, p.step, sizeof *p.scales);
    gather((uint8_t *)bytes + scales * sizeof *p.scales, p.entries, p.n, p.step, entry_bytes(c->type));
}

void cache_put(KVCache *c, int l, int h, size_t slot, int values, const void *bytes) {
    Packed p = slot_of(c, l, h, slot, values);
    size_t scales = n_scales(c->type, p.n);
    scatter((uint8_t *)p.scales, bytes, scales, p.step, sizeof *p.scales);
    scatter(p.entries, (const uint8_t *)bytes + scales * sizeof *p.scales, p.n, p.step, entry_bytes(c->type));
}

/* ---- storing ---- */

static void store(const KVCache *c, Packed p, const float *x, const Kernels *kernels) {
    if (c->type == CACHE_F32) {
        float *to = p.entries;
        for (size_t i = 0; i < p.n; i++) to[i * p.step] = x[i];
        return;
    }
    for (size_t at = 0; at < p.n; at += Q_BLOCK) { /* 32 at a time, a block of q8_0 */
        size_t n = p.n - at < Q_BLOCK ? p.n - at : Q_BLOCK;
        uint16_t half[Q_BLOCK];
        int8_t q[Q_BLOCK];
        if (c->type == CACHE_F16) {
            uint16_t *to = (uint16_t *)p.entries + at * p.step;
            kernels->cache->narrow(half, x + at, n);
            for (size_t i = 0; i < n; i++) to[i * p.step] = half[i];
        } else {
            int8_t *to = (int8_t *)p.entries + at * p.step;
            float scale;
            kernels->mat->quantize(q, &scale, x + at, n, (int)n);
            kernels->cache->narrow(p.scales + at / Q_BLOCK * p.step, &scale, 1);
            for (size_t i = 0; i < n; i++) to[i * p.step] = q[i];
        }
    }
}

void cache_store(KVCache *c, int l, int h, size_t slot, const float *k, const float *v, const Kernels *kernels) {
    store(c, slot_of(c, l, h, slot, 0), k, kernels);
    store(c, slot_of(c, l, h, slot, 1), v, kernels);
}
