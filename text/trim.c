/* text/trim.c - see trim.h. */
#include "trim.h"
#include "base/base.h"

/* Bytes of the white space character at s[0 .. n-1], as Python's str.isspace knows it; 0 where there is none. */
static size_t space_at(const char *s, size_t n) {
    uint32_t c;
    int len = n ? utf8_decode(s, n, &c) : 0;
    if (len == 0) return 0;
    int space = (c >= 9 && c <= 13) || (c >= 0x1c && c <= 0x20) || c == 0x85 || c == 0xa0 || c == 0x1680 ||
                (c >= 0x2000 && c <= 0x200a) || c == 0x2028 || c == 0x2029 || c == 0x202f || c == 0x205f || c == 0x3000;
    return space ? (size_t)len : 0;
}

void trim_left(const char **s, size_t *n) {
    for (size_t k; (k = space_at(*s, *n)) > 0; *n -= k) *s += k;
}

void trim_right(const char *s, size_t *n) {
    for (;;) {
        size_t k = 1, had = *n;
        while (k <= 3 && k <= *n && space_at(s + *n - k, k) != k) k++;
        if (k <= 3 && k <= *n) *n -= k;
        if (*n == had) return;
    }
}
