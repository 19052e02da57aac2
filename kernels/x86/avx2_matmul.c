/* kernels/x86/avx2_matmul.c - matmul with AVX2, FMA and F16C, and the packing of activations for it.
 *
 * Blocks: panel_tiles.h, panels of 8 rows. The dot product of bytes is maddubs: pairs of u8 x s8 summed in 16 bits.
 * Codes of 4 bits or fewer leave room for all eight lines of a block there (8 x 2 x 15 x 127 < 32768), of 5 bits for
 * four, of those with a zero for all, before madd widens the sums, times a K format's whole scale. Codes of 8 bits do
 * not fit at all: there |w| meets x with w's sign, and so do values that need more than five. Others, -16 .. 15, have
 * 16 added as zero.
 * Floats: float_blocks.h, 8 partial sums. */
#include "avx2.h"
#include "avx2_panels.h"

enum { TILE_TOKENS = AVX2_BLOCKS, FLOAT_TOKENS = AVX2_FLOATS };
typedef __m256i Bytes32;

#include "kernels/block_activations.h"
#include "kernels/float_blocks.h"
#include "kernels/panel_super.h"

/* ---- panels ---- */

/* Whether a table's values need more than five bits, from -16 to 15. */
INLINE int are_bytes(int table) { return table == VALUES_IQ4 || table == VALUES_IQ2 || table == VALUES_IQ3_XXS; }

INLINE Line values_of(int table, Line q) {
    __m128i values = load16_bytes(value_table(table));
    if (!are_bytes(table)) values = _mm_add_epi8(values, _mm_set1_epi8(16));
    return looked_up(values, q);
}

INLINE int by_sign(Form f) { return f.bits == 8 || are_bytes(f.values); }
INLINE int zero_of(Form f) { return (void)f, 0; } /* dot_codes takes it off */

/* Of bytes 8 tokens share the magnitudes, their float sums in memory. Of smaller codes two sums a token wait in
 * registers. */
INLINE int tokens_at_once(Form f) { return by_sign(f) ? 8 : 4; }

INLINE void dot_bytes(Form f, int T, Ints *sum, const uint8_t *lines, const ActBlock *x, int j0, int j1,
                      __m256i times) {
    UNROLL
    for (int j = j0; j < j1; j++) {
        __m256i w = codes_at(f, lines, j), magnitude = _mm256_abs_epi8(w);
        UNROLL
        for (int t = 0; t < T; t++) {
            __m256i pairs = _mm256_maddubs_epi16(magnitude, _mm256_sign_epi8(broadcast4(x[t].q + 4 * j), w));
            sum[t] = pin(_mm256_add_epi32(sum[t], _mm256_madd_epi16(pairs, times)));
        }
    }
}

/* Sums of 16 bits begin at minus the zero, times what of x goes into them. */
INLINE __m256i begin_pairs(int zero, const ActBlock *x, int j0, int whole) {
    __m256i minus = broadcast4(whole ? &x->minus_8_sum : &x->minus_half[j0 / 4]);
    const int more = whole ? zero - 3 : zero;
    return more ? _mm256_slli_epi16(minus, more) : minus;
}

/* Where codes have a zero all lines go into sums of 16 bits. These may run over on the way; what they come to fits
 * (16 x 16 x 127, 8 x 32 x 127 < 32768), and so it is right. times: each sum, as it is widened. */
INLINE void dot_codes(Form f, int T, Ints *sum, const uint8_t *lines, const ActBlock *x, int j0, int j1,
                      __m256i times) {
    const int zero = f.values ? 4 : f.shift, room = f.bits == 5 && !zero ? 4 : 8;
    const int together = room < j1 - j0 ? room : j1 - j0;
    UNROLL
    for (int first = j0; first < j1; first += together) {
        __m256i pairs[TILE_TOKENS];
        UNROLL
        for (int t = 0; zero && t < T; t++) pairs[t] = begin_pairs(zero, &x[t], j0, j1 - j0 == 8);
        UNROLL
        for (int i = 0; i < together; i++) {
            __m256i w = codes_at(f, lines, first + i);
            UNROLL
            for (int t = 0; t < T; t++) {
                __m256i p = _mm256_maddubs_epi16(w, broadcast4(x[t].q + 4 * (first + i)));
                pairs[t] = pin(zero || i ? _mm256_add_epi16(pairs[t], p) : p);
            }
        }
        UNROLL
        for (int t = 0; t < T; t++) sum[t] = _mm256_add_epi32(sum[t], _mm256_madd_epi16(pairs[t], times));
    }
}

INLINE void dot_times(Form f, int T, Ints *sum, const uint8_t *lines, const ActBlock *x, int j0, int j1,
                      __m256i times) {
    if (by_sign(f)) dot_bytes(f, T, sum, lines, x, j0, j1, times);
    else dot_codes(f, T, sum, lines, x, j0, j1, times);
}

INLINE void dot_lines(Form f, int T, Ints *sum, const uint8_t *lines, const ActBlock *x, int j0, int j1) {
    dot_times(f, T, sum, lines, x, j0, j1, _mm256_set1_epi16(1));
}

/* Whole scales of 8 rows, 16 bits, each twice: madd, which widens sums, multiplies by them. */
INLINE __m256i scale_pairs(const uint8_t *sc) {
    const __m256i spread = _mm256_setr_epi8(-1, 0, -1, 0, -1, 1, -1, 1, -1, 2, -1, 2, -1, 3, -1, 3, /* -1: zero */
                                            -1, 4, -1, 4, -1, 5, -1, 5, -1, 6, -1, 6, -1, 7, -1, 7);
    __m256i bytes = _mm256_broadcastq_epi64(_mm_loadl_epi64((const __m128i *)(const void *)sc));
    return _mm256_srai_epi16(_mm256_shuffle_epi8(bytes, spread), 8);
}

INLINE int whole_scales(Form f) { return f.super; }
INLINE int negates(Form f) { return (void)f, 0; }

INLINE void dot_scaled(Form f, int T, Ints *sum, const uint8_t *lines, const ActBlock *x, const uint8_t *sc) {
    const int columns = f.sub / 4;
    UNROLL
    for (int t = 0; t < T; t++) sum[t] = ints_all(0);
    UNROLL
    for (int j = 0; j < 8; j += columns, sc += VEC)
        dot_times(f, T, sum, lines, x, j, j + columns, scale_pairs(sc));
}

/* ---- floats ---- */

INLINE Four fold4(const Vec *v) {
    __m256 fours = _mm256_hadd_ps(_mm256_hadd_ps(v[0], v[1]), _mm256_hadd_ps(v[2], v[3]));
    return _mm_add_ps(_mm256_castps256_ps128(fours), _mm256_extractf128_ps(fours, 1));
}

INLINE Vec every_fourth(float (*from)[VEC], int i, int c) {
    return _mm256_insertf128_ps(_mm256_castps128_ps256(_mm_load_ps(from[i] + c)), _mm_load_ps(from[i + 4] + c), 1);
}

INLINE __m256d pairs_of(Vec v) { return _mm256_castps_pd(v); }
INLINE Vec zip_low(Vec a, Vec b) { return _mm256_unpacklo_ps(a, b); }
INLINE Vec zip_high(Vec a, Vec b) { return _mm256_unpackhi_ps(a, b); }
INLINE Vec zip_low_pairs(Vec a, Vec b) { return _mm256_castpd_ps(_mm256_unpacklo_pd(pairs_of(a), pairs_of(b))); }
INLINE Vec zip_high_pairs(Vec a, Vec b) { return _mm256_castpd_ps(_mm256_unpackhi_pd(pairs_of(a), pairs_of(b))); }

int avx2_matmul_floats(float *y, size_t ldy, const Activations *a, const Matrix *w, size_t r0, size_t r1) {
    return matmul_any_floats(y, ldy, a, w, r0, r1);
}

static void matmul(float *y, size_t ldy, const Activations *a, const Matrix *w, size_t r0, size_t r1) {
    const PanelJob p = {TILE_TOKENS, y, ldy, a, w, r0, r1};
    if (!avx2_matmul_floats(y, ldy, a, w, r0, r1)) matmul_blocks(&p);
}

/* ---- activations ---- */

INLINE float largest_magnitude(const float *x, size_t n) {
    __m256i top = _mm256_setzero_si256(), unsign = _mm256_set1_epi32(0x7fffffff);
    for (size_t j = 0; j < n; j += 8)
        top = _mm256_max_epi32(top, _mm256_and_si256(_mm256_castps_si256(_mm256_loadu_ps(x + j)), unsign));
    __m128i m = _mm_max_epi32(_mm256_castsi256_si128(top), _mm256_extracti128_si256(top, 1));
    m = _mm_max_epi32(m, _mm_shuffle_epi32(m, 0x4e));
    m = _mm_max_epi32(m, _mm_shuffle_epi32(m, 0xb1));
    return _mm_cvtss_f32(_mm_castsi128_ps(m));
}

INLINE __m256i to_ints(const float *x, float per) {
    return _mm256_cvtps_epi32(_mm256_mul_ps(_mm256_loadu_ps(x), _mm256_set1_ps(per)));
}

INLINE Bytes32 no_bytes(void) { return _mm256_setzero_si256(); }

INLINE Bytes32 to_bytes(const float *x, float per) {
    __m256i low = _mm256_packs_epi32(to_ints(x, per), to_ints(x + 8, per));
    __m256i high = _mm256_packs_epi32(to_ints(x + 16, per), to_ints(x + 24, per));
    __m256i bytes = _mm256_packs_epi16(low, high); /* fours, the halves interleaved */
    return _mm256_permutevar8x32_epi32(bytes, _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7));
}

INLINE void store_bytes(int8_t *q, Bytes32 v) { _mm256_storeu_si256((__m256i *)(void *)q, v); }

/* The eight words of an ActBlock in front of q: the scale, scale * (the sum, each half's), -8 * the sum, - each half's,
 * 0. All but the first are a sum of 16-bit pairs, of both halves or of one, times a factor. */
INLINE void store_sums(ActBlock *out, float scale, Bytes32 v, int pairs) {
    const __m256i times = _mm256_setr_epi16(1, 1, 1, 1, 1, 1, 1, 1, -8, -8, -1, -1, -1, -1, 0, 0);
    __m256i half = _mm256_maddubs_epi16(_mm256_set1_epi8(1), v);
    half = _mm256_add_epi16(half, _mm256_shuffle_epi32(half, 0x4e));
    half = _mm256_add_epi16(half, _mm256_shuffle_epi32(half, 0xb1));
    __m256i first = _mm256_permute2x128_si256(half, half, 0x00), last = _mm256_permute2x128_si256(half, half, 0x11);
    __m256i sums = _mm256_blend_epi32(_mm256_add_epi16(first, last), first, 0x24);
    sums = _mm256_blend_epi32(sums, last, 0x48);
    __m256i whole = _mm256_madd_epi16(sums, times), minus = pairs ? _mm256_mullo_epi16(sums, times) : whole;
    __m256 by = _mm256_set1_ps(scale), scaled = _mm256_blend_ps(_mm256_mul_ps(_mm256_cvtepi32_ps(whole), by), by, 1);
    __m256 words = _mm256_blend_ps(scaled, _mm256_castsi256_ps(minus), 0xf0);
    _mm256_storeu_si256((__m256i *)(void *)out, _mm256_castps_si256(words));
}

void avx2_quantize(int8_t *q, float *scale, const float *x, size_t d, int group) {
    quantize_groups(q, scale, x, d, group);
}

void avx2_pack_blocks(ActBlock *out, size_t stride, const float *x, size_t d, int group) {
    quantize_blocks(out, stride, x, d, group, 1);
}

void avx2_pack_wide_blocks(ActBlock *out, size_t stride, const float *x, size_t d, int group) {
    quantize_blocks(out, stride, x, d, group, 0);
}

static const Packing packing = {
    .lanes = VEC, .blocks = TILE_TOKENS, .floats = FLOAT_TOKENS, .pack_blocks = avx2_pack_blocks,
};

size_t avx2_packed_bytes(size_t n, size_t d, int group) { return packing_bytes(&packing, n, d, group); }

static void pack(void *out, const float *x, size_t n, size_t d, int group, size_t t) {
    packing_pack(&packing, out, x, n, d, group, t);
}

const MatmulKernels avx2_matmul = {
    .matmul = matmul, .packed_bytes = avx2_packed_bytes, .pack = pack, .quantize = avx2_quantize,
};
