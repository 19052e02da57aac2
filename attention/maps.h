/* attention/maps.h - feature maps and forms (phi.h) by name and in their order; what goes together of them. */
#ifndef MAPS_H
#define MAPS_H

#include "phi.h"

const FeatureMap *feature_map(const char *name); /* the row of that name, or NULL */
const LinearForm *linear_form(const char *name);
const FeatureMap *feature_map_row(int i); /* row i; NULL for other i */
const LinearForm *linear_form_row(int i);
const char *feature_map_name(int i); /* their names; NULL for other i */
const char *linear_form_name(int i);
extern const char *const attention_names[]; /* "softmax", "linear", NULL */

/* 0, or -EINVAL and one line: cosine with another map than identity; favor+ beside another map; epsilon not in [0, 1);
 * favor_features out of range. */
int linear_check(const LinearConfig *c, char *err, size_t errlen);

#endif
