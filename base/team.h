/* base/team.h - a team inside, for threads.c and for who looks how one fares.
 *
 * A thread that waits looks again and again at first, for threads that all have a core are together at once; then it
 * sleeps, which also lets the system move a late one to the free core. */
#ifndef TEAM_H
#define TEAM_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>

typedef struct TeamMember TeamMember;

typedef struct TeamInside {
    int most;                    /* threads it has */
    int worth;                   /* threads that have a core, as it seems: no run has more */
    int hampered, smooth;        /* runs, one after the other, whose threads lacked a core, or did not */
    int looks;                   /* at a barrier, before a thread sleeps */
    void (*text)(void *arg);     /* of the run under way */
    void *arg;
    int n;                       /* its threads */
    _Atomic uint64_t run;        /* how many runs there were, times 2 * TEAM_MOST, plus the last one's threads */
    atomic_int arrived;          /* threads at the barrier */
    atomic_uint epoch;           /* barriers that are over */
    atomic_int sleeping, idle;   /* threads that sleep at a barrier; for want of a run */
    double woken_at, try_at;     /* when the last barrier ended that somebody slept at; a thread more is tried */
    TeamMember *members;         /* [most] */
    pthread_mutex_t mutex;
    pthread_cond_t together, wanted;
} TeamInside;

#endif
