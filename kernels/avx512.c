/* kernels/avx512.c - the row for x86-64 with AVX-512 F, BW, VL and DQ but without VNNI, and what it shares with avx512vnni.c. */
#include "avx2.h"
#include "avx512_panels.h"

/* maddubs sums two products in 16 bits, which codes below 128 fit. Larger ones take the way of 16-bit factors. */
INLINE __m512i dot4(__m512i acc, __m512i u, __m512i s, int large) {
    if (!large) return _mm512_add_epi32(acc, _mm512_madd_epi16(_mm512_maddubs_epi16(u, s), _mm512_set1_epi16(1)));
    __m512i even = _mm512_madd_epi16(_mm512_and_si512(u, _mm512_set1_epi16(255)), _mm512_srai_epi16(_mm512_slli_epi16(s, 8), 8));
    __m512i odd = _mm512_madd_epi16(_mm512_srli_epi16(u, 8), _mm512_srai_epi16(s, 8));
    return _mm512_add_epi32(acc, _mm512_add_epi32(even, odd));
}

#include "avx512_matmul.h"

static void matmul(float *y, size_t ldy, const Activations *a, const Matrix *w, size_t r0, size_t r1) {
    matmul_tiles(AVX512_BLOCKS, y, ldy, a, w, r0, r1);
}

size_t avx512_packed_bytes(size_t n, size_t d, int group) {
    if (group % Q_BLOCK) return kernels_ref.packed_bytes(n, d, group);
    return group ? n * (d / Q_BLOCK) * sizeof(ActBlock) : n * ((d + 15) & ~(size_t)15) * sizeof(float);
}

void avx512_pack_tiles(size_t widest, void *out, const float *x, size_t n, size_t d, int group, size_t t) {
    if (group % Q_BLOCK) {
        kernels_ref.pack(out, x, n, d, group, t);
        return;
    }
    TokenTile tile = token_tile(t, n, group ? widest : AVX512_FLOATS);
    if (group) {
        size_t blocks = d / Q_BLOCK;
        avx2_pack_blocks((ActBlock *)out + tile.first * blocks + (t - tile.first), tile.n, x, d, group);
        return;
    }
    float *to = (float *)out + tile.first * ((d + 15) & ~(size_t)15) + (t - tile.first) * 16;
    for (size_t i = 0; i < d; i += 16, to += tile.n * 16) {
        __mmask16 m = d - i >= 16 ? 0xffff : (__mmask16)((1u << (d - i)) - 1);
        _mm512_storeu_ps(to, _mm512_maskz_loadu_ps(m, x + i));
    }
}

void avx512_pack(void *out, const float *x, size_t n, size_t d, int group, size_t t) {
    avx512_pack_tiles(AVX512_BLOCKS, out, x, n, d, group, t);
}

extern const Kernels kernels_avx512;
const Kernels kernels_avx512 = {
    .name = "avx512",
    .lanes = LANES,
    .matmul = matmul,
    .packed_bytes = avx512_packed_bytes,
    .pack = avx512_pack,
    .quantize = avx2_quantize,
    .rmsnorm = avx2_rmsnorm,
    .layernorm = avx2_layernorm,
    .silu_mul = avx2_silu_mul,
    .activate = avx2_activate,
    .rotate = avx2_rotate,
    .scores = avx512_scores,
    .softmax = avx512_softmax,
    .mix = avx512_mix,
    .narrow = avx2_narrow,
    .widen = avx512_widen,
    .widen_q8 = avx512_widen_q8,
    .state_step = avx512_state_step,
    .exp64 = avx2_exp64,
};
