/* model/builtin.h - the compiled-in model: the bytes of model/tales-1m.gguf (see README.md for how it was trained). */
#ifndef BUILTIN_H
#define BUILTIN_H

#include <stddef.h>

extern const unsigned char builtin_model[];
extern const size_t builtin_model_size;

#endif
