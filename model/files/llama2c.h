/* model/files/llama2c.h - the .bin files of llama2.c. */
#ifndef LLAMA2C_H
#define LLAMA2C_H

#include "weights.h"

int llama2c_is(const uint8_t *data, size_t size);
/* Append the tensors under GGUF's names, and what the header says under GGUF's keys, beside "llama2c.version"; finish.
 * 0, or -EINVAL, -ENOMEM and one line. */
int llama2c_open(Weights *w, const uint8_t *data, size_t size, char *err, size_t errlen);

#endif
