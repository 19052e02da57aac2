/* kernels/x86/avx512_train.c - what training needs: train_tiles.h. 24 of the 32 registers are sums. */
#include "avx512.h"
#include "avx512_vectors.h"

enum { TILE_ROWS = 12, TILE_VECTORS = 2 };
#include "kernels/train_tiles.h"

const TrainKernels avx512_train = TRAIN_KERNELS;
