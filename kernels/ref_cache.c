/* kernels/ref_cache.c - the reference of a cache's smaller numbers: half floats, and bytes with a scale. */
#include "cache_kernels.h"

static void narrow(uint16_t *out, const float *x, size_t n) {
    for (size_t i = 0; i < n; i++) out[i] = f32_to_f16(x[i]);
}

static void widen(float *out, const uint16_t *x, size_t n) {
    for (size_t i = 0; i < n; i++) out[i] = f16_to_f32(x[i]);
}

/* ---- a group of slots in bytes ---- */

static float scale_at(const uint8_t *group, size_t block, size_t lane) {
    return f16_to_f32(((const uint16_t *)(const void *)group)[block * KEY_LANES + lane]);
}

static int key_at(const uint8_t *group, size_t head_dim, size_t i, size_t lane) {
    return (int8_t)group_lines(group, head_dim)[(i / 4 * KEY_LANES + lane) * 4 + i % 4];
}

static int value_at(const uint8_t *group, size_t width, size_t i, size_t lane) {
    return (int8_t)group_lines(group, width)[(lane / 4 * width + i) * 4 + lane % 4];
}

static void widen_keys(float *out, const uint8_t *group, size_t head_dim) {
    for (size_t i = 0; i < head_dim; i++)
        for (size_t t = 0; t < KEY_LANES; t++)
            *out++ = scale_at(group, i / Q_BLOCK, t) * (float)key_at(group, head_dim, i, t);
}

/* s_t = q . k_t, eq. 2's exponents as in ref_attention.c, in whole numbers as far as a scale reaches. */
static void scores_q8(float *s, const QueryBlock *q, size_t n, const uint8_t *k, size_t head_dim, size_t groups,
                      Soon soon) {
    size_t blocks = scale_blocks(head_dim), bytes = group_bytes(head_dim, key_line_bytes(head_dim));
    (void)soon;
    for (size_t j = 0; j < n; j++, q += blocks)
        for (size_t t = 0; t < groups * KEY_LANES; t++) {
            const uint8_t *group = k + t / KEY_LANES * bytes;
            size_t lane = t % KEY_LANES, i = 0;
            float score = 0;
            for (size_t b = 0; b < blocks; b++) {
                int32_t sum = 0;
                for (; i < head_dim && i < (b + 1) * Q_BLOCK; i++)
                    sum += q[b].q[i % Q_BLOCK] * key_at(group, head_dim, i, lane);
                score += (float)sum * (scale_at(group, b, lane) * q[b].scale);
            }
            s[j * SCORE_ROW + t] = score;
        }
}

/* The weights of slots t0 .. t0+Q_BLOCK-1 of the block by their values' scales, as bytes. */
static void weight_bytes(int8_t *q, float *scale, const float *p, Span span, const uint8_t *v, size_t group,
                         size_t first, size_t b, int t0) {
    float w[Q_BLOCK] = {0};
    for (int t = t0 > span.lo ? t0 : span.lo; t < span.hi && t < t0 + Q_BLOCK; t++) {
        size_t slot = first + (size_t)t;
        w[t - t0] = p[t] * scale_at(v + slot / KEY_LANES * group, b, slot % KEY_LANES);
    }
    ref_matmul.quantize(q, scale, w, Q_BLOCK, Q_BLOCK);
}

/* acc = shrink acc + sum_t p_t v_t, as in ref_attention.c. */
static void mix_q8(float *acc, const float *p, const Span *spans, const Running *run, size_t n, const uint8_t *v,
                   size_t first, size_t width, Soon soon) {
    size_t group = group_bytes(width, width);
    (void)soon;
    for (size_t j = 0; j < n; j++, acc += width, p += SCORE_ROW) {
        for (size_t i = 0; i < width && run[j].shrink != 1; i++) acc[i] *= run[j].shrink;
        for (size_t i0 = 0; i0 < width; i0 += Q_BLOCK)
            for (int t0 = 0; t0 < KEY_BLOCK; t0 += Q_BLOCK) {
                int lo = t0 > spans[j].lo ? t0 : spans[j].lo, hi = t0 + Q_BLOCK;
                int8_t q[Q_BLOCK];
                float scale;
                if (hi > spans[j].hi) hi = spans[j].hi;
                if (lo >= hi) continue;
                weight_bytes(q, &scale, p, spans[j], v, group, first, i0 / Q_BLOCK, t0);
                for (size_t i = i0; i < width && i < i0 + Q_BLOCK; i++) {
                    int32_t sum = 0;
                    for (int t = lo; t < hi; t++) {
                        size_t slot = first + (size_t)t;
                        sum += q[t - t0] * value_at(v + slot / KEY_LANES * group, width, i, slot % KEY_LANES);
                    }
                    acc[i] += (float)sum * scale;
                }
            }
    }
}

const CacheKernels ref_cache = {
    .narrow = narrow, .widen = widen, .widen_keys = widen_keys, .scores_q8 = scores_q8, .mix_q8 = mix_q8};
