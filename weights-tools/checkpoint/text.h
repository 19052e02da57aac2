/* weights-tools/checkpoint/text.h - two comparisons of text. */
#ifndef TEXT_H
#define TEXT_H

#include <stddef.h>

/* Bytes in memcmp's order, the shorter first where one begins the other: < 0, 0, > 0. */
int text_compare(const char *a, size_t a_n, const char *b, size_t b_n);
int text_ends_with(const char *s, const char *tail); /* 1: it does, and is longer */

#endif
