/* kernels/softmax_rows.h - the running softmax of kernels.h in vectors of eight lanes. A row includes it behind its
 * vectors (vectors.h) and defines the functions that it declares first. */
#ifndef SOFTMAX_ROWS_H
#define SOFTMAX_ROWS_H

#include "inline.h"
#include "attention_kernels.h"

#include <math.h>

/* The larger of each two; a NaN in x is passed over, for exp will show it. */
INLINE Vec vec_max_seen(Vec max, Vec x);
INLINE float vec_largest(Vec v);
INLINE float vec_first(Vec v); /* lane 0 */
/* Entries that are not inside the span, x being those of slots t .. t+VEC-1, become -infinity, of which exp makes 0. */
INLINE Vec vec_inside(Vec x, int t, Span span);

static void softmax(float *s, const Span *spans, Running *run, size_t n) {
    for (size_t j = 0; j < n; j++, s += SCORE_ROW) {
        Span span = spans[j];
        Running *r = &run[j];
        r->shrink = 1;
        if (span.lo >= span.hi) continue;
        float before = r->max;
        Vec scale = vec_all(r->scale), max = vec_all(before), sum = vec_zero();
        int from = span.lo & ~(VEC - 1);
        for (int t = from; t < span.hi; t += VEC) {
            Vec x = vec_mul(vec_load(s + t), scale);
            if (t < span.lo || t + VEC > span.hi) x = vec_inside(x, t, span);
            vec_store(s + t, x);
            max = vec_max_seen(max, x);
        }
        r->max = vec_largest(max);
        if (r->max > before) r->shrink = vec_first(vec_exp(vec_all(before - r->max)));
        max = vec_all(r->max);
        for (int t = from; t < span.hi; t += VEC) {
            Vec p = vec_exp(vec_sub(vec_load(s + t), max));
            vec_store(s + t, p);
            sum = vec_add(sum, p);
        }
        r->sum = r->shrink * r->sum + vec_sum(sum);
    }
}

#endif
