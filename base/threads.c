/* base/threads.c - teams: who starts, how loops are shared out, how threads wait, and what is done where they lack a
 * core. */
#define _GNU_SOURCE /* sched_getaffinity, where the system has it */
#include "threads.h"

#include "base.h"
#include "system.h"
#include "team.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* What a thread has of the team_take loops between two team_waits: how much of its part of each is taken, by itself
 * from the front (the low half of the word) and by others from the back (the high half). Two sets, one for the round
 * under way and one for the next; in cache lines that no other thread has to write to. */
struct TeamMember {
    _Alignas(64) _Atomic uint64_t taken[2][TEAM_LOOPS];
    unsigned loops[2]; /* that are over */
    double slept;      /* seconds of this run, until those it waited for were there */
    double lacked;     /* seconds of this run in which it had no core: it was ready, and neither ran nor slept */
    TeamInside *team;
    pthread_t thread;
};

static _Thread_local int this_member;

int team_member(void) { return this_member; }
int team_become(int member) { int was = this_member; return this_member = member, was; }

/* ---- barriers ---- */

static void forget(TeamMember *m, unsigned set) {
    for (unsigned i = 0; i <= m->loops[set] && i < TEAM_LOOPS; i++)
        atomic_store_explicit(&m->taken[set][i], 0, memory_order_relaxed);
    m->loops[set] = 0;
}

/* How often a thread looks before it sleeps: for some 30 to 100 microseconds, in which threads that all have a core are
 * together mostly; for about a millisecond. */
enum { LOOKS = 2000, LOOKS_SMOOTH = 30000 };

static void relax(void) {
#if defined(__x86_64__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("yield");
#endif
}

static void sleep_until_over(TeamInside *t, unsigned epoch, TeamMember *me) {
    double began = clock_seconds();
    pthread_mutex_lock(&t->mutex);
    atomic_fetch_add(&t->sleeping, 1);
    while (atomic_load(&t->epoch) == epoch) pthread_cond_wait(&t->together, &t->mutex);
    atomic_fetch_sub(&t->sleeping, 1);
    if (t->woken_at > began) me->slept += t->woken_at - began;
    pthread_mutex_unlock(&t->mutex);
}

static void wait_for_all(TeamInside *t) {
    int n = t->n, looks = t->looks; /* read before arriving: behind the barrier another run may have others */
    unsigned epoch = atomic_load(&t->epoch);
    TeamMember *me = &t->members[this_member];
    forget(me, (epoch + 1) & 1); /* the round before this one, which all have left */
    if (n == 1) {
        atomic_store_explicit(&t->epoch, epoch + 1, memory_order_relaxed);
        return;
    }
    if (atomic_fetch_add(&t->arrived, 1) + 1 == n) {
        atomic_store(&t->arrived, 0);
        atomic_fetch_add(&t->epoch, 1); /* no store, as in announce */
        if (atomic_load(&t->sleeping) == 0) return; /* who comes later sees it */
        pthread_mutex_lock(&t->mutex);
        t->woken_at = clock_seconds();
        pthread_cond_broadcast(&t->together);
        pthread_mutex_unlock(&t->mutex);
        return;
    }
    for (int i = 0; i < looks; i++) {
        if (atomic_load_explicit(&t->epoch, memory_order_acquire) != epoch) return;
        relax();
    }
    sleep_until_over(t, epoch, me);
}

/* ---- runs ---- */

/* Seconds, since some moment, for which this thread did not run. */
static double seconds_off(void) { return clock_seconds() - thread_seconds(); }

/* A thread's part in a run. Who is alone waits for nobody: how it fares need not be known. */
static void take_part(TeamInside *t, TeamMember *me) {
    double off = t->n == 1 ? 0 : seconds_off();
    me->slept = me->lacked = 0;
    t->text(t->arg);
    if (t->n > 1) me->lacked = seconds_off() - off - me->slept;
    wait_for_all(t);
}

/* The number of the next run after `last`, whoever takes part: looked for, then slept for. */
static uint64_t next_run(TeamInside *t, uint64_t last) {
    enum { LOOKS_IDLE = 10000 }; /* more than lies between two tokens of a small model */
    uint64_t run;
    for (int i = 0; i < LOOKS_IDLE; i++) {
        if ((run = atomic_load_explicit(&t->run, memory_order_acquire)) != last) return run;
        relax();
    }
    pthread_mutex_lock(&t->mutex);
    atomic_fetch_add(&t->idle, 1);
    while ((run = atomic_load(&t->run)) == last) pthread_cond_wait(&t->wanted, &t->mutex);
    atomic_fetch_sub(&t->idle, 1);
    pthread_mutex_unlock(&t->mutex);
    return run;
}

/* A run is announced by one word, so that its number and its threads are read together: a thread that sleeps through
 * runs of fewer threads never mistakes one for another. A run of no threads is the end. */
static void announce(TeamInside *t, int n) {
    uint64_t run = (atomic_load(&t->run) / (2 * TEAM_MOST) + 1) * (2 * TEAM_MOST) + (uint64_t)n;
    atomic_exchange(&t->run, run); /* no store: qemu on x86 lets arm64's pass the next load */
    if (atomic_load(&t->idle) == 0) return; /* who comes later sees the run */
    pthread_mutex_lock(&t->mutex);
    pthread_cond_broadcast(&t->wanted);
    pthread_mutex_unlock(&t->mutex);
}

static void *work(void *arg) {
    TeamMember *me = arg;
    TeamInside *t = me->team;
    this_member = (int)(me - t->members);
    for (uint64_t run = 0;;) {
        run = next_run(t, run);
        int n = (int)(run % (2 * TEAM_MOST));
        if (n == 0) return NULL;
        if (this_member < n) take_part(t, me);
    }
}

/* Signals are for the thread that the program had; but what a thread does wrong is its own. */
static int start(TeamMember *m) {
    static const int own[] = {SIGBUS, SIGFPE, SIGILL, SIGSEGV};
    sigset_t all, before;
    sigfillset(&all);
    for (size_t i = 0; i < sizeof own / sizeof *own; i++) sigdelset(&all, own[i]);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int rc = pthread_create(&m->thread, NULL, work, m);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return rc;
}

int team_init(Team *team, int most) {
    *team = (Team){.most = 0};
    if (most > TEAM_MOST) most = TEAM_MOST;
    TeamInside *t = calloc(1, sizeof *t);
    TeamMember *members = aligned_alloc(_Alignof(TeamMember), (size_t)most * sizeof *members);
    if (!t || !members) return free(members), free(t), -ENOMEM;
    t->members = memset(members, 0, (size_t)most * sizeof *members);
    pthread_mutex_init(&t->mutex, NULL);
    pthread_cond_init(&t->together, NULL);
    pthread_cond_init(&t->wanted, NULL);
    for (t->most = 1; t->most < most; t->most++) {
        t->members[t->most].team = t;
        if (start(&t->members[t->most])) break;
    }
    t->worth = t->most;
    t->n = 1;
    *team = (Team){t->most, t};
    return 0;
}

void team_free(Team *team) {
    TeamInside *t = team->inside;
    if (t) {
        announce(t, 0);
        for (int i = 1; i < t->most; i++) pthread_join(t->members[i].thread, NULL);
        pthread_cond_destroy(&t->wanted);
        pthread_cond_destroy(&t->together);
        pthread_mutex_destroy(&t->mutex);
        free(t->members);
        free(t);
    }
    *team = (Team){.most = 0};
}

enum { SMOOTH = 16 };

/* Three runs in a row whose threads went without a core for a quarter of the time, and the next have a thread less;
 * sixteen that were not, and sixteen times as long as the last that was, and the next has one more: if it is hampered,
 * it was the only one. With one of two cores taken away threads lacked one for 80 to 100 % of the time; if not, for 3.
 * Who had a core in the last sixteen looks longer before it sleeps, which gives a virtual machine's core away. */
static void judge(TeamInside *t, double took) {
    enum { SHARE = 4, HAMPERED = 3, PATIENCE = 16 };
    if (t->n < t->worth) return; /* it was asked for fewer */
    double lacked = 0;
    for (int i = 0; i < t->n; i++) lacked += t->members[i].lacked;
    int hampered = lacked * SHARE > took;
    t->hampered = hampered ? t->hampered + 1 : 0;
    t->smooth = hampered ? 0 : t->smooth < SMOOTH ? t->smooth + 1 : SMOOTH;
    if (t->hampered == HAMPERED) t->hampered = 0, t->worth--, t->try_at = clock_seconds() + PATIENCE * took;
    if (t->worth < t->most && t->smooth == SMOOTH && clock_seconds() >= t->try_at)
        t->smooth = 0, t->hampered = HAMPERED - 1, t->worth++;
}

void team_run(Team *team, int n, void (*text)(void *arg), void *arg) {
    TeamInside *t = team->inside;
    if (n > t->worth) n = t->worth;
    double began = n > 1 ? clock_seconds() : 0;
    for (int i = t->n; i < n; i++)
        forget(&t->members[i], 0), forget(&t->members[i], 1); /* who did not run the last time */
    t->text = text, t->arg = arg, t->n = n;
    t->looks = n == t->worth && t->smooth == SMOOTH ? LOOKS_SMOOTH : LOOKS;
    if (n > 1) announce(t, n);
    take_part(t, &t->members[0]);
    judge(t, n > 1 ? clock_seconds() - began : 1);
}

/* ---- loops ---- */

static Share part(size_t n, size_t threads, size_t i) {
    size_t each = n / threads, more = n % threads, at = i * each + (i < more ? i : more);
    return (Share){at, at + each + (i < more)};
}

Share team_share(const Team *t, size_t n) { return part(n, (size_t)t->inside->n, (size_t)this_member); }

/* Of what is left of a part its own thread takes a quarter, which goes on where the last one ended: a long run through
 * memory. Others take half, from the end. Where it is the only one it takes all. */
static int part_take(_Atomic uint64_t *taken, Share whole, int own, size_t threads, Share *share) {
    uint64_t was = atomic_load_explicit(taken, memory_order_relaxed), take;
    if (threads == 1) {
        atomic_store_explicit(taken, whole.end, memory_order_relaxed);
        *share = whole;
        return was < whole.end;
    }
    do {
        uint64_t left = whole.end - whole.at - (uint32_t)was - (was >> 32);
        if (left == 0) return 0;
        take = own ? (left + 3) / 4 : (left + 1) / 2;
    } while (!atomic_compare_exchange_weak_explicit(taken, &was, was + (own ? take : take << 32), memory_order_relaxed,
                                                    memory_order_relaxed));
    size_t at = own ? whole.at + (uint32_t)was : whole.end - (size_t)((was >> 32) + take);
    *share = (Share){at, at + (size_t)take};
    return 1;
}

int team_take(Team *team, size_t n, Share *share) {
    TeamInside *t = team->inside;
    size_t threads = (size_t)t->n, me = (size_t)this_member;
    unsigned set = atomic_load_explicit(&t->epoch, memory_order_relaxed) & 1, *loops = &t->members[me].loops[set];
    for (size_t k = 0, i = me; k < threads; k++, i = i + 1 < threads ? i + 1 : 0)
        if (part_take(&t->members[i].taken[set][*loops % TEAM_LOOPS], part(n, threads, i), i == me, threads, share))
            return 1;
    ++*loops;
    return 0;
}

void team_wait(Team *t) { wait_for_all(t->inside); }

/* ---- what there is ---- */

static int processors(void) {
#if defined(__linux__)
    cpu_set_t mine;
    if (sched_getaffinity(0, sizeof mine, &mine) == 0) return CPU_COUNT(&mine);
#endif
    long n = sysconf(_SC_NPROCESSORS_ONLN);
    return n < 1 ? 1 : n > TEAM_MOST ? TEAM_MOST : (int)n;
}

/* The number of the last processor that is switched on, as "0-3,6" ends; -1 where the system does not say. */
static int last_processor(void) {
    int last = -1;
    FILE *f = fopen("/sys/devices/system/cpu/online", "r");
    if (!f) return -1;
    while (fscanf(f, "%d%*[-,]", &last) == 1) {}
    fclose(f);
    return last;
}

/* Two threads on one core share what it can compute: a core counts once, by the first of its siblings. */
int threads_most(void) {
    int most = processors(), cores = 0, last = last_processor();
    for (int i = 0; i <= last; i++) {
        char path[80], line[100];
        snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu%d/topology/thread_siblings_list", i);
        FILE *f = fopen(path, "r");
        if (!f) continue; /* switched off */
        if (fgets(line, sizeof line, f)) cores += strtol(line, NULL, 10) == i;
        fclose(f);
    }
    return cores > 0 && cores < most ? cores : most;
}

size_t cache_second_level(void) {
    long least = 512 << 10, most = 2 << 20, bytes = 0;
#ifdef _SC_LEVEL2_CACHE_SIZE
    bytes = sysconf(_SC_LEVEL2_CACHE_SIZE);
#endif
    return (size_t)(bytes < least ? least : bytes > most ? most : bytes);
}
