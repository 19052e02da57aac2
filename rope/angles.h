/* rope/angles.h - the angle pos * inv_freq[i] as other programs round it, to see what that costs (RopeConfig.angle). */
#ifndef ANGLES_H
#define ANGLES_H

#include "rope.h"

typedef struct {
    const char *name;
    double (*angle)(const Rope *r, int64_t pos, int i); /* NULL: in double, as here */
    int geometric; /* 1: it takes each frequency from the one before, so these must be a geometric series */
    const char *source;
} RopeAngles;
extern const RopeAngles rope_angles[]; /* name NULL behind the last */

const RopeAngles *rope_angles_row(const char *name); /* the row of that name, or NULL */
int rope_geometric(const Rope *r); /* 1: inv_freq is a geometric series, to rounding */

#endif
