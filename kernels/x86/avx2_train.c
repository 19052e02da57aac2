/* kernels/x86/avx2_train.c - what training needs: train_tiles.h. 12 of the 16 registers are sums. */
#include "avx2.h"
#include "avx2_vectors.h"

enum { TILE_ROWS = 6, TILE_VECTORS = 2 };
#include "kernels/train_tiles.h"

const TrainKernels avx2_train = TRAIN_KERNELS;
