/* kernels/peaks.h - the most that one core can do with the instructions of a kernel row: loops of nothing but the best
 * multiply-add that the row has on this CPU, and of reads. bench/ceilings.c times them.
 *
 *     const Peaks *p = peaks_of(model.kernels->name);
 *     p->fma.run(1000000);                     1000000 * p->fma.ops additions and multiplications
 *
 * What a loop returns depends on all it computed, so that no compiler leaves it out. None of these can fail. */
#ifndef PEAKS_H
#define PEAKS_H

#include <stddef.h>
#include <stdint.h>

typedef struct {
    const char *name; /* of the instruction, for people */
    size_t ops;       /* additions and multiplications of a round */
    float (*run)(size_t rounds);
} PeakLoop;

typedef struct {
    const char *row;     /* Kernels.name */
    PeakLoop fma;        /* f32 */
    PeakLoop int8;       /* products of bytes, summed to 32 bits */
    PeakLoop int4;       /* products of a byte and a number of at most 4 bits: faster where eight fit 16 bits */
    /* Read p [bytes] once, as `streams` (1 or 4) runs side by side. p begins a cache line; bytes: a multiple of
     * PEAK_READ. */
    uint64_t (*read)(const void *p, size_t bytes, int streams);
} Peaks;

enum { PEAK_READ = 1024, PEAK_AHEAD = 1024 }; /* bytes; several streams are prefetched so far ahead, within the
                                                 * run, into the second cache, as few tokens' weights are */

/* Those of a kernel row, by its name; ref's where the row has none. */
const Peaks *peaks_of(const char *row);

extern const Peaks peaks_ref;

#endif
