/* lab/lesson/encodings.h - what others add to a score, or to a vector, for its position: the small formulas of rope's
 * chapter, to be tried. */
#ifndef ENCODINGS_H
#define ENCODINGS_H

#include <stddef.h>

/* T5 (arXiv:1910.10683): the bucket of a query at distance i - j from its key; each has a learned number. Half of
 * the buckets are for keys behind the query where both directions are seen; of the rest half are distances of their
 * own, the others grow logarithmically up to `most`. */
int encoding_t5_bucket(long distance, int n_buckets, int most, int both_ways);
/* ALiBi (arXiv:2108.12409): the slopes of n heads into out; a score gets -slope times its distance. */
void encoding_alibi(double *out, int n);
/* Su's hierarchical extension of a learned table e [n, d] (bert4keras): the row of position k < n^2 into out [d];
 * alpha 0.4. Positions below n keep their rows. */
void encoding_hierarchical(double *out, const double *e, size_t n, size_t d, double alpha, size_t k);

#endif
