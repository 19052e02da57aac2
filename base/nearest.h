/* base/nearest.h - what a misspelt word may have been meant to be. */
#ifndef NEAREST_H
#define NEAREST_H

/* Of the words name(0), name(1) .. up to NULL the one with the fewest letters to change, add, leave out or swap with
 * their neighbour, the first of equal ones; NULL where that is more than a third of its letters, or the word itself.
 * Words of more than 60 bytes are near nothing. Damerau's distance, restricted. */
const char *nearest_word(const char *word, const char *(*name)(int i));

#endif
