/* text/lookup.h - guesses from the text itself: what stood behind the last ids where they stood before (Saxena, prompt
 * lookup decoding, 2023). For text that repeats: code that is edited, a summary that quotes, a list. */
#ifndef TEXT_LOOKUP_H
#define TEXT_LOOKUP_H

#include "ahead.h"

typedef struct Lookup Lookup;

/* NULL without memory. It grows with the text, 8 bytes an id and as many again for a table. */
Lookup *lookup_new(void);
void lookup_free(Lookup *l); /* accepts NULL */
Draft lookup_draft(Lookup *l); /* for ahead_init; l must outlive it */

#endif
