/* tests/delays/points.c - where threads are held up, and for how long: see delays.h. */
#include "delays.h"
#include "delayed.h"
#include "base/hash.h"
#include "base/system.h"
#include "base/team.h"
#include "base/threads.h"

#include <sched.h>
#include <time.h>

#undef pthread_mutex_lock
#undef pthread_mutex_unlock
#undef pthread_cond_wait
#undef pthread_cond_broadcast
#undef pthread_create
#undef atomic_load_explicit
#undef atomic_store_explicit
#undef atomic_fetch_add
#define add(p, v) DELAY_DO(fetch_add, p, v, memory_order_relaxed)

static Delays *shared;
static uint64_t round_seed; /* 0: nobody is held up */
static unsigned rare;       /* a round's own: a delay after 1 to 2^rare points */
static int hampers;         /* 1: teams are told that they lack a core, now and then */
static _Atomic uint64_t n_threads, n_runs;

static _Thread_local struct {
    uint64_t round, random, left, gap, looks;
    const char *where;
    size_t number;
    double debt;
} self;

void delays_share(Delays *s) { shared = s; }

void delays_begin(uint64_t seed) {
    round_seed = seed | 1;
    rare = 4 + (unsigned)(hash_mix(seed + 1) % 9);
    hampers = hash_mix(seed + 2) % 4 == 0;
    n_threads = n_runs = 0;
    for (int i = 0; i < DELAY_THREADS; i++) shared->at[i] = NULL;
}

void delays_end(void) { round_seed = 0; }

static uint64_t draw(void) { return hash_mix(self.random += 0x9e3779b97f4a7c15u); }

static void draw_gap(void) { self.left = self.gap = 1 + draw() % (1u << rare); }

static void begin_thread(void) {
    self.number = add(&n_threads, 1);
    self.round = round_seed;
    self.random = hash_mix(round_seed + self.number);
    draw_gap();
}

static void note_place(const char *where) {
    for (int i = 0; i < DELAY_PLACES; i++) {
        const char *is = NULL;
        if (shared->places[i].where == where ||
            (atomic_compare_exchange_strong(&shared->places[i].where, &is, where) || is == where)) {
            add(&shared->places[i].n, 1);
            return;
        }
    }
}

static void spin(double seconds) {
    double until = clock_seconds() + seconds;
    while (clock_seconds() < until) continue;
}

/* Half of them are of the length that differs between threads which all have a core; a quarter lets others run; a
 * quarter is longer than a thread looks before it sleeps. */
static void hold_up(void) {
    uint64_t r = draw();
    long most = r >> 8 & 31 ? 1L << (r >> 13) % 10 : 3000; /* microseconds */
    if (r & 1) spin(1e-6 * (double)(r >> 8 & 31));
    else if (r & 2) sched_yield();
    else nanosleep(&(struct timespec){.tv_nsec = 1000 * most}, NULL);
}

/* A thread that looks again and again is at one point: each 256th look counts. */
void delay_at(const char *where) {
    if (!round_seed) return;
    if (self.round != round_seed) begin_thread();
    if (self.where == where && ++self.looks % 256) return;
    self.where = where;
    if (self.number < DELAY_THREADS) DELAY_DO(store, &shared->at[self.number], where, memory_order_relaxed);
    if (--self.left) return;
    add(&shared->points, self.gap), add(&shared->delays, 1);
    note_place(where);
    draw_gap();
    hold_up();
}

int delay_chance(const char *where) {
    delay_at(where);
    return round_seed && draw() % 8 == 0;
}

/* ---- what threads.c calls ---- */

int delayed_lock(pthread_mutex_t *m, const char *where) {
    delay_at(where);
    int rc = pthread_mutex_lock(m);
    delay_at(where);
    return rc;
}

int delayed_unlock(pthread_mutex_t *m, const char *where) {
    delay_at(where);
    int rc = pthread_mutex_unlock(m);
    delay_at(where);
    return rc;
}

int delayed_wait(pthread_cond_t *c, pthread_mutex_t *m, const char *where) {
    int rc = 0;
    if (delay_chance(where)) {
        pthread_mutex_unlock(m);
        delay_at(where);
        pthread_mutex_lock(m);
    } else {
        if (round_seed) add(&shared->asleep, 1);
        rc = pthread_cond_wait(c, m);
    }
    delay_at(where);
    return rc;
}

int delayed_broadcast(pthread_cond_t *c, const char *where) {
    delay_at(where);
    return pthread_cond_broadcast(c);
}

int delayed_create(pthread_t *thread, const pthread_attr_t *a, void *(*run)(void *), void *arg, const char *where) {
    delay_at(where);
    int rc = pthread_create(thread, a, run, arg);
    delay_at(where);
    return rc;
}

/* ---- what others call of a team ---- */

#define WRAP(type, name, ...) type __real_##name(__VA_ARGS__); type __wrap_##name(__VA_ARGS__); \
    type __wrap_##name(__VA_ARGS__)

WRAP(int, team_init, Team *t, int most) {
    delay_at("team_init");
    return __real_team_init(t, most);
}

WRAP(void, team_free, Team *t) {
    delay_at("team_free");
    __real_team_free(t);
}

WRAP(void, team_run, Team *t, int n, void (*text)(void *arg), void *arg) {
    delay_at("team_run");
    add(&n_runs, 1);
    __real_team_run(t, n, text, arg);
    int had = t->inside->n;
    if (round_seed) add(&shared->runs[had < DELAY_TEAM ? had : DELAY_TEAM], 1);
    delay_at("behind team_run");
}

WRAP(Share, team_share, const Team *t, size_t n) {
    delay_at("team_share");
    return __real_team_share(t, n);
}

WRAP(int, team_take, Team *t, size_t n, Share *share) {
    delay_at("team_take");
    int more = __real_team_take(t, n, share);
    delay_at("behind team_take");
    return more;
}

/* The caller goes into the list. 1: this one is left out. */
static int note_wait(void *caller) {
    for (int i = 0; i < DELAY_WAITS; i++) {
        void *is = NULL;
        if (shared->waits[i] == caller || atomic_compare_exchange_strong(&shared->waits[i], &is, caller) ||
            is == caller)
            break;
    }
    if (shared->left_out != caller) return 0;
    shared->reached = 1;
    return round_seed != 0;
}

WRAP(void, team_wait, Team *t) {
    int left_out = note_wait(__builtin_return_address(0));
    delay_at("team_wait");
    if (!left_out) __real_team_wait(t);
    delay_at("behind team_wait");
}

WRAP(int, team_member, void) {
    delay_at("team_member");
    return __real_team_member();
}

/* A thread is held up asleep, which a team would take for a lack of cores: it would go on with fewer. So it is told
 * that none lacks one; but in some rounds that all do, for 8 runs in 24: then it shrinks and grows again. */
double __wrap_thread_seconds(void);
double __wrap_thread_seconds(void) {
    delay_at("thread_seconds");
    if (round_seed && hampers && DELAY_DO(load, &n_runs, memory_order_relaxed) / 8 % 3 == 0) self.debt += 1;
    return clock_seconds() - self.debt;
}
