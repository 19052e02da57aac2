/* kernels/x86/avx512vnni.c - the row for x86-64 with AVX-512 F, BW, VL, DQ and VNNI, whose dpbusd multiplies and sums
 * 64 pairs of bytes at once. Everything but matmul over panels is avx512.c's. */
#include "avx2.h"
#include "avx512.h"
#include "avx512_panels.h"

INLINE int zero_of(Form f) { return f.shift; }

INLINE __m512i dot4(__m512i acc, __m512i u, __m512i s, int bytes) {
    (void)bytes;
    return _mm512_dpbusd_epi32(acc, u, s);
}

#include "avx512_matmul.h"
#include "kernels/panel_super.h"

INLINE int whole_scales(Form f) { return scaled_codes(f); }

INLINE void add_scaled_codes(Form f, int T, Ints *sum, const uint8_t *lines, const ActBlock *x, const uint8_t *sc,
                             int h) {
    Products p = products_of(f, sc);
    UNROLL
    for (int j = 4 * h; j < 4 * h + 4; j++) {
        __m512i w = scaled_codes_at(f, lines, j, p);
        UNROLL
        for (int t = 0; t < T; t++) sum[t] = pin(_mm512_dpbusd_epi32(sum[t], w, broadcast4(x[t].q + 4 * j)));
    }
}

/* Scaling codes costs the same for any number of tokens. */
INLINE void dot_scaled(Form f, int T, Ints *sum, const uint8_t *lines, const ActBlock *x, const uint8_t *sc) {
    if (T <= 4) {
        dot_and_scale(f, T, sum, lines, x, sc);
        return;
    }
    begin_sums((Form){.sub = 32, .shift = negates(f) ? 7 : 0}, T, sum, x, 0); /* of bytes, 128 more */
    UNROLL
    for (int h = 0; h < 2; h++, sc += VEC) add_scaled_codes(f, T, sum, lines, x, sc, h);
}

void avx512vnni_matmul_blocks(size_t widest, float *y, size_t ldy, const Activations *a, const Matrix *w, size_t r0,
                              size_t r1) {
    const PanelJob p = {widest, y, ldy, a, w, r0, r1};
    matmul_blocks(&p);
}

static void matmul(float *y, size_t ldy, const Activations *a, const Matrix *w, size_t r0, size_t r1) {
    if (avx512_matmul_floats(y, ldy, a, w, r0, r1)) return;
    avx512vnni_matmul_blocks(AVX512_BLOCKS, y, ldy, a, w, r0, r1);
}

static const MatmulKernels own = {
    .matmul = matmul, .packed_bytes = avx512_packed_bytes, .pack = avx512_pack, .quantize = avx2_quantize,
};

extern const Kernels kernels_avx512vnni;
const Kernels kernels_avx512vnni = {
    .name = "avx512vnni", .lanes = VEC, .mat = &own, .att = &avx512_attention, .vec = &avx2_vector,
    .enc = &avx2_encoder, .cache = &avx512vnni_cache, .train = &avx512_train,
};
