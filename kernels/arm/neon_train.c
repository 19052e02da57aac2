/* kernels/arm/neon_train.c - what training needs: train_tiles.h. A vector is two registers; 24 of the 32 are sums. */
#include "neon.h"
#include "neon_vectors.h"

enum { TILE_ROWS = 6, TILE_VECTORS = 2 };
#include "kernels/train_tiles.h"

const TrainKernels neon_train = TRAIN_KERNELS;
