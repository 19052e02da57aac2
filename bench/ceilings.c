/* bench/ceilings.c - timing the loops of kernels/peaks.h. Machines are noisy and change their clock rate: a ceiling is
 * only good for what ran beside it, so samples are short and taken between the runs that they are compared with. */
#define _DEFAULT_SOURCE /* _SC_PHYS_PAGES */
#include "ceilings.h"

#include "base/base.h"
#include "base/system.h"
#include "base/team.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { ROUNDS = 1000000, HUGE_PAGE = 2 << 20, QUARTERS = 4 };

static int ascending(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

Spread spread_of(double *v, size_t n) {
    if (n == 0) return (Spread){0};
    qsort(v, n, sizeof *v, ascending);
    return (Spread){
        .median = n % 2 ? v[n / 2] : (v[n / 2 - 1] + v[n / 2]) / 2, .least = v[0], .most = v[n - 1], .n = n};
}

/* A gigabyte is more than caches hold. A small machine has other uses for it. */
static size_t buffer_bytes(void) {
    long pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);
    double eighth = pages > 0 && page > 0 ? (double)pages * (double)page / 8 : 0;
    size_t bytes = eighth > 0 && eighth < (double)(1 << 30) ? (size_t)eighth : (size_t)1 << 30;
    return bytes / HUGE_PAGE * HUGE_PAGE;
}

/* Written by those who read it. */
static void touch(void *arg) {
    Ceilings *c = arg;
    for (Share i = team_share(&c->team, c->bytes / PEAK_READ); i.at < i.end; i.at++)
        memset(c->buffer + i.at * PEAK_READ, 1, PEAK_READ);
}

int ceilings_init(Ceilings *c, const char *row, int threads, size_t most, double reread, char *err, size_t errlen) {
    *c = (Ceilings){.peaks = peaks_of(row), .threads = threads, .bytes = buffer_bytes(), .most = most};
    if (reread < (double)(c->bytes / QUARTERS)) c->reread = (size_t)reread / PEAK_READ * PEAK_READ + PEAK_READ;
    c->samples = calloc(2 * N_CEILINGS * most, sizeof *c->samples);
    c->parts = calloc((size_t)threads, sizeof *c->parts);
    c->buffer = pages_new(c->bytes); /* large pages: a reader of small ones waits for page tables too */
    if (!c->samples || !c->parts || !c->buffer || team_init(&c->team, threads)) {
        ceilings_free(c);
        return base_error(err, errlen, -ENOMEM, "out of memory: %zu bytes to measure how fast memory is read",
                          buffer_bytes());
    }
    c->threads = c->team.most;
    team_run(&c->team, c->threads, touch, c);
    return 0;
}

void ceilings_free(Ceilings *c) {
    team_free(&c->team);
    free(c->samples);
    free(c->parts);
    pages_free(c->buffer, c->bytes);
    *c = (Ceilings){0};
}

/* This thread's part of one sample: what it did, in bytes or operations. */
static double part(const Ceilings *c, volatile float *sink) {
    const PeakLoop *loops[] = {&c->peaks->fma, &c->peaks->int8, &c->peaks->int4};
    Ceiling which = c->which;
    if (which >= CEILING_F32) {
        const PeakLoop *loop = loops[which - CEILING_F32];
        *sink = loop->run(ROUNDS);
        return (double)ROUNDS * (double)loop->ops;
    }
    int again = which == CEILING_REREAD_1 || which == CEILING_REREAD_4;
    int streams = which == CEILING_READ_1 || which == CEILING_REREAD_1 ? 1 : 4;
    size_t quarter = c->bytes / QUARTERS, all = again ? c->reread : quarter;
    size_t mine = all / (size_t)c->team.inside->n / PEAK_READ * PEAK_READ;
    if (mine == 0) mine = PEAK_READ;
    const char *from = c->buffer + (again ? 0 : c->taken % QUARTERS * quarter) + (size_t)team_member() * mine;
    size_t times = again ? quarter / 4 / all + 1 : 1; /* the more, the smaller */
    for (size_t i = 0; i < times; i++) *sink = (float)c->peaks->read(from, mine, streams);
    return (double)mine * (double)times;
}

static void measure(void *arg) {
    Ceilings *c = arg;
    CeilingPart *p = &c->parts[team_member()];
    volatile float sink;
    team_wait(&c->team);
    p->begin = clock_seconds();
    p->done = part(c, &sink);
    p->end = clock_seconds();
}

/* From the first thread's start to the last one's end: starting them costs more than a sample of a busy machine may
 * lose. */
static double rate(Ceilings *c, Ceiling which, int threads) {
    double done = 0, begin = 1e300, end = 0;
    c->which = which;
    c->team.inside->worth = c->team.most; /* a ceiling is asked of all threads, whatever they lack */
    team_run(&c->team, threads, measure, c);
    for (const CeilingPart *p = c->parts; p < c->parts + threads; p++) {
        done += p->done;
        if (p->begin < begin) begin = p->begin;
        if (p->end > end) end = p->end;
    }
    return done / (end - begin);
}

void ceilings_sample(Ceilings *c) {
    for (int which = 0; which < N_CEILINGS && c->taken < c->most; which++) {
        int again = which == CEILING_REREAD_1 || which == CEILING_REREAD_4;
        for (size_t all = 0; all < 2 && (!again || c->reread); all++)
            c->samples[((size_t)which * 2 + all) * c->most + c->taken] = rate(c, (Ceiling)which, all ? c->threads : 1);
    }
    if (c->taken < c->most) c->taken++;
}

Spread ceilings_rate(const Ceilings *c, Ceiling which, int all) {
    int again = which == CEILING_REREAD_1 || which == CEILING_REREAD_4;
    if (again && !c->reread) return (Spread){0};
    return spread_of(c->samples + ((size_t)which * 2 + (size_t)all) * c->most, c->taken);
}

const char *ceilings_name(const Ceilings *c, Ceiling which) {
    static const char *const reads[] = {"memory read, 1 stream", "memory read, 4 streams",
                                        "token's reads, 1 stream", "token's reads, 4 streams"};
    const PeakLoop *loops[] = {&c->peaks->fma, &c->peaks->int8, &c->peaks->int4};
    return which < CEILING_F32 ? reads[which] : loops[which - CEILING_F32]->name;
}

double ceilings_read(const Ceilings *c) {
    Ceiling first = c->reread ? CEILING_REREAD_1 : CEILING_READ_1;
    double one = ceilings_rate(c, first, 1).median, four = ceilings_rate(c, (Ceiling)(first + 1), 1).median;
    return one > four ? one : four;
}
