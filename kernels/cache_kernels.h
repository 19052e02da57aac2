/* kernels/cache_kernels.h - the group of functions (kernels.h) for the numbers of a cache that are no floats: half
 * floats, and bytes that share a scale (attention/cache_formats.c). */
#ifndef CACHE_KERNELS_H
#define CACHE_KERNELS_H

#include "attention_kernels.h"

/* Q_BLOCK entries of a query as bytes, by the rule of MatmulKernels.quantize; behind its last entry zeros. */
typedef struct {
    float scale;
    int32_t sum; /* of q */
    int8_t q[Q_BLOCK];
} QueryBlock;

/* KEY_LANES slots in bytes, a group: scales, half floats [blocks of Q_BLOCK entries][KEY_LANES]; then keys, four
 * entries of a slot side by side, [entries / 4, rounded up][KEY_LANES][4], or values, four slots of an entry side by
 * side, [KEY_LANES / 4][entries][4]. So bytes that meet in a product's sum are together. */
static inline size_t key_line_bytes(size_t head_dim) { return (head_dim + 3) / 4 * 4; } /* a slot's */
static inline size_t scale_blocks(size_t n) { return (n + Q_BLOCK - 1) / Q_BLOCK; }
static inline size_t group_bytes(size_t entries, size_t bytes) { /* bytes: of a slot, without its scales */
    return KEY_LANES * (2 * scale_blocks(entries) + bytes);
}
static inline const uint8_t *group_lines(const uint8_t *group, size_t entries) { /* behind its scales */
    return group + 2 * KEY_LANES * scale_blocks(entries);
}

typedef struct CacheKernels {
    /* out[i] = x[i] as a half float, to nearest, ties to even, NaN stays NaN; [n]. The same bits in every row. */
    void (*narrow)(uint16_t *out, const float *x, size_t n);

    /* out[i] = x[i], a half float, exactly; [n] */
    void (*widen)(float *out, const uint16_t *x, size_t n);

    /* A group of keys in bytes, exactly, as floats [head_dim][KEY_LANES]. */
    void (*widen_keys)(float *out, const uint8_t *group, size_t head_dim);

    /* AttentionKernels.scores of keys in bytes, `groups` groups of them; q [n, scale_blocks(head_dim)]. Over blocks:
     *   s_t += f32(exact sum over i of q_i k_ti) * (the query's scale * the key's) */
    void (*scores_q8)(float *s, const QueryBlock *q, size_t n, const uint8_t *k, size_t head_dim, size_t groups,
                      Soon soon);

    /* AttentionKernels.mix of values in bytes, slot t of the block being the (first + t)-th of the groups from v on,
     * first < KEY_LANES; acc [n, width]. For each Q_BLOCK slots of the block and Q_BLOCK columns, of each query:
     *   w_t = p_t * scale_t for t in its span, 0 elsewhere; q, s = quantize(w [Q_BLOCK]) (MatmulKernels)
     *   acc_i += f32(exact sum over t of q_t v_ti) * s */
    void (*mix_q8)(float *acc, const float *p, const Span *spans, const Running *run, size_t n, const uint8_t *v,
                   size_t first, size_t width, Soon soon);
} CacheKernels;

extern const CacheKernels ref_cache; /* ref_cache.c: the specification */

#endif
