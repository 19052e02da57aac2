/* kernels/arm/neon_attention.c - softmax attention (attention_tiles.h) for the NEON rows, with four vectors to a group of keys:
 * tiles of up to 6 queries x 16 columns, 2 x 32, 1 x 64: 24 or 16 of the 32 registers. */
#include "neon.h"
#include "kernels/attention_tiles.h"
#include "neon_vectors.h"

#include <math.h>

enum { VECTORS = KEY_LANES / 4 }; /* of a group */

INLINE float32x4_t number4(int half, const uint8_t *b, size_t i) {
    return half ? load4(TENSOR_F16, b + 2 * i) : load4(TENSOR_F32, b + 4 * i);
}

/* Q rows x G groups; both are constants where this is inlined. fresh: C begins as 0. */
INLINE void tile(int Q, int G, int half, int fresh, Product *p, size_t j, size_t g) {
    float32x4_t acc[6][4 * VECTORS];
    float *c = p->c + j * p->ldc + g * KEY_LANES;
    const float *a = p->a + j * p->lda;
    const uint8_t *b = (const uint8_t *)p->b.at + g * p->group * (half ? 2 : 4);
    size_t lda = p->lda, ldb = p->ldb, group = p->group, ldc = p->ldc, i1 = p->i1, lines = j == 0 ? p->lines : 0;
    UNROLL
    for (int q = 0; q < Q; q++)
        UNROLL
        for (int v = 0; v < G * VECTORS; v++) acc[q][v] = fresh ? vdupq_n_f32(0) : vld1q_f32(c + (size_t)q * ldc + (size_t)v * 4);
    for (size_t i = p->i0; i < i1; i++) {
        for (size_t x = 0; x < lines && p->soon < p->soon_end; x++, p->soon += 64) __builtin_prefetch(p->soon, 0, 2);
        UNROLL
        for (int v = 0; v < G * VECTORS; v++) {
            float32x4_t row = number4(half, b, i * ldb + (size_t)(v / VECTORS) * group + (size_t)(v % VECTORS) * 4);
            UNROLL
            for (int q = 0; q < Q; q++) acc[q][v] = vfmaq_n_f32(acc[q][v], row, a[(size_t)q * lda + i]);
        }
    }
    UNROLL
    for (int q = 0; q < Q; q++)
        UNROLL
        for (int v = 0; v < G * VECTORS; v++) vst1q_f32(c + (size_t)q * ldc + (size_t)v * 4, acc[q][v]);
}

/* One or two rows, groups g .. end-1. */
INLINE void few_rows(int half, int fresh, Product *p, size_t j, size_t n, size_t g, size_t end) {
    if (n == 1) {
        for (; g + 4 <= end; g += 4) tile(1, 4, half, fresh, p, j, g);
        for (; g < end; g++) tile(1, 1, half, fresh, p, j, g);
    } else {
        for (; g + 2 <= end; g += 2) tile(2, 2, half, fresh, p, j, g);
        for (; g < end; g++) tile(2, 1, half, fresh, p, j, g);
    }
}

/* One to six rows, groups g .. end-1. */
INLINE void tiles(int half, int fresh, Product *p, size_t j, size_t n, size_t g, size_t end) {
    if (n < 3) few_rows(half, fresh, p, j, n, g, end);
    else
        for (; g < end; g++) switch (n) {
            case 3: tile(3, 1, half, fresh, p, j, g); break;
            case 4: tile(4, 1, half, fresh, p, j, g); break;
            case 5: tile(5, 1, half, fresh, p, j, g); break;
            default: tile(6, 1, half, fresh, p, j, g);
            }
}

INLINE void some_rows(int fresh, Product *p, size_t j, size_t n, size_t g, size_t groups) {
    if (p->b.half) tiles(1, fresh, p, j, n, g, g + groups);
    else tiles(0, fresh, p, j, n, g, g + groups);
}

/* So many rows for every 16 columns, or, where row 0 is alone or has one beside it, for 64 or 32. */
INLINE size_t steps_of(size_t rows, size_t n, size_t groups) {
    return rows * (n == 1 ? (groups + 3) / 4 : n == 2 ? (groups + 1) / 2 : groups);
}

static void scores(float *s, const float *q, size_t n, Numbers k, size_t head_dim, size_t groups, Soon soon) {
    scores_in_tiles(s, q, n, k, head_dim, groups, soon, n < 3 ? groups : 1);
}

/* Entries outside the span, at t .. t+3, become -infinity, of which exp makes 0. */
INLINE float32x4_t mask_outside(float32x4_t x, int t, Span span) {
    static const int32_t lane[4] = {0, 1, 2, 3};
    int32x4_t at = vaddq_s32(vdupq_n_s32(t), vld1q_s32(lane));
    uint32x4_t inside = vandq_u32(vcgeq_s32(at, vdupq_n_s32(span.lo)), vcltq_s32(at, vdupq_n_s32(span.hi)));
    return vbslq_f32(inside, x, vdupq_n_f32(-INFINITY));
}

static void softmax(float *s, const Span *spans, Running *run, size_t n) {
    for (size_t j = 0; j < n; j++, s += SCORE_ROW) {
        Span span = spans[j];
        Running *r = &run[j];
        r->shrink = 1;
        if (span.lo >= span.hi) continue;
        float before = r->max;
        float32x4_t top = vdupq_n_f32(before);
        int from = span.lo & ~7;
        for (int t = from; t < span.hi; t += 8) {
            Vec8 x = {vmulq_n_f32(vld1q_f32(s + t), r->scale), vmulq_n_f32(vld1q_f32(s + t + 4), r->scale)};
            if (t < span.lo || t + 8 > span.hi) x.lo = mask_outside(x.lo, t, span), x.hi = mask_outside(x.hi, t + 4, span);
            store8(s + t, x, 8);
            top = vmaxnmq_f32(top, vmaxnmq_f32(x.lo, x.hi)); /* a NaN is passed over; exp will show it */
        }
        r->max = vmaxnmvq_f32(top);
        if (r->max > before) r->shrink = vgetq_lane_f32(exp4(vdupq_n_f32(before - r->max)), 0);
        top = vdupq_n_f32(r->max);
        Vec8 sum = all8(0);
        for (int t = from; t < span.hi; t += 8) {
            Vec8 p = exp8((Vec8){vsubq_f32(vld1q_f32(s + t), top), vsubq_f32(vld1q_f32(s + t + 4), top)});
            store8(s + t, p, 8);
            sum = add8(sum, p);
        }
        r->sum = r->shrink * r->sum + fold(sum);
    }
}

INLINE void shrink_row(float *acc, float shrink, size_t groups) {
    for (size_t i = 0; i < groups * KEY_LANES; i += 4) vst1q_f32(acc + i, vmulq_n_f32(vld1q_f32(acc + i), shrink));
}

static void mix(float *acc, size_t lda, const float *p, const Span *spans, const Running *run, size_t n, Numbers v, size_t ldv,
              size_t width, Soon soon) {
    mix_in_tiles(acc, lda, p, spans, run, n, v, ldv, width, soon);
}

static void narrow(uint16_t *out, const float *x, size_t n) {
    for (size_t i = 0; i < n; i += 4) {
        size_t left = n - i < 4 ? n - i : 4;
        float part[4] = {0};
        memcpy(part, x + i, left * sizeof *x);
        uint16x4_t h = vreinterpret_u16_f16(vcvt_f16_f32(vld1q_f32(part)));
        memcpy(out + i, &h, left * sizeof *out);
    }
}

static void widen(float *out, const uint16_t *x, size_t n) {
    for (size_t i = 0; i < n; i += 8) store8(out + i, load8(TENSOR_F16, (const uint8_t *)x, i, n - i), n - i);
}

/* Up to eight bytes as floats. */
INLINE Vec8 bytes8(const int8_t *q, size_t n) {
    int8_t part[8] = {0};
    if (n < 8) q = memcpy(part, q, n);
    int16x8_t whole = vmovl_s8(vld1_s8(q));
    return (Vec8){vcvtq_f32_s32(vmovl_s16(vget_low_s16(whole))), vcvtq_f32_s32(vmovl_s16(vget_high_s16(whole)))};
}

INLINE Vec8 times8(Vec8 a, Vec8 b) { return (Vec8){vmulq_f32(a.lo, b.lo), vmulq_f32(a.hi, b.hi)}; }

static void widen_q8(float *out, const uint16_t *scales, const int8_t *q, size_t n, size_t lanes) {
    const uint8_t *at = (const uint8_t *)scales;
    for (size_t i = 0; lanes == KEY_LANES && i < n; i++, out += KEY_LANES, q += KEY_LANES)
        for (size_t v = 0; v < KEY_LANES; v += 8)
            store8(out + v, times8(load8(TENSOR_F16, at, i / Q_BLOCK * KEY_LANES + v, 8), bytes8(q + v, 8)), 8);
    for (size_t i = 0; lanes == 1 && i < n; i += 8)
        store8(out + i, times8(all8(f16_to_f32(scales[i / Q_BLOCK])), bytes8(q + i, n - i)), n - i);
}

const AttentionKernels neon_attention = {
    .scores = scores, .softmax = softmax, .mix = mix, .narrow = narrow, .widen = widen, .widen_q8 = widen_q8,
    .state_step = neon_state_step,
};
