/* kernels/avx2_matmul.c - matmul with AVX2, FMA and F16C, and the packing of activations for it.
 *
 * Blocks: a panel of 8 rows (panel.h) meets a tile of T tokens; each token's accumulator holds 8 rows. The dot product of
 * bytes is maddubs: pairs of u8 x s8 summed in 16 bits. Codes of 4 bits or fewer leave room for all eight lines of a block
 * there (8 x 2 x 15 x 127 < 32768), of 5 bits for four, of 6 for two, before madd widens the sums. Codes of 8 bits do not
 * fit at all: there |w| meets x with w's sign.
 * Floats: one token meets rows as the file has them; for more, blocks of 8 rows x 512 columns are copied. Sums of 8 lanes are
 * folded after each 512 columns. */
#include "avx2.h"
#include "avx2_vectors.h"

#include "../base/base.h"

#include <math.h>

enum { LANES = 8, TILE_TOKENS = 4, AHEAD = 8192, FLOAT_LANES = 8, FLOAT_TOKENS = 3 };
typedef __m256i Line;
typedef __m256 Sums;

#include "float_blocks.h"
#include "panel_tiles.h"

INLINE Line line_at(const uint8_t *lines, int j) { return _mm256_load_si256((const __m256i *)(const void *)(lines + 32 * j)); }

INLINE Line no_codes(void) { return _mm256_setzero_si256(); }
INLINE Line either(Line a, Line b) { return _mm256_or_si256(a, b); }

INLINE Line field(Line v, int from, int to, int mask) {
    __m256i moved = from > to ? _mm256_srli_epi16(v, from - to) : from < to ? _mm256_slli_epi16(v, to - from) : v;
    return _mm256_and_si256(moved, _mm256_set1_epi8((char)(mask << to)));
}

/* Signed where they take 8 bits. */
INLINE Line whole_bytes(Line v) { return _mm256_xor_si256(v, _mm256_set1_epi8(-128)); }

INLINE Line values_of(Line q) {
    const __m128i table = _mm_setr_epi8(-127, -104, -83, -65, -49, -35, -22, -10, 1, 13, 25, 38, 53, 69, 89, 113);
    return _mm256_shuffle_epi8(_mm256_broadcastsi128_si256(table), q);
}

INLINE __m256 half8(const uint8_t *p) { return _mm256_cvtph_ps(_mm_loadu_si128((const __m128i *)(const void *)p)); }

INLINE __m256 bytes8(const uint8_t *p) { return _mm256_cvtepi32_ps(_mm256_cvtepi8_epi32(_mm_loadl_epi64((const __m128i *)(const void *)p))); }

/* Scales (or minima) of sub-block h of block b: d and sc begin at these offsets. */
INLINE __m256 scales_at(Form f, const uint8_t *panel, size_t d, size_t sc, size_t b, int h) {
    if (f.groups) return _mm256_loadu_ps((const float *)(const void *)(panel + d + b * 32));
    if (!f.super) return half8(panel + d + b * 16);
    return _mm256_mul_ps(half8(panel + d + b / 8 * 16), bytes8(panel + sc + (b * (size_t)(32 / f.sub) + (size_t)h) * 8));
}

INLINE __m256i broadcast4(const int8_t *q) {
    int32_t v;
    memcpy(&v, q, 4);
    return _mm256_set1_epi32(v);
}

/* v, in a register, now: gcc would sum in an order of its own, for which there are not enough registers. */
INLINE __m256i pin(__m256i v) {
    __asm__("" : "+x"(v));
    return v;
}

/* sum[t] += lines j0 .. j1-1 against each of T tokens. */
INLINE void dot_lines(Form f, int T, __m256i *sum, const uint8_t *lines, const ActBlock *x, int j0, int j1) {
    const __m256i ones = _mm256_set1_epi16(1);
    const int room = f.bits <= 4 ? 8 : f.bits == 5 ? 4 : 2, together = room < j1 - j0 ? room : j1 - j0;
    if (f.bits == 8 || f.values) {
        #pragma GCC unroll 8
        for (int j = j0; j < j1; j++) {
            __m256i w = codes_at(f, lines, j), magnitude = _mm256_abs_epi8(w);
            #pragma GCC unroll 4
            for (int t = 0; t < T; t++)
                sum[t] = pin(_mm256_add_epi32(sum[t], _mm256_madd_epi16(_mm256_maddubs_epi16(magnitude, _mm256_sign_epi8(broadcast4(x[t].q + 4 * j), w)), ones)));
        }
        return;
    }
    #pragma GCC unroll 4
    for (int first = j0; first < j1; first += together) {
        __m256i pairs[TILE_TOKENS];
        #pragma GCC unroll 8
        for (int i = 0; i < together; i++) {
            __m256i w = codes_at(f, lines, first + i);
            #pragma GCC unroll 4
            for (int t = 0; t < T; t++) {
                __m256i p = _mm256_maddubs_epi16(w, broadcast4(x[t].q + 4 * (first + i)));
                pairs[t] = pin(i ? _mm256_add_epi16(pairs[t], p) : p);
            }
        }
        #pragma GCC unroll 4
        for (int t = 0; t < T; t++) sum[t] = _mm256_add_epi32(sum[t], _mm256_madd_epi16(pairs[t], ones));
    }
}

INLINE Sums no_sums(void) { return _mm256_setzero_ps(); }

INLINE void store_sums(float *y, Sums v, size_t rows) {
    if (rows >= LANES) {
        _mm256_storeu_ps(y, v);
        return;
    }
    float part[LANES];
    _mm256_storeu_ps(part, v);
    memcpy(y, part, rows * sizeof *y);
}

INLINE void add_block(Form f, int T, Sums *acc, const ActBlock *x, const uint8_t *panel, const PanelShape *s, size_t b) {
    int exact = f.shift < 0 || f.bits == 8 || f.values; /* codes are values: nothing to take off */
    #pragma GCC unroll 2
    for (int h = 0; h < 32 / f.sub; h++) {
        int whole = f.sub == 32;
        __m256i sum[TILE_TOKENS];
        #pragma GCC unroll 4
        for (int t = 0; t < T; t++) {
            __m256i minus = _mm256_set1_epi32(whole ? x[t].minus_sum : x[t].minus_half[h]);
            sum[t] = exact ? _mm256_setzero_si256() : _mm256_slli_epi32(minus, f.shift < 0 ? 0 : f.shift);
        }
        dot_lines(f, T, sum, panel + s->lines + b * s->line_bytes, x, 4 * h, whole ? 8 : 4 * h + 4);
        __m256 scale = scales_at(f, panel, s->d, s->sc, b, h);
        #pragma GCC unroll 4
        for (int t = 0; t < T; t++)
            acc[t] = _mm256_fmadd_ps(_mm256_cvtepi32_ps(sum[t]), _mm256_mul_ps(scale, _mm256_set1_ps(x[t].scale)), acc[t]);
        if (!f.minima) continue;
        __m256 minimum = scales_at(f, panel, s->dmin, s->mn, b, h);
        #pragma GCC unroll 4
        for (int t = 0; t < T; t++)
            acc[t] = _mm256_fnmadd_ps(minimum, _mm256_set1_ps(whole ? x[t].scaled_sum : x[t].scaled_half[h]), acc[t]);
    }
}

/* The sums of four vectors' lanes: j and j+4 last, in one order for all four. */
INLINE __m128 fold4(__m256 a, __m256 b, __m256 c, __m256 d) {
    __m256 ab = _mm256_add_ps(_mm256_unpacklo_ps(a, b), _mm256_unpackhi_ps(a, b)), cd = _mm256_add_ps(_mm256_unpacklo_ps(c, d), _mm256_unpackhi_ps(c, d));
    __m256d low = _mm256_unpacklo_pd(_mm256_castps_pd(ab), _mm256_castps_pd(cd)), high = _mm256_unpackhi_pd(_mm256_castps_pd(ab), _mm256_castps_pd(cd));
    __m256 sum = _mm256_add_ps(_mm256_castpd_ps(low), _mm256_castpd_ps(high));
    return _mm_add_ps(_mm256_castps256_ps128(sum), _mm256_extractf128_ps(sum, 1));
}

INLINE void store4(float *y, __m128 v, size_t rows) {
    float part[4];
    _mm_storeu_ps(part, v);
    memcpy(y, part, (rows < 4 ? rows : 4) * sizeof *y);
}

/* One token against 4 rows: memory sets the pace, and four chains hide the latency of an FMA. rows: how many there are; those
 * behind read the last one again. */
INLINE void token_floats(TensorType type, float *y, const float *x, const Matrix *m, size_t r, size_t rows) {
    size_t d = m->cols, each = type == TENSOR_F32 ? 4 : 2;
    const uint8_t *w[4];
    for (size_t i = 0; i < 4; i++) w[i] = (const uint8_t *)m->data + (r + (i < rows ? i : rows - 1)) * d * each;
    __m128 sum = _mm_setzero_ps();
    for (size_t k0 = 0; k0 < d; k0 += BLOCK_COLS) {
        size_t k1 = k0 + BLOCK_COLS < d ? k0 + BLOCK_COLS : d, k = k0;
        __m256 acc[4];
        #pragma GCC unroll 4
        for (int i = 0; i < 4; i++) acc[i] = _mm256_setzero_ps();
        for (; k + 8 <= k1; k += 8) {
            __m256 xv = _mm256_loadu_ps(x + k);
            #pragma GCC unroll 4
            for (int i = 0; i < 4; i++) {
                if (each * k % 64 == 0) _mm_prefetch((const char *)(w[i] + 4 * d * each + each * k), _MM_HINT_T1); /* the next four rows */
                acc[i] = _mm256_fmadd_ps(load8(type, w[i], k, 8), xv, acc[i]);
            }
        }
        if (k < k1)
            #pragma GCC unroll 4
            for (int i = 0; i < 4; i++) acc[i] = _mm256_fmadd_ps(load8(type, w[i], k, k1 - k), _mm256_loadu_ps(x + k), acc[i]);
        sum = _mm_add_ps(sum, fold4(acc[0], acc[1], acc[2], acc[3]));
    }
    store4(y + r, sum, rows);
}

INLINE void copy_lanes(TensorType type, float *to, const uint8_t *row, size_t k, size_t k1) {
    _mm256_store_ps(to, row ? load8(type, row, k, k1 - k) : _mm256_setzero_ps());
}

INLINE void tile_floats(int T, float *sums, const float *x, const float *w, size_t n) {
    __m256 acc[4][FLOAT_TOKENS];
    #pragma GCC unroll 4
    for (int r = 0; r < 4; r++)
        #pragma GCC unroll 3
        for (int t = 0; t < T; t++) acc[r][t] = _mm256_setzero_ps();
    for (size_t i = 0; i < n; i++, x += T * 8, w += BLOCK_ROWS * 8) {
        __m256 xv[FLOAT_TOKENS];
        #pragma GCC unroll 3
        for (int t = 0; t < T; t++) xv[t] = _mm256_loadu_ps(x + t * 8);
        #pragma GCC unroll 4
        for (int r = 0; r < 4; r++) {
            __m256 wv = _mm256_load_ps(w + 8 * r);
            #pragma GCC unroll 3
            for (int t = 0; t < T; t++) acc[r][t] = _mm256_fmadd_ps(wv, xv[t], acc[r][t]);
        }
    }
    #pragma GCC unroll 3
    for (int t = 0; t < T; t++, sums += BLOCK_ROWS)
        _mm_storeu_ps(sums, _mm_add_ps(_mm_loadu_ps(sums), fold4(acc[0][t], acc[1][t], acc[2][t], acc[3][t])));
}

void avx2_matmul(float *y, size_t ldy, const Activations *a, const Matrix *w, size_t r0, size_t r1) {
    if (!matmul_any_floats(y, ldy, a, w, r0, r1)) matmul_blocks(TILE_TOKENS, y, ldy, a, w, r0, r1);
}

/* The scale of n activations (a multiple of 32) as ref finds it: the largest bit pattern without its sign, one division. Returns
 * what x is multiplied by; 0 where all q are 0. */
INLINE float group_scale(float *scale, const float *x, size_t n) {
    __m256i top = _mm256_setzero_si256();
    for (size_t j = 0; j < n; j += 8)
        top = _mm256_max_epi32(top, _mm256_and_si256(_mm256_castps_si256(_mm256_loadu_ps(x + j)), _mm256_set1_epi32(0x7fffffff)));
    __m128i m = _mm_max_epi32(_mm256_castsi256_si128(top), _mm256_extracti128_si256(top, 1));
    m = _mm_max_epi32(m, _mm_shuffle_epi32(m, 0x4e));
    m = _mm_max_epi32(m, _mm_shuffle_epi32(m, 0xb1));
    float amax = _mm_cvtss_f32(_mm_castsi128_ps(m)), per = amax >= 1e-30f && amax <= 3.4028234e38f ? 127 / amax : 0;
    *scale = amax < 1e-30f ? 0 : per > 0 ? amax / 127 : NAN;
    return per;
}

/* 32 activations as bytes; per = 0 makes zeros of infinities and NaN too. */
INLINE __m256i quantize32(const float *x, float per) {
    __m256 p = _mm256_set1_ps(per);
    if (per == 0) return _mm256_setzero_si256();
    __m256i i0 = _mm256_cvtps_epi32(_mm256_mul_ps(_mm256_loadu_ps(x), p)), i1 = _mm256_cvtps_epi32(_mm256_mul_ps(_mm256_loadu_ps(x + 8), p));
    __m256i i2 = _mm256_cvtps_epi32(_mm256_mul_ps(_mm256_loadu_ps(x + 16), p)), i3 = _mm256_cvtps_epi32(_mm256_mul_ps(_mm256_loadu_ps(x + 24), p));
    __m256i bytes = _mm256_packs_epi16(_mm256_packs_epi32(i0, i1), _mm256_packs_epi32(i2, i3)); /* fours, the halves interleaved */
    return _mm256_permutevar8x32_epi32(bytes, _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7));
}

void avx2_quantize(int8_t *q, float *scale, const float *x, size_t d, int group) {
    if (group % Q_BLOCK) {
        kernels_ref.quantize(q, scale, x, d, group);
        return;
    }
    for (size_t i = 0; i < d; i += (size_t)group) {
        float per = group_scale(scale++, x + i, (size_t)group);
        for (size_t j = i; j < i + (size_t)group; j += Q_BLOCK) _mm256_storeu_si256((__m256i *)(void *)(q + j), quantize32(x + j, per));
    }
}

INLINE int sum_of_4(__m128i v) {
    v = _mm_add_epi32(v, _mm_shuffle_epi32(v, 0x4e));
    return _mm_cvtsi128_si32(_mm_add_epi32(v, _mm_shuffle_epi32(v, 0xb1)));
}

void avx2_pack_blocks(ActBlock *out, size_t stride, const float *x, size_t d, int group) {
    const __m256i ones = _mm256_set1_epi16(1);
    float scale = 0, per = 0;
    for (size_t i = 0; i < d; i += Q_BLOCK, out += stride) {
        if (i % (size_t)group == 0) per = group_scale(&scale, x + i, (size_t)group);
        __m256i q = quantize32(x + i, per), sums = _mm256_madd_epi16(_mm256_maddubs_epi16(_mm256_set1_epi8(1), q), ones);
        int low = sum_of_4(_mm256_castsi256_si128(sums)), high = sum_of_4(_mm256_extracti128_si256(sums, 1));
        *out = (ActBlock){.scale = scale, .scaled_sum = scale * (float)(low + high), .scaled_half = {scale * (float)low, scale * (float)high},
                          .minus_sum = -(low + high), .minus_half = {-low, -high}};
        _mm256_storeu_si256((__m256i *)(void *)out->q, q);
    }
}

size_t avx2_packed_bytes(size_t n, size_t d, int group) {
    if (group % Q_BLOCK) return kernels_ref.packed_bytes(n, d, group);
    return group ? n * (d / Q_BLOCK) * sizeof(ActBlock) : n * ((d + 7) & ~(size_t)7) * sizeof(float);
}

void avx2_pack(void *out, const float *x, size_t n, size_t d, int group, size_t t) {
    if (group % Q_BLOCK) {
        kernels_ref.pack(out, x, n, d, group, t);
        return;
    }
    TokenTile tile = token_tile(t, n, group ? TILE_TOKENS : FLOAT_TOKENS);
    if (group) {
        avx2_pack_blocks((ActBlock *)out + tile.first * (d / Q_BLOCK) + (t - tile.first), tile.n, x, d, group);
        return;
    }
    float *to = (float *)out + tile.first * ((d + 7) & ~(size_t)7) + (t - tile.first) * 8;
    for (size_t i = 0; i < d; i += 8, to += tile.n * 8) _mm256_storeu_ps(to, load8(TENSOR_F32, (const uint8_t *)x, i, d - i));
}
