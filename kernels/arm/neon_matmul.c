/* kernels/arm/neon_matmul.c - the row for arm64 with no more than every arm64 CPU has: matmul over panels without the
 * dot-product extension. smull and smlal keep a column's products apart in 16 bits, 4 columns of two rows to a vector,
 * until no more fit: products of codes of up to 5 bits, all eight lines of a block (8 x 31 x 127 < 32768), of 6 bits
 * four, of 8 bits two (2 x 128 x 127). Then columns are added pairwise into 32 bits. */
#include "neon_panels.h"
#include "neon_matmul.h"

INLINE int32x4_t sum_columns(int16x8_t rows01, int16x8_t rows23) {
    return vpaddq_s32(vpaddlq_s16(rows01), vpaddlq_s16(rows23));
}

INLINE void dot_lines(Form f, int T, Ints *sum, const uint8_t *lines, const ActBlock *x, int j0, int j1) {
    const int room = f.bits == 8 || f.values ? 2 : f.bits == 6 ? 4 : 8, together = room < j1 - j0 ? room : j1 - j0;
    UNROLL
    for (int v = 0; v < 2; v++)
        UNROLL
        for (int first = j0; first < j1; first += together) {
            int16x8_t low[NEON_BLOCKS], high[NEON_BLOCKS];
            UNROLL
            for (int i = 0; i < together; i++) {
                if (T > 1) __asm__ volatile("" ::: "memory"); /* gcc would load all lines first, and spill */
                int8x16_t w = codes_at(f, lines + 16 * v, first + i);
                UNROLL
                for (int t = 0; t < T; t++) {
                    int8x16_t xt = broadcast4(x[t].q + 4 * (first + i));
                    int8x8_t w_low = vget_low_s8(w), x_low = vget_low_s8(xt);
                    low[t] = i ? vmlal_s8(low[t], w_low, x_low) : vmull_s8(w_low, x_low);
                    high[t] = i ? vmlal_high_s8(high[t], w, xt) : vmull_high_s8(w, xt);
                }
            }
            UNROLL
            for (int t = 0; t < T; t++) sum[t].half[v] = vaddq_s32(sum[t].half[v], sum_columns(low[t], high[t]));
        }
}

static const MatmulKernels own = {
    .matmul = matmul_panels, .packed_bytes = neon_packed_bytes, .pack = neon_pack, .quantize = neon_quantize,
};

extern const Kernels kernels_neon;
const Kernels kernels_neon = {
    .name = "neon", .lanes = VEC, .mat = &own, .att = &neon_attention, .vec = &neon_vector,
    .enc = &neon_encoder, .cache = &neon_cache, .train = &neon_train,
};
