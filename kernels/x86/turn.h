/* kernels/x86/turn.h - vec_turn (vectors.h) in AVX, for rows of any width. */
#ifndef TURN_H
#define TURN_H

#include "kernels/inline.h"

#include <immintrin.h>
#include <stddef.h>

/* Rows j and j + 4 stand side by side, and both 4 x 4 squares turn at once. */
INLINE __m256 turn_rows(const float *from, size_t row, size_t j) {
    __m256 low = _mm256_castps128_ps256(_mm_loadu_ps(from + j * row));
    return _mm256_insertf128_ps(low, _mm_loadu_ps(from + (j + 4) * row), 1);
}

INLINE void vec_turn(float *to, size_t to_row, const float *from, size_t from_row) {
    __m256 a = turn_rows(from, from_row, 0), b = turn_rows(from, from_row, 1), c = turn_rows(from, from_row, 2),
           d = turn_rows(from, from_row, 3), ab = _mm256_unpacklo_ps(a, b), cd = _mm256_unpacklo_ps(c, d);
    _mm256_storeu_ps(to, _mm256_shuffle_ps(ab, cd, 0x44)); /* a0 b0 c0 d0 */
    _mm256_storeu_ps(to + to_row, _mm256_shuffle_ps(ab, cd, 0xee));
    ab = _mm256_unpackhi_ps(a, b), cd = _mm256_unpackhi_ps(c, d);
    _mm256_storeu_ps(to + 2 * to_row, _mm256_shuffle_ps(ab, cd, 0x44));
    _mm256_storeu_ps(to + 3 * to_row, _mm256_shuffle_ps(ab, cd, 0xee));
}

#endif
