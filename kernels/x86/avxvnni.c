/* kernels/x86/avxvnni.c - the row for x86-64 with AVX2 and AVX-VNNI but without AVX-512 (Intel's Core since 2021),
 * whose dpbusd multiplies 32 pairs of bytes and sums them by fours. All but matmul over panels and caches of bytes is
 * avx2's, and so are its bits: sums of integers are exact, and floats round in the same order. */
#include "avx2.h"
#include "avx2_panels.h"

enum { TILE_TOKENS = AVX2_BLOCKS };

#include "kernels/panel_super.h"

/* dpbusd wants one factor without a sign: the values + 128. */
INLINE Line values_of(int table, Line q) {
    __m128i values = load16_bytes(value_table(table));
    return looked_up(_mm_xor_si128(values, _mm_set1_epi8(-128)), q);
}

INLINE int tokens_at_once(Form f) { return (void)f, TILE_TOKENS; }
INLINE int zero_of(Form f) { return f.shift; }

INLINE void dot_lines(Form f, int T, Ints *sum, const uint8_t *lines, const ActBlock *x, int j0, int j1) {
    UNROLL
    for (int j = j0; j < j1; j++) {
        __m256i w = codes_at(f, lines, j);
        if (f.bits == 8) w = _mm256_xor_si256(w, _mm256_set1_epi8(-128));
        UNROLL
        for (int t = 0; t < T; t++) sum[t] = pin(_mm256_dpbusd_avx_epi32(sum[t], w, broadcast4(x[t].q + 4 * j)));
    }
}

INLINE int whole_scales(Form f) { return f.super; }
INLINE int negates(Form f) { return (void)f, 0; }

INLINE void dot_scaled(Form f, int T, Ints *sum, const uint8_t *lines, const ActBlock *x, const uint8_t *sc) {
    dot_and_scale(f, T, sum, lines, x, sc);
}

static void matmul(float *y, size_t ldy, const Activations *a, const Matrix *w, size_t r0, size_t r1) {
    const PanelJob p = {TILE_TOKENS, y, ldy, a, w, r0, r1};
    if (!avx2_matmul_floats(y, ldy, a, w, r0, r1)) matmul_blocks(&p);
}

static const Packing packing = {
    .lanes = VEC, .blocks = AVX2_BLOCKS, .floats = AVX2_FLOATS, .pack_blocks = avx2_pack_wide_blocks,
};

static void pack(void *out, const float *x, size_t n, size_t d, int group, size_t t) {
    packing_pack(&packing, out, x, n, d, group, t);
}

static const MatmulKernels own = {
    .matmul = matmul, .packed_bytes = avx2_packed_bytes, .pack = pack, .quantize = avx2_quantize,
};

extern const Kernels kernels_avxvnni;
const Kernels kernels_avxvnni = {
    .name = "avxvnni", .lanes = VEC, .mat = &own, .att = &avx2_attention, .vec = &avx2_vector,
    .enc = &avx2_encoder, .cache = &avxvnni_cache, .train = &avx2_train,
};
