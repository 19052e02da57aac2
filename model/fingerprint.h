/* model/fingerprint.h - a number by which a saved state finds its model again. */
#ifndef FINGERPRINT_H
#define FINGERPRINT_H

#include "model.h"

/* It all but surely tells two models apart: of the sizes, settings, tensor names and a sample of every tensor's bytes.
 */
uint64_t model_fingerprint(const Model *m);

#endif
