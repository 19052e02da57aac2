/* kernels/x86/avx2.c - the row for x86-64 with AVX2, FMA and F16C; compiled with -mavx2 -mfma -mf16c, chosen at run
 * time. Here are its functions of one vector, in vector_loops.h's words; avx2_matmul.c and avx2_attention.c have the
 * other groups. Against ref: FMA rounds once where ref rounds twice; exp is a polynomial. */
#include "avx2.h"
#include "avx2_vectors.h"
#include "kernels/vector_loops.h"

INLINE Vec vec_div(Vec a, Vec b) { return _mm256_div_ps(a, b); }
INLINE Vec vec_abs(Vec x) { return _mm256_andnot_ps(_mm256_set1_ps(-0.0f), x); }
INLINE Vec vec_positive(Vec x) { return _mm256_max_ps(_mm256_setzero_ps(), x); } /* in this order a NaN passes */
INLINE Vec vec_by_sign(Vec x, Vec negative, Vec positive) { return _mm256_blendv_ps(positive, negative, x); }

/* Four pairs a vector. */
INLINE int rotate_pairs(float *x, const float *c, const float *s, int half) {
    const __m256i twice = _mm256_setr_epi32(0, 0, 1, 1, 2, 2, 3, 3);
    int i = 0;
    for (; i + 4 <= half; i += 4) {
        __m256 cc = _mm256_permutevar8x32_ps(_mm256_castps128_ps256(_mm_loadu_ps(c + i)), twice);
        __m256 ss = _mm256_permutevar8x32_ps(_mm256_castps128_ps256(_mm_loadu_ps(s + i)), twice);
        __m256 v = _mm256_loadu_ps(x + 2 * i), swapped = _mm256_permute_ps(v, 0xb1);
        _mm256_storeu_ps(x + 2 * i, _mm256_addsub_ps(_mm256_mul_ps(v, cc), _mm256_mul_ps(swapped, ss)));
    }
    return i;
}

/* min and max return their second operand where one is a NaN: in this order it passes. */
INLINE Vec64 vec64_exp_argument(Vec64 x) {
    return _mm256_max_pd(_mm256_set1_pd(-708), _mm256_min_pd(_mm256_set1_pd(709), x));
}

INLINE Vec64 vec64_times_power(Vec64 p, Vec64 n, Vec64 x) {
    __m256d tiny = _mm256_cmp_pd(x, _mm256_set1_pd(-708), _CMP_LT_OQ);
    __m256i bits = _mm256_cvtepi32_epi64(_mm256_cvtpd_epi32(n)); /* n is 1023 at most */
    bits = _mm256_slli_epi64(_mm256_add_epi64(bits, _mm256_set1_epi64x(1023)), 52);
    return _mm256_andnot_pd(tiny, _mm256_mul_pd(p, _mm256_castsi256_pd(bits)));
}

INLINE Vec64 vec64_round(Vec64 x) { return _mm256_round_pd(x, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC); }
INLINE Vec64 vec64_mul(Vec64 a, Vec64 b) { return _mm256_mul_pd(a, b); }
INLINE Vec64 vec64_fnma(Vec64 acc, Vec64 a, Vec64 b) { return _mm256_fnmadd_pd(a, b, acc); }

const VectorKernels avx2_vector = {.rmsnorm = rmsnorm, .silu_mul = silu_mul, .rotate = rotate, .exp64 = exp64};
const EncoderKernels avx2_encoder = {.layernorm = layernorm, .activate = activate};

extern const Kernels kernels_avx2;
const Kernels kernels_avx2 = {
    .name = "avx2", .lanes = VEC, .mat = &avx2_matmul, .att = &avx2_attention, .vec = &avx2_vector,
    .enc = &avx2_encoder, .cache = &avx2_cache, .train = &avx2_train,
};
