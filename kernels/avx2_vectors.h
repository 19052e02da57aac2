/* kernels/avx2_vectors.h - small pieces that the files with AVX2 share. */
#ifndef AVX2_VECTORS_H
#define AVX2_VECTORS_H

#include "quants.h"

#include <immintrin.h>
#include <string.h>

#define INLINE static inline __attribute__((always_inline)) /* sizes and formats must be constants in a tile's body */

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

#endif
