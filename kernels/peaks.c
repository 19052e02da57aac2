/* kernels/peaks.c - which loops belong to a kernel row on this CPU. */
#include "peaks.h"

#include <string.h>

#if defined(__aarch64__) && defined(__linux__)
#include <sys/auxv.h>
#endif

static int always(void) { return 1; }

#if defined(__x86_64__)
extern const Peaks peaks_avx2, peaks_avx512, peaks_avx512vnni, peaks_amx;
#endif
#if defined(__aarch64__)
extern const Peaks peaks_neon, peaks_neondot;
static int has_dotprod(void) {
#if defined(__linux__)
    return (getauxval(AT_HWCAP) >> 20 & 1) != 0; /* HWCAP_ASIMDDP */
#else
    return 1; /* Apple's all have it */
#endif
}
#endif

/* Where two rows have the same name, the later one that runs here. A kernel row of that name is only chosen where it runs. */
static const struct {
    const Peaks *peaks;
    int (*runs_here)(void);
} table[] = {
    {&peaks_ref, always},
#if defined(__x86_64__)
    {&peaks_avx2, always},
    {&peaks_avx512, always},
    {&peaks_avx512vnni, always},
    {&peaks_amx, always},
#endif
#if defined(__aarch64__)
    {&peaks_neon, always},
    {&peaks_neondot, has_dotprod},
#endif
};

const Peaks *peaks_of(const char *row) {
    const Peaks *found = &peaks_ref;
    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        if (strcmp(table[i].peaks->row, row) == 0 && table[i].runs_here()) found = table[i].peaks;
    return found;
}
