/* tokenizer/special.h - tokens that are found whole in the raw text, before anything else looks at it: added ones
 * always, control pieces where the caller asks for them. */
#ifndef SPECIAL_H
#define SPECIAL_H

#include "internal.h"

/* pieces_finish, and what finding these takes; -EINVAL too where one is longer than MATCH_MAX. Of equal texts
 * the first is found. */
int special_finish(Tokenizer *t, char *err, size_t errlen);
void special_free(Tokenizer *t); /* for a body's close */
/* Body.encode_all of a body with an encode for the text between two of them. */
int special_encode(const Tokenizer *t, const char *text, size_t len, int flags, Ids *out, char *err, size_t errlen);

#endif
