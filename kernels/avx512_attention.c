/* kernels/avx512_attention.c - softmax attention for the AVX-512 rows: as avx2_attention.c, whose comments say why, with vectors
 * of 16, which is a whole group of keys, and tiles of up to 6 queries x 64 columns: 24 of the 32 registers. */
#include "avx512.h"

#include <immintrin.h>
#include <math.h>
#include <string.h>

#define INLINE static inline __attribute__((always_inline)) /* the tile's sizes must be constants in its body */

/* The operands of C[j][x] += sum over i0 <= i < i1 of A[j][i] B[i][x]. Column x of B's row i is at
 * b[i*ldb + x / KEY_LANES * group + x % KEY_LANES]. For row 0 each step
 * fetches `lines` cache lines of what is wanted soon, so that memory is busy while this is computed. */
typedef struct {
    float *c;
    const float *a;
    Numbers b;
    size_t ldc, lda, ldb, group, i0, i1, lines;
    const char *soon, *soon_end;
} Product;

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
    #pragma GCC unroll 6
    for (int q = 0; q < Q; q++)
        #pragma GCC unroll 4
        for (int v = 0; v < V; v++)
            acc[q][v] = fresh ? _mm512_setzero_ps() : _mm512_loadu_ps(c + (size_t)q * ldc + (size_t)v * KEY_LANES);
    for (size_t i = p->i0; i < i1; i++) {
        __m512 row[4];
        #pragma GCC unroll 4
        for (int v = 0; v < V; v++) row[v] = load16(half, b, i * ldb + (size_t)v * group);
        for (size_t x = 0; x < lines && p->soon < p->soon_end; x++, p->soon += 64) _mm_prefetch(p->soon, _MM_HINT_T1);
        #pragma GCC unroll 6
        for (int q = 0; q < Q; q++) {
            __m512 x = _mm512_set1_ps(a[(size_t)q * lda + i]);
            #pragma GCC unroll 4
            for (int v = 0; v < V; v++) acc[q][v] = _mm512_fmadd_ps(x, row[v], acc[q][v]);
        }
    }
    #pragma GCC unroll 6
    for (int q = 0; q < Q; q++)
        #pragma GCC unroll 4
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

/* Rows of the next tile where n are left: of three or more never so many that one or two remain. */
INLINE size_t next_rows(size_t n) { return n <= 6 ? n : n <= 8 ? 4 : 6; }

enum { TOGETHER = 4 }; /* groups whose part of B, 16 KB, stays in the first-level cache while all rows pass */

/* Row 0 of the product takes `steps`, which share the fetching. Many queries are not a single token's: the next block is in the
 * second-level cache already, and fetching would be in their way. */
enum { FEW = 16 };

INLINE void fetch(Product *p, Soon soon, size_t n, size_t steps) {
    p->soon = soon.from;
    p->soon_end = p->soon + soon.bytes;
    p->lines = n <= FEW && soon.bytes ? (soon.bytes / 64 + steps) / steps : 0;
}

void avx512_scores(float *s, const float *q, size_t n, Numbers k, size_t head_dim, size_t groups, Soon soon) {
    Product p = {.c = s, .ldc = SCORE_ROW, .a = q, .lda = head_dim, .b = k, .ldb = KEY_LANES, .group = head_dim * KEY_LANES};
    p.i1 = head_dim;
    fetch(&p, soon, n, head_dim * (groups + TOGETHER - 1) / TOGETHER);
    for (size_t g = 0; g < groups; g += TOGETHER) {
        size_t m = groups - g < TOGETHER ? groups - g : TOGETHER;
        for (size_t j = 0, rows; j < n; j += rows) some_rows(1, &p, j, rows = next_rows(n - j), g, m);
    }
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

void avx512_softmax(float *s, const Span *spans, Running *run, size_t n) {
    for (size_t j = 0; j < n; j++, s += SCORE_ROW) {
        Span span = spans[j];
        Running *r = &run[j];
        r->shrink = 1;
        if (span.lo >= span.hi) continue;
        float before = r->max;
        __m512 scale = _mm512_set1_ps(r->scale), top = _mm512_set1_ps(before), sum = _mm512_setzero_ps(), x[KEY_BLOCK / 16];
        int from = span.lo / 16;
        #pragma GCC unroll 4
        for (int v = 0; v < KEY_BLOCK / 16; v++) { /* outside the span -infinity, of which exp makes 0 */
            x[v] = _mm512_set1_ps(-INFINITY);
            if (v < from || v * 16 >= span.hi) continue;
            x[v] = _mm512_mask_mul_ps(x[v], inside(v * 16, span), _mm512_loadu_ps(s + v * 16), scale);
            top = _mm512_max_ps(x[v], top); /* in this order of operands a NaN is passed over; exp will show it */
        }
        r->max = _mm512_reduce_max_ps(top);
        if (r->max > before) r->shrink = _mm512_cvtss_f32(exp16(_mm512_set1_ps(before - r->max)));
        top = _mm512_set1_ps(r->max);
        #pragma GCC unroll 4
        for (int v = 0; v < KEY_BLOCK / 16; v++) {
            if (v < from || v * 16 >= span.hi) continue;
            __m512 p = exp16(_mm512_sub_ps(x[v], top));
            _mm512_storeu_ps(s + v * 16, p);
            sum = _mm512_add_ps(sum, p);
        }
        r->sum = r->shrink * r->sum + _mm512_reduce_add_ps(sum);
    }
}

INLINE Span common(const Span *spans, size_t n) {
    Span c = spans[0];
    for (size_t j = 1; j < n; j++) {
        c.lo = c.lo > spans[j].lo ? c.lo : spans[j].lo;
        c.hi = c.hi < spans[j].hi ? c.hi : spans[j].hi;
    }
    return c;
}

/* Rows j .. j+n-1 over the slots lo .. hi-1. */
static void mix_slots(Product *p, int lo, int hi, size_t j, size_t n, size_t g, size_t groups) {
    if (lo >= hi) return;
    p->i0 = (size_t)lo, p->i1 = (size_t)hi;
    some_rows(0, p, j, n, g, groups);
}

/* Rows j .. j+n-1, groups g .. g+groups-1: slots that all of them see together, those that one has alone before and after. */
static void mix_rows(Product *p, const Span *spans, size_t j, size_t n, size_t g, size_t groups) {
    Span all = common(spans + j, n);
    if (all.lo >= all.hi) all.lo = all.hi = KEY_BLOCK; /* nothing in common: all of a span lies before it */
    for (size_t r = j; r < j + n; r++)
        if (spans[r].lo < all.lo) mix_slots(p, spans[r].lo, spans[r].hi < all.lo ? spans[r].hi : all.lo, r, 1, g, groups);
    mix_slots(p, all.lo, all.hi, j, n, g, groups);
    for (size_t r = j; r < j + n; r++)
        if (spans[r].hi > all.hi) mix_slots(p, all.hi, spans[r].hi, r, 1, g, groups);
}

static void mix_groups(Product *p, const Span *spans, size_t n, size_t groups) {
    for (size_t g = 0; g < groups; g += TOGETHER) {
        size_t m = groups - g < TOGETHER ? groups - g : TOGETHER;
        for (size_t j = 0, rows; j < n; j += rows) mix_rows(p, spans, j, rows = next_rows(n - j), g, m);
    }
}

INLINE void shrink_row(float *acc, float shrink, size_t groups) {
    for (size_t i = 0; i < groups * KEY_LANES; i += 16)
        _mm512_storeu_ps(acc + i, _mm512_mul_ps(_mm512_set1_ps(shrink), _mm512_loadu_ps(acc + i)));
}

void avx512_mix(float *acc, size_t lda, const float *p, const Span *spans, const Running *run, size_t n, Numbers v, size_t ldv,
                size_t width, Soon soon) {
    size_t groups = width / KEY_LANES, rest = width % KEY_LANES;
    for (size_t j = 0; j < n; j++)
        if (run[j].shrink != 1) shrink_row(acc + j * lda, run[j].shrink, groups + (rest > 0));
    Product whole = {.c = acc, .ldc = lda, .a = p, .lda = SCORE_ROW, .b = v, .ldb = ldv, .group = KEY_LANES};
    fetch(&whole, soon, n, KEY_BLOCK * (width + 63) / 64);
    mix_groups(&whole, spans, n, groups);
    if (rest == 0) return;
    float part[KEY_BLOCK * KEY_LANES] = {0}; /* the last columns, made a whole group; only slots that somebody sees may be read */
    int lo = KEY_BLOCK, hi = 0;
    for (size_t j = 0; j < n; j++)
        if (spans[j].lo < spans[j].hi) lo = spans[j].lo < lo ? spans[j].lo : lo, hi = spans[j].hi > hi ? spans[j].hi : hi;
    for (int t = lo; t < hi; t++) {
        size_t at = (size_t)t * ldv + groups * KEY_LANES;
        if (v.half) avx512_widen(part + t * KEY_LANES, (const uint16_t *)v.at + at, rest);
        else memcpy(part + t * KEY_LANES, (const float *)v.at + at, rest * sizeof *part);
    }
    whole.c += groups * KEY_LANES;
    whole.b = (Numbers){.at = part};
    whole.ldb = KEY_LANES;
    whole.lines = 0;
    mix_groups(&whole, spans, n, 1);
}

void avx512_widen(float *out, const uint16_t *x, size_t n) {
    for (size_t i = 0; i < n; i += 16) {
        __mmask16 m = (__mmask16)(n - i >= 16 ? 0xffff : (1u << (n - i)) - 1);
        _mm512_mask_storeu_ps(out + i, m, _mm512_cvtph_ps(_mm256_maskz_loadu_epi16(m, x + i)));
    }
}

/* Up to sixteen bytes as floats. */
INLINE __m512 bytes16(const int8_t *q, __mmask16 m) { return _mm512_cvtepi32_ps(_mm512_cvtepi8_epi32(_mm_maskz_loadu_epi8(m, q))); }

void avx512_widen_q8(float *out, const uint16_t *scales, const int8_t *q, size_t n, size_t lanes) {
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
