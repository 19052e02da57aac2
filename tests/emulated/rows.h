/* tests/emulated/rows.h - rows of kernels that most processors cannot run, with their instructions in others. */
#ifndef EMULATED_ROWS_H
#define EMULATED_ROWS_H

#include "kernels/rows.h"

/* kernels_row, and behind its last those that this processor lacks but can emulate. NULL after the last. */
const Kernels *row_to_test(int i);
const Kernels *row_named(const char *name); /* the one of these that is called so, or NULL */

#endif
