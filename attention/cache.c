/* attention/cache.c - keys and values of the past (cache.h has the layout), as floats or half floats. */
#include "cache.h"

#include "base/base.h"
#include "base/system.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

size_t cache_packed_bytes(const CacheFormat *f, size_t n) {
    return (f->scaled ? scale_blocks(n) * sizeof(uint16_t) : 0) + n * f->bytes;
}

/* a * b bytes, up to the end of a cache line; 0 where that wraps. */
static int lines(size_t a, size_t b, size_t *out) {
    if (!size_mul(a, b, out) || !size_add(*out, 63, out)) return 0;
    *out &= ~(size_t)63;
    return 1;
}

/* A long past is read faster out of large pages. But the first position of each head's keys, and of its values, takes
 * such a page: of a short text that is memory for nothing, SURPLUS at most. Small caches stay with calloc, where
 * sanitizers see what is read beside them. */
enum { LARGE_PAGE = 2 << 20, LARGE_FROM = 2 * LARGE_PAGE, SURPLUS = 3 << 29 };

int cache_init(KVCache *c, CacheType type, int n_layers, int n_kv_heads, int head_dim, int value_dim, size_t n_ctx,
               char *err, size_t errlen) {
    const CacheFormat *f = &cache_formats[type];
    KVCache made = {.type = type, .format = f, .n_layers = n_layers, .n_kv_heads = n_kv_heads, .n_ctx = n_ctx};
    size_t groups = n_ctx / KEY_LANES + (n_ctx % KEY_LANES > 0), heads = (size_t)n_layers * (size_t)n_kv_heads, n;
    *c = (KVCache){.type = type};
    made.head_dim = head_dim, made.value_dim = value_dim;
    made.value_width = whole_lanes((size_t)value_dim);
    size_t d = (size_t)head_dim;
    made.group_bytes = KEY_LANES * cache_packed_bytes(f, f->scaled ? key_line_bytes(d) : d);
    made.row_bytes = cache_packed_bytes(f, made.value_width);
    if (!lines(made.group_bytes, groups, &made.k_stride) ||
        !lines(KEY_LANES * made.row_bytes, groups, &made.v_stride) ||
        !size_add(made.k_stride, made.v_stride, &n) || !size_mul(n, heads, &n) || !size_add(n, 63, &n))
        return base_error(err, errlen, -EOVERFLOW,
                          "a context of %zu is too long for this machine; give a smaller one (-c)", n_ctx);
    made.pages = n >= LARGE_FROM && (n <= SURPLUS || 2 * heads <= SURPLUS / LARGE_PAGE) ? n : 0;
    made.block = made.pages ? pages_new(n) : calloc(1, n); /* zeros, and taken as they are written */
    double gb = (double)n / 1e9;
    if (!made.block)
        return base_error(err, errlen, -ENOMEM, "a context of %zu needs %.1f %s of memory for keys and values, more "
                          "than there is; give a smaller one (-c)", n_ctx, gb < 1 ? 1000 * gb : gb,
                          gb < 1 ? "MB" : "GB");
    made.k = (uint8_t *)(((uintptr_t)made.block + 63) & ~(uintptr_t)63);
    made.v = made.k + heads * made.k_stride;
    *c = made;
    return 0;
}

void cache_free(KVCache *c) {
    if (c->pages) pages_free(c->block, c->pages);
    else free(c->block);
    memset(c, 0, sizeof *c);
}

CacheSlot cache_slot(const KVCache *c, int l, int h, size_t slot, int values) {
    size_t head = (size_t)l * (size_t)c->n_kv_heads + (size_t)h, n = (size_t)(values ? c->value_dim : c->head_dim);
    size_t group = slot / KEY_LANES, lane = slot % KEY_LANES;
    uint8_t *p = values ? c->v + head * c->v_stride + group * KEY_LANES * c->row_bytes
                        : c->k + head * c->k_stride + group * c->group_bytes;
    CacheSlot s = {.scales = (uint16_t *)(void *)p + lane, .n = n, .run = 1, .step = values ? 1 : KEY_LANES};
    if (!c->format->scaled) {
        s.entries = p + lane * (values ? c->row_bytes : c->format->bytes);
        return s;
    }
    int8_t *entries = (int8_t *)p + 2 * KEY_LANES * scale_blocks(n); /* cache_kernels.h */
    s.entries = values ? entries + lane / 4 * 4 * c->value_width + lane % 4 : entries + 4 * lane;
    s.run = values ? 1 : 4, s.step = values ? 4 : 4 * KEY_LANES;
    return s;
}

void cache_store_f32(CacheSlot to, const float *x, const Kernels *kernels) {
    (void)kernels;
    for (size_t i = 0; i < to.n; i++) ((float *)to.entries)[i * to.step] = x[i];
}

void cache_store_f16(CacheSlot to, const float *x, const Kernels *kernels) {
    uint16_t half[Q_BLOCK];
    for (size_t at = 0, n; at < to.n; at += n) {
        n = to.n - at < Q_BLOCK ? to.n - at : Q_BLOCK;
        kernels->cache->narrow(half, x + at, n);
        for (size_t i = 0; i < n; i++) ((uint16_t *)to.entries)[(at + i) * to.step] = half[i];
    }
}

void cache_store(KVCache *c, int l, int h, size_t slot, const float *k, const float *v, const Kernels *kernels) {
    c->format->store(cache_slot(c, l, h, slot, 0), k, kernels);
    c->format->store(cache_slot(c, l, h, slot, 1), v, kernels);
}
