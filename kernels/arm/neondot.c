/* kernels/arm/neondot.c - the row for arm64 with the dot-product extension (compiled with +dotprod, chosen at run
 * time): sdot multiplies 16 pairs of bytes and sums them by fours, which is a line of 4 rows x 4 columns. Everything
 * but matmul over panels is the other row's. */
#include "neon_panels.h"
#include "neon_matmul.h"

/* A line of weights against columns 4*lane .. of x. */
INLINE int32x4_t dot4(int32x4_t sum, int8x16_t w, int8x16_t x, int lane) {
    switch (lane) {
    case 0: return vdotq_laneq_s32(sum, w, x, 0);
    case 1: return vdotq_laneq_s32(sum, w, x, 1);
    case 2: return vdotq_laneq_s32(sum, w, x, 2);
    default: return vdotq_laneq_s32(sum, w, x, 3);
    }
}

INLINE void dot_lines(Form f, int T, Ints *sum, const uint8_t *lines, const ActBlock *x, int j0, int j1) {
    UNROLL
    for (int first = j0; first < j1; first += 4) {
        if (T > 1) __asm__ volatile("" ::: "memory"); /* gcc would load all lines first, and run out of registers */
        int8x16_t q[NEON_BLOCKS];
        UNROLL
        for (int t = 0; t < T; t++) q[t] = vld1q_s8(x[t].q + 4 * first);
        UNROLL
        for (int i = 0; i < 4; i++) {
            int8x16_t w0 = codes_at(f, lines, first + i), w1 = codes_at(f, lines + 16, first + i);
            UNROLL
            for (int t = 0; t < T; t++) {
                sum[t].half[0] = dot4(sum[t].half[0], w0, q[t], i);
                sum[t].half[1] = dot4(sum[t].half[1], w1, q[t], i);
            }
        }
    }
}

static const MatmulKernels own = {
    .matmul = matmul_panels, .packed_bytes = neon_packed_bytes, .pack = neon_pack, .quantize = neon_quantize,
};

extern const Kernels kernels_neondot;
const Kernels kernels_neondot = {
    .name = "neondot", .lanes = VEC, .mat = &own, .att = &neon_attention, .vec = &neon_vector,
    .enc = &neon_encoder, .cache = &neondot_cache, .train = &neon_train,
};
