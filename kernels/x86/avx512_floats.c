/* kernels/x86/avx512_floats.c - matmul for float weights (float_blocks.h), all AVX-512 rows: 16 partial sums. */
#include "avx512.h"
#include "avx512_vectors.h"

enum { FLOAT_TOKENS = AVX512_FLOATS };

#include "kernels/float_blocks.h"

/* The even and the odd lanes of a and b, added: sums of neighbours, within each quarter first a's, then b's. */
INLINE Vec neighbours(Vec a, Vec b) {
    return _mm512_add_ps(_mm512_shuffle_ps(a, b, 0x88), _mm512_shuffle_ps(a, b, 0xdd));
}

INLINE Four fold4(const Vec *v) {
    __m512 fours = neighbours(neighbours(v[0], v[1]), neighbours(v[2], v[3]));
    __m128 low = _mm_add_ps(_mm512_castps512_ps128(fours), _mm512_extractf32x4_ps(fours, 1));
    return _mm_add_ps(low, _mm_add_ps(_mm512_extractf32x4_ps(fours, 2), _mm512_extractf32x4_ps(fours, 3)));
}

INLINE Vec every_fourth(float (*from)[VEC], int i, int c) {
    __m512 v = _mm512_castps128_ps512(_mm_load_ps(from[i] + c));
    v = _mm512_insertf32x4(v, _mm_load_ps(from[i + 4] + c), 1);
    v = _mm512_insertf32x4(v, _mm_load_ps(from[i + 8] + c), 2);
    return _mm512_insertf32x4(v, _mm_load_ps(from[i + 12] + c), 3);
}

INLINE __m512d pairs_of(Vec v) { return _mm512_castps_pd(v); }
INLINE Vec zip_low(Vec a, Vec b) { return _mm512_unpacklo_ps(a, b); }
INLINE Vec zip_high(Vec a, Vec b) { return _mm512_unpackhi_ps(a, b); }
INLINE Vec zip_low_pairs(Vec a, Vec b) { return _mm512_castpd_ps(_mm512_unpacklo_pd(pairs_of(a), pairs_of(b))); }
INLINE Vec zip_high_pairs(Vec a, Vec b) { return _mm512_castpd_ps(_mm512_unpackhi_pd(pairs_of(a), pairs_of(b))); }

int avx512_matmul_floats(float *y, size_t ldy, const Activations *a, const Matrix *w, size_t r0, size_t r1) {
    return matmul_any_floats(y, ldy, a, w, r0, r1);
}
