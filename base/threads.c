/* base/threads.c - teams, and the OpenMP switch. */
#include "threads.h"

#include <errno.h>
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

/* A cache line each: no thread writes beside another. */
struct TeamMember {
    unsigned loop; /* team_take loops since the last team_wait */
    char rest[60];
};

int team_init(Team *t, int most) {
    memset(t, 0, sizeof *t);
    t->members = calloc((size_t)most, sizeof *t->members);
    if (!t->members) return -ENOMEM;
    t->most = most;
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

void team_run(Team *t, int n, void (*text)(void *arg), void *arg) {
    if (n > t->most) n = t->most;
    #pragma omp parallel num_threads(n)
    {
        atomic_store_explicit(&t->n, team_size(), memory_order_relaxed);
        text(arg);
        team_wait(t);
    }
}

Share team_share(const Team *t, size_t n) {
    size_t threads = (size_t)atomic_load_explicit(&t->n, memory_order_relaxed), i = (size_t)team_member();
    size_t each = n / threads, more = n % threads;
    size_t at = i * each + (i < more ? i : more);
    return (Share){at, at + each + (i < more)};
}

/* Half of an equal part of what is left: long runs through memory at first, short ones when a late thread would be waited for. */
int team_take(Team *t, size_t n, Share *share) {
    TeamMember *me = &t->members[team_member()];
    atomic_size_t *next = &t->next[me->loop % TEAM_LOOPS];
    size_t threads = (size_t)atomic_load_explicit(&t->n, memory_order_relaxed), at = atomic_load_explicit(next, memory_order_relaxed), take;
    do {
        if (at >= n) {
            me->loop++;
            return 0;
        }
        take = threads == 1 ? n : (n - at) / (2 * threads);
        if (take == 0) take = 1;
    } while (!atomic_compare_exchange_weak_explicit(next, &at, at + take, memory_order_relaxed, memory_order_relaxed));
    *share = (Share){at, at + take < n ? at + take : n};
    return 1;
}

static void relax(void) {
#if defined(__x86_64__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("yield");
#endif
}

static void sleep_until(Team *t, unsigned turn) {
    pthread_mutex_lock(&t->mutex);
    atomic_fetch_add(&t->sleeping, 1);
    while (atomic_load(&t->turn) == turn) pthread_cond_wait(&t->woken, &t->mutex);
    atomic_fetch_sub(&t->sleeping, 1);
    pthread_mutex_unlock(&t->mutex);
}

void team_wait(Team *t) {
    enum { SPINS = 2000 }; /* some 30 to 100 microseconds: threads that all have a core are together by then */
    int n = atomic_load_explicit(&t->n, memory_order_relaxed);
    t->members[team_member()].loop = 0;
    if (n == 1) {
        for (int i = 0; i < TEAM_LOOPS; i++) atomic_store_explicit(&t->next[i], 0, memory_order_relaxed);
        return;
    }
    unsigned turn = atomic_load(&t->turn);
    if (atomic_fetch_add(&t->arrived, 1) + 1 == n) {
        for (int i = 0; i < TEAM_LOOPS; i++) atomic_store_explicit(&t->next[i], 0, memory_order_relaxed);
        atomic_store(&t->arrived, 0);
        atomic_store(&t->turn, turn + 1);
        if (atomic_load(&t->sleeping) == 0) return; /* who comes later sees the turn */
        pthread_mutex_lock(&t->mutex);
        pthread_cond_broadcast(&t->woken);
        pthread_mutex_unlock(&t->mutex);
        return;
    }
    for (int i = 0; i < SPINS; i++) {
        if (atomic_load_explicit(&t->turn, memory_order_acquire) != turn) return;
        relax();
    }
    sleep_until(t, turn);
}
