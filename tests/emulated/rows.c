/* tests/emulated/rows.c - the table of rows that are compiled once more, behind tiles.h or dpbusd.h (Makefile). */
#include "rows.h"

#include <string.h>

#if defined(__x86_64__)
extern const Kernels kernels_avxvnni_emulated, kernels_amx_emulated;
#endif

static const struct {
    const Kernels *row;
    const char *needs; /* the row that all else in it is of: amx goes by VNNI where tokens are few */
} emulated[] = {
#if defined(__x86_64__)
    {&kernels_avxvnni_emulated, "avx2"},
    {&kernels_amx_emulated, "avx512vnni"},
#endif
    {NULL, NULL},
};

static int runs_here(const char *name) {
    char err[200];
    return kernels_find(name, err, sizeof err) != NULL;
}

const Kernels *row_to_test(int i) {
    int n = 0;
    while (kernels_row(n)) n++;
    if (i < n) return kernels_row(i);
    for (size_t k = 0; emulated[k].row; k++)
        if (!runs_here(emulated[k].row->name) && runs_here(emulated[k].needs) && i-- == n) return emulated[k].row;
    return NULL;
}

const Kernels *row_named(const char *name) {
    const Kernels *k;
    for (int i = 0; (k = row_to_test(i)); i++)
        if (strcmp(k->name, name) == 0) return k;
    return NULL;
}
