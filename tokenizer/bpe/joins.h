/* tokenizer/bpe/joins.h - which two characters stand side by side in some piece: where they do not, a text can be cut,
 * and each side merged by itself. One bit a pair, found by a hash: sometimes set for nothing, never clear in error. */
#ifndef JOINS_H
#define JOINS_H

#include "tokenizer/internal.h"

typedef struct Joins Joins;

Joins *joins_new(const Tokenizer *t); /* of the pieces that text may become; the caller frees; NULL without memory */
int joins_may(const Joins *j, const char *s, size_t len); /* s [len]: the two characters */

#endif
