/* kernels/x86/avx2_matmul.c - matmul with AVX2, FMA and F16C, and the packing of activations for it.
 *
 * Blocks: a panel of 8 rows (panel.h) meets a tile of T tokens; each token's accumulator holds 8 rows. The dot product of
 * bytes is maddubs: pairs of u8 x s8 summed in 16 bits. Codes of 4 bits or fewer leave room for all eight lines of a block
 * there (8 x 2 x 15 x 127 < 32768), of 5 bits for four, of 6 for two, before madd widens the sums. Codes of 8 bits do not
 * fit at all: there |w| meets x with w's sign.
 * Floats: float_blocks.h, 8 partial sums. */
#include "avx2.h"
#include "avx2_vectors.h"

#include "base/base.h"

#include <math.h>

enum { LANES = 8, TILE_TOKENS = 8, FLOAT_LANES = 8, FLOAT_TOKENS = 6, FLOAT_FEW = 3 };
typedef __m256i Line;
typedef __m256 Sums;

#include "kernels/float_blocks.h"
#include "kernels/panel_tiles.h"

INLINE Line line_at(const uint8_t *lines, int j) { return _mm256_load_si256((const __m256i *)(const void *)(lines + 32 * j)); }

INLINE Line no_codes(void) { return _mm256_setzero_si256(); }
INLINE Line either(Line a, Line b) { return _mm256_or_si256(a, b); }

INLINE Line field(Line v, int from, int to, int mask) {
    __m256i moved = from > to ? _mm256_srli_epi16(v, from - to) : from < to ? _mm256_slli_epi16(v, to - from) : v;
    return _mm256_and_si256(moved, _mm256_set1_epi8((char)(mask << to)));
}

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

/* Of bytes 8 tokens share the magnitudes, their float sums in memory. Of smaller codes two sums a token wait in registers. */
INLINE int tokens_at_once(Form f) { return f.bits == 8 || f.values ? 8 : 4; }

/* sum[t] += lines j0 .. j1-1 against each of T tokens. */
INLINE void dot_lines(Form f, int T, __m256i *sum, const uint8_t *lines, const ActBlock *x, int j0, int j1) {
    const __m256i ones = _mm256_set1_epi16(1);
    const int room = f.bits <= 4 ? 8 : f.bits == 5 ? 4 : 2, together = room < j1 - j0 ? room : j1 - j0;
    if (f.bits == 8 || f.values) {
        UNROLL
        for (int j = j0; j < j1; j++) {
            __m256i w = codes_at(f, lines, j), magnitude = _mm256_abs_epi8(w);
            UNROLL
            for (int t = 0; t < T; t++)
                sum[t] = pin(_mm256_add_epi32(sum[t], _mm256_madd_epi16(_mm256_maddubs_epi16(magnitude, _mm256_sign_epi8(broadcast4(x[t].q + 4 * j), w)), ones)));
        }
        return;
    }
    UNROLL
    for (int first = j0; first < j1; first += together) {
        __m256i pairs[TILE_TOKENS];
        UNROLL
        for (int i = 0; i < together; i++) {
            __m256i w = codes_at(f, lines, first + i);
            UNROLL
            for (int t = 0; t < T; t++) {
                __m256i p = _mm256_maddubs_epi16(w, broadcast4(x[t].q + 4 * (first + i)));
                pairs[t] = pin(i ? _mm256_add_epi16(pairs[t], p) : p);
            }
        }
        UNROLL
        for (int t = 0; t < T; t++) sum[t] = _mm256_add_epi32(sum[t], _mm256_madd_epi16(pairs[t], ones));
    }
}

INLINE Sums no_sums(void) { return _mm256_setzero_ps(); }
INLINE Sums load_sums(const float *y, size_t rows) { return load8(TENSOR_F32, (const uint8_t *)y, 0, rows); }
INLINE Sums plus(Sums a, Sums b) { return _mm256_add_ps(a, b); }
INLINE Sums plus_products(Sums acc, Sums w, Sums x) { return _mm256_fmadd_ps(w, x, acc); }
INLINE Sums plus_product(Sums acc, const float *w, float x) { return _mm256_fmadd_ps(_mm256_load_ps(w), _mm256_set1_ps(x), acc); }

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
    UNROLL
    for (int h = 0; h < 32 / f.sub; h++) {
        int whole = f.sub == 32;
        __m256i sum[TILE_TOKENS];
        UNROLL
        for (int t = 0; t < T; t++) {
            __m256i minus = _mm256_set1_epi32(whole ? x[t].minus_sum : x[t].minus_half[h]);
            sum[t] = exact ? _mm256_setzero_si256() : _mm256_slli_epi32(minus, f.shift < 0 ? 0 : f.shift);
        }
        dot_lines(f, T, sum, panel + s->lines + b * s->line_bytes, x, 4 * h, whole ? 8 : 4 * h + 4);
        __m256 scale = scales_at(f, panel, s->d, s->sc, b, h);
        UNROLL
        for (int t = 0; t < T; t++)
            acc[t] = _mm256_fmadd_ps(_mm256_cvtepi32_ps(sum[t]), _mm256_mul_ps(scale, _mm256_set1_ps(x[t].scale)), acc[t]);
        if (!f.minima) continue;
        __m256 minimum = scales_at(f, panel, s->dmin, s->mn, b, h);
        UNROLL
        for (int t = 0; t < T; t++)
            acc[t] = _mm256_fnmadd_ps(minimum, _mm256_set1_ps(whole ? x[t].scaled_sum : x[t].scaled_half[h]), acc[t]);
    }
}

INLINE Sums columns(TensorType type, const uint8_t *row, size_t k, size_t n) { return load8(type, row, k, n); }

INLINE Four fold4(const Sums *v) {
    __m256 fours = _mm256_hadd_ps(_mm256_hadd_ps(v[0], v[1]), _mm256_hadd_ps(v[2], v[3]));
    return _mm_add_ps(_mm256_castps256_ps128(fours), _mm256_extractf128_ps(fours, 1));
}

/* Columns c .. c+3 of the rows i and i+4. */
INLINE __m256 fours(float (*from)[8], int i, int c) {
    return _mm256_insertf128_ps(_mm256_castps128_ps256(_mm_load_ps(from[i] + c)), _mm_load_ps(from[i + 4] + c), 1);
}

INLINE void turn(float *to, size_t stride, float (*from)[FLOAT_LANES]) {
    UNROLL
    for (int c = 0; c < 8; c += 4, to += 4 * stride) {
        __m256 a = fours(from, 0, c), b = fours(from, 1, c), d = fours(from, 2, c), e = fours(from, 3, c);
        __m256d ab01 = _mm256_castps_pd(_mm256_unpacklo_ps(a, b)), ab23 = _mm256_castps_pd(_mm256_unpackhi_ps(a, b));
        __m256d de01 = _mm256_castps_pd(_mm256_unpacklo_ps(d, e)), de23 = _mm256_castps_pd(_mm256_unpackhi_ps(d, e));
        _mm256_store_ps(to, _mm256_castpd_ps(_mm256_unpacklo_pd(ab01, de01)));
        _mm256_store_ps(to + stride, _mm256_castpd_ps(_mm256_unpackhi_pd(ab01, de01)));
        _mm256_store_ps(to + 2 * stride, _mm256_castpd_ps(_mm256_unpacklo_pd(ab23, de23)));
        _mm256_store_ps(to + 3 * stride, _mm256_castpd_ps(_mm256_unpackhi_pd(ab23, de23)));
    }
}

static void matmul(float *y, size_t ldy, const Activations *a, const Matrix *w, size_t r0, size_t r1) {
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
        ref_matmul.quantize(q, scale, x, d, group);
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

static size_t packed_bytes(size_t n, size_t d, int group) { return panel_packed_bytes(n, d, group, LANES); }

static void pack(void *out, const float *x, size_t n, size_t d, int group, size_t t) {
    TokenTile tile = token_tile(t, n, TILE_TOKENS);
    size_t blocks = d / Q_BLOCK;
    if (group == 0) pack_floats(out, x, n, d, t, LANES, FLOAT_TOKENS);
    else if (group % Q_BLOCK) ref_matmul.pack(out, x, n, d, group, t);
    else avx2_pack_blocks((ActBlock *)out + tile.first * blocks + (t - tile.first), tile.n, x, d, group);
}

const MatmulKernels avx2_matmul = {.matmul = matmul, .packed_bytes = packed_bytes, .pack = pack, .quantize = avx2_quantize};
