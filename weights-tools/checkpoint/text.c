/* weights-tools/checkpoint/text.c - two comparisons of text. */
#include "text.h"

#include <string.h>

int text_compare(const char *a, size_t a_n, const char *b, size_t b_n) {
    int d = memcmp(a, b, a_n < b_n ? a_n : b_n);
    return d ? d : a_n < b_n ? -1 : a_n > b_n;
}

int text_ends_with(const char *s, const char *tail) {
    size_t n = strlen(s), t = strlen(tail);
    return n > t && strcmp(s + n - t, tail) == 0;
}
