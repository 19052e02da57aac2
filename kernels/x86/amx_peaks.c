/* kernels/x86/amx_peaks.c - AMX: a tile instruction multiplies 16 x 64 bytes by 64 x 16. Floats and reads are
 * AVX-512's. */
#include "avx512_peaks.h"

#include <immintrin.h>

/* Four tiles of sums, two of each factor, as a matrix product has them. gcc 12's _tile_loadconfig says that it reads 8
 * bytes; the asm says all of t. */
static float int8_run(size_t rounds) {
    static const int8_t bytes[16 * 64] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16};
    int32_t sums[16 * 16];
    struct {
        uint8_t palette, start, reserved[14];
        uint16_t bytes[16];
        uint8_t rows[16];
    } t = {.palette = 1, .bytes = {64, 64, 64, 64, 64, 64, 64, 64}, .rows = {16, 16, 16, 16, 16, 16, 16, 16}};
    __asm__ volatile("" : : "r"(&t) : "memory");
    _tile_loadconfig(&t);
    _tile_zero(0);
    _tile_zero(1);
    _tile_zero(2);
    _tile_zero(3);
    _tile_loadd(4, bytes, 64);
    _tile_loadd(5, bytes, 64);
    _tile_loadd(6, bytes, 64);
    _tile_loadd(7, bytes, 64);
    for (size_t k = 0; k < rounds; k++) {
        _tile_dpbssd(0, 4, 6);
        _tile_dpbssd(1, 4, 7);
        _tile_dpbssd(2, 5, 6);
        _tile_dpbssd(3, 5, 7);
    }
    _tile_stored(3, sums, 64);
    _tile_release();
    __asm__ volatile("" : : "r"(sums) : "memory");
    return (float)sums[0];
}

const Peaks peaks_amx = {
    .row = "amx",
    .fma = {"f32 FMA, 512 bit", PEAKS_AVX512_FMA_OPS, peaks_avx512_fma},
    .int8 = {"int8 tdpbssd, AMX tiles", 4 * 2 * 16 * 16 * 64, int8_run},
    .int4 = {"int4 tdpbssd, AMX tiles", 4 * 2 * 16 * 16 * 64, int8_run},
    .read = peaks_avx512_read,
};
