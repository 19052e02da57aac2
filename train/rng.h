/* train/rng.h - chance that can be asked for again: a stream of numbers from a seed and a place (a step, a parameter),
 * so that a run that goes on needs no state of it. splitmix64: Steele, Lea and Flood, OOPSLA 2014. */
#ifndef RNG_H
#define RNG_H

#include <stddef.h>
#include <stdint.h>

typedef struct { uint64_t state; } Rng;

Rng rng_of(uint64_t seed, uint64_t place);
uint64_t rng_next(Rng *r);
size_t rng_below(Rng *r, size_t n);   /* 0 .. n-1, n >= 1; the bias is below n / 2^64 */
double rng_uniform(Rng *r);           /* [0, 1) */
double rng_normal(Rng *r);            /* mean 0, deviation 1 (Box and Muller 1958) */
uint64_t rng_place(const char *name); /* a place for a name */

#endif
