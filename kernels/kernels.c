/* kernels/kernels.c - the table of rows and the choice among them; the one place that knows processors. */
#include "kernels.h"

#include <string.h>

typedef struct {
    const Kernels *row;
    int (*runs_here)(void);
} Row;

static int always(void) { return 1; }

#if defined(__x86_64__)
extern const Kernels kernels_avx2, kernels_avx512, kernels_avx512vnni;
static int has_avx2(void) {
    __builtin_cpu_init();
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"); /* every CPU with AVX2 has F16C */
}
static int has_avx512(void) {
    return has_avx2() && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
           __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512dq");
}
static int has_avx512vnni(void) { return has_avx512() && __builtin_cpu_supports("avx512vnni"); }
#endif

static const Row table[] = { /* slowest first */
    {&kernels_ref, always},
#if defined(__x86_64__)
    {&kernels_avx2, has_avx2},
    {&kernels_avx512, has_avx512},
    {&kernels_avx512vnni, has_avx512vnni},
#endif
};

const Kernels *kernels_row(int i) {
    for (size_t t = 0; t < sizeof table / sizeof *table; t++)
        if (table[t].runs_here() && i-- == 0) return table[t].row;
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
