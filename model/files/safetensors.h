/* model/files/safetensors.h - safetensors, one file. */
#ifndef SAFETENSORS_H
#define SAFETENSORS_H

#include "weights.h"

int safetensors_is(const uint8_t *data, size_t size);
/* Append the file's tensors to w, which the caller finishes. name is what error lines call it. 0, or -EINVAL, -ENOMEM
 * and one line. */
int safetensors_read(Weights *w, const uint8_t *data, size_t size, const char *name, char *err, size_t errlen);

#endif
