/* tests/random_text.c - the generator of tests/oracle/random_text.py. */
#include "random_text.h"

#include "base/base.h"
#include "tests/golden/split.h"

static unsigned draw(uint64_t *state, unsigned n) {
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (unsigned)((*state >> 33) % n);
}

size_t random_text(uint64_t *state, char out[RANDOM_TEXT_MAX]) {
    unsigned kind = draw(state, 4), n = 1 + draw(state, 30), count = 0;
    size_t len = 0;
    while (count < n) {
        unsigned c = split_points[draw(state, kind == 0 ? SPLIT_COMMON : sizeof split_points / sizeof *split_points)];
        for (unsigned times = kind == 1 ? 1 + draw(state, 5) : 1; times > 0; times--, count++)
            len += (size_t)utf8_encode(c, out + len);
    }
    return len;
}
