/* tests/delays/delayed.h - put in front of base/threads.c (-include): wherever a thread there looks, tells, waits or
 * wakes it may be held up first. The program that is shipped knows nothing of it. */
#ifndef DELAYED_H
#define DELAYED_H

#define _GNU_SOURCE /* which threads.c asks for, behind this */
#include <pthread.h>
#include <stdatomic.h>

/* A point: points.c may hold the thread up here. */
void delay_at(const char *where);
int delay_chance(const char *where); /* the same, and now and then 1: what may fail for no reason does */

#define DELAY_TEXT(x) #x
#define DELAY_LINE(x) DELAY_TEXT(x)
#define DELAY_HERE __FILE__ ":" DELAY_LINE(__LINE__)

/* The atomics of stdatomic.h are the compiler's own, by other names in each. */
#if defined(__clang__)
#define DELAY_DO(what, ...) __c11_atomic_##what(__VA_ARGS__)
#define DELAY_WEAK(p, was, to, good, bad) __c11_atomic_compare_exchange_weak(p, was, to, good, bad)
#else
#define DELAY_DO(what, ...) DELAY_DO_##what(__VA_ARGS__)
#define DELAY_DO_load(...) __atomic_load_n(__VA_ARGS__)
#define DELAY_DO_store(...) __atomic_store_n(__VA_ARGS__)
#define DELAY_DO_exchange(...) __atomic_exchange_n(__VA_ARGS__)
#define DELAY_DO_fetch_add(...) __atomic_fetch_add(__VA_ARGS__)
#define DELAY_DO_fetch_sub(...) __atomic_fetch_sub(__VA_ARGS__)
#define DELAY_WEAK(p, was, to, good, bad) __atomic_compare_exchange_n(p, was, to, 1, good, bad)
#endif
#define DELAY_ATOMIC(...) (delay_at(DELAY_HERE), DELAY_DO(__VA_ARGS__))
/* Behind what changes something a thread may be late, too. */
#define DELAY_CHANGE(...) __extension__({ delay_at(DELAY_HERE); __auto_type delayed_was = DELAY_DO(__VA_ARGS__); \
    delay_at("behind " DELAY_HERE); delayed_was; })

#undef atomic_load_explicit
#undef atomic_load
#undef atomic_store_explicit
#undef atomic_store
#undef atomic_exchange
#undef atomic_fetch_add
#undef atomic_fetch_sub
#undef atomic_compare_exchange_weak_explicit
#define atomic_load_explicit(p, order) DELAY_ATOMIC(load, p, order)
#define atomic_load(p) DELAY_ATOMIC(load, p, memory_order_seq_cst)
#define atomic_store_explicit(p, v, order) DELAY_ATOMIC(store, p, v, order)
#define atomic_store(p, v) DELAY_ATOMIC(store, p, v, memory_order_seq_cst)
#define atomic_exchange(p, v) DELAY_CHANGE(exchange, p, v, memory_order_seq_cst)
#define atomic_fetch_add(p, v) DELAY_CHANGE(fetch_add, p, v, memory_order_seq_cst)
#define atomic_fetch_sub(p, v) DELAY_CHANGE(fetch_sub, p, v, memory_order_seq_cst)
/* arm64's may fail though nobody else came, and so does this one. */
#define atomic_compare_exchange_weak_explicit(p, was, to, good, bad) \
    (delay_chance(DELAY_HERE) ? (*(was) = DELAY_DO(load, p, bad), 0) : DELAY_WEAK(p, was, to, good, bad))

int delayed_lock(pthread_mutex_t *m, const char *where);
int delayed_unlock(pthread_mutex_t *m, const char *where);
int delayed_wait(pthread_cond_t *c, pthread_mutex_t *m, const char *where); /* may wake for no reason, as POSIX says */
int delayed_broadcast(pthread_cond_t *c, const char *where);
int delayed_create(pthread_t *thread, const pthread_attr_t *a, void *(*run)(void *), void *arg, const char *where);
#define pthread_mutex_lock(m) delayed_lock(m, DELAY_HERE)
#define pthread_mutex_unlock(m) delayed_unlock(m, DELAY_HERE)
#define pthread_cond_wait(c, m) delayed_wait(c, m, DELAY_HERE)
#define pthread_cond_broadcast(c) delayed_broadcast(c, DELAY_HERE)
#define pthread_create(thread, a, run, arg) delayed_create(thread, a, run, arg, DELAY_HERE)

#endif
