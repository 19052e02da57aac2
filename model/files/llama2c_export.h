/* model/files/llama2c_export.h - llama2.c's .bin files that have a magic number: versions 1, and 2 for its runq. */
#ifndef LLAMA2C_EXPORT_H
#define LLAMA2C_EXPORT_H

#include "llama2c.h"

int llama2c_export_is(const uint8_t *data, size_t size);
int llama2c_export_open(Weights *w, const uint8_t *data, size_t size, char *err, size_t errlen); /* as llama2c_open */

#endif
