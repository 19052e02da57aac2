/* bench/ceilings.h - what this machine can do at most, measured beside the work that is compared with it.
 *
 *     Ceilings c;
 *     if (ceilings_init(&c, "avx2", threads, most, bytes_a_token, err, errlen)) ...
 *     ceilings_sample(&c);                        again and again, between the runs of what is measured
 *     Spread s = ceilings_rate(&c, CEILING_READ_4, 1);
 *     ceilings_free(&c); */
#ifndef CEILINGS_H
#define CEILINGS_H

#include "base/threads.h"
#include "kernels/peaks.h"

/* Of several runs. n 0: not measured. */
typedef struct {
    double median, least, most;
    size_t n;
} Spread;

Spread spread_of(double *v, size_t n); /* sorts v */

typedef enum {
    CEILING_READ_1,
    CEILING_READ_4, /* bytes a second from memory, as 1 and 4 runs side by side a thread */
    CEILING_REREAD_1,
    CEILING_REREAD_4, /* of as few bytes as a token of the model reads, again and again: caches may hold them */
    CEILING_F32,
    CEILING_INT8,
    CEILING_INT4, /* operations a second */
    N_CEILINGS
} Ceiling;

/* A thread's part of a sample. */
typedef struct {
    double done, begin, end; /* bytes or operations; seconds */
} CeilingPart;

typedef struct {
    const Peaks *peaks;
    int threads;
    char *buffer;    /* [bytes] */
    size_t bytes;    /* 1 GB, or an eighth of the machine's memory */
    size_t reread;   /* bytes that REREAD reads; 0: so many that memory is read anyway, and REREAD is not measured */
    size_t taken;    /* samples */
    size_t most;     /* samples there is room for; later ones are not kept */
    double *samples; /* [N_CEILINGS, 2, most]: one thread, all threads */
    Team team;
    Ceiling which;   /* is being measured */
    CeilingPart *parts; /* [threads] */
} Ceilings;

/* row: the kernel row's name. reread: bytes a token reads. Errors: -ENOMEM. c must not
 * move. */
int ceilings_init(Ceilings *c, const char *row, int threads, size_t most, double reread, char *err, size_t errlen);
void ceilings_free(Ceilings *c); /* accepts a zeroed struct */

/* Measure each once more, with one thread and with all: a tenth of a second in all. */
void ceilings_sample(Ceilings *c);

/* Of the samples so far; all: 0 one thread, 1 all threads. */
Spread ceilings_rate(const Ceilings *c, Ceiling which, int all);
const char *ceilings_name(const Ceilings *c, Ceiling which);
/* The best median at which all threads read: from memory, or what a token reads, where that was measured. */
double ceilings_read(const Ceilings *c);

#endif
