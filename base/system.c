/* base/system.c - the operating-system calls that are no file's: pages, time, signals. */
#define _DEFAULT_SOURCE /* MAP_ANONYMOUS, madvise */
#include "system.h"

#include <signal.h>
#include <stdint.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

void *pages_new(size_t size) {
    void *p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (p == MAP_FAILED) return NULL;
#ifdef MADV_HUGEPAGE
    enum { LARGE = 2 << 20 };
    if (size >= LARGE) madvise(p, size, MADV_HUGEPAGE);
#endif
    return p;
}

void pages_free(void *p, size_t size) {
    if (p) munmap(p, size);
}

void pages_drop(const void *data, size_t size) {
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE), from = ((uintptr_t)data + page - 1) & ~(page - 1),
              to = ((uintptr_t)data + size) & ~(page - 1);
    if (from < to) madvise((void *)from, to - from, MADV_DONTNEED);
}

double clock_seconds(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

double thread_seconds(void) {
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

void signal_catch(int sig, void (*handler)(int sig), int flags) {
    struct sigaction was;
    if (sig == SIGHUP && sigaction(sig, NULL, &was) == 0 && was.sa_handler == SIG_IGN) return;
    sigaction(sig, &(struct sigaction){.sa_handler = handler, .sa_flags = flags}, NULL);
}
