/* kernels/x86/avx512_attention.c - softmax attention (attention_tiles.h) for the AVX-512 rows, with vectors of 16, which is a whole
 * group of keys, and tiles of up to 6 queries x 64 columns: 24 of the 32 registers. */
#include "avx2.h"
#include "avx512.h"
#include "kernels/attention_tiles.h"

#include <immintrin.h>
#include <math.h>

INLINE __m512 load16(int half, const char *b, size_t i) {
    const void *at = b + i * (half ? 2 : 4);
    return half ? _mm512_cvtph_ps(_mm256_loadu_si256((const __m256i *)at)) : _mm512_loadu_ps(at);
}

/* Q rows x V groups; both are constants where this is inlined. fresh: C begins as 0. */
INLINE void tile(int Q, int V, int half, int fresh, Product *p, size_t j, size_t g) {
    __m512 acc[6][4];
    float *c = p->c + j * p->ldc + g * KEY_LANES;
    const float *a = p->a + j * p->lda;
    const char *b = (const char *)p->b.at + g * p->group * (half ? 2 : 4);
    size_t lda = p->lda, ldb = p->ldb, group = p->group, ldc = p->ldc, i1 = p->i1, lines = j == 0 ? p->lines : 0;
    UNROLL
    for (int q = 0; q < Q; q++)
        UNROLL
        for (int v = 0; v < V; v++)
            acc[q][v] = fresh ? _mm512_setzero_ps() : _mm512_loadu_ps(c + (size_t)q * ldc + (size_t)v * KEY_LANES);
    for (size_t i = p->i0; i < i1; i++) {
        __m512 row[4];
        UNROLL
        for (int v = 0; v < V; v++) row[v] = load16(half, b, i * ldb + (size_t)v * group);
        for (size_t x = 0; x < lines && p->soon < p->soon_end; x++, p->soon += 64) _mm_prefetch(p->soon, _MM_HINT_T1);
        UNROLL
        for (int q = 0; q < Q; q++) {
            __m512 x = _mm512_set1_ps(a[(size_t)q * lda + i]);
            UNROLL
            for (int v = 0; v < V; v++) acc[q][v] = _mm512_fmadd_ps(x, row[v], acc[q][v]);
        }
    }
    UNROLL
    for (int q = 0; q < Q; q++)
        UNROLL
        for (int v = 0; v < V; v++) _mm512_storeu_ps(c + (size_t)q * ldc + (size_t)v * KEY_LANES, acc[q][v]);
}

INLINE void rows_of(int Q, int half, int fresh, Product *p, size_t j, size_t g, size_t groups) {
    for (; groups >= 4; g += 4, groups -= 4) tile(Q, 4, half, fresh, p, j, g);
    if (groups & 2) tile(Q, 2, half, fresh, p, j, g), g += 2;
    if (groups & 1) tile(Q, 1, half, fresh, p, j, g);
}

/* One to six rows, `groups` groups from g on. */
INLINE void tiles(int half, int fresh, Product *p, size_t j, size_t n, size_t g, size_t groups) {
    switch (n) {
    case 1: rows_of(1, half, fresh, p, j, g, groups); break;
    case 2: rows_of(2, half, fresh, p, j, g, groups); break;
    case 3: rows_of(3, half, fresh, p, j, g, groups); break;
    case 4: rows_of(4, half, fresh, p, j, g, groups); break;
    case 5: rows_of(5, half, fresh, p, j, g, groups); break;
    default: rows_of(6, half, fresh, p, j, g, groups);
    }
}

INLINE void some_rows(int fresh, Product *p, size_t j, size_t n, size_t g, size_t groups) {
    if (p->b.half) tiles(1, fresh, p, j, n, g, groups);
    else tiles(0, fresh, p, j, n, g, groups);
}

/* So many rows for every 64 columns. */
INLINE size_t steps_of(size_t rows, size_t n, size_t groups) {
    (void)n;
    return rows * (groups + 3) / 4;
}

static void scores(float *s, const float *q, size_t n, Numbers k, size_t head_dim, size_t groups, Soon soon) {
    scores_in_tiles(s, q, n, k, head_dim, groups, soon, 4);
}

/* As avx2_vectors.h's exp8, with 2^n by vscalefps: at most 0.94 ulp off from -87.33 on, below it 0. NaN stays. */
INLINE __m512 exp16(__m512 x) {
    __mmask16 normal = _mm512_cmp_ps_mask(x, _mm512_set1_ps(-87.33f), _CMP_NLT_UQ); /* not less: a NaN passes */
    __m512 n = _mm512_roundscale_ps(_mm512_mul_ps(x, _mm512_set1_ps(1.44269504f)), _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
    __m512 f = _mm512_fnmadd_ps(n, _mm512_set1_ps(0.693359375f), x); /* ln2 in two parts: the first product is exact */
    f = _mm512_fnmadd_ps(n, _mm512_set1_ps(-2.12194440e-4f), f);
    __m512 p = _mm512_set1_ps(1.0f / 5040);
    p = _mm512_fmadd_ps(p, f, _mm512_set1_ps(1.0f / 720));
    p = _mm512_fmadd_ps(p, f, _mm512_set1_ps(1.0f / 120));
    p = _mm512_fmadd_ps(p, f, _mm512_set1_ps(1.0f / 24));
    p = _mm512_fmadd_ps(p, f, _mm512_set1_ps(1.0f / 6));
    p = _mm512_fmadd_ps(p, f, _mm512_set1_ps(0.5f));
    p = _mm512_fmadd_ps(p, f, _mm512_set1_ps(1));
    p = _mm512_fmadd_ps(p, f, _mm512_set1_ps(1));
    return _mm512_maskz_scalef_ps(normal, p, n);
}

/* The entries of t .. t+15 that are inside the span. */
INLINE __mmask16 inside(int t, Span span) {
    unsigned below = span.hi - t >= 16 ? 0xffffu : (1u << (span.hi - t)) - 1;
    unsigned before = span.lo <= t ? 0 : (1u << (span.lo - t)) - 1;
    return (__mmask16)(below & ~before);
}

static void softmax(float *s, const Span *spans, Running *run, size_t n) {
    for (size_t j = 0; j < n; j++, s += SCORE_ROW) {
        Span span = spans[j];
        Running *r = &run[j];
        r->shrink = 1;
        if (span.lo >= span.hi) continue;
        float before = r->max;
        __m512 scale = _mm512_set1_ps(r->scale), top = _mm512_set1_ps(before), sum = _mm512_setzero_ps(), x[KEY_BLOCK / 16];
        int from = span.lo / 16;
        UNROLL
        for (int v = 0; v < KEY_BLOCK / 16; v++) { /* outside the span -infinity, of which exp makes 0 */
            x[v] = _mm512_set1_ps(-INFINITY);
            if (v < from || v * 16 >= span.hi) continue;
            x[v] = _mm512_mask_mul_ps(x[v], inside(v * 16, span), _mm512_loadu_ps(s + v * 16), scale);
            top = _mm512_max_ps(x[v], top); /* in this order of operands a NaN is passed over; exp will show it */
        }
        r->max = _mm512_reduce_max_ps(top);
        if (r->max > before) r->shrink = _mm512_cvtss_f32(exp16(_mm512_set1_ps(before - r->max)));
        top = _mm512_set1_ps(r->max);
        UNROLL
        for (int v = 0; v < KEY_BLOCK / 16; v++) {
            if (v < from || v * 16 >= span.hi) continue;
            __m512 p = exp16(_mm512_sub_ps(x[v], top));
            _mm512_storeu_ps(s + v * 16, p);
            sum = _mm512_add_ps(sum, p);
        }
        r->sum = r->shrink * r->sum + _mm512_reduce_add_ps(sum);
    }
}

INLINE void shrink_row(float *acc, float shrink, size_t groups) {
    for (size_t i = 0; i < groups * KEY_LANES; i += 16)
        _mm512_storeu_ps(acc + i, _mm512_mul_ps(_mm512_set1_ps(shrink), _mm512_loadu_ps(acc + i)));
}

static void mix(float *acc, size_t lda, const float *p, const Span *spans, const Running *run, size_t n, Numbers v, size_t ldv,
                size_t width, Soon soon) {
    mix_in_tiles(acc, lda, p, spans, run, n, v, ldv, width, soon);
}

static void widen(float *out, const uint16_t *x, size_t n) {
    for (size_t i = 0; i < n; i += 16) {
        __mmask16 m = (__mmask16)(n - i >= 16 ? 0xffff : (1u << (n - i)) - 1);
        _mm512_mask_storeu_ps(out + i, m, _mm512_cvtph_ps(_mm256_maskz_loadu_epi16(m, x + i)));
    }
}

/* Up to sixteen bytes as floats. */
INLINE __m512 bytes16(const int8_t *q, __mmask16 m) { return _mm512_cvtepi32_ps(_mm512_cvtepi8_epi32(_mm_maskz_loadu_epi8(m, q))); }

static void widen_q8(float *out, const uint16_t *scales, const int8_t *q, size_t n, size_t lanes) {
    for (size_t at = 0; at < n; at += Q_BLOCK, scales += lanes) {
        size_t end = n - at < Q_BLOCK ? n : at + Q_BLOCK;
        if (lanes == KEY_LANES) {
            __m512 scale = _mm512_cvtph_ps(_mm256_loadu_si256((const __m256i *)(const void *)scales));
            for (size_t i = at; i < end; i++) {
                _mm512_storeu_ps(out + i * 16, _mm512_mul_ps(scale, bytes16(q + i * 16, 0xffff)));
            }
        } else {
            __m512 scale = _mm512_set1_ps(_cvtsh_ss(*scales));
            for (size_t i = at; i < end; i += 16) {
                __mmask16 m = (__mmask16)(end - i >= 16 ? 0xffff : (1u << (end - i)) - 1);
                _mm512_mask_storeu_ps(out + i, m, _mm512_mul_ps(scale, bytes16(q + i, m)));
            }
        }
    }
}

const AttentionKernels avx512_attention = {
    .scores = scores, .softmax = softmax, .mix = mix, .narrow = avx2_narrow, .widen = widen, .widen_q8 = widen_q8,
    .state_step = avx512_state_step,
};
