/* cli/terminal.h - a line from somebody at a terminal, edited as it is typed (text/edit.h). */
#ifndef TERMINAL_H
#define TERMINAL_H

#include <stddef.h>

enum { LINE_FAILED = -2 };

size_t terminal_width(size_t *height); /* of the terminal behind stderr, 80 where that is not known; height: or 0 */
int terminal_moves(void); /* 1: it knows escapes (TERM is not dumb) */
int terminal_edits(void); /* 1: stdin and stderr are a terminal that can move its cursor (TERM is not dumb) */
/* The line behind sign, malloc'ed or grown as getline does; it may hold newlines. 1, 0 at the end of input (Ctrl-D), -1
 * after Ctrl-C on an empty line (goes_on, the line of a text that has others: on any), or after a signal that ends
 * programs; LINE_FAILED after saying why none can be read. While it runs the terminal is in raw mode. */
int terminal_line(const char *sign, int goes_on, char **line, size_t *cap, size_t *n);
void terminal_free(void); /* what was typed before is forgotten */

#endif
