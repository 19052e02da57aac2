/* train/rng.c - splitmix64. */
#include "rng.h"

#include "base/base.h"
#include "base/hash.h"

#include <math.h>
#include <string.h>

uint64_t rng_next(Rng *r) { return hash_mix(r->state += 0x9e3779b97f4a7c15u); }

Rng rng_of(uint64_t seed, uint64_t place) {
    Rng a = {seed}, b = {rng_next(&a) ^ place};
    return (Rng){rng_next(&b)};
}

size_t rng_below(Rng *r, size_t n) { return (size_t)(rng_next(r) % n); }

double rng_uniform(Rng *r) { return (double)(rng_next(r) >> 11) * 0x1p-53; }

double rng_normal(Rng *r) {
    double u = 1 - rng_uniform(r), v = rng_uniform(r); /* u is not 0 */
    return sqrt(-2 * log(u)) * cos(TURN * v);
}

uint64_t rng_place(const char *name) { return hash_bytes(HASH_START, name, strlen(name)); }
