/* kernels/x86/avx512.c - the row for x86-64 with AVX-512 F, BW, VL and DQ but without VNNI, and what it shares with the
 * others. */
#include "avx2.h"
#include "avx512.h"
#include "avx512_panels.h"

INLINE int zero_of(Form f) { return f.bits == 8 || f.values ? 0 : f.shift; }

/* maddubs sums two products in 16 bits, which codes below 128 fit. Of bytes it takes |q|, and x with q's sign. */
INLINE __m512i dot4(__m512i acc, __m512i u, __m512i s, int bytes) {
    if (bytes) {
        __m512i q = _mm512_xor_si512(u, _mm512_set1_epi8(-128));
        u = _mm512_abs_epi8(q);
        s = _mm512_mask_sub_epi8(s, _mm512_movepi8_mask(q), _mm512_setzero_si512(), s);
    }
    return _mm512_add_epi32(acc, _mm512_madd_epi16(_mm512_maddubs_epi16(u, s), _mm512_set1_epi16(1)));
}

#include "avx512_matmul.h"

INLINE size_t add_blocks(Form f, int T, Vec *acc, const ActBlock *x, size_t apart, const uint8_t *panel,
                         const PanelShape *s, size_t b, Ahead *ahead) {
    (void)apart;
    return add_block(f, T, acc, x, panel, s, b, ahead);
}

static void matmul(float *y, size_t ldy, const Activations *a, const Matrix *w, size_t r0, size_t r1) {
    const PanelJob p = {AVX512_BLOCKS, y, ldy, a, w, r0, r1};
    if (!avx512_matmul_floats(y, ldy, a, w, r0, r1)) matmul_blocks(&p);
}

static const Packing packing = {
    .lanes = VEC, .blocks = AVX512_BLOCKS, .floats = AVX512_FLOATS, .pack_blocks = avx2_pack_wide_blocks,
};

size_t avx512_packed_bytes(size_t n, size_t d, int group) { return packing_bytes(&packing, n, d, group); }

void avx512_pack(void *out, const float *x, size_t n, size_t d, int group, size_t t) {
    packing_pack(&packing, out, x, n, d, group, t);
}

static const MatmulKernels own = {
    .matmul = matmul, .packed_bytes = avx512_packed_bytes, .pack = avx512_pack, .quantize = avx2_quantize,
};

extern const Kernels kernels_avx512;
const Kernels kernels_avx512 = {
    .name = "avx512", .lanes = VEC, .mat = &own, .att = &avx512_attention, .vec = &avx2_vector,
    .enc = &avx2_encoder, .cache = &avx512_cache, .train = &avx512_train,
};
