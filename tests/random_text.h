/* tests/random_text.h - random strings that tests and oracles make alike (tests/oracle/random_text.py). */
#ifndef RANDOM_TEXT_H
#define RANDOM_TEXT_H

#include <stddef.h>
#include <stdint.h>

enum { RANDOM_TEXT_MAX = 200 };

/* One more string, well-formed UTF-8, and its length; *state begins with 1. Up to 34 characters from a list; of four
 * strings one repeats its characters, one is common text. */
size_t random_text(uint64_t *state, char out[RANDOM_TEXT_MAX]);

#endif
