/* weights-tools/checkpoint/text.h - how texts are ordered. */
#ifndef TEXT_H
#define TEXT_H

#include <stddef.h>

/* Bytes in memcmp's order, the shorter first where one begins the other: < 0, 0, > 0. */
int text_compare(const char *a, size_t a_n, const char *b, size_t b_n);

#endif
