/* base/threads.h - a team of threads that go through the same text together, sharing its loops out.
 *
 *     team_init(&team, 4);                               this thread and three that wait for work
 *     team_run(&team, 4, text, arg);                     four threads run text(arg), this one among them
 *
 *     for (Share i = team_share(t, n); i.at < i.end; i.at++) ...          equal parts, fixed
 *     for (Share i; team_take(t, n, &i);) for (; i.at < i.end; i.at++)    equal parts, and who is done helps the others
 *     team_wait(t);                                      what the others did in these loops may be read behind it
 *
 * A team whose threads lack a core for a quarter of the time goes on with one less, and tries now and then for more. */
#ifndef THREADS_H
#define THREADS_H

#include <stddef.h>

enum { TEAM_MOST = 1024, TEAM_LOOPS = 16 }; /* threads; team_take loops between two team_waits, at most */

typedef struct {
    int most;                  /* threads it has */
    struct TeamInside *inside; /* team.h */
} Team;

/* A team of at most `most` threads, fewer where the system gives no more (t->most says). 0 or -ENOMEM. */
int team_init(Team *t, int most);
void team_free(Team *t); /* accepts a zeroed struct */

/* n threads, at most t->most, run text(arg) and wait for each other at its end; fewer where earlier ones lacked one. */
void team_run(Team *t, int n, void (*text)(void *arg), void *arg);

typedef struct { size_t at, end; } Share;

/* For threads inside text: each calls these in the same order. */
Share team_share(const Team *t, size_t n);      /* this thread's part of n items */
int team_take(Team *t, size_t n, Share *share); /* some of n items, below 2^32, for this thread; 0: none are left */
void team_wait(Team *t);                        /* until all are here */
int team_member(void);                          /* which thread is asking, from 0 */
int team_become(int member); /* 0 within a team of one, and what this gave behind it; which it was */

int threads_most(void); /* as many as are worth using: the cores of this machine that the process may use */
size_t cache_second_level(void); /* bytes of a core's, 512 KB to 2 MB; 512 KB where the system does not say */

#endif
