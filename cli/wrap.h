/* cli/wrap.h - text that comes in pieces, on a terminal: words go to the next line whole. What is there is never drawn
 * again, so nothing flickers: the last word waits until it is known to be one. A word that is wider than the screen is
 * left to the terminal, which joins it again when it is copied. */
#ifndef WRAP_H
#define WRAP_H

#include <stddef.h>

typedef struct {
    char word[256]; /* [n] what has come of the last word */
    size_t n, spaces, column; /* spaces in front of it; where the cursor stands */
} Wrap;

void wrap_text(Wrap *w, const char *s, size_t n); /* s: whole characters; to stdout, by out_text */
void wrap_end(Wrap *w);                           /* the last word, too; w is as at the beginning */

/* A whole text, in place: where a line is wider than edge, a space between words becomes the end of a line. */
void wrap_lines(char *text, size_t edge);

#endif
