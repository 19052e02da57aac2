/* tests/fuzz/mutate.c - chance, and places in a file that change. */
#include "mutate.h"

#include <stdlib.h>
#include <string.h>

/* libFuzzer is no part of what MemorySanitizer watches, and so what it wrote looks as if nobody had. */
#if defined(__has_feature)
#if __has_feature(memory_sanitizer)
#include <sanitizer/msan_interface.h>
#define WRITTEN(data, n) __msan_unpoison(data, n)
#endif
#endif
#ifndef WRITTEN
#define WRITTEN(data, n) (void)0
#endif

/* splitmix64 */
uint32_t chance(Mutant *m, uint32_t n) {
    uint64_t z = m->state += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return (uint32_t)((z ^ z >> 31) >> 32) % n;
}

uint64_t chance_number(Mutant *m, uint64_t was) {
    static const uint64_t borders[] = {0, 1, 2, 3, 7, 8, 31, 32, 64, 127, 128, 255, 256, 1024, 65535, 65536, 1 << 17,
                                       INT32_MAX, 1u << 31, UINT32_MAX, 1ull << 32, (1ull << 53) - 1, 1ull << 53,
                                       INT64_MAX, 1ull << 63, UINT64_MAX - 7, UINT64_MAX};
    switch (chance(m, 8)) {
    case 0: return was + 1;
    case 1: return was - 1;
    case 2: return was * 2;
    case 3: return was / 2;
    case 4: return was ^ 1ull << chance(m, 64);
    case 5: return was + 32;
    default: return borders[chance(m, sizeof borders / sizeof *borders)];
    }
}

int splice(Mutant *m, size_t at, size_t size, const void *with, size_t n) {
    if (at > m->size || size > m->size - at || n > m->most - (m->size - size)) return 0;
    uint8_t *copy = malloc(n + 1);
    if (!copy) return 0;
    if (n) memcpy(copy, with, n);
    memmove(m->data + at + n, m->data + at + size, m->size - at - size);
    if (n) memcpy(m->data + at, copy, n);
    m->size = m->size - size + n;
    free(copy);
    return 1;
}

int trade(Mutant *m, size_t a, size_t a_size, size_t b, size_t b_size) {
    size_t between = b - a - a_size, whole = b + b_size - a;
    if (b < a + a_size || b > m->size || b_size > m->size - b) return 0;
    uint8_t *copy = malloc(whole + 1);
    if (!copy) return 0;
    memcpy(copy, m->data + b, b_size);
    memcpy(copy + b_size, m->data + a + a_size, between);
    memcpy(copy + b_size + between, m->data + a, a_size);
    memcpy(m->data + a, copy, whole);
    free(copy);
    return 1;
}

size_t remake(Mutant *m, size_t at, size_t size) {
    uint8_t part[256];
    if (size > sizeof part) return 0;
    memcpy(part, m->data + at, size);
    size_t n = LLVMFuzzerMutate(part, size, sizeof part);
    WRITTEN(part, n);
    return splice(m, at, size, part, n) ? n : 0;
}

size_t mutate(Mutator *how, uint8_t *data, size_t size, size_t most, unsigned seed) {
    Mutant m = {data, size, most, seed};
    int changed = 0;
    WRITTEN(data, most);
    if (chance(&m, 2))
        for (uint32_t i = 1 + chance(&m, 3); i > 0; i--) changed |= how(&m);
    return changed ? m.size : LLVMFuzzerMutate(data, size, most);
}
