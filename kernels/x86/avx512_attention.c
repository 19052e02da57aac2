/* kernels/x86/avx512_attention.c - attention for the AVX-512 rows: attention_tiles.h, state_tiles.h. A vector
 * is a whole group of keys. */
#include "avx512.h"
#include "avx512_vectors.h"
#include "kernels/attention_tiles.h"
#include "kernels/state_tiles.h"
#include "kernels/delta_tiles.h"

#include <math.h>

/* Up to 6 queries x 64 columns: 24 of the 32 registers are sums. */
INLINE size_t groups_at_once(size_t rows) { return (void)rows, 4; }

/* softmax_rows.h's, but a block's scores stay in registers from the maximum to exp. whole: the span is all of it, as
 * of a token's blocks nearly all are; otherwise -infinity outside, of which exp makes 0. */
INLINE void softmax_row(int whole, float *s, Span span, Running *r) {
    const float before = r->max;
    Vec scale = vec_all(r->scale), max = vec_all(before), sum = vec_zero(), x[KEY_BLOCK / VEC];
    const int from = whole ? 0 : span.lo / VEC, end = whole ? KEY_BLOCK : span.hi;
    UNROLL
    for (int v = 0; v < KEY_BLOCK / VEC; v++) {
        x[v] = vec_all(-INFINITY);
        if (v < from || v * VEC >= end) continue;
        if (whole) x[v] = vec_mul(vec_load(s + v * VEC), scale);
        else x[v] = _mm512_mask_mul_ps(x[v], inside(v * VEC, span), vec_load(s + v * VEC), scale);
        max = _mm512_max_ps(x[v], max); /* in this order of operands a NaN is passed over; exp will show it */
    }
    r->max = _mm512_reduce_max_ps(max);
    r->shrink = r->max > before ? _mm512_cvtss_f32(vec_exp(vec_all(before - r->max))) : 1;
    max = vec_all(r->max);
    UNROLL
    for (int v = 0; v < KEY_BLOCK / VEC; v++) {
        if (v < from || v * VEC >= end) continue;
        Vec p = vec_exp(vec_sub(x[v], max));
        vec_store(s + v * VEC, p);
        sum = vec_add(sum, p);
    }
    r->sum = r->shrink * r->sum + vec_sum(sum);
}

static void softmax(float *s, const Span *spans, Running *run, size_t n) {
    for (size_t j = 0; j < n; j++, s += SCORE_ROW) {
        if (spans[j].lo == 0 && spans[j].hi == KEY_BLOCK) softmax_row(1, s, spans[j], &run[j]);
        else if (spans[j].lo < spans[j].hi) softmax_row(0, s, spans[j], &run[j]);
        else run[j].shrink = 1;
    }
}

const AttentionKernels avx512_attention = {
    .scores = scores, .rotate = rotate, .softmax = softmax, .mix = mix, .state_step = state_step, .delta = delta};
