/* kernels/rows.c - the table of rows and which of them this processor can run: the one place that knows processors. */
#define _DEFAULT_SOURCE /* syscall */
#include "attention_kernels.h"
#include "cache_kernels.h"
#include "encoder_kernels.h"
#include "rows.h"
#include "train_kernels.h"
#include "base/base.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

const Kernels kernels_ref = {
    .name = "ref", .mat = &ref_matmul, .att = &ref_attention, .vec = &ref_vector, .enc = &ref_encoder,
    .cache = &ref_cache, .train = &ref_train,
};

static int always(void) { return 1; }

#if defined(__x86_64__)
#include <cpuid.h>
#if defined(__linux__)
#include <sys/syscall.h>
#include <unistd.h>
#endif

extern const Kernels kernels_avx2, kernels_avxvnni, kernels_avx512, kernels_avx512vnni, kernels_amx;
static int has_avx2(void) {
    __builtin_cpu_init();
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"); /* every CPU with AVX2 has F16C */
}
static int has_avxvnni(void) {
    enum { AVX_VNNI = 1 << 4 };
    unsigned a, b, c, d;
    return has_avx2() && __get_cpuid_count(7, 1, &a, &b, &c, &d) && (a & AVX_VNNI);
}
static int has_avx512(void) {
    return has_avx2() && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
           __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512dq");
}
static int has_avx512vnni(void) { return has_avx512() && __builtin_cpu_supports("avx512vnni"); }

/* AMX: the CPU has tiles and multiplies bytes in them, and the system lets this process use them (Linux asks to be
 * asked). */
static int has_amx(void) {
#if defined(__linux__)
    enum { AMX_TILE = 1 << 24, AMX_INT8 = 1 << 25, REQUEST_PERMISSION = 0x1023, TILE_DATA = 18 };
    unsigned a, b, c, d;
    if (!has_avx512vnni() || !__get_cpuid_count(7, 0, &a, &b, &c, &d) || !(d & AMX_TILE) || !(d & AMX_INT8)) return 0;
    return syscall(SYS_arch_prctl, REQUEST_PERMISSION, TILE_DATA) == 0;
#else
    return 0;
#endif
}
#endif

#if defined(__aarch64__)
#if defined(__linux__)
#include <sys/auxv.h>
#endif

extern const Kernels kernels_neon, kernels_neondot;
static int has_dotprod(void) {
#if defined(__linux__)
    enum { HAS_ASIMDDP = 1 << 20 };
    return (getauxval(AT_HWCAP) & HAS_ASIMDDP) != 0;
#else
    return 1; /* Apple's all have it */
#endif
}
#endif

static const struct {
    const Kernels *row;
    int (*runs_here)(void);
} table[] = { /* slowest first */
    {&kernels_ref, always},
#if defined(__x86_64__)
    {&kernels_avx2, has_avx2},
    {&kernels_avxvnni, has_avxvnni},
    {&kernels_avx512, has_avx512},
    {&kernels_avx512vnni, has_avx512vnni},
    {&kernels_amx, has_amx},
#endif
#if defined(__aarch64__)
    {&kernels_neon, always},
    {&kernels_neondot, has_dotprod},
#endif
    {0},
};

const Kernels *kernels_row(int i) {
    for (size_t at = 0; table[at].row; at++)
        if (table[at].runs_here() && i-- == 0) return table[at].row;
    return NULL;
}

const char *kernels_name(int i) {
    const Kernels *k = kernels_row(i);
    return k ? k->name : NULL;
}

const Kernels *kernels_find(const char *name, char *err, size_t errlen) {
    const Kernels *k;
    char known[100] = "";
    for (int i = 0; (k = kernels_row(i)); i++) {
        if (strcmp(k->name, name) == 0) return k;
        snprintf(known + strlen(known), sizeof known - strlen(known), "%s%s", i ? ", " : "", k->name);
    }
    base_error(err, errlen, 0, "there is no row \"%.40s\" that this processor can run; it has %s", name, known);
    return NULL;
}

const Kernels *kernels_best(void) {
    const Kernels *best = &kernels_ref, *k;
    for (int i = 0; (k = kernels_row(i)); i++) best = k;
    return best;
}
