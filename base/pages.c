/* base/pages.c - memory by the page: large blocks of our own, and the giving back of mapped pages. */
#define _DEFAULT_SOURCE /* MAP_ANONYMOUS, madvise */
#include "base.h"

#include <sys/mman.h>
#include <unistd.h>

void *pages_new(size_t size) {
    void *p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (p == MAP_FAILED) return NULL;
    pages_large(p, size);
    return p;
}

void pages_large(void *p, size_t size) {
#ifdef MADV_HUGEPAGE
    enum { LARGE = 2 << 20 };
    if (size >= LARGE) madvise(p, size, MADV_HUGEPAGE);
#else
    (void)p, (void)size;
#endif
}

void pages_free(void *p, size_t size) {
    if (p) munmap(p, size);
}

void pages_drop(const void *data, size_t size) {
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE), from = ((uintptr_t)data + page - 1) & ~(page - 1), to = ((uintptr_t)data + size) & ~(page - 1);
    if (from < to) madvise((void *)from, to - from, MADV_DONTNEED);
}

size_t cache_second_level(void) {
    long least = 512 << 10, most = 2 << 20, bytes = 0;
#ifdef _SC_LEVEL2_CACHE_SIZE
    bytes = sysconf(_SC_LEVEL2_CACHE_SIZE);
#endif
    return (size_t)(bytes < least ? least : bytes > most ? most : bytes);
}
