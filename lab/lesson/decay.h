/* lab/lesson/decay.h - how a score falls with the distance: RoFormer, section 3.4.3. */
#ifndef DECAY_H
#define DECAY_H

#include "rope/rope.h"

/* The bound's factor at a distance: the mean over j of |S_j|, S_j = sum_{i<j} e^{i distance theta_i} (Abel's partial
 * sums), times the square of the method's magnitude (yarn, longrope; else 1): a score is at most this times what the
 * pairs differ by. */
double decay_bound(const Rope *r, double distance);
/* q . R_distance k of one pair of vectors [rotary_dim], interleaved, times the same square; NULL: all ones. */
double decay_score(const Rope *r, const double *q, const double *k, double distance);

#endif
