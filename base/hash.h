/* base/hash.h - numbers that look like none: of bytes, to tell them from others, and of numbers, to draw by. */
#ifndef HASH_H
#define HASH_H

#include <stddef.h>
#include <stdint.h>

/* FNV-1a, 64 bits, going on from hash; begin with HASH_START. One-to-one, so one damaged byte always shows. */
#define HASH_START 0xcbf29ce484222325u
uint64_t hash_bytes(uint64_t hash, const void *data, size_t n);

/* The last step of splitmix64 (Steele, Lea and Flood 2014): one-to-one, and every bit of x moves all of the result's.
 * Of numbers one after the other it makes random ones, the same on every machine. */
uint64_t hash_mix(uint64_t x);

#endif
