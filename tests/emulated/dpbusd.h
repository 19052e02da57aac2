/* tests/emulated/dpbusd.h - AVX-VNNI's dpbusd in AVX2. Comes before kernels/x86/avxvnni.c and avxvnni_cache.c. Source:
 * Intel's Architecture Instruction Set Extensions, VPDPBUSD. */
#ifndef DPBUSD_H
#define DPBUSD_H

#include <immintrin.h>

/* In each lane, sum + u_i s_i of four bytes, u without a sign; even and odd bytes are pairs of 16 bits. */
static inline __m256i emulated_dpbusd(__m256i sum, __m256i u, __m256i s) {
    __m256i even_u = _mm256_and_si256(u, _mm256_set1_epi16(255)), odd_u = _mm256_srli_epi16(u, 8);
    __m256i even_s = _mm256_srai_epi16(_mm256_slli_epi16(s, 8), 8), odd_s = _mm256_srai_epi16(s, 8);
    sum = _mm256_add_epi32(sum, _mm256_madd_epi16(even_u, even_s));
    return _mm256_add_epi32(sum, _mm256_madd_epi16(odd_u, odd_s));
}

#define kernels_avxvnni kernels_avxvnni_emulated
#define avxvnni_cache avxvnni_cache_emulated
#undef _mm256_dpbusd_avx_epi32
#define _mm256_dpbusd_avx_epi32 emulated_dpbusd

#endif
