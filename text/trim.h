/* text/trim.h - white space off the ends of a text, as Python's str.strip() takes it: Unicode's, not only ASCII's. */
#ifndef TEXT_TRIM_H
#define TEXT_TRIM_H

#include <stddef.h>

void trim_left(const char **s, size_t *n); /* *s [*n] */
void trim_right(const char *s, size_t *n);

#endif
