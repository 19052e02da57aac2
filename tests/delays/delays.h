/* tests/delays/delays.h - threads that are held up at random wherever they wait for each other (points.c), in jobs of
 * every kind that uses threads (jobs.c), whose results must have the bits that one thread gives undisturbed (main.c).
 *
 * Two hooks, none of them in the program's own text: base/threads.c is compiled once more with delayed.h in front, and
 * the linker hands calls of a team's functions to points.c (--wrap). */
#ifndef DELAYS_H
#define DELAYS_H

#include "tests/train_kit.h"
#include "kernels/kernels.h"

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

enum { DELAY_THREADS = 64, DELAY_PLACES = 64, DELAY_TEAM = 8, DELAY_WAITS = 256 };

/* What the process that works shares with the one that looks on. */
typedef struct {
    _Atomic uint64_t round;
    char job[600];
    int threads;
    _Atomic(const char *) at[DELAY_THREADS]; /* where each thread of the round came last */
    _Atomic uint64_t points, delays, asleep; /* asleep: times that a thread went to sleep for others */
    _Atomic uint64_t runs[DELAY_TEAM + 1];   /* of teams, by their threads */
    struct {
        _Atomic(const char *) where;
        _Atomic uint64_t n; /* delays there */
    } places[DELAY_PLACES];
    _Atomic(void *) waits[DELAY_WAITS]; /* who calls team_wait: return addresses, in the order they came */
    _Atomic(void *) left_out;           /* the one of them whose threads do not wait, or NULL */
    _Atomic int reached;                /* it was */
} Delays;

void delays_share(Delays *shared);
void delays_begin(uint64_t seed); /* no other thread runs, here and at the end */
void delays_end(void);

/* Something that threads do together. `seed` says with which numbers; the result is a hash of all that comes of it. */
typedef struct Job {
    uint64_t (*run)(const struct Job *j, uint64_t seed, int threads);
    const char *name;
    char path[512];    /* a model, or "" for the one that is compiled in */
    const char *spec;  /* of RoPE, or NULL */
    int linear, cache;
    const Kind *kind;  /* what is trained */
} Job;

/* All of them on the models of a folder, malloc'ed; their number. The process ends where a model does not open. */
size_t jobs_of(const char *folder, Job **jobs);
void job_fails(const char *what, const char *why); /* ends the process */

#endif
