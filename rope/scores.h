/* rope/scores.h - methods that make scores larger where a query sees more keys: a factor by its position. */
#ifndef SCORES_H
#define SCORES_H

#include "numbers.h"

typedef struct RopeScore {
    const char *name;
    const RopeKey *keys;
    double (*factor)(const RopeNumbers *n, int64_t pos, int l); /* of the query at pos, from 0, in layer l */
    const char *source;
} RopeScore;

extern const RopeScore *const rope_scores[]; /* NULL after the last */
const RopeScore *rope_score_row(const char *name); /* the row of that name, or NULL */

/* What all score methods of c make scores of that query grow by; 1 where there is none. */
double rope_score(const RopeConfig *c, int64_t pos, int l);

#endif
