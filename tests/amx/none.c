/* tests/amx/none.c - in place of tiles.h where amx.c is not compiled. */
#include "kernels/kernels.h"

extern const Kernels *const amx_in_c;
const Kernels *const amx_in_c = NULL;
