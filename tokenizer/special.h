/* tokenizer/special.h - tokens that are found whole in the raw text, before anything else looks at it: added ones
 * always, control pieces where the caller asks for them. */
#ifndef SPECIAL_H
#define SPECIAL_H

#include "internal.h"

/* pieces_finish, and what finding these takes; -EINVAL too where one does not fit. Of equal texts the first is
 * found. */
int special_finish(Tokenizer *t, char *err, size_t errlen);
void special_free(Tokenizer *t); /* for a body's close */
/* 0, or -EINVAL and a line: piece i is longer than what is matched whole may be. */
int special_fits(const Tokenizer *t, size_t i, char *err, size_t errlen);
/* Body.encode_all of a body with an encode for the text between two of them. */
int special_encode(const Tokenizer *t, const char *text, size_t len, int flags, Ids *out, char *err, size_t errlen);

#endif
