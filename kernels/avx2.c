/* kernels/avx2.c - the row for x86-64 with AVX2, FMA and F16C; compiled with -mavx2 -mfma -mf16c, chosen at run time.
 *
 * matmul: one vector of 8 partial sums an output, stepped over the columns and folded once. A tile computes R rows x T
 * tokens side by side, which hides the latency of the FMA (R = 4 for a single token) and uses each loaded weight T times
 * (prefill); which tile an output falls into does not change the order of its sum, so its bits do not depend on the batch.
 * Against ref: FMA rounds once where ref rounds twice; blocks of 32 are summed in 8 lanes, not one; exp is a polynomial. */
#include "kernels.h"

#include "../base/base.h"

#include <immintrin.h>
#include <math.h>
#include <string.h>

#define INLINE static inline __attribute__((always_inline)) /* the tile's sizes and type must be constants in its body */

/* Lanes j and j+4, then j and j+2, then 0 and 1: ref's fold. */
INLINE float fold(__m256 v) {
    __m128 s = _mm_add_ps(_mm256_castps256_ps128(v), _mm256_extractf128_ps(v, 1));
    s = _mm_add_ps(s, _mm_movehl_ps(s, s));
    return _mm_cvtss_f32(_mm_add_ss(s, _mm_movehdup_ps(s)));
}

/* Entries i .. i+7 of a row as floats; n of them exist, the rest reads as zero. */
INLINE __m256 load8(TensorType type, const uint8_t *row, size_t i, size_t n) {
    if (type == TENSOR_F32) {
        if (n >= 8) return _mm256_loadu_ps((const float *)(const void *)(row + 4 * i));
        float part[8] = {0};
        memcpy(part, row + 4 * i, 4 * n);
        return _mm256_loadu_ps(part);
    }
    __m128i h;
    if (n >= 8) {
        h = _mm_loadu_si128((const __m128i *)(const void *)(row + 2 * i));
    } else {
        uint16_t part[8] = {0};
        memcpy(part, row + 2 * i, 2 * n);
        h = _mm_loadu_si128((const __m128i *)(const void *)part);
    }
    if (type == TENSOR_F16) return _mm256_cvtph_ps(h);
    return _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_cvtepu16_epi32(h), 16));
}

/* R and T are constants where this is inlined; unrolled from the start, acc lives in registers. */
INLINE void tile_float(TensorType type, int R, int T, float *y, size_t ldy, const float *x, size_t d, const uint8_t *w, size_t row_bytes) {
    __m256 acc[4][4];
    #pragma GCC unroll 4
    for (int r = 0; r < R; r++)
        #pragma GCC unroll 4
        for (int t = 0; t < T; t++) acc[r][t] = _mm256_setzero_ps();
    size_t i = 0;
    for (; i + 8 <= d; i += 8) {
        __m256 xv[4];
        #pragma GCC unroll 4
        for (int t = 0; t < T; t++) xv[t] = _mm256_loadu_ps(x + (size_t)t * d + i);
        #pragma GCC unroll 4
        for (int r = 0; r < R; r++) {
            __m256 wv = load8(type, w + (size_t)r * row_bytes, i, 8);
            #pragma GCC unroll 4
            for (int t = 0; t < T; t++) acc[r][t] = _mm256_fmadd_ps(wv, xv[t], acc[r][t]);
        }
    }
    if (i < d)
        #pragma GCC unroll 4
        for (int r = 0; r < R; r++) {
            __m256 wv = load8(type, w + (size_t)r * row_bytes, i, d - i);
            #pragma GCC unroll 4
            for (int t = 0; t < T; t++)
                acc[r][t] = _mm256_fmadd_ps(wv, load8(TENSOR_F32, (const uint8_t *)(x + (size_t)t * d), i, d - i), acc[r][t]);
        }
    #pragma GCC unroll 4
    for (int r = 0; r < R; r++)
        #pragma GCC unroll 4
        for (int t = 0; t < T; t++) y[(size_t)t * ldy + (size_t)r] = fold(acc[r][t]);
}

/* All tokens of one strip of R rows. */
INLINE void strip_float(TensorType type, int R, float *y, size_t ldy, const float *x, size_t d, size_t n, const uint8_t *w,
                        size_t row_bytes) {
    size_t t = 0;
    for (; t + 3 <= n; t += 3) tile_float(type, R, 3, y + t * ldy, ldy, x + t * d, d, w, row_bytes);
    for (; t < n; t++) tile_float(type, R, 1, y + t * ldy, ldy, x + t * d, d, w, row_bytes);
}

INLINE void matmul_float(TensorType type, float *y, size_t ldy, const Activations *a, size_t n, const Matrix *m, size_t r0, size_t r1) {
    size_t row_bytes = m->cols * (type == TENSOR_F32 ? 4 : 2), r = r0;
    const uint8_t *w = m->data;
    for (; r + 4 <= r1; r += 4) strip_float(type, 4, y + r, ldy, a->x, a->d, n, w + r * row_bytes, row_bytes);
    for (; r < r1; r++) strip_float(type, 1, y + r, ldy, a->x, a->d, n, w + r * row_bytes, row_bytes);
}

/* Block formats: 32 int8 of weights and their scale. */
typedef struct {
    TensorType type;
    const uint8_t *w, *scales; /* of the first row */
    size_t row_bytes;          /* from a row's w to the next row's */
    size_t scale_bytes;        /* int8 groups: from a row's scales to the next row's */
    size_t per_scale;          /* blocks of 32 that share a scale, in weights and activations alike */
} Blocks;

INLINE __m256i block_values(TensorType type, const uint8_t *row, size_t b) {
    if (type == TENSOR_Q8_0) return _mm256_loadu_si256((const __m256i *)(const void *)(row + b * 34 + 2));
    if (type == TENSOR_I8_GROUPS) return _mm256_loadu_si256((const __m256i *)(const void *)(row + b * 32));
    __m128i nibbles = _mm_loadu_si128((const __m128i *)(const void *)(row + b * 18 + 2));
    __m256i both = _mm256_inserti128_si256(_mm256_castsi128_si256(nibbles), _mm_srli_epi16(nibbles, 4), 1);
    return _mm256_sub_epi8(_mm256_and_si256(both, _mm256_set1_epi8(15)), _mm256_set1_epi8(8));
}

INLINE float block_scale(TensorType type, const uint8_t *row, const uint8_t *scales, size_t b, size_t per_scale) {
    if (type == TENSOR_I8_GROUPS) return load_f32(scales + 4 * (b / per_scale));
    return _cvtsh_ss(load_u16(row + b * (type == TENSOR_Q8_0 ? 34 : 18)));
}

/* maddubs wants one side unsigned: |w| and x with w's sign. Two products of at most 128*127 fit its 16 bits. */
INLINE __m256 block_dot(__m256i abs_w, __m256i w, __m256i x) {
    __m256i pairs = _mm256_maddubs_epi16(abs_w, _mm256_sign_epi8(x, w));
    return _mm256_cvtepi32_ps(_mm256_madd_epi16(pairs, _mm256_set1_epi16(1)));
}

INLINE void tile_blocks(TensorType type, int R, int T, float *y, size_t ldy, const int8_t *q, const float *xs, size_t d,
                        const Blocks *m, size_t row) {
    __m256 acc[4][4];
    #pragma GCC unroll 4
    for (int r = 0; r < R; r++)
        #pragma GCC unroll 4
        for (int t = 0; t < T; t++) acc[r][t] = _mm256_setzero_ps();
    size_t n_blocks = d / Q_BLOCK, n_scales = n_blocks / m->per_scale;
    for (size_t b = 0; b < n_blocks; b++) {
        __m256i xv[4];
        #pragma GCC unroll 4
        for (int t = 0; t < T; t++) xv[t] = _mm256_loadu_si256((const __m256i *)(const void *)(q + (size_t)t * d + b * Q_BLOCK));
        #pragma GCC unroll 4
        for (int r = 0; r < R; r++) {
            const uint8_t *w = m->w + (row + (size_t)r) * m->row_bytes;
            __m256i wv = block_values(type, w, b), abs_w = _mm256_abs_epi8(wv);
            float ws = block_scale(type, w, m->scales + (row + (size_t)r) * m->scale_bytes, b, m->per_scale);
            #pragma GCC unroll 4
            for (int t = 0; t < T; t++)
                acc[r][t] = _mm256_fmadd_ps(_mm256_set1_ps(ws * xs[(size_t)t * n_scales + b / m->per_scale]),
                                            block_dot(abs_w, wv, xv[t]), acc[r][t]);
        }
    }
    #pragma GCC unroll 4
    for (int r = 0; r < R; r++)
        #pragma GCC unroll 4
        for (int t = 0; t < T; t++) y[(size_t)t * ldy + (size_t)r] = fold(acc[r][t]);
}

INLINE void matmul_blocks(TensorType type, float *y, size_t ldy, const Activations *a, size_t n, const Matrix *m, size_t r0, size_t r1) {
    Blocks blocks = {.type = type, .w = m->data, .scales = m->scales, .per_scale = 1};
    blocks.row_bytes = m->cols / Q_BLOCK * (type == TENSOR_Q8_0 ? 34 : type == TENSOR_Q4_0 ? 18 : 32);
    if (type == TENSOR_I8_GROUPS) {
        blocks.per_scale = (size_t)m->group / Q_BLOCK;
        blocks.scale_bytes = m->cols / (size_t)m->group * 4;
    } else {
        blocks.scales = m->data; /* each block holds its own */
    }
    size_t d = a->d, n_scales = d / Q_BLOCK / blocks.per_scale, r = r0;
    for (; r + 2 <= r1; r += 2) {
        size_t t = 0;
        for (; t + 3 <= n; t += 3) tile_blocks(type, 2, 3, y + t * ldy + r, ldy, a->q + t * d, a->scale + t * n_scales, d, &blocks, r);
        for (; t < n; t++) tile_blocks(type, 2, 1, y + t * ldy + r, ldy, a->q + t * d, a->scale + t * n_scales, d, &blocks, r);
    }
    for (; r < r1; r++)
        for (size_t t = 0; t < n; t++) tile_blocks(type, 1, 1, y + t * ldy + r, ldy, a->q + t * d, a->scale + t * n_scales, d, &blocks, r);
}

static void matmul(float *y, size_t ldy, const Activations *acts, size_t n, const Matrix *w, size_t r0, size_t r1) {
    switch (w->type) {
    case TENSOR_F32: matmul_float(TENSOR_F32, y, ldy, acts, n, w, r0, r1); break;
    case TENSOR_F16: matmul_float(TENSOR_F16, y, ldy, acts, n, w, r0, r1); break;
    case TENSOR_BF16: matmul_float(TENSOR_BF16, y, ldy, acts, n, w, r0, r1); break;
    case TENSOR_Q8_0: matmul_blocks(TENSOR_Q8_0, y, ldy, acts, n, w, r0, r1); break;
    case TENSOR_Q4_0: matmul_blocks(TENSOR_Q4_0, y, ldy, acts, n, w, r0, r1); break;
    default:
        if (w->group % Q_BLOCK == 0) matmul_blocks(TENSOR_I8_GROUPS, y, ldy, acts, n, w, r0, r1);
        else kernels_ref.matmul(y, ldy, acts, n, w, r0, r1); /* groups of 4 or 8 do not fill a vector */
    }
}

/* Bit for bit what ref does: the largest bit pattern, one division, one multiplication and one rounding an entry. */
static void quantize(int8_t *q, float *scale, const float *x, size_t d, int group) {
    if (group % Q_BLOCK) {
        kernels_ref.quantize(q, scale, x, d, group);
        return;
    }
    const __m256i no_sign = _mm256_set1_epi32(0x7fffffff), order = _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7);
    for (size_t g = 0; g < d / (size_t)group; g++, x += group, q += group) {
        __m256i top = _mm256_setzero_si256();
        for (int j = 0; j < group; j += 8)
            top = _mm256_max_epi32(top, _mm256_and_si256(_mm256_castps_si256(_mm256_loadu_ps(x + j)), no_sign));
        __m128i m = _mm_max_epi32(_mm256_castsi256_si128(top), _mm256_extracti128_si256(top, 1));
        m = _mm_max_epi32(m, _mm_shuffle_epi32(m, 0x4e));
        m = _mm_max_epi32(m, _mm_shuffle_epi32(m, 0xb1));
        float amax = _mm_cvtss_f32(_mm_castsi128_ps(m));
        float per = amax >= 1e-30f && amax <= 3.4028234e38f ? 127 / amax : 0;
        scale[g] = amax < 1e-30f ? 0 : per > 0 ? amax / 127 : NAN;
        if (per == 0) {
            memset(q, 0, (size_t)group);
            continue;
        }
        __m256 p = _mm256_set1_ps(per);
        for (int j = 0; j < group; j += 32) {
            __m256i i0 = _mm256_cvtps_epi32(_mm256_mul_ps(_mm256_loadu_ps(x + j), p)),
                    i1 = _mm256_cvtps_epi32(_mm256_mul_ps(_mm256_loadu_ps(x + j + 8), p));
            __m256i i2 = _mm256_cvtps_epi32(_mm256_mul_ps(_mm256_loadu_ps(x + j + 16), p)),
                    i3 = _mm256_cvtps_epi32(_mm256_mul_ps(_mm256_loadu_ps(x + j + 24), p));
            /* packing leaves groups of 4 with the halves interleaved */
            __m256i bytes = _mm256_packs_epi16(_mm256_packs_epi32(i0, i1), _mm256_packs_epi32(i2, i3));
            _mm256_storeu_si256((__m256i *)(void *)(q + j), _mm256_permutevar8x32_epi32(bytes, order));
        }
    }
}

INLINE float dot(const float *a, const float *b, size_t n) {
    __m256 acc = _mm256_setzero_ps();
    for (size_t i = 0; i < n; i += 8)
        acc = _mm256_fmadd_ps(load8(TENSOR_F32, (const uint8_t *)a, i, n - i), load8(TENSOR_F32, (const uint8_t *)b, i, n - i), acc);
    return fold(acc);
}

static void rmsnorm(float *y, const float *x, const float *w, size_t n, float eps) {
    float r = 1 / sqrtf(dot(x, x, n) / (float)n + eps);
    for (size_t i = 0; i < n; i++) y[i] = x[i] * r * w[i]; /* vectorised by the compiler: no sum, no order */
}

/* Entries i .. i+7 of x; those behind the n-th read as mean, so that they add nothing to a sum of squares around it. */
INLINE __m256 load_around(const float *x, size_t i, size_t n, __m256 mean) {
    if (n - i >= 8) return _mm256_loadu_ps(x + i);
    float part[8];
    _mm256_storeu_ps(part, mean);
    memcpy(part, x + i, (n - i) * sizeof *x);
    return _mm256_loadu_ps(part);
}

static void layernorm(float *y, const float *x, const float *w, const float *b, size_t n, float eps) {
    __m256 sum = _mm256_setzero_ps(), square = sum;
    for (size_t i = 0; i < n; i += 8) sum = _mm256_add_ps(sum, load_around(x, i, n, _mm256_setzero_ps()));
    float mean = fold(sum) / (float)n;
    __m256 m = _mm256_set1_ps(mean);
    for (size_t i = 0; i < n; i += 8) {
        __m256 d = _mm256_sub_ps(load_around(x, i, n, m), m);
        square = _mm256_fmadd_ps(d, d, square);
    }
    float r = 1 / sqrtf(fold(square) / (float)n + eps);
    for (size_t i = 0; i < n; i++) y[i] = (x[i] - mean) * r * w[i] + b[i];
}

/* e^x to 0.94 ulp for x in [-87.3, 88]: x = n ln2 + f, |f| <= ln2/2; e^f by its Taylor polynomial of degree 7 (remainder
 * 5e-9 relative); 2^n put together from its exponent bits. Below -87.3 (no normal float any more) 0; above 88 e^88. NaN stays. */
INLINE __m256 exp8(__m256 x) {
    const __m256 lowest = _mm256_set1_ps(-87.33f);
    __m256 tiny = _mm256_cmp_ps(x, lowest, _CMP_LT_OQ);
    x = _mm256_max_ps(lowest, _mm256_min_ps(_mm256_set1_ps(88.0f), x)); /* in this order of operands a NaN passes */
    __m256 n = _mm256_round_ps(_mm256_mul_ps(x, _mm256_set1_ps(1.44269504f)), _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
    __m256 f = _mm256_fnmadd_ps(n, _mm256_set1_ps(0.693359375f), x); /* ln2 in two parts: the first product is exact */
    f = _mm256_fnmadd_ps(n, _mm256_set1_ps(-2.12194440e-4f), f);
    __m256 p = _mm256_set1_ps(1.0f / 5040);
    p = _mm256_fmadd_ps(p, f, _mm256_set1_ps(1.0f / 720));
    p = _mm256_fmadd_ps(p, f, _mm256_set1_ps(1.0f / 120));
    p = _mm256_fmadd_ps(p, f, _mm256_set1_ps(1.0f / 24));
    p = _mm256_fmadd_ps(p, f, _mm256_set1_ps(1.0f / 6));
    p = _mm256_fmadd_ps(p, f, _mm256_set1_ps(0.5f));
    p = _mm256_fmadd_ps(p, f, _mm256_set1_ps(1));
    p = _mm256_fmadd_ps(p, f, _mm256_set1_ps(1));
    __m256i bits = _mm256_slli_epi32(_mm256_add_epi32(_mm256_cvtps_epi32(n), _mm256_set1_epi32(127)), 23);
    return _mm256_andnot_ps(tiny, _mm256_mul_ps(p, _mm256_castsi256_ps(bits)));
}

static void store_part(float *out, __m256 v, size_t n) {
    float part[8];
    _mm256_storeu_ps(part, v);
    memcpy(out, part, n * sizeof *out);
}

static void softmax(float *x, size_t n) {
    float max = x[0];
    size_t i = 0;
    if (n >= 8) {
        __m256 m = _mm256_loadu_ps(x);
        for (i = 8; i + 8 <= n; i += 8) m = _mm256_max_ps(m, _mm256_loadu_ps(x + i));
        float lane[8];
        _mm256_storeu_ps(lane, m);
        for (int j = 0; j < 8; j++)
            if (lane[j] > max) max = lane[j];
    }
    for (; i < n; i++)
        if (x[i] > max) max = x[i];
    __m256 sum = _mm256_setzero_ps(), m = _mm256_set1_ps(max);
    for (i = 0; i + 8 <= n; i += 8) {
        __m256 e = exp8(_mm256_sub_ps(_mm256_loadu_ps(x + i), m));
        _mm256_storeu_ps(x + i, e);
        sum = _mm256_add_ps(sum, e);
    }
    if (i < n) {
        store_part(x + i, exp8(_mm256_sub_ps(load8(TENSOR_F32, (const uint8_t *)x, i, n - i), m)), n - i);
        sum = _mm256_add_ps(sum, load8(TENSOR_F32, (const uint8_t *)x, i, n - i));
    }
    float r = 1 / fold(sum);
    for (i = 0; i < n; i++) x[i] *= r;
}

static void silu_mul(float *gate, const float *up, size_t n) {
    const __m256 one = _mm256_set1_ps(1), zero = _mm256_setzero_ps();
    for (size_t i = 0; i < n; i += 8) {
        size_t left = n - i;
        __m256 g = load8(TENSOR_F32, (const uint8_t *)gate, i, left), u = load8(TENSOR_F32, (const uint8_t *)up, i, left);
        g = _mm256_mul_ps(_mm256_div_ps(g, _mm256_add_ps(one, exp8(_mm256_sub_ps(zero, g)))), u);
        if (left >= 8) _mm256_storeu_ps(gate + i, g);
        else store_part(gate + i, g, left);
    }
}

/* x Phi(x): with a = |x|, Phi(-a) is e^(-a^2/2) times a polynomial in 1 / (1 + 0.21 a) (relative error 1.2e-8; its numbers come
 * from tests/oracle/gelu.py), and Phi(a) = 1 - Phi(-a). So it is exact to some ulp on the left side too, where 1 + erf cancels. */
INLINE __m256 gelu8(__m256 x) {
    static const float c[] = {-0.0722687054f, 0.28661303f,  -0.336640481f, 0.356924043f, -0.0993236242f,
                              0.127286522f,   0.0685361068f, 0.0851678824f, 0.0837052238f};
    const __m256 one = _mm256_set1_ps(1), sign = _mm256_set1_ps(-0.0f);
    __m256 a = _mm256_andnot_ps(sign, x);
    __m256 t = _mm256_div_ps(one, _mm256_fmadd_ps(_mm256_set1_ps(0.21f), a, one)), p = _mm256_set1_ps(c[0]);
    for (int i = 1; i < 9; i++) p = _mm256_fmadd_ps(p, t, _mm256_set1_ps(c[i]));
    __m256 e = exp8(_mm256_mul_ps(_mm256_set1_ps(-0.5f), _mm256_mul_ps(a, a)));
    __m256 tail = _mm256_mul_ps(_mm256_mul_ps(p, t), e);
    return _mm256_mul_ps(x, _mm256_blendv_ps(_mm256_sub_ps(one, tail), tail, x)); /* chosen by x's sign bit */
}

INLINE __m256 activation8(__m256 x, Activation a) {
    if (a == ACTIVATION_GELU) return gelu8(x);
    if (a == ACTIVATION_RELU) return _mm256_max_ps(_mm256_setzero_ps(), x); /* in this order of operands a NaN passes */
    __m256 u = x;
    if (a == ACTIVATION_GELU_TANH) {
        u = _mm256_fmadd_ps(_mm256_mul_ps(_mm256_set1_ps(0.044715f), x), _mm256_mul_ps(x, x), x);
        u = _mm256_mul_ps(_mm256_set1_ps(1.5957691f), u);
    }
    return _mm256_div_ps(x, _mm256_add_ps(_mm256_set1_ps(1), exp8(_mm256_sub_ps(_mm256_setzero_ps(), u))));
}

static void activate(float *x, size_t n, Activation a) {
    for (size_t i = 0; i < n; i += 8) {
        __m256 v = activation8(load8(TENSOR_F32, (const uint8_t *)x, i, n - i), a);
        if (n - i >= 8) _mm256_storeu_ps(x + i, v);
        else store_part(x + i, v, n - i);
    }
}

/* The same four products, one subtraction and one addition a pair as rope_rotate: the same bits. */
static void rotate(float *x, const float *c, const float *s, int rotary_dim, RopePairing pairing) {
    int half = rotary_dim / 2, i = 0;
    if (pairing == ROPE_INTERLEAVED) {
        const __m256i twice = _mm256_setr_epi32(0, 0, 1, 1, 2, 2, 3, 3);
        for (; i + 4 <= half; i += 4) { /* four pairs a vector */
            __m256 cc = _mm256_permutevar8x32_ps(_mm256_castps128_ps256(_mm_loadu_ps(c + i)), twice);
            __m256 ss = _mm256_permutevar8x32_ps(_mm256_castps128_ps256(_mm_loadu_ps(s + i)), twice);
            __m256 v = _mm256_loadu_ps(x + 2 * i), swapped = _mm256_permute_ps(v, 0xb1);
            _mm256_storeu_ps(x + 2 * i, _mm256_addsub_ps(_mm256_mul_ps(v, cc), _mm256_mul_ps(swapped, ss)));
        }
        rope_rotate(x + 2 * i, c + i, s + i, rotary_dim - 2 * i, pairing);
        return;
    }
    for (; i + 8 <= half; i += 8) {
        __m256 a = _mm256_loadu_ps(x + i), b = _mm256_loadu_ps(x + half + i), cc = _mm256_loadu_ps(c + i), ss = _mm256_loadu_ps(s + i);
        _mm256_storeu_ps(x + i, _mm256_sub_ps(_mm256_mul_ps(a, cc), _mm256_mul_ps(b, ss)));
        _mm256_storeu_ps(x + half + i, _mm256_add_ps(_mm256_mul_ps(a, ss), _mm256_mul_ps(b, cc)));
    }
    for (; i < half; i++) {
        float a = x[i], b = x[half + i];
        x[i] = a * c[i] - b * s[i];
        x[half + i] = a * s[i] + b * c[i];
    }
}

static void scores(float *out, const float *q, const float *k, size_t n, size_t head_dim, float scale) {
    for (size_t t = 0; t < n; t++) out[t] = scale * dot(q, k + t * head_dim, head_dim);
}

/* V vectors of the output stay in registers while the values pass. */
INLINE void mix_columns(int V, float *out, const float *p, const float *v, size_t n, size_t head_dim, size_t width) {
    __m256 acc[8];
    for (int j = 0; j < V; j++) acc[j] = _mm256_setzero_ps();
    for (size_t t = 0; t < n; t++) {
        __m256 pt = _mm256_set1_ps(p[t]);
        for (int j = 0; j < V; j++)
            acc[j] = _mm256_fmadd_ps(
                pt, load8(TENSOR_F32, (const uint8_t *)(v + t * head_dim), (size_t)j * 8, width - (size_t)j * 8), acc[j]);
    }
    for (int j = 0; j < V; j++) {
        if (width - (size_t)j * 8 >= 8) _mm256_storeu_ps(out + j * 8, acc[j]);
        else store_part(out + j * 8, acc[j], width - (size_t)j * 8);
    }
}

static void mix(float *out, const float *p, const float *v, size_t n, size_t head_dim) {
    size_t i = 0;
    for (; i + 64 <= head_dim; i += 64) mix_columns(8, out + i, p, v + i, n, head_dim, 64);
    for (; i + 32 <= head_dim; i += 32) mix_columns(4, out + i, p, v + i, n, head_dim, 32);
    for (; i + 8 <= head_dim; i += 8) mix_columns(1, out + i, p, v + i, n, head_dim, 8);
    if (i < head_dim) mix_columns(1, out + i, p, v + i, n, head_dim, head_dim - i);
}

/* 4 vectors of S and 4 sums: with the key taken in, 8 FMA and 4 stores a row, about what a core can do in 4 cycles. */
INLINE void take_and_read(double *out, double *S, size_t rows, const double *b, const float *v, const double *a) {
    __m256d vv[4], acc[4];
    #pragma GCC unroll 4
    for (int j = 0; j < 4; j++) vv[j] = _mm256_cvtps_pd(_mm_loadu_ps(v + 4 * j)), acc[j] = _mm256_setzero_pd();
    for (size_t i = 0; i < rows; i++, S += STATE_COLUMNS) {
        __m256d bi = _mm256_set1_pd(b[i]), ai = a ? _mm256_set1_pd(a[i]) : _mm256_setzero_pd();
        #pragma GCC unroll 4
        for (int j = 0; j < 4; j++) {
            __m256d s = _mm256_fmadd_pd(bi, vv[j], _mm256_loadu_pd(S + 4 * j));
            _mm256_storeu_pd(S + 4 * j, s);
            if (a) acc[j] = _mm256_fmadd_pd(ai, s, acc[j]);
        }
    }
    #pragma GCC unroll 4
    for (int j = 0; a && j < 4; j++) _mm256_storeu_pd(out + 4 * j, acc[j]);
}

/* Q queries at once: with one alone, four sums cannot hide the latency of an FMA. */
INLINE void read_state(int Q, double *out, const double *S, size_t rows, const double *a, size_t lda) {
    __m256d acc[2][4];
    #pragma GCC unroll 2
    for (int g = 0; g < Q; g++)
        #pragma GCC unroll 4
        for (int j = 0; j < 4; j++) acc[g][j] = _mm256_setzero_pd();
    for (size_t i = 0; i < rows; i++, S += STATE_COLUMNS) {
        #pragma GCC unroll 2
        for (int g = 0; g < Q; g++) {
            __m256d ai = _mm256_set1_pd(a[(size_t)g * lda + i]);
            #pragma GCC unroll 4
            for (int j = 0; j < 4; j++) acc[g][j] = _mm256_fmadd_pd(ai, _mm256_loadu_pd(S + 4 * j), acc[g][j]);
        }
    }
    #pragma GCC unroll 2
    for (int g = 0; g < Q; g++)
        #pragma GCC unroll 4
        for (int j = 0; j < 4; j++) _mm256_storeu_pd(out + g * STATE_COLUMNS + 4 * j, acc[g][j]);
}

static void state_step(double *out, double *S, size_t rows, const double *b, const float *v, const double *a, size_t n, size_t lda) {
    size_t g = 0;
    if (b && n) take_and_read(out, S, rows, b, v, a), g = 1;
    else if (b) take_and_read(NULL, S, rows, b, v, NULL);
    for (; g + 2 <= n; g += 2) read_state(2, out + g * STATE_COLUMNS, S, rows, a + g * lda, lda);
    if (g < n) read_state(1, out + g * STATE_COLUMNS, S, rows, a + g * lda, lda);
}

/* As exp8, in double: e^f by its Taylor polynomial of degree 13 (remainder 5e-18 relative for |f| <= ln2/2). */
INLINE __m256d exp4(__m256d x) {
    static const double inverse_factorials[] = {1.0 / 6227020800, 1.0 / 479001600, 1.0 / 39916800, 1.0 / 3628800, 1.0 / 362880,
                                                1.0 / 40320,      1.0 / 5040,      1.0 / 720,      1.0 / 120,     1.0 / 24,
                                                1.0 / 6,          0.5,             1,              1};
    const __m256d lowest = _mm256_set1_pd(-708);
    __m256d tiny = _mm256_cmp_pd(x, lowest, _CMP_LT_OQ);
    x = _mm256_max_pd(lowest, _mm256_min_pd(_mm256_set1_pd(709), x)); /* in this order of operands a NaN passes */
    __m256d n = _mm256_round_pd(_mm256_mul_pd(x, _mm256_set1_pd(1.4426950408889634)), _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
    __m256d f = _mm256_fnmadd_pd(n, _mm256_set1_pd(0x1.62e42fee00000p-1), x); /* ln2 in two parts: the first product is exact */
    f = _mm256_fnmadd_pd(n, _mm256_set1_pd(0x1.a39ef35793c76p-33), f);
    __m256d p = _mm256_set1_pd(inverse_factorials[0]);
    #pragma GCC unroll 13
    for (int i = 1; i < 14; i++) p = _mm256_fmadd_pd(p, f, _mm256_set1_pd(inverse_factorials[i]));
    __m256i bits = _mm256_cvtepi32_epi64(_mm256_cvtpd_epi32(n)); /* 2^n by way of its exponent; n = 1023 at most */
    bits = _mm256_slli_epi64(_mm256_add_epi64(bits, _mm256_set1_epi64x(1023)), 52);
    return _mm256_andnot_pd(tiny, _mm256_mul_pd(p, _mm256_castsi256_pd(bits)));
}

static void exp64(double *x, size_t n) {
    size_t i = 0;
    for (; i + 4 <= n; i += 4) _mm256_storeu_pd(x + i, exp4(_mm256_loadu_pd(x + i)));
    if (i < n) {
        double part[4] = {0};
        memcpy(part, x + i, (n - i) * sizeof *x);
        _mm256_storeu_pd(part, exp4(_mm256_loadu_pd(part)));
        memcpy(x + i, part, (n - i) * sizeof *x);
    }
}

extern const Kernels kernels_avx2;
const Kernels kernels_avx2 = {
    .name = "avx2",
    .matmul = matmul,
    .quantize = quantize,
    .rmsnorm = rmsnorm,
    .layernorm = layernorm,
    .softmax = softmax,
    .silu_mul = silu_mul,
    .activate = activate,
    .rotate = rotate,
    .scores = scores,
    .mix = mix,
    .state_step = state_step,
    .exp64 = exp64,
};
