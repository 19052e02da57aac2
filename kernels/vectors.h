/* kernels/vectors.h - the words that the fast rows' loops are written in: a vector of VEC floats and one of VEC64
 * doubles.
 *
 * A processor's own header (x86/avx2_vectors.h, x86/avx512_vectors.h, arm/neon_vectors.h) has
 *     enum { VEC = 8, VEC64 = 4 };
 *     typedef __m256 Vec;
 *     typedef __m256d Vec64;
 *     typedef __m256 VecTiny;
 *     typedef __m256i Ints;
 * includes this, and defines what is declared here. Then each loop stands once, in attention_tiles.h, state_tiles.h,
 * cache_tiles.h, vector_loops.h, float_blocks.h, panel_tiles.h and block_activations.h, and is compiled once for each
 * width. Where a header needs a word more, it declares it first.
 *
 * Addresses need no alignment. Products are rounded with the sum that they go into (FMA). */
#ifndef VECTORS_H
#define VECTORS_H

#include "inline.h"
#include "quants.h"

#include <string.h>

INLINE Vec vec_zero(void);
INLINE Vec vec_all(float x);
INLINE Vec vec_load(const void *p);
INLINE Vec vec_load_half(const void *p);
INLINE Vec vec_load_bf16(const void *p);
INLINE Vec vec_load_bytes(const void *p); /* signed */
INLINE Vec vec_load_mini(const void *p);  /* bytes, bits 7 to 13 of half precision */
INLINE Vec vec_pin(Vec v); /* v, in a register, now: gcc would load it again for each use */
INLINE void vec_store(float *p, Vec v);
INLINE void vec_store_half(uint16_t *p, Vec v); /* to nearest, ties to even; NaN stays */
INLINE float half_to_float(uint16_t h);         /* the same for one alone */
INLINE uint16_t float_to_half(float x);

/* The first n numbers of that type (F32, F16, BF16), the others 0; and back. n may be more than VEC. */
INLINE Vec vec_load_some(TensorType type, const void *p, size_t n);
INLINE void vec_store_some(float *p, Vec v, size_t n);

INLINE Vec vec_add(Vec a, Vec b);
INLINE Vec vec_sub(Vec a, Vec b);
INLINE Vec vec_mul(Vec a, Vec b);
INLINE Vec vec_fma(Vec acc, Vec a, Vec b);  /* acc + a b, rounded once */
INLINE Vec vec_fnma(Vec acc, Vec a, Vec b); /* acc - a b */
INLINE float vec_sum(Vec v);                /* of the lanes: j and j + VEC/2, then halves of these, until one is left */

/* What exp needs: which lanes are below -87.33, as the processor's masks say it; x brought to where its result is a
 * float, NaN staying what it is; the nearest whole number, ties to even; and p * 2^n, but 0 in the tiny lanes. */
INLINE VecTiny vec_tiny(Vec x);
INLINE Vec vec_exp_argument(Vec x);
INLINE Vec vec_round(Vec x);
INLINE Vec vec_times_power(Vec p, Vec n, VecTiny tiny);

/* to [4, 8] = from [8, 4] transposed; rows are to_row and from_row floats apart. */
INLINE void vec_turn(float *to, size_t to_row, const float *from, size_t from_row);

INLINE Vec64 vec64_zero(void);
INLINE Vec64 vec64_all(double x);
INLINE Vec64 vec64_load(const double *p);
INLINE Vec64 vec64_load_floats(const float *p);
INLINE void vec64_store(double *p, Vec64 v);
INLINE Vec64 vec64_fma(Vec64 acc, Vec64 a, Vec64 b);

/* `Ints`: a whole number of 32 bits for each lane. x in all of them; times 2^shift; as floats. */
INLINE Ints ints_all(int32_t x);
INLINE Ints ints_shift(Ints v, int shift);
INLINE Vec ints_to_floats(Ints v);
INLINE Ints ints_load_bytes(const void *p); /* int8 [VEC] */
INLINE Ints ints_minus(Ints v);
INLINE Ints ints_mul_add(Ints acc, Ints a, Ints b); /* acc + a * b */

/* VEC numbers of that type. */
INLINE Vec vec_load_as(TensorType type, const void *p) {
    return type == TENSOR_F32 ? vec_load(p) : type == TENSOR_F16 ? vec_load_half(p) : vec_load_bf16(p);
}

/* vec_load_some and vec_store_some by way of memory, for processors that have no masks. */
INLINE Vec vec_load_part(TensorType type, const void *p, size_t n) {
    if (n >= VEC) return vec_load_as(type, p);
    uint8_t part[4 * VEC] = {0};
    memcpy(part, p, n * (type == TENSOR_F32 ? 4 : 2));
    return vec_load_as(type, part);
}

INLINE void vec_store_part(float *p, Vec v, size_t n) {
    if (n >= VEC) {
        vec_store(p, v);
        return;
    }
    float part[VEC];
    vec_store(part, v);
    memcpy(p, part, n * sizeof *p);
}

/* e^x to 0.94 ulp for x in [-87.3, 88]: x = n ln2 + f, |f| <= ln2/2; e^f by its Taylor polynomial of degree 7
 * (remainder 5e-9 relative); 2^n by way of its exponent bits. Below -87.33 (no normal float any more) 0. NaN stays. */
INLINE Vec vec_exp(Vec x) {
    static const float inverse_factorial[] = {1.0f / 5040, 1.0f / 720, 1.0f / 120, 1.0f / 24, 1.0f / 6, 0.5f, 1, 1};
    VecTiny tiny = vec_tiny(x);
    x = vec_exp_argument(x);
    Vec n = vec_round(vec_mul(x, vec_all(1.44269504f)));
    Vec f = vec_fnma(x, n, vec_all(0.693359375f)); /* ln2 in two parts: the first product is exact */
    f = vec_fnma(f, n, vec_all(-2.12194440e-4f));
    Vec p = vec_all(inverse_factorial[0]);
    UNROLL
    for (int i = 1; i < 8; i++) p = vec_fma(vec_all(inverse_factorial[i]), p, f);
    return vec_times_power(p, n, tiny);
}

#endif
