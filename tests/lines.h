/* tests/lines.h - golden data that is text: a fact a line, words and numbers with spaces between; # begins a comment.
 *
 *     Lines l;
 *     if (!lines_open(&l, "tests/golden/linear.txt")) return;
 *     while (lines_next(&l))
 *         if (lines_is(&l, "row")) { long token = lines_whole(&l); n = lines_numbers(&l, out, most); }
 *     lines_close(&l); */
#ifndef LINES_H
#define LINES_H

#include <stddef.h>
#include <stdint.h>

typedef struct {
    char *text, *next; /* the file; its next line */
    char *first, *at;  /* the line's first word; what has not been read of it */
} Lines;

int lines_open(Lines *l, const char *path); /* 1, or 0 and a failure of the running test: the file is not there */
void lines_close(Lines *l);

int lines_next(Lines *l); /* go to the next line that says something: 1, or 0 behind the last */
int lines_is(const Lines *l, const char *word); /* 1: the line begins with that word */

/* The line's next word, "" behind the last; the same as a number (NaN), a whole one, or one in hexadecimal (0). */
const char *lines_word(Lines *l);
double lines_number(Lines *l);
long lines_whole(Lines *l);
uint64_t lines_hex(Lines *l);
/* The numbers that are left of the line, most at most; how many. */
size_t lines_numbers(Lines *l, double *out, size_t most);

#endif
