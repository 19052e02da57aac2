/* kernels/peaks.c - which loops belong to a kernel row. */
#include "peaks.h"

#include <string.h>

#if defined(__x86_64__)
extern const Peaks peaks_avx2, peaks_avxvnni, peaks_avx512, peaks_avx512vnni, peaks_amx;
#endif
#if defined(__aarch64__)
extern const Peaks peaks_neon, peaks_neondot;
#endif

/* A kernel row is only chosen where it runs; so these need not be asked. */
static const Peaks *const table[] = {
    &peaks_ref,
#if defined(__x86_64__)
    &peaks_avx2, &peaks_avxvnni, &peaks_avx512, &peaks_avx512vnni, &peaks_amx,
#endif
#if defined(__aarch64__)
    &peaks_neon, &peaks_neondot,
#endif
};

const Peaks *peaks_of(const char *row) {
    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        if (strcmp(table[i]->row, row) == 0) return table[i];
    return &peaks_ref;
}
