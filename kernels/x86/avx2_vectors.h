/* kernels/x86/avx2_vectors.h - small pieces that the files with AVX2 share. */
#ifndef AVX2_VECTORS_H
#define AVX2_VECTORS_H

#include "kernels/inline.h"
#include "kernels/quants.h"

#include <immintrin.h>
#include <string.h>

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

#endif
