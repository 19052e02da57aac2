/* tests/plot_checks.h - what every picture must be: XML that is well-formed, lines of a terminal that fit. */
#ifndef PLOT_CHECKS_H
#define PLOT_CHECKS_H

#include <stddef.h>

/* Tags close in order, attributes are quoted, & begins an entity, all is UTF-8. */
int plot_well_formed(const char *svg);
int plot_count(const char *text, const char *what);
/* Lines of a terminal's picture, and the widest in columns; CHECKs: no control character but a colour's, where asked,
 * and no space at a line's end. */
size_t plot_screen(const char *s, int colour, size_t *widest);

#endif
