/* tests/random_text.c - the generator of tests/oracle/random_text.py. */
#include "random_text.h"

#include "base/base.h"
#include "base/utf8.h"

enum { COMMON = 63 }; /* the first of these make common text */

static const unsigned points[] = { /* as random_text.py has them */
    32, 97, 98, 99, 65, 66, 39, 115, 114, 49, 50, 51, 52, 10, 13, 9, 32, 44, 46, 32, 32, 10, 10, 39, 115, 116,
    100, 109, 108, 114, 118, 101, 83, 84, 68, 77, 76, 82, 86, 69, 48, 49, 50, 51, 52, 53, 54, 55, 56, 57, 97,
    101, 105, 111, 117, 33, 63, 47, 45, 95, 36, 43, 61, 60, 62, 124, 96, 40, 41, 91, 93, 123, 125, 34, 35, 11,
    12, 0, 127, 133, 160, 173, 170, 178, 181, 185, 186, 189, 201, 223, 233, 0x130, 0x131, 0x17f, 0x1c5, 0x2b0,
    0x300, 0x301, 0x308, 0x345, 0x378, 0x58b, 0x60c, 0x663, 0x66c, 0x6d4, 0x903, 0x93e, 0x964, 0x969, 0xe01,
    0xe31, 0xe81, 0x1100, 0x11a8, 0x1c89, 0x1e9e, 0x200b, 0x200c, 0x200d, 0x2014, 0x2018, 0x2019, 0x201c,
    0x2026, 0x2028, 0x2029, 0x20dd, 0x2126, 0x212a, 0x2167, 0x2460, 0x24b6, 0x2e80, 0x2f00, 0x3000, 0x3001,
    0x3002, 0x3005, 0x3007, 0x3021, 0x3042, 0x30ab, 0x30fc, 0x4e2d, 0x6587, 0x9fa5, 0x9fff, 0xa7cb, 0xac00,
    0xd55c, 0xe000, 0xfeff, 0xff01, 0xff21, 0xff41, 0xfffd, 0xfffe, 0x10400, 0x10428, 0x10d50, 0x16fe4,
    0x16ff0, 0x1d400, 0x1d7d8, 0x1f1e6, 0x1f3fd, 0x1f469, 0x1f999, 0x20000, 0x323af, 0xe0100, 0xf0000,
    0x10ffff};

static unsigned draw(uint64_t *state, unsigned n) {
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (unsigned)((*state >> 33) % n);
}

size_t random_text(uint64_t *state, char out[RANDOM_TEXT_MAX]) {
    unsigned kind = draw(state, 4), n = 1 + draw(state, 30), count = 0;
    size_t len = 0;
    while (count < n) {
        unsigned c = points[draw(state, kind == 0 ? COMMON : sizeof points / sizeof *points)];
        for (unsigned times = kind == 1 ? 1 + draw(state, 5) : 1; times > 0; times--, count++)
            len += (size_t)utf8_encode(c, out + len);
    }
    return len;
}
