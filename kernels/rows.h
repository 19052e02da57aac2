/* kernels/rows.h - the rows of kernels (kernels.h) that this processor can run. */
#ifndef ROWS_H
#define ROWS_H

#include "kernels.h"

/* The row of that name; NULL and a line, with those there are, where there is none or this CPU cannot run it. */
const Kernels *kernels_find(const char *name, char *err, size_t errlen);
/* Row i of those this CPU can run, slowest first, NULL after the last. Row 0 is ref. */
const Kernels *kernels_row(int i);
const char *kernels_name(int i); /* its name, or NULL */

#endif
