/* kernels/x86/avx2_attention.c - softmax attention for the AVX2 row.
 *
 * attention_tiles.h says what is multiplied. A tile keeps its part of C in registers while B passes: up to 6 queries x 16
 * columns, so that a vector of B is loaded once for 6 queries and 12 sums hide the latency of an FMA; one or two queries
 * alone take more columns instead.
 * Against ref: FMA rounds once where ref rounds twice; exp is a polynomial (avx2_vectors.h). */
#include "avx2.h"
#include "kernels/attention_tiles.h"
#include "avx2_vectors.h"

#include <math.h>

/* Q rows x V vectors; both are constants where this is inlined. fresh: C begins as 0. */
INLINE void tile(int Q, int V, int half, int fresh, Product *p, size_t j, size_t g) {
    __m256 acc[6][8];
    float *c = p->c + j * p->ldc + g * KEY_LANES;
    const float *a = p->a + j * p->lda;
    const uint8_t *b = (const uint8_t *)p->b.at + g * p->group * (half ? 2 : 4);
    size_t lda = p->lda, ldb = p->ldb, group = p->group, ldc = p->ldc, i1 = p->i1, lines = j == 0 ? p->lines : 0;
    UNROLL
    for (int q = 0; q < Q; q++)
        UNROLL
        for (int v = 0; v < V; v++)
            acc[q][v] = fresh ? _mm256_setzero_ps() : _mm256_loadu_ps(c + (size_t)q * ldc + (size_t)v * 8);
    for (size_t i = p->i0; i < i1; i++) {
        __m256 row[8];
        UNROLL
        for (int v = 0; v < V; v++)
            row[v] = load8(half ? TENSOR_F16 : TENSOR_F32, b, i * ldb + (size_t)(v / 2) * group + (size_t)(v % 2) * 8, 8);
        for (size_t x = 0; x < lines && p->soon < p->soon_end; x++, p->soon += 64) _mm_prefetch(p->soon, _MM_HINT_T1);
        UNROLL
        for (int q = 0; q < Q; q++) {
            __m256 x = _mm256_broadcast_ss(a + (size_t)q * lda + i);
            UNROLL
            for (int v = 0; v < V; v++) acc[q][v] = _mm256_fmadd_ps(x, row[v], acc[q][v]);
        }
    }
    UNROLL
    for (int q = 0; q < Q; q++)
        UNROLL
        for (int v = 0; v < V; v++) _mm256_storeu_ps(c + (size_t)q * ldc + (size_t)v * 8, acc[q][v]);
}

/* One or two rows, groups g .. end-1. */
INLINE void few_rows(int half, int fresh, Product *p, size_t j, size_t n, size_t g, size_t end) {
    if (n == 1) {
        for (; g + 4 <= end; g += 4) tile(1, 8, half, fresh, p, j, g);
        for (; g < end; g++) tile(1, 2, half, fresh, p, j, g);
    } else {
        for (; g + 2 <= end; g += 2) tile(2, 4, half, fresh, p, j, g);
        for (; g < end; g++) tile(2, 2, half, fresh, p, j, g);
    }
}

/* One to six rows, groups g .. end-1. */
INLINE void tiles(int half, int fresh, Product *p, size_t j, size_t n, size_t g, size_t end) {
    if (n < 3) few_rows(half, fresh, p, j, n, g, end);
    else
        for (; g < end; g++) switch (n) {
            case 3: tile(3, 2, half, fresh, p, j, g); break;
            case 4: tile(4, 2, half, fresh, p, j, g); break;
            case 5: tile(5, 2, half, fresh, p, j, g); break;
            default: tile(6, 2, half, fresh, p, j, g);
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

/* Entries outside the span, at t .. t+7, become -infinity, of which exp makes 0. */
INLINE __m256 mask_outside(__m256 x, int t, Span span) {
    __m256i at = _mm256_add_epi32(_mm256_set1_epi32(t), _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7));
    __m256i before = _mm256_cmpgt_epi32(_mm256_set1_epi32(span.lo), at), below = _mm256_cmpgt_epi32(_mm256_set1_epi32(span.hi), at);
    return _mm256_blendv_ps(_mm256_set1_ps(-INFINITY), x, _mm256_castsi256_ps(_mm256_andnot_si256(before, below)));
}

INLINE float largest(__m256 v) {
    __m128 m = _mm_max_ps(_mm256_castps256_ps128(v), _mm256_extractf128_ps(v, 1));
    m = _mm_max_ps(m, _mm_movehl_ps(m, m));
    return _mm_cvtss_f32(_mm_max_ss(m, _mm_movehdup_ps(m)));
}

static void softmax(float *s, const Span *spans, Running *run, size_t n) {
    for (size_t j = 0; j < n; j++, s += SCORE_ROW) {
        Span span = spans[j];
        Running *r = &run[j];
        r->shrink = 1;
        if (span.lo >= span.hi) continue;
        float before = r->max;
        __m256 scale = _mm256_set1_ps(r->scale), top = _mm256_set1_ps(before), sum = _mm256_setzero_ps();
        int from = span.lo & ~7;
        for (int t = from; t < span.hi; t += 8) {
            __m256 x = _mm256_mul_ps(_mm256_loadu_ps(s + t), scale);
            if (t < span.lo || t + 8 > span.hi) x = mask_outside(x, t, span);
            _mm256_storeu_ps(s + t, x);
            top = _mm256_max_ps(x, top); /* in this order of operands a NaN is passed over; exp will show it */
        }
        r->max = largest(top);
        if (r->max > before) r->shrink = _mm256_cvtss_f32(exp8(_mm256_set1_ps(before - r->max)));
        top = _mm256_set1_ps(r->max);
        for (int t = from; t < span.hi; t += 8) {
            __m256 p = exp8(_mm256_sub_ps(_mm256_loadu_ps(s + t), top));
            _mm256_storeu_ps(s + t, p);
            sum = _mm256_add_ps(sum, p);
        }
        r->sum = r->shrink * r->sum + fold(sum);
    }
}

INLINE void shrink_row(float *acc, float shrink, size_t groups) {
    for (size_t i = 0; i < groups * KEY_LANES; i += 8)
        _mm256_storeu_ps(acc + i, _mm256_mul_ps(_mm256_set1_ps(shrink), _mm256_loadu_ps(acc + i)));
}

static void mix(float *acc, size_t lda, const float *p, const Span *spans, const Running *run, size_t n, Numbers v, size_t ldv,
              size_t width, Soon soon) {
    mix_in_tiles(acc, lda, p, spans, run, n, v, ldv, width, soon);
}

enum { NEAREST = _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC };

void avx2_narrow(uint16_t *out, const float *x, size_t n) {
    size_t i = 0;
    for (; i + 8 <= n; i += 8)
        _mm_storeu_si128((__m128i *)(void *)(out + i), _mm256_cvtps_ph(_mm256_loadu_ps(x + i), NEAREST));
    for (; i < n; i++) out[i] = (uint16_t)_cvtss_sh(x[i], NEAREST);
}

static void widen(float *out, const uint16_t *x, size_t n) {
    size_t i = 0;
    for (; i + 8 <= n; i += 8) {
        _mm256_storeu_ps(out + i, _mm256_cvtph_ps(_mm_loadu_si128((const __m128i *)(const void *)(x + i))));
    }
    for (; i < n; i++) out[i] = _cvtsh_ss(x[i]);
}

/* Eight bytes as floats. */
INLINE __m256 bytes8(const int8_t *q) {
    return _mm256_cvtepi32_ps(_mm256_cvtepi8_epi32(_mm_loadl_epi64((const __m128i *)(const void *)q)));
}

static void widen_q8(float *out, const uint16_t *scales, const int8_t *q, size_t n, size_t lanes) {
    if (lanes == KEY_LANES)
        for (size_t i = 0; i < n; i++, out += KEY_LANES, q += KEY_LANES) {
            for (size_t v = 0; v < KEY_LANES; v += 8) {
                __m128i half = _mm_loadu_si128((const __m128i *)(const void *)(scales + i / Q_BLOCK * KEY_LANES + v));
                _mm256_storeu_ps(out + v, _mm256_mul_ps(_mm256_cvtph_ps(half), bytes8(q + v)));
            }
        }
    else
        for (size_t at = 0; at < n; at += Q_BLOCK, scales++) {
            size_t end = n - at < Q_BLOCK ? n : at + Q_BLOCK, i = at;
            float scale = _cvtsh_ss(*scales);
            for (; i + 8 <= end; i += 8) _mm256_storeu_ps(out + i, _mm256_mul_ps(_mm256_set1_ps(scale), bytes8(q + i)));
            for (; i < end; i++) out[i] = scale * (float)q[i];
        }
}

const AttentionKernels avx2_attention = {
    .scores = scores, .softmax = softmax, .mix = mix, .narrow = avx2_narrow, .widen = widen, .widen_q8 = widen_q8,
    .state_step = avx2_state_step,
};
