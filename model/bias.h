/* model/bias.h - what a session adds to scores by distance (ALiBi, T5: rope/positions.h): every head's numbers, once
 * computed for all distances of its context, so that attention adds a row of them to a row of scores. */
#ifndef BIAS_H
#define BIAS_H

#include "attention/softmax.h"
#include "scratch.h"
#include "session.h"

typedef struct Bias {
    float *rows;     /* [n_heads, width]: of a key at distance d behind the query at zero - d */
    size_t width, zero, n_ctx;
    size_t *places;  /* [n_ctx]: where in its text the token of a slot stands; NULL: at the slot's number (decoders) */
    size_t bytes;
} Bias;

/* *out: NULL where the model's positions add nothing to scores, or made for s, owned by the caller. 0 or -ENOMEM and a
 * line. */
int bias_init(Bias **out, const Session *s, char *err, size_t errlen);
void bias_free(Bias *b); /* accepts NULL */

/* Slots hold one text from its beginning on, as when it was read from a file; b may be NULL. */
void bias_restart(Bias *b);

/* Of head h, for a query that stands at `at` as its keys are counted: in slots, or where there are places in places.
 * b NULL: none. */
ScoreBias bias_of(const Bias *b, size_t h, size_t at);
/* .. of the token, as its mask has it. */
ScoreBias bias_of_token(const Bias *b, size_t h, const Token *t);
double bias_at(const ScoreBias *b, size_t slot); /* one number; 0 where there is none */

#endif
