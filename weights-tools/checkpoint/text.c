/* weights-tools/checkpoint/text.c - how texts are ordered. */
#include "text.h"

#include <string.h>

int text_compare(const char *a, size_t a_n, const char *b, size_t b_n) {
    int d = memcmp(a, b, a_n < b_n ? a_n : b_n);
    return d ? d : a_n < b_n ? -1 : a_n > b_n;
}
