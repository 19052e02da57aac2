/* kernels/kernels.c - choosing a row. */
#include "kernels.h"

#include <string.h>

const Kernels *kernels_row(int i) {
    for (const KernelsEntry *e = kernels_table; e->row; e++)
        if (e->runs_here() && i-- == 0) return e->row;
    return NULL;
}

const Kernels *kernels_find(const char *name) {
    const Kernels *k;
    for (int i = 0; (k = kernels_row(i)); i++)
        if (strcmp(k->name, name) == 0) return k;
    return NULL;
}

const Kernels *kernels_best(void) {
    const Kernels *best = &kernels_ref, *k;
    for (int i = 0; (k = kernels_row(i)); i++) best = k;
    return best;
}

int matrix_group(const Matrix *w) {
    if (w->type == TENSOR_I8_GROUPS) return w->group;
    const QuantFormat *f = quant_format(w->type);
    return f && f->codes ? Q_BLOCK : 0;
}
