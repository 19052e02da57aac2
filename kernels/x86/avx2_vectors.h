/* kernels/x86/avx2_vectors.h - vectors.h in AVX2 with FMA and F16C: 8 floats, 4 doubles. */
#ifndef AVX2_VECTORS_H
#define AVX2_VECTORS_H

#include <immintrin.h>

enum { VEC = 8, VEC64 = 4 };
typedef __m256 Vec;
typedef __m256d Vec64;
typedef __m256 VecTiny;
typedef __m256i Ints;

#include "kernels/vectors.h"
#include "turn.h"

INLINE Vec vec_zero(void) { return _mm256_setzero_ps(); }
INLINE Vec vec_all(float x) { return _mm256_set1_ps(x); }

INLINE __m128i load16_bytes(const void *p) { return _mm_loadu_si128((const __m128i *)p); }

INLINE Vec vec_load(const void *p) { return _mm256_loadu_ps((const float *)p); }
INLINE Vec vec_load_half(const void *p) { return _mm256_cvtph_ps(load16_bytes(p)); }

INLINE Vec vec_load_bf16(const void *p) {
    return _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_cvtepu16_epi32(load16_bytes(p)), 16));
}

INLINE Vec vec_load_bytes(const void *p) {
    return _mm256_cvtepi32_ps(_mm256_cvtepi8_epi32(_mm_loadl_epi64((const __m128i *)p)));
}

INLINE Vec vec_load_mini(const void *p) {
    return _mm256_cvtph_ps(_mm_slli_epi16(_mm_cvtepu8_epi16(_mm_loadl_epi64((const __m128i *)p)), 7));
}

INLINE Vec vec_pin(Vec v) {
    __asm__("" : "+x"(v));
    return v;
}

INLINE void vec_store(float *p, Vec v) { _mm256_storeu_ps(p, v); }

INLINE void vec_store_half(uint16_t *p, Vec v) {
    __m128i h = _mm256_cvtps_ph(v, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
    _mm_storeu_si128((__m128i *)(void *)p, h);
}

INLINE float half_to_float(uint16_t h) { return _cvtsh_ss(h); }
INLINE uint16_t float_to_half(float x) { return (uint16_t)_cvtss_sh(x, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC); }

INLINE Vec vec_load_some(TensorType type, const void *p, size_t n) { return vec_load_part(type, p, n); }
INLINE void vec_store_some(float *p, Vec v, size_t n) { vec_store_part(p, v, n); }

INLINE Vec vec_add(Vec a, Vec b) { return _mm256_add_ps(a, b); }
INLINE Vec vec_sub(Vec a, Vec b) { return _mm256_sub_ps(a, b); }
INLINE Vec vec_mul(Vec a, Vec b) { return _mm256_mul_ps(a, b); }
INLINE Vec vec_fma(Vec acc, Vec a, Vec b) { return _mm256_fmadd_ps(a, b, acc); }
INLINE Vec vec_fnma(Vec acc, Vec a, Vec b) { return _mm256_fnmadd_ps(a, b, acc); }

INLINE float vec_sum(Vec v) {
    __m128 s = _mm_add_ps(_mm256_castps256_ps128(v), _mm256_extractf128_ps(v, 1));
    s = _mm_add_ps(s, _mm_movehl_ps(s, s));
    return _mm_cvtss_f32(_mm_add_ss(s, _mm_movehdup_ps(s)));
}

/* min and max return their second operand where one is a NaN: in this order it passes. */
INLINE Vec vec_exp_argument(Vec x) {
    return _mm256_max_ps(_mm256_set1_ps(-87.33f), _mm256_min_ps(_mm256_set1_ps(88), x));
}

INLINE Vec vec_round(Vec x) { return _mm256_round_ps(x, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC); }

INLINE VecTiny vec_tiny(Vec x) { return _mm256_cmp_ps(x, _mm256_set1_ps(-87.33f), _CMP_LT_OQ); }

INLINE Vec vec_times_power(Vec p, Vec n, VecTiny tiny) {
    __m256i bits = _mm256_slli_epi32(_mm256_add_epi32(_mm256_cvtps_epi32(n), _mm256_set1_epi32(127)), 23);
    return _mm256_andnot_ps(tiny, _mm256_mul_ps(p, _mm256_castsi256_ps(bits)));
}

INLINE Ints ints_all(int32_t x) { return _mm256_set1_epi32(x); }
INLINE Vec ints_to_floats(Ints v) { return _mm256_cvtepi32_ps(v); }
INLINE Ints ints_load_bytes(const void *p) { return _mm256_cvtepi8_epi32(_mm_loadl_epi64((const __m128i *)p)); }
INLINE Ints ints_minus(Ints v) { return _mm256_sub_epi32(_mm256_setzero_si256(), v); }
INLINE Ints ints_mul_add(Ints acc, Ints a, Ints b) { return _mm256_add_epi32(acc, _mm256_mullo_epi32(a, b)); }

INLINE __m256i broadcast4(const void *p) {
    int32_t v;
    memcpy(&v, p, 4);
    return _mm256_set1_epi32(v);
}

INLINE Ints ints_shift(Ints v, int shift) {
    return shift ? _mm256_slli_epi32(v, shift) : v;
}

/* v, in a register, now: gcc would sum in an order of its own, for which there are not enough registers, or load it
 * again for each use. */
INLINE __m256i pin(__m256i v) {
    __asm__("" : "+x"(v));
    return v;
}

INLINE Vec64 vec64_zero(void) { return _mm256_setzero_pd(); }
INLINE Vec64 vec64_all(double x) { return _mm256_set1_pd(x); }
INLINE Vec64 vec64_load(const double *p) { return _mm256_loadu_pd(p); }
INLINE Vec64 vec64_load_floats(const float *p) { return _mm256_cvtps_pd(_mm_loadu_ps(p)); }
INLINE void vec64_store(double *p, Vec64 v) { _mm256_storeu_pd(p, v); }
INLINE Vec64 vec64_fma(Vec64 acc, Vec64 a, Vec64 b) { return _mm256_fmadd_pd(a, b, acc); }

#endif
