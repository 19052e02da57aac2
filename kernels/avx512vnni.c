/* kernels/avx512vnni.c - the row for x86-64 with AVX-512 F, BW, VL, DQ and VNNI, whose dpbusd multiplies and sums 64 pairs of
 * bytes at once. Everything but matmul is avx512.c's. */
#include "avx2.h"
#include "avx512_panels.h"

enum { TAKES_OFF_128 = 0 };

INLINE __m512i dot4(__m512i acc, __m512i u, __m512i s, int bytes) {
    (void)bytes;
    return _mm512_dpbusd_epi32(acc, u, s);
}

#include "avx512_matmul.h"

void avx512vnni_matmul_tiles(size_t widest, float *y, size_t ldy, const Activations *a, const Matrix *w, size_t r0, size_t r1) {
    matmul_tiles(widest, y, ldy, a, w, r0, r1);
}

static void matmul(float *y, size_t ldy, const Activations *a, const Matrix *w, size_t r0, size_t r1) {
    matmul_tiles(AVX512_BLOCKS, y, ldy, a, w, r0, r1);
}

extern const Kernels kernels_avx512vnni;
const Kernels kernels_avx512vnni = {
    .name = "avx512vnni",
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
