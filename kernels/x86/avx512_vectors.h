/* kernels/x86/avx512_vectors.h - vectors.h in AVX-512 (F, BW, VL, DQ): 16 floats, 8 doubles. */
#ifndef AVX512_VECTORS_H
#define AVX512_VECTORS_H

#include <immintrin.h>

enum { VEC = 16, VEC64 = 8 };
typedef __m512 Vec;
typedef __m512d Vec64;
typedef __mmask16 VecTiny;
typedef __m512i Ints;

#include "kernels/attention_kernels.h"
#include "kernels/vectors.h"
#include "turn.h"

INLINE Vec vec_zero(void) { return _mm512_setzero_ps(); }
INLINE Vec vec_all(float x) { return _mm512_set1_ps(x); }

INLINE __mmask16 first16(size_t n) { return n >= 16 ? 0xffff : (__mmask16)((1u << n) - 1); }
INLINE Vec bf16_of(__m256i h) { return _mm512_castsi512_ps(_mm512_slli_epi32(_mm512_cvtepu16_epi32(h), 16)); }

INLINE Vec vec_load(const void *p) { return _mm512_loadu_ps(p); }
INLINE Vec vec_load_half(const void *p) { return _mm512_cvtph_ps(_mm256_loadu_si256((const __m256i *)p)); }
INLINE Vec vec_load_bf16(const void *p) { return bf16_of(_mm256_loadu_si256((const __m256i *)p)); }

INLINE Vec vec_load_bytes(const void *p) {
    return _mm512_cvtepi32_ps(_mm512_cvtepi8_epi32(_mm_loadu_si128((const __m128i *)p)));
}

INLINE Vec vec_load_mini(const void *p) {
    return _mm512_cvtph_ps(_mm256_slli_epi16(_mm256_cvtepu8_epi16(_mm_loadu_si128((const __m128i *)p)), 7));
}

INLINE Vec vec_pin(Vec v) {
    __asm__("" : "+v"(v));
    return v;
}

INLINE void vec_store(float *p, Vec v) { _mm512_storeu_ps(p, v); }

INLINE void vec_store_half(uint16_t *p, Vec v) {
    __m256i h = _mm512_cvtps_ph(v, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
    _mm256_storeu_si256((__m256i *)(void *)p, h);
}

INLINE float half_to_float(uint16_t h) { return _cvtsh_ss(h); }
INLINE uint16_t float_to_half(float x) { return (uint16_t)_cvtss_sh(x, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC); }

INLINE Vec vec_load_some(TensorType type, const void *p, size_t n) {
    if (n >= VEC) return vec_load_as(type, p);
    if (type == TENSOR_F32) return _mm512_maskz_loadu_ps(first16(n), p);
    __m256i h = _mm256_maskz_loadu_epi16(first16(n), p);
    return type == TENSOR_F16 ? _mm512_cvtph_ps(h) : bf16_of(h);
}

INLINE void vec_store_some(float *p, Vec v, size_t n) { _mm512_mask_storeu_ps(p, first16(n), v); }

INLINE Vec vec_add(Vec a, Vec b) { return _mm512_add_ps(a, b); }
INLINE Vec vec_sub(Vec a, Vec b) { return _mm512_sub_ps(a, b); }
INLINE Vec vec_mul(Vec a, Vec b) { return _mm512_mul_ps(a, b); }
INLINE Vec vec_fma(Vec acc, Vec a, Vec b) { return _mm512_fmadd_ps(a, b, acc); }
INLINE Vec vec_fnma(Vec acc, Vec a, Vec b) { return _mm512_fnmadd_ps(a, b, acc); }

INLINE float vec_sum(Vec v) {
    __m256 h = _mm256_add_ps(_mm512_castps512_ps256(v), _mm512_extractf32x8_ps(v, 1));
    __m128 s = _mm_add_ps(_mm256_castps256_ps128(h), _mm256_extractf128_ps(h, 1));
    s = _mm_add_ps(s, _mm_movehl_ps(s, s));
    return _mm_cvtss_f32(_mm_add_ss(s, _mm_movehdup_ps(s)));
}

/* vscalefps multiplies by 2^n whatever n is, so nothing has to be brought into range first. */
INLINE Vec vec_exp_argument(Vec x) { return x; }
INLINE Vec vec_round(Vec x) { return _mm512_roundscale_ps(x, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC); }

/* The lanes that are not: not less, so that a NaN passes. */
INLINE VecTiny vec_tiny(Vec x) { return _mm512_cmp_ps_mask(x, _mm512_set1_ps(-87.33f), _CMP_NLT_UQ); }
INLINE Vec vec_times_power(Vec p, Vec n, VecTiny normal) { return _mm512_maskz_scalef_ps(normal, p, n); }

/* The entries of t .. t+15 that are inside the span. */
INLINE __mmask16 inside(int t, Span span) {
    int lo = span.lo > t ? span.lo - t : 0, hi = span.hi > t ? span.hi - t : 0;
    return (__mmask16)(first16((size_t)hi) & ~first16((size_t)lo));
}

INLINE Ints ints_all(int32_t x) { return _mm512_set1_epi32(x); }

INLINE Vec ints_to_floats(Ints v) { return _mm512_cvtepi32_ps(v); }
INLINE Ints ints_load_bytes(const void *p) { return _mm512_cvtepi8_epi32(_mm_loadu_si128((const __m128i *)p)); }
INLINE Ints ints_minus(Ints v) { return _mm512_sub_epi32(_mm512_setzero_si512(), v); }
INLINE Ints ints_mul_add(Ints acc, Ints a, Ints b) { return _mm512_add_epi32(acc, _mm512_mullo_epi32(a, b)); }

INLINE __m512i broadcast4(const void *p) {
    int32_t v;
    memcpy(&v, p, 4);
    return _mm512_set1_epi32(v);
}

INLINE Ints ints_shift(Ints v, int shift) {
    return shift ? _mm512_slli_epi32(v, (unsigned)shift) : v;
}

/* v, in a register, now: gcc would take the steps in an order of its own, for which there are not enough registers, or
 * load it again for each use. */
INLINE __m512i pin(__m512i v) {
    __asm__("" : "+v"(v));
    return v;
}

INLINE Vec64 vec64_zero(void) { return _mm512_setzero_pd(); }
INLINE Vec64 vec64_all(double x) { return _mm512_set1_pd(x); }
INLINE Vec64 vec64_load(const double *p) { return _mm512_loadu_pd(p); }
INLINE Vec64 vec64_load_floats(const float *p) { return _mm512_cvtps_pd(_mm256_loadu_ps(p)); }
INLINE void vec64_store(double *p, Vec64 v) { _mm512_storeu_pd(p, v); }
INLINE Vec64 vec64_fma(Vec64 acc, Vec64 a, Vec64 b) { return _mm512_fmadd_pd(a, b, acc); }

#endif
