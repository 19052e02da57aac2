/* base/threads.h - a team of threads that go through the same text together, sharing its loops out.
 *
 *     team_run(&team, 4, text, arg);                     four threads run text(arg), this one among them
 *
 *     for (Share i = team_share(t, n); i.at < i.end; i.at++) ...          equal parts, fixed
 *     for (Share i; team_take(t, n, &i);) for (; i.at < i.end; i.at++)    equal parts, and who is done helps the others
 *     team_wait(t);                                      what the others did in these loops may be read behind it
 *
 * OpenMP starts the threads; where a compiler has none, a team is one thread. The waiting is ours: OpenMP's threads spin, and
 * where another program takes a core, all wait for one that is not running. Here a thread that has waited for some tens of
 * microseconds goes to sleep, which also lets the system move the late one to the free core; and a team whose threads have no
 * core for a quarter of the time goes on with a thread less, trying now and then whether the core is free again. */
#ifndef THREADS_H
#define THREADS_H

#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>

enum { TEAM_LOOPS = 16 }; /* team_take loops between two team_waits, at most */

typedef struct TeamMember TeamMember;

typedef struct {
    int most;                      /* threads it has room for */
    int worth;                     /* threads that have a core, as it seems: no run has more */
    int hampered, smooth;          /* runs, one after the other, whose threads lacked a core, or did not */
    atomic_int n;                  /* threads of the run under way */
    atomic_int arrived, sleeping;
    double turned;                 /* when the last team_wait ended that somebody slept in */
    atomic_uint turn;              /* team_waits that are over */
    TeamMember *members;           /* [most] */
    pthread_mutex_t mutex;
    pthread_cond_t woken;
} Team;

int team_init(Team *t, int most); /* 0 or -ENOMEM */
void team_free(Team *t);          /* accepts a zeroed struct */

/* n threads, at most t->most, run text(arg) and wait for each other at its end; fewer where earlier runs were hampered. */
void team_run(Team *t, int n, void (*text)(void *arg), void *arg);

typedef struct {
    size_t at, end;
} Share;

/* For threads inside text: each calls these in the same order. */
Share team_share(const Team *t, size_t n);      /* this thread's part of n items */
int team_take(Team *t, size_t n, Share *share); /* some of n items, below 2^32, for this thread; 0: none are left */
void team_wait(Team *t);                        /* until all are here */
int team_member(void);                          /* which thread is asking, from 0 */

int threads_most(void); /* as many as are worth using: the cores of this machine that the process may use, or OMP_NUM_THREADS; 1 without OpenMP */
int threads_work(void); /* 1 where more than one thread can run at all */

#endif
