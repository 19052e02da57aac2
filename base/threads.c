/* base/threads.c - teams, and the OpenMP switch. */
#include "threads.h"

#include "base.h"

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef _OPENMP
#include <omp.h>
int team_member(void) { return omp_get_thread_num(); }
int threads_work(void) { return 1; }
static int team_size(void) { return omp_get_num_threads(); }

/* Two threads on one core share what it can compute: a core counts once, by the first of its siblings. */
int threads_most(void) {
    int most = omp_get_max_threads(), processors = omp_get_num_procs(), cores = 0;
    if (most != processors) return most; /* somebody said how many */
    for (int i = 0, first; i < 4096; i++) {
        char path[80];
        snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu%d/topology/thread_siblings_list", i);
        FILE *f = fopen(path, "r");
        if (!f) break;
        if (fscanf(f, "%d", &first) == 1) cores += first == i;
        fclose(f);
    }
    return cores > 0 && cores < most ? cores : most;
}
#else
int team_member(void) { return 0; }
int threads_work(void) { return 0; }
static int team_size(void) { return 1; }
int threads_most(void) { return 1; }
#endif

/* What a thread has of the team_take loops between two team_waits: how much of its part of each is taken, by itself from the front (the
 * low half of the word) and by others from the back (the high half). Two sets, one for the round under way and one for the next; in
 * cache lines that no other thread has to write to. */
struct TeamMember {
    _Alignas(64) _Atomic uint64_t taken[2][TEAM_LOOPS];
    unsigned loops[2]; /* that are over */
    double slept;      /* seconds of this run, until those it waited for were there */
    double lacked;     /* seconds of this run in which it had no core: it was ready, and neither ran nor slept */
};

static void forget(TeamMember *m, unsigned set) {
    for (unsigned i = 0; i <= m->loops[set] && i < TEAM_LOOPS; i++) atomic_store_explicit(&m->taken[set][i], 0, memory_order_relaxed);
    m->loops[set] = 0;
}

int team_init(Team *t, int most) {
    memset(t, 0, sizeof *t);
    t->members = aligned_alloc(_Alignof(TeamMember), (size_t)most * sizeof *t->members);
    if (!t->members) return -ENOMEM;
    memset(t->members, 0, (size_t)most * sizeof *t->members);
    t->most = t->worth = most;
    atomic_init(&t->n, 1);
    pthread_mutex_init(&t->mutex, NULL);
    pthread_cond_init(&t->woken, NULL);
    return 0;
}

void team_free(Team *t) {
    if (t->members) {
        pthread_cond_destroy(&t->woken);
        pthread_mutex_destroy(&t->mutex);
    }
    free(t->members);
    memset(t, 0, sizeof *t);
}

/* Three runs in a row whose threads went without a core for a quarter of the time, and the next have a thread less; sixteen that were
 * not hampered so, and the next has one more: if it is hampered, it was the only one. Where one of two cores was taken away, threads
 * lacked one for 80 to 100 % of the time; undisturbed, for 0 to 3 %. */
static void judge(Team *t, int n, double took) {
    enum { SHARE = 4, HAMPERED = 3, SMOOTH = 16 };
    if (n < t->worth) return; /* it was asked for fewer */
    double lacked = 0;
    for (int i = 0; i < n; i++) lacked += t->members[i].lacked;
    if (lacked * SHARE > took) {
        t->smooth = 0;
        if (++t->hampered == HAMPERED) t->hampered = 0, t->worth--;
        return;
    }
    t->hampered = 0;
    if (t->worth < t->most && ++t->smooth == SMOOTH) t->smooth = 0, t->hampered = HAMPERED - 1, t->worth++;
}

/* Seconds, since some moment, for which this thread did not run. */
static double seconds_off(void) { return clock_seconds() - thread_seconds(); }

/* A thread's part in a run. Who is alone waits for nobody: how it fares need not be known. */
static void run_text(Team *t, void (*text)(void *arg), void *arg) {
    TeamMember *me = &t->members[team_member()];
    int alone = atomic_load(&t->n) == 1;
    double off = alone ? 0 : seconds_off();
    me->slept = me->lacked = 0;
    text(arg);
    team_wait(t);
    if (!alone) me->lacked = seconds_off() - off - me->slept;
}

void team_run(Team *t, int n, void (*text)(void *arg), void *arg) {
    if (n > t->worth) n = t->worth;
    double began = clock_seconds();
    for (int i = atomic_load(&t->n); i < n; i++) forget(&t->members[i], 0), forget(&t->members[i], 1); /* who did not run the last time */
    #pragma omp parallel num_threads(n)
    {
        atomic_store_explicit(&t->n, team_size(), memory_order_relaxed);
        run_text(t, text, arg);
    }
    judge(t, atomic_load(&t->n), clock_seconds() - began);
}

static Share part(size_t n, size_t threads, size_t i) {
    size_t each = n / threads, more = n % threads, at = i * each + (i < more ? i : more);
    return (Share){at, at + each + (i < more)};
}

Share team_share(const Team *t, size_t n) {
    return part(n, (size_t)atomic_load_explicit(&t->n, memory_order_relaxed), (size_t)team_member());
}

/* Of what is left of a part its own thread takes a quarter (all, where it is the only one), which goes on where the last one ended: a long
 * run through memory. Others take half, from the end. */
static int part_take(_Atomic uint64_t *taken, Share whole, int own, size_t threads, Share *share) {
    uint64_t was = atomic_load_explicit(taken, memory_order_relaxed), take;
    do {
        uint64_t left = whole.end - whole.at - (uint32_t)was - (was >> 32);
        if (left == 0) return 0;
        take = threads == 1 ? left : own ? (left + 3) / 4 : (left + 1) / 2;
    } while (!atomic_compare_exchange_weak_explicit(taken, &was, was + (own ? take : take << 32), memory_order_relaxed, memory_order_relaxed));
    size_t at = own ? whole.at + (uint32_t)was : whole.end - (was >> 32) - take;
    *share = (Share){at, at + take};
    return 1;
}

int team_take(Team *t, size_t n, Share *share) {
    size_t threads = (size_t)atomic_load_explicit(&t->n, memory_order_relaxed), me = (size_t)team_member();
    unsigned set = atomic_load_explicit(&t->turn, memory_order_relaxed) & 1, *loops = &t->members[me].loops[set], loop = *loops % TEAM_LOOPS;
    for (size_t k = 0, i = me; k < threads; k++, i = i + 1 < threads ? i + 1 : 0)
        if (part_take(&t->members[i].taken[set][loop], part(n, threads, i), i == me, threads, share)) return 1;
    ++*loops;
    return 0;
}

static void relax(void) {
#if defined(__x86_64__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("yield");
#endif
}

static void sleep_until(Team *t, unsigned turn, TeamMember *me) {
    double began = clock_seconds();
    pthread_mutex_lock(&t->mutex);
    atomic_fetch_add(&t->sleeping, 1);
    while (atomic_load(&t->turn) == turn) pthread_cond_wait(&t->woken, &t->mutex);
    atomic_fetch_sub(&t->sleeping, 1);
    if (t->turned > began) me->slept += t->turned - began;
    pthread_mutex_unlock(&t->mutex);
}

void team_wait(Team *t) {
    enum { SPINS = 2000 }; /* some 30 to 100 microseconds: threads that all have a core are together by then */
    int n = atomic_load_explicit(&t->n, memory_order_relaxed);
    unsigned turn = atomic_load(&t->turn);
    TeamMember *me = &t->members[team_member()];
    forget(me, (turn + 1) & 1); /* the round before this one, which all have left */
    if (n == 1) {
        atomic_store_explicit(&t->turn, turn + 1, memory_order_relaxed);
        return;
    }
    if (atomic_fetch_add(&t->arrived, 1) + 1 == n) {
        atomic_store(&t->arrived, 0);
        atomic_fetch_add(&t->turn, 1); /* no store: qemu on x86 lets arm64's pass the next load */
        if (atomic_load(&t->sleeping) == 0) return; /* who comes later sees the turn */
        pthread_mutex_lock(&t->mutex);
        t->turned = clock_seconds();
        pthread_cond_broadcast(&t->woken);
        pthread_mutex_unlock(&t->mutex);
        return;
    }
    for (int i = 0; i < SPINS; i++) {
        if (atomic_load_explicit(&t->turn, memory_order_acquire) != turn) return;
        relax();
    }
    sleep_until(t, turn, me);
}
